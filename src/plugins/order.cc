#include "plugins/order.h"

namespace reprieve {

bool pod_before(const Snapshot& s, PodId a, PodId b) {
    const PodRow& x = s.pods[a];
    const PodRow& y = s.pods[b];
    if (x.priority != y.priority) return x.priority > y.priority;
    if (x.created != y.created) return x.created < y.created;
    return s.name_less(a, b);
}

bool demand_before(const Snapshot& s, const Demand& a, const Demand& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.nominated != b.nominated) return a.nominated;
    if (a.created != b.created) return a.created < b.created;
    return s.name_less(a.first(), b.first());
}

}  // namespace reprieve
