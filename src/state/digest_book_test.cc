#include "state/digest_book.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

constexpr std::uint64_t kFirst = 1;
constexpr std::uint64_t kSecond = 2;

TEST(DigestBook, OrderDoesNotMatter) {
    DigestBook one;
    one.note(kFirst, {3, 5});
    one.note(kSecond, {7, 11});
    DigestBook other;
    other.note(kSecond, {7, 11});
    other.note(kFirst, {3, 5});
    EXPECT_EQ(one.total(), other.total());
    EXPECT_EQ(one.total(), (Digest{10, 16}));
}

TEST(DigestBook, AnObjectThatChangesAddsOnlyItsLastDigest) {
    DigestBook book;
    book.note(kFirst, {3, 5});
    book.note(kFirst, {4, 4});
    EXPECT_EQ(book.total(), (Digest{4, 4}));
}

TEST(DigestBook, AnObjectThatWentAddsNothing) {
    DigestBook book;
    book.note(kFirst, {3, 5});
    book.note(kSecond, {7, 11});
    book.note(kFirst, {});
    EXPECT_EQ(book.total(), (Digest{7, 11}));
    book.note(kFirst, {});
    EXPECT_EQ(book.total(), (Digest{7, 11}));
}

TEST(DigestBook, ManyComeAndGo) {
    DigestBook book;
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (std::uint64_t object = 0; object < 1000; ++object)
            book.note(object << 32U, {object, round});
        EXPECT_EQ(book.total(), (Digest{999 * 500, 1000 * round}));
        for (std::uint64_t object = 1; object < 1000; ++object)
            book.note(object << 32U, {});
        EXPECT_EQ(book.total(), (Digest{0, round}));
    }
}

}  // namespace
}  // namespace reprieve
