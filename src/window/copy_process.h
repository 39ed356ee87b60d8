// A copy of this process, for questions about the cluster that may take long, change it or fail.
//
// fork() gives the copy every byte of the cluster at once and for nothing, so what-if and explanations work on facts
// that nobody else changes, cannot harm the original whatever they do, and can be ended at any moment (decision 65).
// The copy has one thread, takes no locks of others, and ends without running destructors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace reprieve::window {

struct CopyLimits {
    std::chrono::milliseconds time{10'000};
    std::uint64_t memory = std::uint64_t{2} << 30U;  // beyond what the process has already
    std::size_t answer = std::size_t{64} << 20U;
    const std::atomic<bool>* cancelled = nullptr;  // true: nobody wants the answer any more
};

// An answer under way. Destroying it ends the copy.
class CopyAnswer {
public:
    CopyAnswer() = default;
    CopyAnswer(int process, int pipe, CopyLimits limits);
    ~CopyAnswer();
    CopyAnswer(CopyAnswer&& other) noexcept;
    CopyAnswer& operator=(CopyAnswer&& other) noexcept;
    CopyAnswer(const CopyAnswer&) = delete;
    CopyAnswer& operator=(const CopyAnswer&) = delete;

    // Waits for all of it. The error says which limit was reached, or what the work itself says.
    [[nodiscard]] Result<std::string> wait();

private:
    void end();

    int process_ = -1;
    int pipe_ = -1;
    CopyLimits limits_;
    std::chrono::steady_clock::time_point begun_;
};

// Starts the work in a copy. REQUIRES: no other thread changes what the work reads while this runs.
[[nodiscard]] Result<CopyAnswer> start_copy(const std::function<Result<std::string>()>& work, CopyLimits limits);

}  // namespace reprieve::window
