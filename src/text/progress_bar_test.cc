#include "text/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "text/display_text.h"

namespace reprieve {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kMi = std::uint64_t{1} << 20U;
constexpr OutputStream kTerminal{.terminal = true, .cursor = true, .colour = true, .width = 60};

// A FILE that keeps what is written to it.
class Screen {
public:
    Screen() : file_(::open_memstream(&text_, &size_)) {}
    ~Screen() {
        std::fclose(file_);
        std::free(text_);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    [[nodiscard]] std::FILE* file() const { return file_; }
    [[nodiscard]] std::string written() const {
        std::fflush(file_);
        return {text_, size_};
    }
    // What stood on the line, one after the other.
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        std::istringstream in(written());
        for (std::string line; std::getline(in, line, '\r');) {
            if (line.ends_with("\x1b[K")) lines.push_back(line.substr(0, line.size() - 3));
        }
        return lines;
    }

private:
    char* text_ = nullptr;
    std::size_t size_ = 0;
    std::FILE* file_;
};

TEST(ProgressBar, DrawsOnOneLineAndErasesItself) {
    const Screen screen;
    {
        ProgressBar bar(screen.file(), kTerminal, "Loading dump.json");
        bar.update(0, 200 * kMi);
        bar.update(50 * kMi, 200 * kMi);
        bar.update(200 * kMi, 200 * kMi);
    }
    EXPECT_THAT(screen.lines(),
                ElementsAre("Loading dump.json [.........................]   0% of 200Mi",
                            "Loading dump.json [######...................]  25% of 200Mi",
                            "Loading dump.json [#########################] 100% of 200Mi",
                            ""));
    EXPECT_EQ(screen.written().find('\n'), std::string::npos);
}

TEST(ProgressBar, SilentWhereThereIsNoTerminal) {
    const Screen screen;
    {
        ProgressBar bar(screen.file(), {}, "Loading");
        bar.update(50 * kMi, 200 * kMi);
        ProgressBar dumb(screen.file(), {.terminal = true, .cursor = false, .width = 80}, "Loading");
        dumb.update(50 * kMi, 200 * kMi);
    }
    EXPECT_EQ(screen.written(), "");
}

TEST(ProgressBar, SilentForSmallFiles) {
    const Screen screen;
    {
        ProgressBar bar(screen.file(), kTerminal, "Loading");
        bar.update(kMi, 2 * kMi);
        bar.update(2 * kMi, 2 * kMi);
    }
    EXPECT_EQ(screen.written(), "");
}

TEST(ProgressBar, DrawsOnlyWhatChanges) {
    const Screen screen;
    ProgressBar bar(screen.file(), kTerminal, "Loading");
    for (std::uint64_t done = 0; done <= 100 * kMi; done += 1024)
        bar.update(done, 100 * kMi);
    EXPECT_EQ(screen.lines().size(), 101U);
}

TEST(ProgressBar, UnknownTotalShowsHowMuchWasRead) {
    const Screen screen;
    ProgressBar bar(screen.file(), kTerminal, "Loading -");
    bar.update(kMi, 0);
    bar.update(20 * kMi, 0);
    bar.update(21 * kMi, 0);
    bar.update(33 * kMi, 0);
    EXPECT_THAT(screen.lines(), ElementsAre("Loading - 16Mi", "Loading - 32Mi"));
}

TEST(ProgressBar, MoreThanAllIsAll) {
    const Screen screen;
    ProgressBar bar(screen.file(), kTerminal, "Loading");
    bar.update(300 * kMi, 200 * kMi);
    ASSERT_EQ(screen.lines().size(), 1U);
    EXPECT_NE(screen.lines().front().find("] 100% of 200Mi"), std::string::npos);
}

TEST(ProgressBar, EraseMakesRoomAndDrawsAgainAfterwards) {
    const Screen screen;
    ProgressBar bar(screen.file(), kTerminal, "L");
    bar.update(0, 200 * kMi);
    bar.erase();
    bar.erase();
    bar.update(0, 200 * kMi);
    const std::vector<std::string> lines = screen.lines();
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0], lines[2]);
    EXPECT_EQ(lines[1], "");
}

TEST(ProgressBar, NeverFillsTheLine) {
    for (int width = 1; width < 140; ++width) {
        for (const std::uint64_t total : {std::uint64_t{0}, 200 * kMi}) {
            const Screen screen;
            OutputStream stream = kTerminal;
            stream.width = width;
            ProgressBar bar(screen.file(), stream, "Loading a-file-with-quite-a-long-name\x1b[2J.json");
            bar.update(100 * kMi, total);
            ASSERT_EQ(screen.lines().size(), 1U);
            EXPECT_LE(display_width(screen.lines().front()), static_cast<std::size_t>(std::max(1, width - 1))) << width;
        }
    }
}

}  // namespace
}  // namespace reprieve
