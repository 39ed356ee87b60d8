// PromisedCounts: of the pods that each term matches, those that this transaction has put where they are.
//
// Occupancy counts everybody who will be there. A nominated pod may never come, so rules that must not rest on such
// pods (required affinity, hard spread) ask for the difference. Follows the transaction's ops, signs included: what
// was undone is not counted.
#pragma once

#include <cstdint>

#include "state/occupancy.h"

namespace reprieve {

class PromisedCounts {
public:
    void add(const Geometry& geometry, const PodClass& cls, NodeId node, bool nominated, int sign) {
        if (cls.matched.empty()) return;
        if (all_.size() < geometry.terms->size()) {
            all_.resize(geometry.terms->size());
            nominated_.resize(geometry.terms->size());
            totals_.resize(geometry.terms->size());
        }
        for (TermId term : cls.matched) {
            const TopologyKeyId key = (*geometry.terms)[term].key;
            const std::int32_t place =
                key ? geometry.topology->domain(key, node.index()) : static_cast<std::int32_t>(node.index());
            if (place == TopologyIndex::kNoDomain) continue;
            const std::size_t places = key ? geometry.topology->domain_count(key) : geometry.devices->size();
            all_[term].add(static_cast<std::size_t>(place), sign, places);
            if (!nominated) continue;
            nominated_[term].add(static_cast<std::size_t>(place), sign, places);
            totals_[term] += sign;
            if (!key) log_.note(term, node.index(), sign);
        }
    }

    // Placed or nominated by this transaction, at a place (a node, or a domain of the term's key).
    [[nodiscard]] std::int32_t at(TermId term, std::int32_t place) const {
        return term.index() < all_.size() ? all_[term].at(static_cast<std::size_t>(place)) : 0;
    }
    // Of those, the nominated.
    [[nodiscard]] std::int32_t nominated(TermId term, std::int32_t place) const {
        return term.index() < nominated_.size() ? nominated_[term].at(static_cast<std::size_t>(place)) : 0;
    }
    [[nodiscard]] std::int64_t nominated_total(TermId term) const {
        return term.index() < totals_.size() ? totals_[term] : 0;
    }
    [[nodiscard]] const PlaceCounts<std::int32_t>* nominated(TermId term) const {
        return term.index() < nominated_.size() ? &nominated_[term] : nullptr;
    }
    // Changes of what is nominated, for terms that are counted by node.
    [[nodiscard]] const TermLog& log() const { return log_; }

private:
    IdVector<TermId, PlaceCounts<std::int32_t>> all_;
    IdVector<TermId, PlaceCounts<std::int32_t>> nominated_;
    IdVector<TermId, std::int64_t> totals_;
    TermLog log_;
};

}  // namespace reprieve
