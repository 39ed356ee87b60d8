// PromiseLedger: room that evictions paid for, and who may break the promise.
//
// While a demand waits for its victims, what they have left already is held for it: nobody of lower or equal priority
// sits down there. For a demand of higher priority a promise is one set of victims among others. It costs the promised
// demand's own pods and those that leave for it; room that nobody was promised comes first, then whatever is cheapest,
// and a tie spares the promise.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "actions/desk.h"
#include "plugins/cost.h"

namespace reprieve {

class PromiseLedger {
public:
    explicit PromiseLedger(Desk& desk);
    PromiseLedger(const PromiseLedger&) = delete;
    PromiseLedger& operator=(const PromiseLedger&) = delete;
    ~PromiseLedger() { let_go(); }

    // The demand's promised pods stand on the transaction: from now on their room is theirs.
    void hold(Demand demand);
    // Gives back everything that is held early. REQUIRES: before the snapshot is used by others.
    void let_go();

    // Serves a demand with `attempt`, which tries all actions on the transaction. Of the promises for which `outranked`
    // holds it breaks those that must be, if that is cheapest. Broken ones are taken off the transaction and returned.
    struct Outcome {
        Served served;
        std::vector<Demand> broken;
    };
    [[nodiscard]] Outcome serve(const Demand& demand,
                                const CostOrder& order,
                                const std::function<bool(const Demand&)>& outranked,
                                const std::function<Served()>& attempt);

private:
    struct Early {
        NodeId node;
        Resources amounts;
    };
    struct Promise {
        Demand demand;
        std::vector<PodId> pods;     // that stand on the transaction
        std::vector<PodId> leaving;  // victims that still leave for it
        std::vector<Early> early;
    };
    using Option = std::vector<std::size_t>;  // promises to break together
    // What the demand costs with these broken; nullopt: it is not served.
    using Trial = std::function<std::optional<Cost>(const Option&)>;

    void find_leaving(Promise& promise);
    void find_early(Promise& promise) const;
    void keep_early(const Promise& promise, int sign);
    void take_off(const Option& option);
    [[nodiscard]] std::vector<Option> options(std::span<const std::size_t> outranked) const;
    [[nodiscard]] Option by_priority(Option option) const;
    void spare_some(Option& option, Cost& cost, const Trial& cost_of) const;
    // What the victims since `start` cost, and the promises on top of them.
    [[nodiscard]] Cost price(const Demand& demand,
                             const CostOrder& order,
                             Transaction::Checkpoint start,
                             const Option& option) const;
    void doubt(const PlanBuilder::Mark& since, const CostOrder& order, std::span<const std::size_t> breakable);
    void undo(Transaction::Checkpoint start, const PlanBuilder::Mark& before);
    [[nodiscard]] bool evicts_since(Transaction::Checkpoint start) const;

    Desk& desk_;
    std::vector<Promise> promises_;
    std::set<PodId> spoken_for_;  // leaving pods that count for a promise
    // UIDs of victims that some plan on record names. The facts hold the text, and do not change while this is here.
    std::unordered_set<std::string_view> named_;
};

}  // namespace reprieve
