#include "kube/announcer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "kube/bodies.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestNote = 1024;
// A reason that only changes in its numbers is not worth a write every cycle.
constexpr Duration kOtherMessageAfter{30'000'000};

// Cut between characters, not within one.
std::string shortened(std::string text) {
    if (text.size() <= kLongestNote) return text;
    std::size_t end = kLongestNote - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    text.resize(end);
    return text + "...";
}

std::string events_path(const std::string& ns, const std::string& name = {}) {
    std::string path = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", ns);
    return name.empty() ? path : fmt::format("{}/{}", path, name);
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string Announcer::why(const Unplaced& entry) {
    if (!entry.reason.empty()) return shortened(entry.reason);
    std::string text;
    for (const auto& [reason, nodes] : entry.nodes)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nodes, reason);
    return shortened(std::move(text));
}

void Announcer::bound(const Placement& placement, Time now) {
    told_.erase(placement.pod);
    send({placement.pod,
          placement.uid,
          "Normal",
          "Scheduled",
          "Binding",
          fmt::format("Successfully assigned {} to {}", placement.pod, placement.node)},
         now);
}

void Announcer::preempted(const Eviction& eviction, Time now) {
    std::string note = fmt::format("Preempted {} on node {} by {}", for_whom(eviction), eviction.node, eviction.action);
    if (!eviction.reason.empty()) note += ": " + eviction.reason;
    send({eviction.pod, eviction.uid, "Normal", "Preempted", "Preempting", shortened(std::move(note))}, now);
}

void Announcer::unplaced(const Plan& plan) {
    std::set<std::string_view> waiting;
    for (const Unplaced& entry : plan.unplaced) {
        waiting.insert(entry.pod);
        unplaced(entry, plan.now);
    }
    std::erase_if(told_, [&](const auto& told) { return !waiting.contains(told.first); });
}

void Announcer::unplaced(const Unplaced& entry, Time now) {
    if (entry.pod.empty()) return;
    const KnownPod known = outbox_->pods().find(entry.pod);
    if (known.uid.empty()) return;  // gone, or not seen yet
    const std::string message = why(entry);
    tell_condition(entry.pod, known.uid, message, now);
    send({entry.pod, known.uid, "Warning", "FailedScheduling", "Scheduling", message}, now);
}

void Announcer::tell_condition(const std::string& pod, const std::string& uid, const std::string& message, Time now) {
    Told& told = told_[pod];
    if (told.uid == uid && (told.message == message || now - told.at < kOtherMessageAfter)) return;
    told = {uid, message, now};
    HttpRequest request;
    request.method = "PATCH";
    request.path = pod_path(pod, "status");
    request.content_type = kStrategicPatch;
    request.body_now = [uid, message, now] { return unschedulable_body(uid, message, now); };
    request.rank = HttpRequest::kNews;
    outbox_->tell(std::move(request), [this, pod](const HttpAnswer& answer) {
        if (!answer.ok()) told_.erase(pod);
    });
}

void Announcer::send(const News& news, Time now) {
    const std::size_t slash = news.pod.find('/');
    const std::string ns = news.pod.substr(0, slash);
    const std::string name = news.pod.substr(slash + 1);
    const std::string about = fmt::format("{} {}", news.uid, news.reason);
    const EventAdvice advice = book_.advise(about, name, news.note, now);
    if (advice.what == EventAdvice::What::kSkip) return;

    HttpRequest request;
    request.rank = HttpRequest::kNews;
    if (advice.what == EventAdvice::What::kCountUp) {
        request.method = "PATCH";
        request.path = events_path(ns, advice.name);
        request.content_type = kMergePatch;
        request.body = dump({{"series", {{"count", advice.count}, {"lastObservedTime", micro_time(now)}}}});
        outbox_->tell(std::move(request), [this, about](const HttpAnswer& answer) {
            if (answer.status == 404) book_.forget(about);
        });
        return;
    }
    request.method = "POST";
    request.path = events_path(ns);
    request.body_now = [this, news, event = advice.name, now] { return event_body(news, event, now); };
    outbox_->tell(std::move(request));
}

// Made when its turn comes: in a storm most news is given up before.
std::string Announcer::event_body(const News& news, const std::string& event, Time now) const {
    const std::size_t slash = news.pod.find('/');
    const std::string ns = news.pod.substr(0, slash);
    const std::string name = news.pod.substr(slash + 1);
    return dump(
        {{"apiVersion", "events.k8s.io/v1"},
         {"kind", "Event"},
         {"metadata", {{"name", event}, {"namespace", ns}}},
         {"eventTime", micro_time(now)},
         {"reportingController", options_.controller},
         {"reportingInstance", options_.instance},
         {"type", news.type},
         {"reason", news.reason},
         {"action", news.action},
         {"note", news.note},
         {"regarding", {{"apiVersion", "v1"}, {"kind", "Pod"}, {"namespace", ns}, {"name", name}, {"uid", news.uid}}}});
}

}  // namespace reprieve
