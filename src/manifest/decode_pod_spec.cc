// The pod spec, apart from affinity, spread and volumes.
#include <fmt/format.h>

#include "manifest/decode_selector.h"
#include "manifest/pod_draft.h"
#include "manifest/preemption_policies.h"

namespace reprieve {
namespace {

constexpr std::pair<std::string_view, Protocol> kProtocols[] = {
    {"TCP", Protocol::kTcp}, {"UDP", Protocol::kUdp}, {"SCTP", Protocol::kSctp}};
constexpr std::pair<std::string_view, TaintEffect> kEffects[] = {{"", TaintEffect::kAny},
                                                                 {"NoSchedule", TaintEffect::kNoSchedule},
                                                                 {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
                                                                 {"NoExecute", TaintEffect::kNoExecute}};

void decode_resources(Cursor& at, Resources& requests, Resources& limits) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "requests"_key:
                f->read(requests);
                break;
            case "limits"_key:
                f->read(limits);
                break;
            default:
                break;
        }
    }
}

void decode_port(Cursor& at, PortDraft& out) {
    std::int32_t host = 0;
    std::int32_t container = 0;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "hostPort"_key:
                f->read(host, 0, UINT16_MAX);
                break;
            case "containerPort"_key:
                f->read(container, 0, UINT16_MAX);
                break;
            case "protocol"_key:
                f->choose(out.port.protocol, kProtocols);
                break;
            case "hostIP"_key:
                f->read(out.port.ip);
                break;
            default:
                break;
        }
    }
    const std::string_view ip = at.words().text(out.port.ip);
    if (ip == "0.0.0.0" || ip == "::") out.port.ip = {};
    out.port.port = static_cast<std::uint16_t>(host);
    out.container_port = static_cast<std::uint16_t>(container);
}

// The node's name for an image without a tag ends in ":latest".
StringId image_name(Vocabulary& words, std::string_view image) {
    const std::size_t colon = image.rfind(':');
    const std::size_t slash = image.rfind('/');
    const bool tagged = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
    return tagged ? words.string(image) : words.string(std::string(image) + ":latest");
}

void decode_container(Cursor& at, bool init, PodDraft& draft) {
    ContainerDraft& container = draft.containers.emplace_back();
    container.init = init;
    const std::size_t first_port = draft.ports.size();
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "name"_key:
                f->read(container.name);
                break;
            case "image"_key: {
                std::string_view image;
                f->read(image);
                if (!init && !image.empty()) draft.shape.images.push_back(image_name(at.words(), image));
                break;
            }
            case "resources"_key:
                decode_resources(*f, container.requests, container.limits);
                break;
            case "ports"_key:
                for (Items item(*f); item.next();)
                    decode_port(*item, draft.ports.emplace_back());
                break;
            case "restartPolicy"_key: {
                std::string_view policy;
                f->read(policy);
                container.restartable = init && policy == "Always";
                break;
            }
            default:
                break;
        }
    }
    for (std::size_t i = first_port; i < draft.ports.size(); ++i)
        draft.ports[i].counts = !init || container.restartable;
}

// False: its operator belongs to a newer Kubernetes, so it tolerates nothing here. Better a pod that waits than an
// input that cannot be read.
bool read_toleration_operator(Cursor& at, Toleration& out) {
    std::string_view word;
    at.read(word);
    out.exists = word == "Exists";
    if (out.exists || word.empty() || word == "Equal") return true;
    at.reading().warn(
        fmt::format("toleration operator \"{}\" is not known: such a toleration tolerates nothing", word));
    return false;
}

void decode_toleration(Cursor& at, std::vector<Toleration>& tolerations) {
    Toleration out;
    bool known = true;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "key"_key:
                f->read(out.key);
                break;
            case "operator"_key:
                known = read_toleration_operator(*f, out);
                break;
            case "value"_key:
                f->read(out.value);
                break;
            case "effect"_key:
                f->choose(out.effect, kEffects);
                break;
            default:
                break;
        }
    }
    if (!known) return;
    if (!out.key && !out.exists) at.wrong("has no key: then its operator must be Exists");
    if (out.exists && out.value) at.wrong("has a value: then its operator must not be Exists");
    tolerations.push_back(out);
}

void decode_node_selector(Cursor& at, PodDraft& draft) {
    for (Fields f(at); f.next();) {
        std::string_view value;
        f->read(value);
        draft.shape.node_selector.push_back(equals(at.words().string(f.key()), at.words().string(value)));
    }
}

void decode_scheduling_group(Cursor& at, PodDraft& draft) {
    for (Fields f(at); f.next();) {
        if (f.id() == "podGroupName"_key) f->read(draft.group);
    }
}

}  // namespace

void PodDraft::clear() {
    containers_at = nullptr;
    shape = {};
    containers.clear();
    statuses.clear();
    pod_requests.reset();
    pod_limits.reset();
    overhead = {};
    ports.clear();
    affinity.clear();
    spread.clear();
    volumes.clear();
    host_network = false;
    priority.reset();
    priority_class = {};
    preemption_policy.reset();
    node = {};
    group = {};
    gated = false;
    grace_seconds.reset();
    unsupported.clear();
}

void decode_pod_spec(Cursor& at, PodDraft& draft) {
    for (Fields f(at); f.next();)
        decode_pod_spec_field(f, draft);
}

void decode_pod_spec_field(Fields& f, PodDraft& draft) {
    switch (f.id()) {
        case "containers"_key:
            draft.containers_at = f->location();
            for (Items item(*f); item.next();)
                decode_container(*item, false, draft);
            break;
        case "initContainers"_key:
            for (Items item(*f); item.next();)
                decode_container(*item, true, draft);
            break;
        case "resources"_key:
            decode_resources(*f, draft.pod_requests.emplace(), draft.pod_limits.emplace());
            break;
        case "overhead"_key:
            f->read(draft.overhead);
            break;
        case "nodeName"_key:
            f->read(draft.node);
            break;
        case "schedulerName"_key:
            f->read(draft.shape.scheduler);
            break;
        case "nodeSelector"_key:
            decode_node_selector(*f, draft);
            break;
        case "affinity"_key:
            decode_affinity(*f, draft);
            break;
        case "tolerations"_key:
            for (Items item(*f); item.next();)
                decode_toleration(*item, draft.shape.tolerations);
            break;
        case "topologySpreadConstraints"_key:
            decode_spread(*f, draft);
            break;
        case "volumes"_key:
            decode_volumes(*f, draft);
            break;
        case "resourceClaims"_key:
            decode_claim_entries(*f, draft);
            break;
        case "hostNetwork"_key:
            f->read(draft.host_network);
            break;
        case "priority"_key:
            f->read(draft.priority);
            break;
        case "priorityClassName"_key:
            f->read(draft.priority_class);
            break;
        case "preemptionPolicy"_key:
            f->choose(draft.preemption_policy, kPreemptionPolicies);
            break;
        case "schedulingGates"_key:
            for (Items item(*f); item.next();)
                draft.gated = true;
            break;
        case "schedulingGroup"_key:
            decode_scheduling_group(*f, draft);
            break;
        case "terminationGracePeriodSeconds"_key:
            f->read(draft.grace_seconds);
            break;
        default:
            break;
    }
}

void finish_shape(Reading& reading, PodDraft& draft, const Metadata& metadata, PodRequests requests) {
    Vocabulary& words = reading.words();
    PodSpec& shape = draft.shape;
    if (std::string fault = take_device_ask(words, requests.requests, shape.devices); !fault.empty()) {
        reading.fail("spec.containers", std::move(fault), draft.containers_at);
        if (reading.failed()) return;
    }
    find_extended_asks(draft, words);
    requests.requests.drop_zeros();
    requests.requests.set(kPods, 1);
    shape.requests = std::move(requests.requests);
    shape.score_cpu = requests.score_cpu;
    shape.score_memory = requests.score_memory;
    if (!shape.scheduler) shape.scheduler = words.string("default-scheduler");

    for (PortDraft& port : draft.ports) {
        if (port.port.port == 0 && draft.host_network) port.port.port = port.container_port;
        if (port.counts && port.port.port != 0) shape.ports.push_back(port.port);
    }
    for (VolumeDraft& volume : draft.volumes) {
        if (!volume.ephemeral_name.empty())
            volume.use.id = words.string(fmt::format("{}-{}", metadata.name, volume.ephemeral_name));
        shape.volumes.push_back(volume.use);
    }
    std::sort(shape.images.begin(), shape.images.end());  // a repeated image counts again
    sort_unique(shape.ports);
    drop_repeated(shape.volumes);
    sort_unique(shape.tolerations);
    sort_unique(shape.node_selector);
}

}  // namespace reprieve
