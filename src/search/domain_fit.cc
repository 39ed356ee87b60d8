#include "search/domain_fit.h"

#include <algorithm>

#include "search/placement_stands.h"
#include "search/whole_devices.h"

namespace reprieve {

std::vector<Resources::Amount> sum_requests(const Snapshot& s, std::span<const PodId> pods) {
    Resources sum;
    for (PodId pod : pods) {
        for (const auto& [dim, value] : s.class_of(pod).requests)
            sum.add(dim, value);
    }
    std::vector<Resources::Amount> out(sum.begin(), sum.end());
    std::ranges::sort(out, [&](const auto& a, const auto& b) { return s.words->comes_before(a.dim, b.dim); });
    return out;
}

bool DomainFit::can_count(const Session& session, Placer& placer, std::span<const PodId> members) {
    const Snapshot& s = session.snapshot;
    return session.keep_in_mind.empty() && session.filters.on(FilterId::kNodeResourcesFit) &&
           std::ranges::all_of(members,
                               [&](PodId p) {
                                   const PodClass& cls = s.class_of(p);
                                   const DeviceAsk& ask = s.words->spec(cls.spec).devices;
                                   return cls.spec == s.class_of(members.front()).spec &&
                                          session.filters.node_local(s, cls) && !cls.has_ports && cls.volumes.empty() &&
                                          ask.shares == 0 && !ask.same_group;
                               }) &&
           (!s.class_of(members.front()).has_claims || placer.counted_claims(members) != nullptr);
}

DomainFit::DomainFit(Session& session, Placer& placer, std::span<const PodId> members, const TopologySeat& seat)
    : session_(session),
      placer_(placer),
      members_(members.begin(), members.end()),
      seat_(seat),
      need_(sum_requests(session.snapshot, members)),
      ask_(session.limits.ask_of(members)) {
    const Snapshot& s = session.snapshot;
    inside_.resize(s.nodes.size(), seat.domain.nodes.empty());
    for (NodeId node : seat.domain.nodes)
        inside_[node.index()] = true;
    counts_ = seat.plain() && can_count(session, placer, members_);
    if (counts_ && s.class_of(members_.front()).has_claims) {
        claims_ = placer.counted_claims(members_);
        const auto counts_on = [&](NodeId node) { return !accepts(node) || claims_->counts_on(node); };
        counts_ = std::ranges::all_of(this->nodes(), counts_on);
    }
    if (!counts_) return;
    slots_.resize(s.nodes.size());
    for (NodeId node : nodes()) {
        slots_[node.index()] = slots(node);
        total_ += slots_[node.index()];
    }
}

std::span<const NodeId> DomainFit::nodes() const {
    return seat_.domain.nodes.empty() ? session_.snapshot.nodes_by_name : seat_.domain.nodes;
}

std::int64_t DomainFit::total_if_empty() const {
    std::int64_t total = 0;
    for (NodeId node : nodes()) {
        if (!accepts(node)) continue;
        const Resources& has = session_.snapshot.facts->node(node)->allocatable;
        std::int64_t most = wanted();
        for (const auto& [dim, value] : ask())
            if (value > 0 && !served_by_claim(node, dim)) most = std::min(most, has.get(dim) / value);
        total += claims_ == nullptr ? most : claims_->fit_if_empty(node, most);
    }
    return total;
}

std::int64_t DomainFit::slots(NodeId node) const {
    const Snapshot& s = session_.snapshot;
    const PodId like = members_.front();
    if (!accepts(node)) return 0;
    std::int64_t most = wanted();
    for (const auto& [dim, value] : s.class_of(like).requests) {
        if (served_by_claim(node, dim)) continue;
        const std::int64_t free = s.later.free(node, dim);
        most = std::min(most, free < value ? 0 : free / value);
    }
    const DeviceAsk& ask = s.spec_of(like).devices;
    if (ask.whole > 0 && most > 0 && session_.filters.on(FilterId::kDevices) && !served_by_claim(node, ask.whole_dim)) {
        const auto idle = std::ranges::count_if(s.later.use(node).devices, [](const DeviceUse& u) { return u.idle(); });
        most = std::min<std::int64_t>(most, idle / ask.whole);
    }
    return claims_ == nullptr ? most : claims_->fit(node, s.later.claim_book(), most);
}

bool DomainFit::by_amounts() const {
    const DeviceAsk& ask = session_.snapshot.spec_of(members_.front()).devices;
    return std::ranges::all_of(nodes(), [&](NodeId node) {
        return served_by_claim(node, ask.whole_dim) || devices_by_amounts(session_, ask, node);
    });
}

void DomainFit::changed(std::span<const PodId> pods) {
    if (!counts_) return;
    for (PodId pod : pods) {
        const NodeId node = session_.snapshot.pods[pod].node;
        if (!node || !inside_[node.index()]) continue;
        const std::int64_t now = slots(node);
        total_ += now - slots_[node.index()];
        slots_[node.index()] = now;
    }
}

bool DomainFit::within_limits() const { return session_.limits.admit(session_.snapshot.later, ask_); }

std::string DomainFit::limit_breach() const { return session_.limits.describe(session_.snapshot.later, ask_); }

bool DomainFit::passes() {
    if (!within_limits()) return false;
    if (counts_) return total_ >= wanted();
    const auto mark = session_.tx.checkpoint();
    const std::int64_t before = placer_.gave_up();
    const bool placed = place_in_seat(session_, placer_, members_, View::kLater, seat_, 0);
    const auto others_stand = [&] {
        return std::ranges::all_of(session_.keep_in_mind, [&](PodId pod) { return placement_stands(session_, pod); });
    };
    const bool beside_them = placed && others_stand();
    session_.tx.rollback(mark);
    // The members are only promised: the others must stand without them, too. That does not depend on where they are.
    if (placed && beside_them && !others_stand()) return false;
    // Other places for the members might leave the others standing.
    certain_ = certain_ && (placed ? beside_them : placer_.gave_up() == before);
    return beside_them;
}

bool DomainFit::may_pass() {
    if (!within_limits()) return false;
    const auto mark = session_.tx.checkpoint();
    const std::int64_t before = placer_.gave_up();
    const Filters::MonotonePart relaxed(session_.filters);
    const bool placed = place_in_seat(session_, placer_, members_, View::kLater, seat_, 0);
    session_.tx.rollback(mark);
    return placed || placer_.gave_up() != before;
}

std::vector<std::uint32_t> DomainFit::places() {
    const Snapshot& s = session_.snapshot;
    const auto mark = session_.tx.checkpoint();
    std::vector<std::uint32_t> out;
    if (place_in_seat(session_, placer_, members_, View::kLater, seat_, 0)) {
        for (PodId pod : members_)
            out.push_back(s.nodes[s.pods[pod].node].rank);
    }
    session_.tx.rollback(mark);
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
}

}  // namespace reprieve
