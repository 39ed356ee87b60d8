#include "search/in_the_way.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "state/claim_questions.h"

namespace reprieve {
namespace {

void add_key(std::vector<TopologyKeyId>& keys, TopologyKeyId key) {
    if (key && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
}

bool matches(const PodClass& cls, TermId term) { return std::ranges::binary_search(cls.matched, term); }

}  // namespace

InTheWay::Nature InTheWay::nature_of(const Session& session, const PodClass& mine, const PodClass& theirs) {
    const Snapshot& s = session.snapshot;
    Nature out;
    if (session.filters.on(FilterId::kInterPodAffinity)) {
        for (TermId t : mine.anti_affinity) {
            if (matches(theirs, t)) add_key(out.keys, s.terms[t].key);
        }
        for (TermId t : theirs.anti_affinity) {
            if (matches(mine, t)) add_key(out.keys, s.terms[t].key);
        }
        out.anywhere =
            mine.affinity_to_itself && std::ranges::any_of(mine.affinity, [&](TermId t) { return matches(theirs, t); });
    }
    if (session.filters.on(FilterId::kPodTopologySpread)) {
        for (const ClassSpread& c : mine.spread) {
            if (c.hard && matches(theirs, c.term)) add_key(out.keys, c.key);
        }
    }
    if (session.filters.on(FilterId::kVolumeRestrictions)) {
        const auto shared = [&](const ClassVolume& v) {
            return v.single_pod && std::ranges::any_of(theirs.volumes, [&](const ClassVolume& w) {
                       return w.claim == v.claim && w.kind == v.kind;
                   });
        };
        out.anywhere = out.anywhere || std::ranges::any_of(mine.volumes, shared);
    }
    return out;
}

InTheWay::InTheWay(const Session& session, const Candidate& candidate) : snapshot_(session.snapshot) {
    const Snapshot& s = session.snapshot;
    if (session.filters.node_local(s, candidate.cls)) return;
    by_claim_ = candidate.cls.has_claims && session.filters.on(FilterId::kDynamicResources) &&
                !s.device_claims.pools.all_local();
    std::map<ClassId, Nature> natures;
    for (NodeId node : s.nodes_by_name) {
        for (PodId pod : s.node_pods[node]) {
            if (s.pods[pod].state != PodState::kRunning) continue;
            const auto [at, fresh] = natures.try_emplace(s.pods[pod].cls);
            if (fresh) at->second = nature_of(session, candidate.cls, s.class_of(pod));
            const Nature& nature = at->second;
            if (nature.anywhere) anywhere_.push_back(pod);
            for (TopologyKeyId key : nature.keys) {
                const std::int32_t domain = s.topology.domain(key, node.index());
                if (domain == TopologyIndex::kNoDomain) continue;
                add_key(keys_, key);
                in_domains_.push_back({key, domain, pod});
            }
        }
    }
    std::ranges::sort(in_domains_);
}

void InTheWay::on(NodeId node, std::vector<PodId>& out) const {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (TopologyKeyId key : keys_) {
        const std::int32_t domain = snapshot_.topology.domain(key, node.index());
        if (domain == TopologyIndex::kNoDomain) continue;
        auto at = std::ranges::lower_bound(
            in_domains_, std::tuple(key, domain), {}, [](const InDomain& d) { return std::tuple(d.key, d.domain); });
        for (; at != in_domains_.end() && at->key == key && at->domain == domain; ++at)
            out.push_back(at->pod);
    }
    out.insert(out.end(), anywhere_.begin(), anywhere_.end());
    if (by_claim_) {
        const std::vector<PodId> holders = device_holders_elsewhere(snapshot_, std::span(&node, 1));
        out.insert(out.end(), holders.begin(), holders.end());
    }
    std::ranges::sort(out.begin() + first, out.end());
    const auto repeated = std::ranges::unique(out.begin() + first, out.end());
    out.erase(repeated.begin(), repeated.end());
    std::erase_if(out, [&](PodId pod) {
        return snapshot_.pods[pod].node == node || snapshot_.pods[pod].state != PodState::kRunning;
    });
}

}  // namespace reprieve
