#include "referee/marks.h"

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

std::string text_in(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& part(const Json& object, const char* key) {
    static const Json kNone = Json::object();
    const auto found = object.find(key);
    return found != object.end() && (found->is_object() || found->is_array()) ? *found : kNone;
}

std::string full_name(const Json& object) {
    const Json& metadata = part(object, "metadata");
    return text_in(metadata, "namespace") + "/" + text_in(metadata, "name");
}

// UIDs are of this form everywhere; anything else after "pod " is a sentence.
bool looks_like_uid(const std::string& word) {
    if (word.size() != 36) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash != (word[i] == '-')) return false;
    }
    return true;
}

bool looks_like_name(const std::string& word) {
    const std::size_t slash = word.find('/');
    return slash != std::string::npos && slash > 0 && slash + 1 < word.size() &&
           word.find('/', slash + 1) == std::string::npos;
}

// "default-scheduler: preempting to accommodate ..."
std::string scheduler_in(const std::string& message) {
    const std::size_t colon = message.find(": preempting to accommodate");
    return colon == std::string::npos ? std::string() : message.substr(0, colon);
}

void take_preemptor(EvictionMark& mark, const std::string& message) {
    // Koordinator names both; the gang counts where there is one.
    for (const char* before : {"preemptor: ", "triggerPod: "}) {
        if (const std::string word = word_after(message, before); mark.by_name.empty() && looks_like_name(word))
            mark.by_name = word;
    }
    // kube-scheduler, by version: a name, a UID, a type and a UID.
    for (const char* before :
         {"Preempted by podgroup ", "Preempted by compositepodgroup ", "Preempted by pod ", "Preempted by "}) {
        const std::string word = word_after(message, before);
        if (mark.by_uid.empty() && looks_like_uid(word)) mark.by_uid = word;
        if (mark.by_name.empty() && looks_like_name(word)) mark.by_name = word;
    }
    // Reprieve, in Events and in marks.
    for (const char* before : {"Preempted for ", "reprieve: preempted for "}) {
        if (const std::string word = word_after(message, before); mark.by_name.empty() && looks_like_name(word))
            mark.by_name = word;
    }
    // Kueue.
    if (const std::string word = word_after(message, "(UID: "); mark.by_uid.empty() && looks_like_uid(word))
        mark.by_uid = word;
    // KAI.
    for (const char* before : {"preempted by higher priority workload ", "preempted by workload "}) {
        if (const std::string word = word_after(message, before); mark.by_name.empty() && looks_like_name(word))
            mark.by_name = word;
    }
}

}  // namespace

std::string word_after(std::string_view text, std::string_view before) {
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + before.size());
    std::string word(text.substr(0, text.find_first_of(" ,;)\n")));
    while (word.ends_with('.'))
        word.pop_back();
    return word;
}

std::optional<EvictionMark> mark_of_pod(std::string_view pod_json) {
    const Json pod = Json::parse(pod_json, nullptr, false);
    if (!pod.is_object()) return std::nullopt;
    for (const Json& condition : part(part(pod, "status"), "conditions")) {
        if (!condition.is_object() || text_in(condition, "status") != "True") continue;
        const std::string type = text_in(condition, "type");
        const std::string reason = text_in(condition, "reason");
        EvictionMark mark{.victim = full_name(pod)};
        if (type == "DisruptionTarget" && reason == "PreemptionByScheduler") {
            const std::string message = text_in(condition, "message");
            mark.scheduler = scheduler_in(message);
            take_preemptor(mark, message);
            return mark;
        }
        if (type == "TerminationTarget" && reason == "WorkloadEvicted") {
            mark.scheduler = "kueue";
            take_preemptor(mark, text_in(condition, "message"));
            return mark;
        }
        if (type == "DisruptionTarget") {
            mark.no_preemption = true;
            return mark;
        }
    }
    return std::nullopt;
}

std::optional<EvictionMark> mark_of_event(std::string_view event_json) {
    const Json event = Json::parse(event_json, nullptr, false);
    if (!event.is_object()) return std::nullopt;
    const std::string reason = text_in(event, "reason");
    std::string note = text_in(event, "note");
    if (note.empty()) note = text_in(event, "message");
    const Json& regarding = event.contains("regarding") ? part(event, "regarding") : part(event, "involvedObject");
    const std::string kind = text_in(regarding, "kind");
    const std::string about = text_in(regarding, "namespace") + "/" + text_in(regarding, "name");
    EvictionMark mark;
    mark.scheduler = text_in(event, "reportingController");
    if (mark.scheduler.empty()) mark.scheduler = text_in(part(event, "source"), "component");
    const Json& related = part(event, "related");
    const auto take_related = [&] {
        if (text_in(related, "name").empty()) return;
        mark.by_name = text_in(related, "namespace") + "/" + text_in(related, "name");
    };
    if (reason == "Preempted" && kind == "Pod") {
        // The kubelet makes room for critical pods in its own way.
        if (note.find("Preempted in order to admit critical pod") != std::string::npos) return std::nullopt;
        mark.victim = about;
        take_related();
        take_preemptor(mark, note);
        return mark;
    }
    if (reason == "Evict" && kind == "Pod" && note.starts_with("Pod is evicted, because of ")) {  // Volcano
        mark.victim = about;
        return mark;
    }
    if (reason == "Evict" && kind == "PodGroup") {  // KAI
        const std::string victim = word_after(note, "Pod ");
        if (!looks_like_name(victim) || note.find(" was preempted by ") == std::string::npos) return std::nullopt;
        mark.victim = victim;
        const Json& notes = part(part(event, "metadata"), "annotations");
        for (const auto& [key, value] : notes.items()) {
            if (key.ends_with("evictor-pod-group-name") && value.is_string()) mark.by_name = value.get<std::string>();
        }
        for (const auto& [key, value] : notes.items()) {
            if (key.ends_with("evictor-pod-group-namespace") && value.is_string() && !mark.by_name.empty())
                mark.by_name = value.get<std::string>() + "/" + mark.by_name;
        }
        if (mark.by_name.empty()) take_preemptor(mark, note);
        return mark;
    }
    if (reason == "PreemptedWorkload" && kind == "Workload") {  // Kueue, on the beneficiary
        mark.workload = word_after(note, "Preempted workload ");
        mark.by_name = about;
        mark.scheduler = "kueue";
        return mark;
    }
    return std::nullopt;
}

std::optional<EvictionMark> mark_of_workload(std::string_view workload_json) {
    const Json workload = Json::parse(workload_json, nullptr, false);
    if (!workload.is_object()) return std::nullopt;
    for (const Json& condition : part(part(workload, "status"), "conditions")) {
        if (!condition.is_object() || text_in(condition, "status") != "True" ||
            text_in(condition, "type") != "Preempted")
            continue;
        EvictionMark mark{.victim = {}, .workload = full_name(workload), .scheduler = "kueue"};
        take_preemptor(mark, text_in(condition, "message"));
        return mark;
    }
    return std::nullopt;
}

}  // namespace reprieve
