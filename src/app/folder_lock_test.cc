#include "app/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>

namespace reprieve {
namespace {

using ::testing::HasSubstr;

class FolderLockTest : public ::testing::Test {
protected:
    FolderLockTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "folder-lock-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~FolderLockTest() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
};

TEST_F(FolderLockTest, HasOneHolderAndLeavesNothingBehind) {
    {
        const auto first = FolderLock::take(folder_);
        ASSERT_TRUE(first.has_value()) << first.error().message;
        const auto second = FolderLock::take(folder_);
        ASSERT_FALSE(second.has_value());
        EXPECT_THAT(second.error().message, HasSubstr("another process is writing there"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    EXPECT_TRUE(FolderLock::take(folder_).has_value());
}

TEST_F(FolderLockTest, EndsWithAHolderThatIsKilled) {
    std::array<int, 2> word{};
    ASSERT_EQ(pipe(word.data()), 0);
    const pid_t holder = fork();
    if (holder == 0) {
        const auto lock = FolderLock::take(folder_);
        if (!lock || write(word[1], "x", 1) != 1) _exit(1);
        while (true)
            pause();
    }
    close(word[1]);
    char byte = 0;
    ASSERT_EQ(read(word[0], &byte, 1), 1);
    close(word[0]);
    EXPECT_FALSE(FolderLock::take(folder_).has_value());
    kill(holder, SIGKILL);
    waitpid(holder, nullptr, 0);
    EXPECT_TRUE(FolderLock::take(folder_).has_value());
}

TEST_F(FolderLockTest, SaysWhichFolderCannotBeWrittenTo) {
    const auto lock = FolderLock::take(folder_ / "none");
    ASSERT_FALSE(lock.has_value());
    EXPECT_THAT(lock.error().message, HasSubstr("none/.lock: cannot be written: No such file"));
}

}  // namespace
}  // namespace reprieve
