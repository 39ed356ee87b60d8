// DecisionLog: every plan that decides something, as a line of JSON, for `explain --plan` and for scripts.
//
// A plan that decides what the one before it did is not written again: a cluster that waits fills no disk.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/result.h"
#include "loop/loop_observer.h"

namespace reprieve {

class DecisionLog : public LoopObserver {
public:
    // Appends to the file, which is made if it is not there.
    [[nodiscard]] static Result<std::unique_ptr<DecisionLog>> open(const std::string& file);

    void on_cycle(const CycleReport& report) override;

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    explicit DecisionLog(std::FILE* file) : file_(file) {}

    std::unique_ptr<std::FILE, Close> file_;
    Plan last_;  // without its id, its time and its queues, which change by themselves
};

}  // namespace reprieve
