// VictimVote: which of the ordered candidates an action may take by the rules of queues; cumulative, one vote for all.
//
// Use is what the queues hold, without those who are leaving, when the vote is called; what is accepted counts as given
// by every queue on its path until the next vote begins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plugins/give_rule.h"
#include "state/snapshot.h"

namespace reprieve {

// `of` and its ancestors below the first one that is on both paths.
[[nodiscard]] std::vector<QueueId> levels_below_common(const Snapshot& snapshot, QueueId of, QueueId other);

class VictimVote {
public:
    explicit VictimVote(const Snapshot& snapshot);
    VictimVote(const VictimVote&) = delete;
    VictimVote& operator=(const VictimVote&) = delete;
    virtual ~VictimVote() = default;

    // Starts a new vote: nothing is given yet.
    virtual void reset();
    // Whether these pods may go on top of those accepted before; accepting counts them.
    [[nodiscard]] bool accept(std::span<const PodId> pods);
    // Those who were accepted stay after all.
    void withdraw(std::span<const PodId> pods);
    // Whether all that was accepted may go together.
    [[nodiscard]] virtual bool passes() const { return true; }
    // Whoever of these goes, alone or with others of them, the vote lets them.
    [[nodiscard]] virtual bool lets_all(std::span<const PodId> /*pods*/) const { return false; }
    // All that the vote asks of those who are candidates, as rules; nullopt: it asks for more than rules can say.
    [[nodiscard]] virtual std::optional<std::vector<GiveRule>> rules() const { return std::nullopt; }

protected:
    // What one queue would give.
    struct Part {
        QueueId queue;
        Resources amounts;
    };
    [[nodiscard]] virtual bool may_give(const Part& part) = 0;
    // Whether the pods of a unit are put to the vote one after another, in the order that this leaves them in.
    [[nodiscard]] virtual bool one_by_one(std::vector<PodId>& /*pods*/) const { return false; }
    // It gives, or does not after all.
    virtual void gives(const Part& /*part*/, bool /*after_all*/) {}

    [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }
    [[nodiscard]] std::int64_t used_before(QueueId queue, Dim dim) const { return base_[at(queue, dim)]; }
    [[nodiscard]] std::int64_t used(QueueId queue, Dim dim) const {
        return base_[at(queue, dim)] - given_[at(queue, dim)];
    }
    // The queue gives this much, whether it may or not; -1: does not after all.
    void count_given(QueueId queue, const Resources& amounts, std::int64_t sign = 1);
    // Whether a queue would be left with less than it is guaranteed.
    [[nodiscard]] bool breaks_guarantee(QueueId queue, const Resources& amounts) const;

private:
    void withdraw(std::span<const Part> parts);
    [[nodiscard]] bool accept_parts(std::span<const PodId> pods);
    [[nodiscard]] std::vector<Part> parts_of(std::span<const PodId> pods) const;
    [[nodiscard]] std::size_t at(QueueId queue, Dim dim) const { return queue.index() * snapshot_.dims + dim.index(); }

    const Snapshot& snapshot_;
    std::vector<std::int64_t> base_;   // queue x dim: use when the vote was called
    std::vector<std::int64_t> given_;  // queue x dim
};

}  // namespace reprieve
