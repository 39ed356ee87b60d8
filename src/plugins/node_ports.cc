// The filter NodePorts: a host port is free if nobody on the node has it on the same address; no address means every
// one.
#include "plugins/filter.h"

namespace reprieve {

Answer filter_node_ports(const Candidate& c, const Occupancy& view, NodeId node) {
    if (!c.cls.has_ports) return {};
    for (const HostPort& wanted : c.spec.ports) {
        for (const PortUse& used : view.use(node).ports) {
            if (used.port.port != wanted.port || used.port.protocol != wanted.protocol) continue;
            if (!used.port.ip || !wanted.ip || used.port.ip == wanted.ip)
                return {Fit::kNotNow, FilterId::kNodePorts, wanted.port};
        }
    }
    return {};
}

}  // namespace reprieve
