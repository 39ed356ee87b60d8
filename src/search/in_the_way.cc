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

RunningPods::Nature nature_of(const Session& session, const PodClass& mine, const PodClass& theirs) {
    const Snapshot& s = session.snapshot;
    RunningPods::Nature out;
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

}  // namespace

RunningPods::RunningPods(const Session& session) : session_(session), by_class_(session.snapshot.classes.size()) {
    const Snapshot& s = session.snapshot;
    for (NodeId node : s.nodes_by_name) {
        for (PodId pod : s.node_pods[node]) {
            const PodRow& row = s.pods[pod];
            if (row.state != PodState::kRunning && row.state != PodState::kEvicted) continue;
            std::vector<PodId>& pods = by_class_[row.cls.index()];
            if (pods.empty()) classes_.push_back(row.cls);
            pods.push_back(pod);
        }
    }
}

const std::vector<RunningPods::Nature>& RunningPods::in_the_way_of(ClassId mine) {
    const auto [at, fresh] = natures_.try_emplace(mine);
    if (!fresh) return at->second;
    const Snapshot& s = session_.snapshot;
    for (ClassId cls : classes_) {
        Nature nature = nature_of(session_, s.classes[mine], s.classes[cls]);
        nature.cls = cls;
        if (nature.anywhere || !nature.keys.empty()) at->second.push_back(std::move(nature));
    }
    return at->second;
}

InTheWay::InTheWay(const Session& session, const Candidate& candidate) : snapshot_(session.snapshot) {
    const Snapshot& s = session.snapshot;
    if (session.filters.node_local(s, candidate.cls)) return;
    by_claim_ = candidate.cls.has_claims && session.filters.on(FilterId::kDynamicResources) &&
                !s.device_claims.pools.all_local();
    RunningPods& running = session.running();
    for (const RunningPods::Nature& nature : running.in_the_way_of(s.pods[candidate.pod].cls)) {
        for (PodId pod : running.of(nature.cls)) {
            if (s.pods[pod].state != PodState::kRunning) continue;
            if (nature.anywhere) anywhere_.push_back(pod);
            for (TopologyKeyId key : nature.keys) {
                const std::int32_t domain = s.topology.domain(key, s.pods[pod].node.index());
                if (domain == TopologyIndex::kNoDomain) continue;
                add_key(keys_, key);
                in_domains_.push_back({key, domain, pod});
            }
        }
    }
    std::ranges::sort(in_domains_);
}

void InTheWay::append(TopologyKeyId key, NodeId node, std::vector<PodId>& out) const {
    const std::int32_t domain = snapshot_.topology.domain(key, node.index());
    if (domain == TopologyIndex::kNoDomain) return;
    auto at = std::ranges::lower_bound(
        in_domains_, std::tuple(key, domain), {}, [](const InDomain& d) { return std::tuple(d.key, d.domain); });
    for (; at != in_domains_.end() && at->key == key && at->domain == domain; ++at)
        out.push_back(at->pod);
}

void InTheWay::in_domains_of(NodeId node, std::span<const TopologyKeyId> keys, std::vector<PodId>& out) const {
    for (TopologyKeyId key : keys_) {
        if (std::ranges::find(keys, key) != keys.end()) append(key, node, out);
    }
    out.insert(out.end(), anywhere_.begin(), anywhere_.end());
}

void InTheWay::on(NodeId node, std::vector<PodId>& out) const {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (TopologyKeyId key : keys_)
        append(key, node, out);
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

std::vector<PodId> in_the_way_of(const Session& session, std::span<const PodId> placed) {
    const Snapshot& s = session.snapshot;
    std::vector<PodId> out;
    for (PodId pod : placed) {
        const NodeId node = s.pods[pod].node;
        InTheWay(session, Candidate(s, pod)).on(node, out);
        std::ranges::copy_if(
            s.node_pods[node], std::back_inserter(out), [&](PodId p) { return s.pods[p].state == PodState::kRunning; });
    }
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
}

}  // namespace reprieve
