#include "base/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace reprieve {
namespace {

constexpr int kPatience = 30'000;  // ms, far longer than it takes

// Whether something can be read, be it only the end because nobody holds the other end any more.
bool hears(int file) {
    pollfd ready{.fd = file, .events = POLLIN, .revents = 0};
    return poll(&ready, 1, kPatience) == 1;
}

TEST(ChildProcess, EndsWhenItsParentIsKilled) {
    std::array<int, 2> life{};
    ASSERT_EQ(pipe(life.data()), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        const pid_t self = getpid();
        if (fork() == 0) {
            end_with_parent(self);
            if (write(life[1], "x", 1) != 1) _exit(1);
        }
        while (true)
            pause();
    }
    close(life[1]);
    char byte = 0;
    ASSERT_TRUE(hears(life[0]));
    ASSERT_EQ(read(life[0], &byte, 1), 1) << "the child runs";
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    ASSERT_TRUE(hears(life[0])) << "the child still holds the pipe";
    EXPECT_EQ(read(life[0], &byte, 1), 0);
    close(life[0]);
}

TEST(ChildProcess, DoesNotBeginWhereItsParentHasEnded) {
    const pid_t child = fork();
    if (child == 0) {
        end_with_parent(-1);  // nobody's parent: as one that ended before the child could ask
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
}  // namespace reprieve
