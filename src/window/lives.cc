#include "window/lives.h"

#include <algorithm>
#include <set>

#include "state/pod_named.h"
#include "window/documents.h"
#include "window/facts_json.h"

namespace reprieve::window {
namespace {

constexpr std::size_t kMostDrawn = 300;

void go_over_to(Life& life, const char* state, const std::string& node, Time now) {
    if (!life.spans.empty() && !life.spans.back().to.is_set()) {
        if (life.spans.back().state == state && life.spans.back().node == node) return;
        life.spans.back().to = now;
    }
    life.spans.push_back({.state = state, .from = now, .to = {}, .node = node});
}

std::string full_name(const Cluster& cluster, const Pod& pod) { return cluster.words().str(pod.ns) + "/" + pod.name; }

OrderedJson line_json(const Life& life, Time now) {
    OrderedJson line = OrderedJson::object();
    put(line, "pod", life.pod);
    put(line, "controller", life.controller);
    put(line, "gang", life.gang);
    put(line, "queue", life.queue);
    line["priority"] = life.priority;
    OrderedJson spans = OrderedJson::array();
    for (const Life::Span& span : life.spans) {
        OrderedJson entry{{"state", span.state}, {"from", format_time(span.from)}};
        entry["to"] = format_time(span.to.is_set() ? span.to : now);
        put(entry, "node", span.node);
        spans.push_back(std::move(entry));
    }
    line["spans"] = std::move(spans);
    OrderedJson marks = OrderedJson::array();
    for (const Life::Mark& mark : life.marks) {
        OrderedJson entry{{"at", format_time(mark.at)}, {"what", "evicted"}};
        put(entry, "for", mark.owner);
        put(entry, "action", mark.action);
        put(entry, "decision", mark.decision);
        marks.push_back(std::move(entry));
    }
    line["marks"] = std::move(marks);
    return line;
}

}  // namespace

Life& Lives::begin(const std::string& uid, const Pod& pod, const Cluster& cluster) {
    const auto [it, fresh] = lives_.try_emplace(uid);
    Life& life = it->second;
    if (!fresh) return life;
    life.pod = full_name(cluster, pod);
    if (pod.owner.name) life.controller = cluster.words().str(pod.ns) + "/" + cluster.words().str(pod.owner.name);
    if (pod.group) life.gang = cluster.words().str(pod.ns) + "/" + cluster.words().str(pod.group);
    if (pod.priority) life.priority = *pod.priority;
    life.place = others_.insert(others_.end(), uid);
    return life;
}

void Lives::put_last(Life& life) {
    std::list<std::string>& from = life.is_among_evicted ? evicted_ : others_;
    life.is_among_evicted = !life.marks.empty();
    std::list<std::string>& to = life.is_among_evicted ? evicted_ : others_;
    to.splice(to.end(), from, life.place);
    if (to.size() <= (life.is_among_evicted ? kMostEvicted : kMostOthers)) return;
    lives_.erase(to.front());
    to.pop_front();
}

void Lives::note(const Change& change, const Cluster& cluster, Time now) {
    const Pod* pod = std::get_if<Pod>(&change.object);
    if (pod == nullptr) return;
    if (change.removed) {
        const PodId known = cluster.find_pod(pod->ns, pod->name);
        const auto life = known ? lives_.find(cluster.pod(known).uid) : lives_.end();
        if (life == lives_.end()) return;
        if (!life->second.spans.empty() && !life->second.spans.back().to.is_set()) life->second.spans.back().to = now;
        life->second.over = true;
        return put_last(life->second);
    }
    const auto known = lives_.find(pod->uid);
    if (known == lives_.end() && (pod->node || pod->finished())) return;  // it ran before we looked
    Life& life = begin(pod->uid, *pod, cluster);
    if (life.over) return;
    const std::string node = cluster.words().str(pod->node);
    if (life.spans.empty()) {
        const Time since = pod->created.is_set() && pod->created < now ? pod->created : now;
        life.spans.push_back({.state = "waited", .from = since, .to = {}, .node = ""});
    }
    if (pod->finished()) {
        life.spans.back().to = now;
        life.over = true;
    } else if (pod->terminating()) {
        go_over_to(life, "leaving", node, now);
    } else if (pod->node) {
        go_over_to(life, "ran", node, now);
    }
    put_last(life);
}

void Lives::promised(const std::string& uid, const std::string& node, Time now) {
    const auto life = lives_.find(uid);
    if (life != lives_.end() && !life->second.over) go_over_to(life->second, "promised", node, now);
}

void Lives::evicted(
    const std::string& uid, const Cluster& cluster, const Eviction& eviction, const std::string& decision, Time now) {
    const PodId id = pod_named(cluster, eviction.pod);
    if (!id) return;
    const bool fresh = !lives_.contains(uid);
    Life& life = begin(uid, cluster.pod(id), cluster);
    const PodRow& row = cluster.snapshot().pods[id];
    if (fresh)
        life.spans.push_back({.state = "ran",
                              .from = cluster.pod(id).started.is_set() ? cluster.pod(id).started : row.created,
                              .to = {},
                              .node = eviction.node});
    life.queue = queue_name(cluster.snapshot(), row.queue);
    life.priority = row.priority;
    life.marks.push_back({.at = now, .owner = eviction.owner, .action = eviction.action, .decision = decision});
    put_last(life);
}

std::string lifelines_document(const Cluster& cluster, const Plan& plan, const std::string& queue, const Lives& lives) {
    const Snapshot& s = cluster.snapshot();
    // Newest news first: whoever was evicted, then whoever began last.
    std::vector<Life> chosen;
    std::set<std::string> told;
    for (const auto& [uid, life] : lives.all()) {
        Life copy = life;
        if (const PodId id = pod_named(cluster, life.pod); id && cluster.pod(id).uid == uid) {
            copy.queue = queue_name(s, s.pods[id].queue);
            copy.priority = s.pods[id].priority;
        }
        told.insert(copy.pod);
        if (queue.empty() || copy.queue == queue) chosen.push_back(std::move(copy));
    }
    const auto last_news = [](const Life& life) {
        Time last = life.spans.empty() ? Time{} : life.spans.back().from;
        for (const Life::Mark& mark : life.marks)
            last = std::max(last, mark.at);
        return last;
    };
    std::ranges::sort(chosen, [&](const Life& a, const Life& b) {
        if (a.marks.empty() != b.marks.empty()) return b.marks.empty();
        return last_news(a) != last_news(b) ? last_news(a) > last_news(b) : a.pod < b.pod;
    });
    OrderedJson lines = OrderedJson::array();
    for (const Life& life : chosen) {
        if (lines.size() == kMostDrawn) break;
        lines.push_back(line_json(life, s.now_time));
    }
    OrderedJson rest = OrderedJson::parse(lifelines_document(cluster, plan, queue));
    std::size_t total = chosen.size();
    for (OrderedJson& line : rest["lines"]) {
        if (told.contains(line["pod"].get<std::string>())) continue;
        ++total;
        if (lines.size() < kMostDrawn) lines.push_back(std::move(line));
    }
    rest["total"] = std::max<std::size_t>(total, rest["total"].get<std::size_t>());
    rest["lines"] = std::move(lines);
    return rest.dump();
}

}  // namespace reprieve::window
