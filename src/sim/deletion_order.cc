#include "sim/deletion_order.h"

#include <algorithm>
#include <bit>

namespace reprieve {
namespace {

Time time_at(const Json& body, JsonPath path) { return parse_time(text_at(body, path)).value_or(Time()); }

Time ready_since(const Store::Entry& entry) {
    const Json* conditions = find_path(entry.body, {"status", "conditions"});
    if (conditions != nullptr && conditions->is_array()) {
        for (const Json& condition : *conditions) {
            if (text_at(condition, {"type"}) != "Ready") continue;
            if (const Time since = time_at(condition, {"lastTransitionTime"}); since.is_set()) return since;
        }
    }
    return entry.pod().started;
}

std::int64_t restarts_of(const Json& body) {
    std::int64_t most = 0;
    const Json* statuses = find_path(body, {"status", "containerStatuses"});
    if (statuses == nullptr || !statuses->is_array()) return most;
    for (const Json& status : *statuses)
        most = std::max(most, number_at(status, {"restartCount"}, 0));
    return most;
}

// Ages are told apart only by powers of two; within one of these the UID decides, so that not always the newest go.
int age_class(Time now, Time since) {
    return now <= since ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>((now - since).us)));
}

}  // namespace

DeletionOrder::DeletionOrder(const Store& store, const std::vector<SlotId>& related) : store_(store) {
    for (SlotId slot : related) {
        if (const StringId node = store.at(slot).pod().node) ++by_node_[node];
    }
}

std::int64_t DeletionOrder::mates(const Pod& pod) const {
    const auto found = by_node_.find(pod.node);
    return pod.node && found != by_node_.end() ? found->second : 0;
}

bool DeletionOrder::operator()(SlotId first, SlotId second) const {
    const Store::Entry& a = store_.at(first);
    const Store::Entry& b = store_.at(second);
    const Pod& x = a.pod();
    const Pod& y = b.pod();
    if (x.node.valid() != y.node.valid()) return !x.node.valid();
    if (x.phase != y.phase) return x.phase == PodPhase::kPending;
    if (x.ready != y.ready) return !x.ready;
    if (x.more().deletion_cost != y.more().deletion_cost) return x.more().deletion_cost < y.more().deletion_cost;
    if (mates(x) != mates(y)) return mates(x) > mates(y);
    const auto younger = [&](Time one, Time other) {
        const int left = age_class(store_.now(), one);
        const int right = age_class(store_.now(), other);
        return left != right ? left < right : a.uid() < b.uid();
    };
    if (x.ready && ready_since(a) != ready_since(b)) return younger(ready_since(a), ready_since(b));
    if (restarts_of(a.body) != restarts_of(b.body)) return restarts_of(a.body) > restarts_of(b.body);
    if (x.created != y.created) return younger(x.created, y.created);
    return a.key.name < b.key.name;
}

}  // namespace reprieve
