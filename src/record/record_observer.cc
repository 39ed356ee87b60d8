#include "record/record_observer.h"

#include <fmt/format.h>

#include "record/overlay.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

// "Pod team/a", "PodGroup.scheduling.volcano.sh team/g", "Node n1".
std::string record_key(const FactText& text, std::string_view ns, std::string_view name) {
    const std::size_t slash = text.api_version.find('/');
    std::string out = text.kind;
    if (slash != std::string::npos && text.kind != "Pod") (out += '.') += text.api_version.substr(0, slash);
    out += ' ';
    if (!ns.empty()) (out += ns) += '/';
    return out += name;
}

std::string key_of_object(const FactText& text, const Object& object, const Vocabulary& words) {
    return std::visit(
        [&](const auto& one) {
            using T = std::decay_t<decltype(one)>;
            std::string_view ns;
            if constexpr (requires { one.ns; }) {
                if (one.ns) ns = words.text(one.ns);
            }
            if constexpr (std::is_same_v<T, Pod>)
                return record_key(text, ns, one.name);
            else
                return record_key(text, ns, words.text(one.name));
        },
        object);
}

// The queue of a pod or gang; empty: none that is known.
std::string queue_of(const Cluster& cluster, const std::string& demand) {
    const Snapshot& s = cluster.snapshot();
    const auto name_of = [&](QueueId queue) {
        return queue ? cluster.words().str(s.queues[queue].name) : std::string();
    };
    if (const PodId pod = pod_named(cluster, demand)) return name_of(s.pods[pod].queue);
    return {};
}

}  // namespace

std::string missed_words(const std::string& kind) {
    return fmt::format("the watch of {} could not go on and was begun anew", kind);
}

std::string record_key(const Change& change, const Vocabulary& words) {
    return key_of_object(*change.text, change.object, words);
}

void RecordObserver::on_change(const Change& change, const Cluster&, Time now) {
    now_ = now;
    if (!change.text) return;
    FactItem item{.at = now, .key = record_key(change, words_), .text = change.text, .pod = {}};
    if (const auto* pod = std::get_if<Pod>(&change.object)) {
        if (change.removed)
            laid_over_.erase(item.key);
        else
            item.pod = PodSight{.uid = pod->uid,
                                .node = pod->node ? words_.str(pod->node) : "",
                                .created = pod->created,
                                .started = pod->started,
                                .leaving = pod->deleting,
                                .runs = pod->phase != PodPhase::kPending};
    }
    recorder_.put(std::move(item));
}

void RecordObserver::on_belief(const Pod& told, const Pod& believed) {
    std::string overlay = overlay_of(told, believed, words_);
    std::string key = fmt::format("Pod {}/{}", words_.text(told.ns), told.name);
    if (overlay.empty() ? laid_over_.erase(key) == 0 : false) return;
    if (!overlay.empty()) laid_over_.insert(key);
    recorder_.put(BeliefItem{.at = now_, .key = std::move(key), .overlay = std::move(overlay)});
}

void RecordObserver::on_cycle(const CycleReport& report) {
    now_ = report.now;
    CycleItem item{.at = report.now,
                   .plan = report.plan,
                   .news = report.news,
                   .queues = {},
                   .inputs = report.inputs,
                   .planning = report.planning,
                   .whole = report.whole,
                   .changes = static_cast<std::int64_t>(report.changes),
                   .sound = report.sound,
                   .acted = report.carried_out};
    const auto note = [&](const std::string& demand, const std::string& pod) {
        if (demand.empty() || item.queues.contains(demand)) return;
        if (std::string queue = queue_of(report.cluster, pod); !queue.empty())
            item.queues.emplace(demand, std::move(queue));
    };
    for (const Placement& p : report.plan.placements)
        note(p.owner.empty() ? p.pod : p.owner, p.pod);
    for (const Eviction& e : report.news)
        note(e.owner, e.owner);
    recorder_.put(std::move(item));
}

void RecordObserver::on_step(const SinkReport& report, Time now) {
    now_ = now;
    recorder_.put(StepItem{.at = now, .report = report});
}

void RecordObserver::on_missed(const std::string& kind, Time from, Time to) {
    recorder_.put(MissedItem{.at = to, .from = from, .why = missed_words(kind)});
}

void RecordObserver::on_pulse() {
    if (ready_ || !now_.is_set()) return;
    ready_ = true;
    recorder_.put(ReadyItem{.at = now_});
}

}  // namespace reprieve
