// LoopAndRecord: a loop that runs, and the record that it keeps.
//
// Now is the loop's; every earlier moment is the record's. The ids of decisions are the same in both.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "window/loop_source.h"
#include "window/record_source.h"

namespace reprieve::window {

class LoopAndRecord final : public MomentSource {
public:
    // The loop must outlive this. The folder may be empty at first: the record is opened when somebody asks.
    LoopAndRecord(LoopSource& loop, std::string folder) : loop_(loop), folder_(std::move(folder)) {}

    Result<std::shared_ptr<const Moment>> moment(std::optional<Time> at) override;
    Result<std::string> ask(std::optional<Time> at, const Question& question) override;
    Result<std::string> ask_about(const DecisionEntry& entry, const Question& question) override;
    Result<std::string> receipt(const DecisionEntry& entry) override;
    Result<std::string> room(std::optional<Time> at) override;
    Result<std::string> lifelines(std::optional<Time> at, const std::string& queue) override;
    std::optional<Extent> extent() override;
    std::int64_t newest(std::int64_t seen, std::chrono::milliseconds wait) override { return loop_.newest(seen, wait); }
    [[nodiscard]] std::string kind() const override { return "loop"; }

private:
    // Null: nothing is recorded yet.
    [[nodiscard]] RecordSource* record();
    // Calls `use` with the source of that moment.
    template <class Use>
    auto of_moment(const std::optional<Time>& at, Use&& use) -> decltype(use(std::declval<MomentSource&>()));
    [[nodiscard]] static bool is_recorded(const DecisionEntry& entry) { return entry.receipt.empty(); }

    LoopSource& loop_;
    std::string folder_;
    std::mutex mutex_;
    std::unique_ptr<RecordSource> record_;
};

}  // namespace reprieve::window
