#include "manifest/pod_notes.h"

#include <fmt/format.h>

#include "manifest/kai_notes.h"

namespace reprieve {
namespace {

// The names of the pod's gang in several dialects; they must agree.
class GangName {
public:
    GangName(Reading& reading, StringId from_spec)
        : reading_(&reading),
          name_(from_spec),
          said_by_("spec.schedulingGroup") {}

    void add(const Note& note) {
        StringId name;
        note.read(*reading_, name);
        if (!name || name == name_) return;
        if (name_) {
            const Vocabulary& words = reading_->words();
            return note.wrong(
                *reading_,
                fmt::format("names gang \"{}\", but {} names \"{}\"", words.text(name), said_by_, words.text(name_)));
        }
        name_ = name;
        said_by_ = note.path();
    }
    [[nodiscard]] StringId name() const { return name_; }

private:
    Reading* reading_;
    StringId name_;
    std::string said_by_;
};

// False: says nothing about gangs.
bool read_gang_note(Reading& reading, const Note& note, Pod& pod, GangName& gang) {
    switch (note.id()) {
        case "scheduling.k8s.io/group-name"_key:
        case "scheduling.x-k8s.io/pod-group"_key:
        case "pod-group.scheduling.sigs.k8s.io"_key:
        case "pod-group.scheduling.sigs.k8s.io/name"_key:
        case "gang.scheduling.koordinator.sh/name"_key:
            gang.add(note);
            return true;
        case "gang.scheduling.koordinator.sh/min-available"_key:
        case "pod-group.scheduling.sigs.k8s.io/min-available"_key:
            note.read(reading, pod.make_extras().koordinator_min, 0);
            return true;
        case "gang.scheduling.koordinator.sh/groups"_key:
            note.read(reading, pod.make_extras().koordinator_gang_groups);
            note.read_json(reading, [](Cursor& at) {
                for (Items item(at); item.next();) {
                    std::string_view peer;
                    item->read(peer);
                    if (peer.empty()) return item->wrong("is empty");
                }
            });
            return true;
        case "gang.scheduling.koordinator.sh/mode"_key:
            if (note.text(reading) == "NonStrict") reading.warn("gang mode NonStrict is ignored: gangs are strict");
            return true;
        case "gang.scheduling.koordinator.sh/match-policy"_key:
        case "pod-group.scheduling.sigs.k8s.io/match-policy"_key:
            reading.warn("gang match-policy is ignored");
            return true;
        case "volcano.sh/task-spec"_key:
            note.read(reading, pod.role);
            return true;
        default:
            return false;
    }
}

bool read_queue_note(Reading& reading, const Note& note, Pod& pod) {
    switch (note.id()) {
        case "scheduling.volcano.sh/queue-name"_key:
            note.read(reading, pod.queue);
            pod.queue_is_quota = false;
            return true;
        case "quota.scheduling.koordinator.sh/name"_key:
            if (pod.queue) return true;
            note.read(reading, pod.queue);
            pod.queue_is_quota = pod.queue.valid();
            return true;
        case "quota.scheduling.koordinator.sh/preemptible"_key:
            pod.make_extras().quota_preemptible = note.text(reading) == "true";  // read_setting tells of other words
            return true;
        case "quota.scheduling.koordinator.sh/can-preempt"_key:
            pod.make_extras().can_preempt = note.flag_or(reading, false);
            return true;
        case "scheduling.koordinator.sh/soft-eviction"_key:
            pod.make_extras().soft_eviction = note.text(reading);
            return true;
        case "preemptionrank"_key:
            note.read(reading, pod.make_extras().preemption_rank);
            return true;
        default:
            return false;
    }
}

void read_policy(Reading& reading, const Note& note, DeviceAsk& devices) {
    const std::string_view policy = note.text(reading);
    if (policy != "binpack" && policy != "spread")
        return note.wrong(reading, fmt::format("\"{}\" is not one of: binpack, spread", policy));
    devices.policy = policy == "spread" ? DevicePolicy::kSpread : DevicePolicy::kBinpack;
}

bool read_device_note(Reading& reading, const Note& note, Pod& pod, DeviceAsk& devices) {
    switch (note.id()) {
        case "reprieve.dev/devices"_key:
            pod.make_extras().held_devices.clear();
            read_held_devices(reading, note, pod.make_extras().held_devices);
            return true;
        case "scheduling.koordinator.sh/device-allocated"_key:
            if (pod.more().held_devices.empty())
                read_koordinator_devices(reading, note, pod.make_extras().held_devices);
            return true;
        case "hami.io/vgpu-devices-allocated"_key:
        case "volcano.sh/vgpu-ids-new"_key:
            read_vgpu_devices(reading, note, pod);
            return true;
        case "volcano.sh/gpu-index"_key:
            read_card_indexes(reading, note, pod);
            return true;
        case "reprieve.dev/device-policy"_key:
            read_policy(reading, note, devices);
            return true;
        case "reprieve.dev/same-group"_key:
            note.read(reading, devices.same_group);
            return true;
        default:
            return read_kai_note(reading, note, pod, devices);
    }
}

bool read_own_note(Reading& reading, const Note& note, Pod& pod) {
    switch (note.id()) {
        case "reprieve.dev/last-checkpoint"_key:
            note.read(reading, pod.make_extras().last_checkpoint);
            return true;
        case "reprieve.dev/plan"_key:
            read_plan_note(reading, note, pod.make_extras().plan);
            return true;
        case "reprieve.dev/claimed-by"_key:
            pod.make_extras().claimed_by = note.text(reading);
            return true;
        case "controller.kubernetes.io/pod-deletion-cost"_key:
            note.read(reading, pod.make_extras().deletion_cost, INT32_MIN, INT32_MAX);
            pod.make_extras().has_deletion_cost = true;
            return true;
        case "kubernetes.io/config.mirror"_key:
            pod.mirror = true;
            return true;
        case "kubernetes.io/config.source"_key:
            pod.mirror = pod.mirror || note.text(reading) != "api";
            return true;
        default:
            return false;
    }
}

void take_settings(Settings& settings, Pod& pod) {
    if (settings == Settings{}) return;
    PodExtras& extras = pod.make_extras();
    extras.preemptible = settings.preemptible;
    extras.preemptible_marker = std::move(settings.preemptible_marker);
    extras.min_runtime = settings.min_runtime;
    extras.restart_cost = settings.restart_cost;
}

}  // namespace

void read_pod_notes(Reading& reading, const Metadata& metadata, Pod& pod, DeviceAsk& devices) {
    GangName gang(reading, pod.group);
    Settings settings;
    // Labels first: where an annotation says the same thing, it wins.
    for (const bool labels : {true, false}) {
        for (const Note& note : metadata.notes) {
            if (note.is_label() != labels) continue;
            read_setting(reading, note, settings);
            if (read_gang_note(reading, note, pod, gang)) continue;
            if (read_queue_note(reading, note, pod)) continue;
            if (read_device_note(reading, note, pod, devices)) continue;
            read_own_note(reading, note, pod);
        }
    }
    pod.group = gang.name();
    take_settings(settings, pod);
}

}  // namespace reprieve
