#include "state/one_or_few.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/ids.h"

namespace reprieve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OneOrFewTest, ListsGrowAndShrinkInOrder) {
    OneOrFew<DeviceId, OfferId> lists;
    EXPECT_THAT(lists.of(DeviceId(3)), IsEmpty());
    lists.add(DeviceId(3), OfferId(7));
    EXPECT_THAT(lists.of(DeviceId(3)), ElementsAre(OfferId(7)));
    EXPECT_THAT(lists.of(DeviceId(2)), IsEmpty());
    lists.insert(DeviceId(3), 0, OfferId(9));
    lists.add(DeviceId(3), OfferId(7));
    EXPECT_THAT(lists.of(DeviceId(3)), ElementsAre(OfferId(9), OfferId(7), OfferId(7)));
    lists.remove(DeviceId(3), OfferId(7));
    EXPECT_THAT(lists.of(DeviceId(3)), ElementsAre(OfferId(9), OfferId(7)));
    lists.remove(DeviceId(3), OfferId(8));
    lists.remove(DeviceId(3), OfferId(9));
    lists.remove(DeviceId(3), OfferId(7));
    EXPECT_THAT(lists.of(DeviceId(3)), IsEmpty());
}

}  // namespace
}  // namespace reprieve
