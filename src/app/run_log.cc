#include "app/run_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/soft_eviction.h"
#include "text/amounts.h"

namespace reprieve {
namespace {

constexpr Duration kAlikeWithin{10'000'000};

// "cpu:3,memory:9Gi".
std::string amounts_words(const NamedAmounts& amounts) {
    std::string out;
    for (const auto& [resource, value] : amounts)
        out += fmt::format("{}{}:{}", out.empty() ? "" : ",", resource, human_amount(resource, value));
    return out;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts)
        out += (out.empty() ? "" : ",") + part;
    return out;
}

// How many nodes fit changes all the time; why they do not is news.
std::string without_numbers(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
    }
    return out;
}

}  // namespace

// Nodes come and go seldom enough to be told; pods are told of when something is decided about them.
void RunLog::on_change(const Change& change, const Cluster& cluster, Time now) {
    const auto* node = std::get_if<Node>(&change.object);
    if (!begun_ || node == nullptr) return;
    const std::string name = cluster.words().str(node->name);
    const NodeId id = cluster.find_node(node->name);
    if (change.removed)
        line(now, {.event = "nodeLost", .fields = {{"node", name}}});
    else if (!id)
        line(now, {.event = "nodeAdded", .fields = {{"node", name}}});
    else if (cluster.node(id)->unschedulable != node->unschedulable)
        line(now, {.event = node->unschedulable ? "nodeCordoned" : "nodeUncordoned", .fields = {{"node", name}}});
}

void RunLog::tell_alike(Time now) {
    if (failed_.alike > 0)
        line(now,
             {.event = "failed",
              .fields = {{"step", to_text(failed_.step)},
                         {"what", failed_.what},
                         {"alike", fmt::format("{} more", failed_.alike)}},
              .level = LogLevel::kWarn});
    failed_.alike = 0;
}

void RunLog::on_cycle(const CycleReport& report) {
    begun_ = true;
    if (report.now - failed_.at >= kAlikeWithin) tell_alike(report.now);
    for (const Violation& v : report.violations)
        line(report.now,
             {.event = "auditFailed",
              .fields = {{"rule", v.rule}, {"object", v.object}, {"what", v.what}},
              .level = LogLevel::kError});
    for (const std::string& owner : report.refused)
        line(report.now, {.event = "setAside", .fields = {{"demand", owner}}, .level = LogLevel::kWarn});
    if (!report.sound) line(report.now, {.event = "planDropped", .level = LogLevel::kError});
    for (const Eviction& e : report.news) {
        line(report.now,
             {.event = e.mode == EvictionMode::kSoft ? "softEvict" : "evict",
              .fields = {
                  {"pod", e.pod},
                  {"node", e.node},
                  {"for", e.owner},
                  {"action", e.action},
                  {"mode", e.mode == EvictionMode::kDelete || e.mode == EvictionMode::kSoft ? "" : to_text(e.mode)},
                  {"reason", e.reason}}});
    }
    for (const AnnotationChange& change : report.plan.annotations) {
        if (std::ranges::find(change.remove, SoftEviction::kAnnotation) != change.remove.end())
            line(report.now, {.event = "withdraw", .fields = {{"pod", change.pod}}});
    }
    tell_serving(report);
    tell_queues(report);
    tell_placements(report);
    tell_unplaced(report);
}

// What is asked for again, because it has not been seen done yet, is no news.
void RunLog::tell_serving(const CycleReport& report) {
    std::set<std::string> asked;
    const auto tell = [&](const LogLine& what) {
        if (!serving_.contains(as_text(what))) line(report.now, what);
        asked.insert(as_text(what));
    };
    for (const ScaleChange& s : report.plan.scale) {
        tell({.event = "scale",
              .fields = {{"deployment", s.deployment},
                         {"plane", s.plane},
                         {"from", std::to_string(s.from)},
                         {"to", std::to_string(s.to)}}});
    }
    for (const std::string& pod : report.plan.force_deletes)
        tell({.event = "forceDelete", .fields = {{"pod", pod}}});
    serving_ = std::move(asked);
}

// Where queues are balanced: what each deserves, is granted and still waits for, whenever that changes.
void RunLog::tell_queues(const CycleReport& report) {
    std::map<std::string, std::string> told;
    for (const QueueReport& queue : report.plan.queues) {
        if (!queue.shares.contains("preempting")) continue;
        LogLine what{.event = "queue", .fields = {{"name", queue.name}}};
        for (const char* share : {"deserved", "allocated", "used", "preempting"}) {
            if (const auto at = queue.shares.find(share); at != queue.shares.end())
                what.fields.emplace_back(share, amounts_words(at->second));
        }
        if (const auto before = queues_.find(queue.name); before == queues_.end() || before->second != as_text(what))
            line(report.now, what);
        told.emplace(queue.name, as_text(what));
    }
    queues_ = std::move(told);
}

void RunLog::tell_placements(const CycleReport& report) {
    std::map<std::string, std::string> promised;
    for (const Placement& p : report.plan.placements) {
        if (p.after_evictions) promised.emplace(p.pod, p.node);
    }
    for (const std::string& pod : report.plan.nominations_cleared) {
        if (!promised.contains(pod)) line(report.now, {.event = "clear", .fields = {{"pod", pod}}});
    }
    for (const Placement& p : report.plan.placements) {
        const auto before = promised_.find(p.pod);
        if (p.after_evictions && before != promised_.end() && before->second == p.node) continue;
        line(report.now,
             {.event = p.after_evictions ? "nominate" : "bind",
              .fields = {{"pod", p.pod},
                         {"node", p.node},
                         {"devices", joined(p.devices)},
                         {"for", p.owner},
                         {"action", p.action}}});
    }
    promised_ = std::move(promised);
}

void RunLog::tell_unplaced(const CycleReport& report) {
    for (auto& [pod, waiting] : waiting_)
        waiting.still = false;
    for (const Unplaced& u : report.plan.unplaced) {
        const std::string name =
            u.pod.empty() ? fmt::format("{} ({} replica{})", u.owner, u.replicas, u.replicas == 1 ? "" : "s") : u.pod;
        const char* event = u.never ? "never" : "wait";
        Waiting& waiting = waiting_[name];
        waiting.still = true;
        std::string words = event + without_numbers(u.reason);
        if (waiting.words == words) continue;
        waiting.words = std::move(words);
        line(report.now, {.event = event, .fields = {{"pod", name}, {"reason", u.reason}}});
    }
    std::erase_if(waiting_, [](const auto& one) { return !one.second.still; });
}

void RunLog::on_step(const SinkReport& report, Time now) {
    if (report.ok) return;
    // Whoever loses the lease, or the API server, fails a thousand times in the same way.
    if (report.step == failed_.step && report.what == failed_.what && now - failed_.at < kAlikeWithin) {
        ++failed_.alike;
        return;
    }
    tell_alike(now);
    failed_ = {.step = report.step, .what = report.what, .at = now};
    line(now,
         {.event = "failed",
          .fields = {{"step", to_text(report.step)}, {"pod", report.pod}, {"what", report.what}},
          .level = LogLevel::kWarn});
}

void RunLog::on_trouble(const std::string& what, Time now) {
    line(now, {.event = "trouble", .fields = {{"what", what}}, .level = LogLevel::kWarn});
}

}  // namespace reprieve
