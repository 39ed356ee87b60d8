#include "kube/frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace reprieve {
namespace {

TEST(FrameReader, PageOfABuiltInKind) {
    const std::string page =
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"tok"},"items":[{"a":"}]"},{"b":[1,{}]}]})";
    FrameReader reader;
    const auto head = reader.page_head(page);
    ASSERT_TRUE(head.has_value());
    EXPECT_EQ(head->version, "12");
    EXPECT_EQ(head->continued, "tok");
    std::vector<std::string> items;
    ASSERT_TRUE(reader.each_item(page, [&](std::string_view item) { items.emplace_back(item); }).has_value());
    EXPECT_EQ(items, (std::vector<std::string>{R"({"a":"}]"})", R"({"b":[1,{}]})"}));
}

TEST(FrameReader, PageOfACustomKindHasItsMetadataLast) {
    const std::string page =
        R"({"apiVersion":"x/v1","items":[{"metadata":{"resourceVersion":"5"}}],"kind":"XList","metadata":{"resourceVersion":"9"}})";
    FrameReader reader;
    const auto head = reader.page_head(page);
    ASSERT_TRUE(head.has_value());
    EXPECT_EQ(head->version, "9");
    EXPECT_TRUE(head->continued.empty());
}

TEST(FrameReader, NoItemsAtAll) {
    FrameReader reader;
    int items = 0;
    EXPECT_TRUE(reader.each_item(R"({"metadata":{},"items":null})", [&](std::string_view) { ++items; }).has_value());
    EXPECT_EQ(items, 0);
    EXPECT_FALSE(reader.each_item(R"({"metadata":{}})", [&](std::string_view) { ++items; }).has_value());
    EXPECT_FALSE(reader.page_head("<html>").has_value());
    EXPECT_FALSE(reader.page_head(R"({"metadata":{}})").has_value());
}

TEST(FrameReader, LinesOfAWatch) {
    FrameReader reader;
    const WatchFrame added =
        reader.frame(R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"}}})");
    EXPECT_EQ(added.event, WatchEvent::kAdded);
    EXPECT_EQ(added.object, R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"}})");
    EXPECT_EQ(reader.frame(R"({"type":"DELETED","object":{}})").event, WatchEvent::kDeleted);
    EXPECT_EQ(reader.frame(R"({"type":"BOOKMARK","object":{}})").event, WatchEvent::kBookmark);
    EXPECT_EQ(reader.frame("nonsense").event, WatchEvent::kUnknown);
    EXPECT_EQ(reader.frame("").event, WatchEvent::kUnknown);
}

TEST(FrameReader, LinesWrittenInAnotherOrderOrWithSpaces) {
    FrameReader reader;
    const WatchFrame frame = reader.frame(R"({ "object": {"metadata": {"name":"a"}}, "type": "MODIFIED" })");
    EXPECT_EQ(frame.event, WatchEvent::kModified);
    EXPECT_EQ(frame.object, R"({"metadata": {"name":"a"}})");
}

TEST(FrameReader, VersionIsTheObjectsOwn) {
    FrameReader reader;
    EXPECT_EQ(reader.version_of(R"({"metadata":{"labels":{"resourceVersion":"1"},"resourceVersion":"33"}})"), "33");
    EXPECT_EQ(reader.version_of(R"({"metadata":{}})"), "");
    const auto name = reader.name_of(R"({"spec":"bad","metadata":{"namespace":"n","name":"m"}})");
    EXPECT_EQ(name.ns, "n");
    EXPECT_EQ(name.name, "m");
    EXPECT_EQ(reader.status_code(R"({"kind":"Status","code":410})"), 410);
}

}  // namespace
}  // namespace reprieve
