#include "app/run_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/amounts.h"
#include "app/display_text.h"
#include "model/soft_eviction.h"

namespace reprieve {
namespace {

std::string pair(const char* key, const std::string& value) {
    return value.empty() ? std::string() : fmt::format(" {}={}", key, log_value(value));
}

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

}  // namespace

std::string log_value(const std::string& text) {
    const std::string harmless = neutral(text);
    if (!harmless.empty() && harmless.find_first_of(" \"=") == std::string::npos) return harmless;
    std::string out = "\"";
    for (char c : harmless) {
        if (c == '"') out += '\\';
        out += c;
    }
    return out + "\"";
}

// Nodes come and go seldom enough to be told; pods are told of when something is decided about them.
void RunLog::on_change(const Change& change, const Cluster& cluster, Time now) {
    const auto* node = std::get_if<Node>(&change.object);
    if (!begun_ || node == nullptr) return;
    const std::string name = cluster.words().str(node->name);
    const NodeId id = cluster.find_node(node->name);
    if (change.removed)
        line(now, fmt::format("nodeLost node={}", log_value(name)));
    else if (!id)
        line(now, fmt::format("nodeAdded node={}", log_value(name)));
    else if (cluster.node(id)->unschedulable != node->unschedulable)
        line(now, fmt::format("{} node={}", node->unschedulable ? "nodeCordoned" : "nodeUncordoned", log_value(name)));
}

void RunLog::on_cycle(const CycleReport& report) {
    begun_ = true;
    for (const Violation& v : report.violations)
        line(report.now,
             fmt::format(
                 "auditFailed rule={} object={} what={}", log_value(v.rule), log_value(v.object), log_value(v.what)));
    if (!report.violations.empty()) line(report.now, "planDropped");
    for (const Eviction& e : report.news) {
        line(report.now,
             fmt::format(
                 "{}{}{}{}{}{}{}",
                 e.mode == EvictionMode::kSoft ? "softEvict" : "evict",
                 pair("pod", e.pod),
                 pair("node", e.node),
                 pair("for", e.owner),
                 pair("action", e.action),
                 e.mode == EvictionMode::kDelete || e.mode == EvictionMode::kSoft ? "" : pair("mode", to_text(e.mode)),
                 pair("reason", e.reason)));
    }
    for (const AnnotationChange& change : report.plan.annotations) {
        if (std::ranges::find(change.remove, SoftEviction::kAnnotation) != change.remove.end())
            line(report.now, fmt::format("withdraw{}", pair("pod", change.pod)));
    }
    tell_serving(report);
    tell_queues(report);
    tell_placements(report);
    tell_unplaced(report);
}

// What is asked for again, because it has not been seen done yet, is no news.
void RunLog::tell_serving(const CycleReport& report) {
    std::set<std::string> asked;
    const auto tell = [&](std::string what) {
        if (!serving_.contains(what)) line(report.now, what);
        asked.insert(std::move(what));
    };
    for (const ScaleChange& s : report.plan.scale)
        tell(fmt::format(
            "scale{}{} from={} to={}", pair("deployment", s.deployment), pair("plane", s.plane), s.from, s.to));
    for (const std::string& pod : report.plan.force_deletes)
        tell(fmt::format("forceDelete{}", pair("pod", pod)));
    serving_ = std::move(asked);
}

// Where queues are balanced: what each deserves, is granted and still waits for, whenever that changes.
void RunLog::tell_queues(const CycleReport& report) {
    std::map<std::string, std::string> told;
    for (const QueueReport& queue : report.plan.queues) {
        if (!queue.shares.contains("preempting")) continue;
        std::string what;
        for (const char* share : {"deserved", "allocated", "used", "preempting"}) {
            if (const auto at = queue.shares.find(share); at != queue.shares.end())
                what += pair(share, amounts_words(at->second));
        }
        if (const auto before = queues_.find(queue.name); before == queues_.end() || before->second != what)
            line(report.now, fmt::format("queue{}{}", pair("name", queue.name), what));
        told.emplace(queue.name, std::move(what));
    }
    queues_ = std::move(told);
}

void RunLog::tell_placements(const CycleReport& report) {
    std::map<std::string, std::string> promised;
    for (const Placement& p : report.plan.placements) {
        if (p.after_evictions) promised.emplace(p.pod, p.node);
    }
    for (const std::string& pod : report.plan.nominations_cleared) {
        if (!promised.contains(pod)) line(report.now, fmt::format("clear{}", pair("pod", pod)));
    }
    for (const Placement& p : report.plan.placements) {
        const auto before = promised_.find(p.pod);
        if (p.after_evictions && before != promised_.end() && before->second == p.node) continue;
        line(report.now,
             fmt::format("{}{}{}{}{}{}",
                         p.after_evictions ? "nominate" : "bind",
                         pair("pod", p.pod),
                         pair("node", p.node),
                         pair("devices", joined(p.devices)),
                         pair("for", p.owner),
                         pair("action", p.action)));
    }
    promised_ = std::move(promised);
}

void RunLog::tell_unplaced(const CycleReport& report) {
    std::map<std::string, std::string> waiting;
    for (const Unplaced& u : report.plan.unplaced) {
        const std::string name = u.pod.empty() ? fmt::format("{} ({} replicas)", u.owner, u.replicas) : u.pod;
        // That one pod more or less is in the way is no news.
        std::string gist = u.reason;
        std::erase_if(gist, [](char c) { return c >= '0' && c <= '9'; });
        if (waiting_[name] != gist)
            line(report.now,
                 fmt::format("{}{}{}", u.never ? "never" : "wait", pair("pod", name), pair("reason", u.reason)));
        waiting.emplace(name, std::move(gist));
    }
    waiting_ = std::move(waiting);
}

void RunLog::on_step(const SinkReport& report, Time now) {
    if (report.ok) return;
    line(now,
         fmt::format("failed step={}{}{}", to_text(report.step), pair("pod", report.pod), pair("what", report.what)));
}

void RunLog::on_trouble(const std::string& what, Time now) { line(now, fmt::format("trouble{}", pair("what", what))); }

}  // namespace reprieve
