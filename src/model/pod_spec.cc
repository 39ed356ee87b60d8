#include "model/pod_spec.h"

#include <type_traits>

#include "base/hash.h"

namespace reprieve {
namespace {

// Folds values into one hash; one `add` per type of field, so that a forgotten type does not compile.
class Digest {
public:
    template <class Tag>
    void add(Id<Tag> id) {
        fold(id.value());
    }
    template <class T>
        requires(std::is_integral_v<T> || std::is_enum_v<T>)
    void add(T value) {
        fold(static_cast<std::uint64_t>(value));
    }
    template <class T>
    void add(const std::vector<T>& items) {
        fold(items.size());
        for (const T& item : items)
            add(item);
    }
    void add(const Resources& resources) {
        fold(resources.size());
        for (const Resources::Amount& amount : resources)
            add_all(amount.dim, amount.value);
    }
    void add(const Requirement& x) { add_all(x.key, x.op, x.values, x.bound); }
    void add(const LabelSelector& x) { add_all(x.null, x.requirements); }
    void add(const NodeSelectorTerm& x) { add_all(x.labels, x.names); }
    void add(const PreferredNodeTerm& x) { add_all(x.weight, x.term); }
    void add(const Toleration& x) { add_all(x.key, x.exists, x.value, x.effect); }
    void add(const PodAffinityTerm& x) { add_all(x.topology_key, x.selector, x.namespaces, x.namespace_selector); }
    void add(const PreferredPodTerm& x) { add_all(x.weight, x.term); }
    void add(const SpreadConstraint& x) {
        add_all(x.topology_key, x.selector, x.max_skew, x.min_domains, x.hard, x.honor_node_affinity, x.honor_taints);
    }
    void add(const HostPort& x) { add_all(x.ip, x.protocol, x.port); }
    void add(const VolumeUse& x) { add_all(x.kind, x.id, x.read_only); }
    void add(const DeviceAsk& x) {
        add_all(x.whole_dim, x.whole, x.shares, x.share_memory, x.share_milli, x.share_memory_milli, x.dialect);
        add_all(x.same_group, x.policy);
    }
    void add(const ClaimEntry& x) { add_all(x.name, x.claim, x.from_template); }
    void add(const ExtendedAsk& x) { add_all(x.resource, x.request, x.count); }
    template <class... Fields>
    void add_all(const Fields&... fields) {
        (add(fields), ...);
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    void fold(std::uint64_t value) { value_ = mix_hash(value_, value); }

    std::uint64_t value_ = 0;
};

}  // namespace

std::uint64_t PodSpec::hash() const {
    Digest digest;
    digest.add_all(requests,
                   score_cpu,
                   score_memory,
                   node_terms,
                   node_selector,
                   node_affinity_required,
                   preferred_nodes,
                   tolerations,
                   affinity,
                   anti_affinity,
                   preferred_pods,
                   spread,
                   ports,
                   volumes,
                   images,
                   devices,
                   claims,
                   extended,
                   scheduler,
                   host);
    return digest.value();
}

}  // namespace reprieve
