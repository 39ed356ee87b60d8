#include "state/snapshot.h"

#include <fmt/format.h>

#include "state/cluster.h"

namespace reprieve {

std::string Snapshot::pod_name(PodId pod) const {
    const Pod& fact = facts->pod(pod);
    return fmt::format("{}/{}", words->text(fact.ns), fact.name);
}

std::string_view Snapshot::node_name(NodeId node) const {
    const Node* fact = facts->node(node);
    return fact == nullptr ? std::string_view() : words->text(fact->name);
}

std::string Snapshot::gang_name(GangId gang) const {
    return fmt::format("{}/{}", words->text(gangs[gang].ns), words->text(gangs[gang].name));
}

bool Snapshot::name_less(PodId a, PodId b) const {
    const Pod& x = facts->pod(a);
    const Pod& y = facts->pod(b);
    if (x.ns != y.ns) return words->text(x.ns) < words->text(y.ns);
    return x.name < y.name;
}

bool same_occupation(const Snapshot& a, const Snapshot& b) {
    if (a.pods != b.pods || a.holds != b.holds || a.node_pods != b.node_pods || a.now != b.now || a.later != b.later)
        return false;
    for (BudgetId id : IdRange<BudgetId>(a.budgets.size())) {
        if (a.budgets[id].left != b.budgets[id].left) return false;
    }
    for (GangId id : IdRange<GangId>(a.gangs.size())) {
        if (a.gangs[id].live != b.gangs[id].live) return false;
    }
    return true;
}

}  // namespace reprieve
