#include "window/copy_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "base/child_process.h"

namespace reprieve::window {
namespace {

constexpr char kSaysAnswer = '+';
constexpr std::chrono::milliseconds kLookUp{200};  // whether the answer is still wanted
constexpr char kSaysError = '-';                   // and of which kind, as a digit

// Sanitizers reserve terabytes of addresses: there the time alone is limited.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif
#else
constexpr bool kLimitsMemory = true;
#endif

// Addresses in use now, in bytes.
std::uint64_t address_space() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    statm >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// The copy has its answer to give and nothing else: a listening socket that it kept would hold the port of a program
// that was killed and is started again, a connection would stay open for a client that waits for its end.
void keep_only(int file) {
    const auto kept = static_cast<unsigned>(file);
    if (kept > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, kept - 1, 0);
    close_range(kept + 1, ~0U, 0);
}

void limit_this_process(const CopyLimits& limits) {
    setpriority(PRIO_PROCESS, 0, 10);  // whoever asks can wait; the loop cannot
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        std::signal(signal, SIG_DFL);
    const auto seconds = static_cast<rlim_t>(limits.time.count() / 1000 + 1);
    const rlimit time{.rlim_cur = seconds, .rlim_max = seconds};
    setrlimit(RLIMIT_CPU, &time);
    const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (!kLimitsMemory) return;
    const auto bytes = static_cast<rlim_t>(address_space() + limits.memory);
    const rlimit memory{.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_AS, &memory);
}

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

[[noreturn]] void answer_and_end(int file, const std::function<Result<std::string>()>& work) {
    const auto said = [](const Error& error) {
        return std::string{kSaysError, static_cast<char>('0' + static_cast<int>(error.kind))} + error.message;
    };
    std::string text;
    try {
        const Result<std::string> answer = work();
        text = answer ? kSaysAnswer + *answer : said(answer.error());
    } catch (const std::bad_alloc&) {
        text = said({"the question needs more memory than it may have"});
    } catch (const std::exception& error) {
        text = said({std::string("unexpected failure: ") + error.what()});
    }
    write_all(file, text);
    _exit(0);
}

}  // namespace

Result<CopyAnswer> start_copy(const std::function<Result<std::string>()>& work, CopyLimits limits) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail("no pipe can be opened");
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process < 0) {
        close(ends[0]);
        close(ends[1]);
        return fail("no copy of the process can be made");
    }
    if (process == 0) {
        end_with_parent(parent);
        keep_only(ends[1]);
        limit_this_process(limits);
        answer_and_end(ends[1], work);
    }
    close(ends[1]);
    return CopyAnswer(process, ends[0], limits);
}

CopyAnswer::CopyAnswer(int process, int pipe, CopyLimits limits)
    : process_(process),
      pipe_(pipe),
      limits_(limits),
      begun_(std::chrono::steady_clock::now()) {}

CopyAnswer::CopyAnswer(CopyAnswer&& other) noexcept { *this = std::move(other); }

CopyAnswer& CopyAnswer::operator=(CopyAnswer&& other) noexcept {
    if (this == &other) return *this;
    end();
    process_ = std::exchange(other.process_, -1);
    pipe_ = std::exchange(other.pipe_, -1);
    limits_ = other.limits_;
    begun_ = other.begun_;
    return *this;
}

CopyAnswer::~CopyAnswer() { end(); }

void CopyAnswer::end() {
    if (pipe_ >= 0) close(std::exchange(pipe_, -1));
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    waitpid(std::exchange(process_, -1), nullptr, 0);
}

Result<std::string> CopyAnswer::wait() {
    std::string text;
    std::array<char, 65536> piece{};
    const auto deadline = begun_ + limits_.time;
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd ready{.fd = pipe_, .events = POLLIN, .revents = 0};
        const auto slice = std::min(left, kLookUp);
        const int polled = left.count() > 0 ? poll(&ready, 1, static_cast<int>(slice.count())) : 0;
        if (polled < 0 && errno == EINTR) continue;
        if (limits_.cancelled != nullptr && *limits_.cancelled) {
            end();
            return fail("the program ends");
        }
        if (polled == 0 && left > slice) continue;
        if (polled <= 0) {
            end();
            return fail(fmt::format("the question took longer than the {} s it may take", limits_.time.count() / 1000));
        }
        const ssize_t got = read(pipe_, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text.append(piece.data(), static_cast<std::size_t>(got));
        if (text.size() > limits_.answer) {
            end();
            return fail("the answer is longer than it may be");
        }
    }
    end();
    if (text.empty())
        return fail("the question ended without an answer: too much memory or time, or a defect that the log names");
    if (text.front() == kSaysAnswer) return text.substr(1);
    if (text.size() < 2) return fail("the question ended without an answer");
    return fail(text.substr(2), static_cast<ErrorKind>(text[1] - '0'));
}

}  // namespace reprieve::window
