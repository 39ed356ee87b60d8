// WordMarks: which words of a Vocabulary are still in use, found by a walk over everything that names them.
//
// Words are not counted one by one: facts hold plain ids, and thousands come and go a minute. Instead, once the
// vocabulary has grown to twice what was in use the last time, its owner marks every word that a fact or a row still
// names, and the others are forgotten; so memory follows what is there, at a cost that follows what came. A fact's
// fields are listed by structured bindings: a field that is added and not listed does not compile.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/objects.h"
#include "model/vocabulary.h"

namespace reprieve {

class WordMarks {
public:
    explicit WordMarks(const Vocabulary& words)
        : words_(words),
          strings_(words.string_slots()),
          labels_(words.labels_slots()),
          specs_(words.spec_slots()) {}

    // Marks every word in these values.
    template <class... Ts>
    void all(const Ts&... values) {
        (one(values), ...);
    }

    [[nodiscard]] const std::vector<bool>& strings() const { return strings_; }
    [[nodiscard]] const std::vector<bool>& labels() const { return labels_; }
    [[nodiscard]] const std::vector<bool>& specs() const { return specs_; }

private:
    // Without words.
    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
    void one(const T&) {}
    void one(const std::string&) {}
    void one(Time) {}
    void one(Duration) {}
    void one(Dim) {}
    void one(const Resources&) {}
    void one(DialectSet) {}
    void one(const DeviceHold&) {}
    void one(const DeviceAsk&) {}
    void one(const IntOrPercent&) {}

    void one(StringId id) {
        if (id) strings_[id.index()] = true;
    }
    void one(LabelsId id) {
        if (!id || labels_[id.index()]) return;
        labels_[id.index()] = true;
        one(words_.labels(id));
    }
    void one(SpecId id) {
        if (!id || specs_[id.index()]) return;
        specs_[id.index()] = true;
        one(words_.spec(id));
    }
    void one(const Labels& labels) {
        for (const auto& [key, value] : labels)
            all(key, value);
    }

    template <class T>
    void one(const std::vector<T>& values) {
        for (const T& value : values)
            one(value);
    }
    template <class T>
    void one(const std::set<T>& values) {
        for (const T& value : values)
            one(value);
    }
    template <class T>
    void one(const std::optional<T>& value) {
        if (value) one(*value);
    }
    template <class A, class B>
    void one(const std::pair<A, B>& pair) {
        all(pair.first, pair.second);
    }
    template <class... Ts>
    void one(const std::variant<Ts...>& value) {
        std::visit([this](const auto& held) { one(held); }, value);
    }

    void one(const Requirement& v) {
        const auto& [key, op, values, bound] = v;
        all(key, op, values, bound);
    }
    void one(const LabelSelector& v) {
        const auto& [null, requirements] = v;
        all(null, requirements);
    }
    void one(const NodeSelectorTerm& v) {
        const auto& [labels, names] = v;
        all(labels, names);
    }
    void one(const Toleration& v) {
        const auto& [key, exists, value, effect] = v;
        all(key, exists, value, effect);
    }
    void one(const PreferredNodeTerm& v) {
        const auto& [weight, term] = v;
        all(weight, term);
    }
    void one(const PodAffinityTerm& v) {
        const auto& [key, selector, namespaces, namespace_selector] = v;
        all(key, selector, namespaces, namespace_selector);
    }
    void one(const PreferredPodTerm& v) {
        const auto& [weight, term] = v;
        all(weight, term);
    }
    void one(const SpreadConstraint& v) {
        const auto& [key, selector, skew, domains, hard, affinity, taints] = v;
        all(key, selector, skew, domains, hard, affinity, taints);
    }
    void one(const HostPort& v) {
        const auto& [ip, protocol, port] = v;
        all(ip, protocol, port);
    }
    void one(const VolumeUse& v) {
        const auto& [kind, id, read_only] = v;
        all(kind, id, read_only);
    }
    void one(const ClaimEntry& v) {
        const auto& [name, claim, from_template] = v;
        all(name, claim, from_template);
    }
    void one(const ExtendedAsk& v) {
        const auto& [resource, request, count] = v;
        all(resource, request, count);
    }
    void one(const PodSpec& v) {
        const auto& [requests,
                     cpu,
                     memory,
                     node_terms,
                     node_selector,
                     required,
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
                     scheduler,
                     host,
                     claims,
                     extended] = v;
        all(requests, cpu, memory, node_terms, node_selector, required, preferred_nodes, tolerations, affinity);
        all(anti_affinity, preferred_pods, spread, ports, volumes, images, devices, scheduler, host, claims, extended);
    }
    void one(const Taint& v) {
        const auto& [key, value, effect] = v;
        all(key, value, effect);
    }
    void one(const Device& v) {
        const auto& [index, memory, numa, group, milli, sharers, id] = v;
        all(index, memory, numa, group, milli, sharers, id);
    }
    void one(const NamedHold& v) {
        const auto& [by, name, index, memory, milli] = v;
        all(by, name, index, memory, milli);
    }
    void one(const Image& v) {
        const auto& [name, bytes] = v;
        all(name, bytes);
    }
    void one(const Node& v) {
        const auto& [name, labels, offers, taints, devices, dim, dialects, images, cordoned, ready, no_resize] = v;
        all(name, labels, offers, taints, devices, dim, dialects, images, cordoned, ready, no_resize);
    }
    void one(const OwnerRef& v) {
        const auto& [kind, name, uid] = v;
        all(kind, name, uid);
    }
    void one(const PlanNote& v) {
        const auto& [id, node, victims, devices, deadline] = v;
        all(id, node, victims, devices, deadline);
    }
    void one(const PodExtras& v) {
        const auto& [preemptible,
                     marker,
                     min_runtime,
                     restart_cost,
                     checkpoint,
                     devices,
                     named,
                     plan,
                     claimed_by,
                     rank,
                     deletion_cost,
                     has_cost,
                     quota_preemptible,
                     can_preempt,
                     soft_eviction,
                     gang_groups,
                     gang_min,
                     claim_statuses,
                     extended_claim,
                     resize_held,
                     hold] = v;
        all(preemptible, marker, min_runtime, restart_cost, checkpoint, devices, named, plan, claimed_by, rank);
        all(deletion_cost, has_cost, quota_preemptible, can_preempt, soft_eviction, gang_groups, gang_min);
        all(claim_statuses, extended_claim, resize_held, hold);
    }
    void one(const Pod& v) {
        const auto& [ns,
                     name,
                     uid,
                     labels,
                     spec,
                     priority,
                     priority_class,
                     preemption_policy,
                     node,
                     nominated,
                     phase,
                     created,
                     started,
                     deleting,
                     grace,
                     owner,
                     group,
                     role,
                     queue,
                     is_quota,
                     gated,
                     mirror,
                     ready,
                     target,
                     extras] = v;
        all(ns, name, uid, labels, spec, priority, priority_class, preemption_policy, node, nominated, phase, created);
        all(started, deleting, grace, owner, group, role, queue, is_quota, gated, mirror, ready, target);
        if (extras) one(*extras);
    }
    void one(const Settings& v) {
        const auto& [preemptible, marker, min_runtime, restart_cost] = v;
        all(preemptible, marker, min_runtime, restart_cost);
    }
    void one(const PriorityClass& v) {
        const auto& [name, value, is_default, policy, settings, minimum, toleration] = v;
        all(name, value, is_default, policy, settings, minimum, toleration);
    }
    void one(const Namespace& v) {
        const auto& [name, labels] = v;
        all(name, labels);
    }
    void one(const TopologyRule& v) {
        const auto& [hard, tier, tier_name, label_key] = v;
        all(hard, tier, tier_name, label_key);
    }
    void one(const SubGroupPolicy& v) {
        const auto& [name, selector, keys, size, min, topology] = v;
        all(name, selector, keys, size, min, topology);
    }
    void one(const Gang& v) {
        const auto& [ns,
                     name,
                     uid,
                     dialect,
                     min,
                     roles,
                     sub_groups,
                     topology,
                     queue,
                     priority_class,
                     priority,
                     policy,
                     disruption,
                     min_resources,
                     parent,
                     peers,
                     plan,
                     settings,
                     created,
                     hold] = v;
        all(ns, name, uid, dialect, min, roles, sub_groups, topology, queue, priority_class, priority, policy);
        all(disruption, min_resources, parent, peers, plan, settings, created, hold);
    }
    void one(const CompositeGroup& v) {
        const auto& [ns, name, parent, min, disruption, priority_class, priority, policy, topology] = v;
        all(ns, name, parent, min, disruption, priority_class, priority, policy, topology);
    }
    void one(const Queue& v) {
        const auto& [name,
                     ns,
                     is_quota,
                     parent,
                     is_parent,
                     tree,
                     weight,
                     priority,
                     open,
                     reclaimable,
                     deserved,
                     guarantee,
                     limit,
                     shared_weight,
                     lends,
                     min_scales,
                     tree_total,
                     namespaces,
                     allocated,
                     request,
                     over_since,
                     settings] = v;
        all(name, ns, is_quota, parent, is_parent, tree, weight, priority, open, reclaimable, deserved, guarantee);
        all(limit, shared_weight, lends, min_scales, tree_total, namespaces, allocated, request, over_since, settings);
    }
    void one(const HyperNodeMember& v) {
        const auto& [is_node, match, text, selector] = v;
        all(is_node, match, text, selector);
    }
    void one(const HyperNode& v) {
        const auto& [name, tier, tier_name, members] = v;
        all(name, tier, tier_name, members);
    }
    void one(const DisruptionBudget& v) {
        const auto& [ns, name, selector, min, max, allowed, disrupted] = v;
        all(ns, name, selector, min, max, allowed, disrupted);
    }
    void one(const Workload& v) {
        const auto& [kind,
                     ns,
                     name,
                     uid,
                     owner,
                     labels,
                     selector,
                     replicas,
                     status,
                     updated,
                     desired,
                     requests,
                     priority,
                     priority_class] = v;
        all(kind, ns, name, uid, owner, labels, selector, replicas, status, updated, desired, requests);
        all(priority, priority_class);
    }
    void one(const ServingPlane& v) {
        const auto& [name, score, committed] = v;
        all(name, score, committed);
    }
    void one(const ServingDeployment& v) {
        const auto& [ns, name, priority, priority_class, replicas, resources, planes] = v;
        all(ns, name, priority, priority_class, replicas, resources, planes);
    }
    void one(const PersistentVolume& v) {
        const auto& [name,
                     storage_class,
                     labels,
                     capacity,
                     modes,
                     filesystem,
                     node_terms,
                     required,
                     claim_ns,
                     claim_name,
                     available,
                     deleting,
                     driver,
                     handle] = v;
        all(name, storage_class, labels, capacity, modes, filesystem, node_terms, required, claim_ns, claim_name);
        all(available, deleting, driver, handle);
    }
    void one(const VolumeClaim& v) {
        const auto& [ns,
                     name,
                     storage_class,
                     written,
                     volume,
                     request,
                     modes,
                     filesystem,
                     selector,
                     node,
                     lost,
                     deleting,
                     hold] = v;
        all(ns, name, storage_class, written, volume, request, modes, filesystem, selector, node, lost, deleting, hold);
    }
    void one(const StorageClass& v) {
        const auto& [name, provisioner, waits, is_default, topologies] = v;
        all(name, provisioner, waits, is_default, topologies);
    }
    void one(const CsiNode& v) {
        const auto& [name, limits] = v;
        all(name, limits);
    }
    void one(const CsiDriver& v) {
        const auto& [name, tells] = v;
        all(name, tells);
    }
    void one(const CsiStorageCapacity& v) {
        const auto& [ns, name, storage_class, nodes, limit] = v;
        all(ns, name, storage_class, nodes, limit);
    }

    // Devices by claim.
    void one(const QualifiedName& v) {
        const auto& [domain, id] = v;
        all(domain, id);
    }
    void one(const DeviceAttribute& v) {
        const auto& [name, value] = v;
        all(name);  // values are texts and numbers
    }
    void one(const DeviceCapacity& v) {
        const auto& [name, value, policy] = v;
        all(name);
    }
    void one(const NamedCounter& v) {
        const auto& [name, value] = v;
        all(name);
    }
    void one(const CounterSet& v) {
        const auto& [name, counters] = v;
        all(name, counters);
    }
    void one(const DeviceTaint& v) {
        const auto& [key, value, effect] = v;
        all(key, value, effect);
    }
    void one(const DeviceReach& v) {
        const auto& [node, all_nodes, terms] = v;
        all(node, all_nodes, terms);
    }
    void one(const PooledDevice& v) {
        const auto& [name, attributes, capacity, consumes, taints, binding, reach, binds, shareable] = v;
        all(name, attributes, capacity, *consumes, *taints, *reach, binds, shareable);
    }
    void one(const ResourceSlice& v) {
        const auto& [name, driver, pool, generation, count, reach, per_device, devices, counters, trouble] = v;
        all(name, driver, pool, generation, count, reach, per_device, devices, counters, trouble);
    }
    void one(const DeviceClass& v) {
        const auto& [name, selectors, resource, created] = v;
        all(name, resource, created);  // selectors are texts
    }
    void one(const DeviceToleration& v) {
        const auto& [key, exists, value, effect] = v;
        all(key, exists, value, effect);
    }
    void one(const DeviceWish& v) {
        const auto& [name, cls, selectors, mode, count, admin, tolerations, amounts, trouble] = v;
        all(name, cls, mode, count, admin, tolerations, trouble);
    }
    void one(const DeviceRequest& v) {
        const auto& [name, wishes, first_available, resource] = v;
        all(name, wishes, first_available, resource);
    }
    void one(const DeviceConstraint& v) {
        const auto& [requests, attribute, distinct] = v;
        all(requests, attribute, distinct);
    }
    void one(const ClaimSpec& v) {
        const auto& [requests, constraints, trouble] = v;
        all(requests, constraints, trouble);
    }
    void one(const ConsumedAmount& v) {
        const auto& [name, value] = v;
        all(name);
    }
    void one(const AllocatedDevice& v) {
        const auto& [request, driver, pool, device, admin, share, consumed] = v;
        all(request, driver, pool, device, admin, share, consumed);
    }
    void one(const ClaimAllocation& v) {
        const auto& [devices, nodes, not_ready, failed, since] = v;
        all(devices, nodes);
    }
    void one(const ResourceClaim& v) {
        const auto& [ns, name, uid, owner, deleting, extended, spec, allocation, consumers] = v;
        all(ns, name, uid, owner, deleting, extended, spec, allocation);  // consumers are texts
    }
    void one(const ResourceClaimTemplate& v) {
        const auto& [ns, name, spec] = v;
        all(ns, name, spec);
    }
    void one(const DeviceTaintRule& v) {
        const auto& [name, selects, driver, pool, device, taint] = v;
        all(name, selects, driver, pool, device, taint);
    }

    const Vocabulary& words_;
    std::vector<bool> strings_;
    std::vector<bool> labels_;
    std::vector<bool> specs_;
};

}  // namespace reprieve
