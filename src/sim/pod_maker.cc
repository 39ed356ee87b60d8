#include "sim/pod_maker.h"

#include <string_view>

#include "sim/derived_objects.h"

namespace reprieve {
namespace {

// The letters that generateName uses: no vowels, so no words.
constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr int kSuffixLength = 5;

// What schedulers wrote on a pod about the place it had.
constexpr const char* kNotesOfOnePlace[] = {"reprieve.dev/plan",
                                            "reprieve.dev/devices",
                                            "reprieve.dev/claimed-by",
                                            "reprieve.dev/last-checkpoint",
                                            "controller.kubernetes.io/pod-deletion-cost",
                                            "scheduling.koordinator.sh/device-allocated",
                                            "scheduling.koordinator.sh/soft-eviction"};

}  // namespace

Json reference_to(const Store::Entry& owner) {
    return {{"apiVersion", text_at(owner.body, {"apiVersion"})},
            {"kind", text_at(owner.body, {"kind"})},
            {"name", owner.key.name},
            {"uid", owner.uid()},
            {"controller", true}};
}

std::string PodMaker::fresh_name(const std::string& ns, const std::string& prefix) {
    while (true) {
        std::string name = prefix + "-";
        std::uint64_t bits = store_.random();
        for (int i = 0; i < kSuffixLength; ++i) {
            name += kLetters[bits % kLetters.size()];
            bits /= kLetters.size();
        }
        if (!store_.slots().contains({"Pod", ns, name})) return name;
    }
}

Json PodMaker::from_template(const Json* pod_template, const Store::Entry& owner, const std::string& name) const {
    Json pod = pod_from_template(pod_template, reference_to(owner), name);
    pod["metadata"]["namespace"] = owner.key.ns;
    return pod;
}

Json PodMaker::again(const Json& lost, const std::string& name) const {
    Json pod = lost;
    Json& metadata = pod["metadata"];
    metadata["name"] = name;
    for (const char* part :
         {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"})
        metadata.erase(part);
    for (const char* note : kNotesOfOnePlace)
        erase_path(pod, {"metadata", "annotations", note});
    erase_path(pod, {"spec", "nodeName"});
    pod["status"] = {{"phase", "Pending"}};
    return pod;
}

void PodMaker::create(Json pod) { static_cast<void>(store_.put(std::move(pod))); }

}  // namespace reprieve
