#include "audit/fair_shares.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/wide.h"

namespace reprieve {
namespace {

class Division {
public:
    Division(const Case& judged, Dim dim) : judged_(judged), dim_(dim) { find_quotas(); }

    std::map<QueueId, std::int64_t> work_out() {
        std::int64_t total = 0;
        for (const NodeId node : judged_.snapshot.nodes_by_name)
            total = saturating_add(total, judged_.cluster.node(node)->allocatable.get(dim_));
        total -= count_pods();
        std::vector<QueueId> sharing;
        for (const QueueId quota : below_[QueueId()]) {
            const std::int64_t asks = ask(quota);
            const Queue& fact = fact_of(quota);
            if (fact.tree_total) {
                shares_[quota] = fact.tree_total->get(dim_);
                total -= shares_[quota];
            } else if (is_outside(quota)) {
                shares_[quota] = fact.limit.lists(dim_) ? fact.limit.get(dim_) : asks;
            } else {
                sharing.push_back(quota);
            }
        }
        divide(sharing, total);
        for (const QueueId quota : below_[QueueId()])
            hand_down(quota);
        return std::move(shares_);
    }

private:
    [[nodiscard]] const Queue& fact_of(QueueId quota) const { return *judged_.snapshot.queues[quota].fact; }
    [[nodiscard]] bool is_quota(QueueId queue) const {
        const QueueRow& row = judged_.snapshot.queues[queue];
        return row.alive && row.fact != nullptr && row.fact->is_quota;
    }
    // Koordinator's own objects: whoever is in one of them is in no quota of the tree.
    [[nodiscard]] bool is_outside(QueueId quota) const {
        static const std::set<std::string_view> kNames{
            "koordinator-root-quota", "koordinator-default-quota", "koordinator-system-quota"};
        return kNames.contains(judged_.words.text(judged_.snapshot.queues[quota].name));
    }

    void find_quotas() {
        for (const QueueId queue : IdRange<QueueId>(judged_.snapshot.queues.size())) {
            if (!is_quota(queue)) continue;
            const QueueId above = judged_.snapshot.queues[queue].parent;
            below_[above && is_quota(above) ? above : QueueId()].push_back(queue);
        }
        const auto name = [&](QueueId quota) { return judged_.words.text(judged_.snapshot.queues[quota].name); };
        for (auto& [parent, children] : below_)
            std::ranges::sort(children, {}, name);
    }

    // What every quota's own pods ask for. Returns what is held by pods outside the tree.
    std::int64_t count_pods() {
        std::int64_t elsewhere = 0;
        for (const PodId pod : IdRange<PodId>(judged_.snapshot.pods.size())) {
            if (!judged_.exists(pod) || judged_.fact(pod).finished() || judged_.fact(pod).gated) continue;
            const std::int64_t amount = dim_ == kPods ? 1 : judged_.spec(pod).requests.get(dim_);
            const QueueId quota = home_of(pod);
            if (quota) own_[quota] += amount;
            if (judged_.bound(pod) && (!quota || is_outside(quota))) elsewhere += amount;
        }
        return elsewhere;
    }

    [[nodiscard]] QueueId home_of(PodId pod) const {
        if (!judged_.row(pod).queue) return {};
        for (const QueueId above : judged_.path(judged_.row(pod).queue)) {
            if (is_quota(above)) return above;
        }
        return {};
    }

    // What a quota wants for itself and for those below it, and of that what it may ask for.
    std::int64_t ask(QueueId quota) {
        std::int64_t wanted = own_[quota];
        for (const QueueId child : below_[quota])
            wanted = saturating_add(wanted, ask(child));
        const Queue& fact = fact_of(quota);
        if (!fact.lends) wanted = std::max(wanted, fact.guarantee.get(dim_));
        asked_[quota] = fact.limit.lists(dim_) ? std::min(wanted, fact.limit.get(dim_)) : wanted;
        return is_outside(quota) ? wanted : asked_[quota];
    }

    void hand_down(QueueId quota) {
        const std::vector<QueueId>& children = below_[quota];
        if (children.empty()) return;
        divide(children, shares_[quota]);
        for (const QueueId child : children)
            hand_down(child);
    }

    [[nodiscard]] std::int64_t weight(QueueId quota) const {
        const Queue& fact = fact_of(quota);
        const bool written = fact.shared_weight &&
                             std::ranges::any_of(*fact.shared_weight, [](const auto& item) { return item.value > 0; });
        return written ? fact.shared_weight->get(dim_) : fact.limit.get(dim_);
    }

    void divide(const std::vector<QueueId>& siblings, std::int64_t total) {
        Wide all = 0;
        Wide rigid = 0;
        for (const QueueId q : siblings) {
            all += fact_of(q).guarantee.get(dim_);
            if (!fact_of(q).min_scales) rigid += fact_of(q).guarantee.get(dim_);
        }
        // Minimums that are more than there is shrink, where they may.
        const auto minimum = [&](QueueId q) {
            const std::int64_t least = fact_of(q).guarantee.get(dim_);
            if (all <= total || !fact_of(q).min_scales || all == rigid) return least;
            return static_cast<std::int64_t>(std::max<Wide>(0, total - rigid) * least / (all - rigid));
        };
        Wide left = total;
        std::vector<QueueId> borrowers;
        for (const QueueId q : siblings) {
            const std::int64_t least = minimum(q);
            const bool borrows = asked_[q] > least;
            shares_[q] = borrows || !fact_of(q).lends ? least : asked_[q];
            left -= shares_[q];
            if (borrows && weight(q) > 0) borrowers.push_back(q);
        }
        while (left > 0 && !borrowers.empty())
            left = lend(borrowers, left);
    }

    // One round: by weight, what does not divide goes to the largest remainders. Returns what was too much.
    Wide lend(std::vector<QueueId>& borrowers, Wide left) {
        Wide weights = 0;
        for (const QueueId q : borrowers)
            weights += weight(q);
        std::vector<std::pair<Wide, std::size_t>> remainders;  // negated
        std::map<QueueId, Wide> got;
        Wide rest = left;
        for (std::size_t i = 0; i < borrowers.size(); ++i) {
            const Wide product = left * weight(borrowers[i]);
            got[borrowers[i]] = product / weights;
            rest -= product / weights;
            remainders.emplace_back(-(product % weights), i);
        }
        std::ranges::sort(remainders);
        for (std::size_t i = 0; i < static_cast<std::size_t>(rest); ++i)
            got[borrowers[remainders[i].second]] += 1;
        Wide back = 0;
        std::vector<QueueId> hungry;
        for (const QueueId q : borrowers) {
            const Wide missing = asked_[q] - shares_[q];
            const Wide taken = std::min(got[q], missing);
            shares_[q] += static_cast<std::int64_t>(taken);
            back += got[q] - taken;
            if (taken < missing) hungry.push_back(q);
        }
        borrowers = std::move(hungry);
        return back;
    }

    const Case& judged_;
    Dim dim_;
    std::map<QueueId, std::vector<QueueId>> below_;  // none: those that no quota is above; by name
    std::map<QueueId, std::int64_t> own_;
    std::map<QueueId, std::int64_t> asked_;
    std::map<QueueId, std::int64_t> shares_;
};

}  // namespace

std::int64_t FairShares::runtime(QueueId quota, Dim dim) {
    const auto [at, fresh] = known_.try_emplace(dim);
    if (fresh) at->second = Division(judged_, dim).work_out();
    return at->second.at(quota);
}

}  // namespace reprieve
