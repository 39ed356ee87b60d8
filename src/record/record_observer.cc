#include "record/record_observer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plugins/cost.h"
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

using Json = nlohmann::ordered_json;

constexpr Duration kUseEvery{15'000'000};  // how queues are used is told so often at most
constexpr const char* kGpu = "nvidia.com/gpu";

std::string name_of(const Snapshot& s, QueueId queue) { return queue ? s.words->str(s.queues[queue].name) : ""; }

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// What the cluster knows of the demand that this pod belongs to.
DemandFacts facts_of(const Snapshot& s, PodId pod) {
    DemandFacts out;
    if (!pod) return out;
    const PodRow& row = s.pods[pod];
    out.queue = name_of(s, row.queue);
    out.priority = row.gang ? s.gangs[row.gang].attack_priority : row.priority;
    return out;
}

// What queues hold, but for counts of pods.
std::string use_of_queues(const Snapshot& s) {
    Json out = Json::object();
    for (const QueueId id : IdRange<QueueId>(s.queues.size())) {
        if (!s.queues[id].alive) continue;
        Json used = Json::object();
        for (std::size_t dim = 0; dim < s.dims; ++dim) {
            if (Dim(dim) != kPods) used[std::string(s.words->text(Dim(dim)))] = s.now.queue_used(id, Dim(dim));
        }
        out[name_of(s, id)] = std::move(used);
    }
    return text_of(out);
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
                                .runs = pod->phase != PodPhase::kPending,
                                .controller = pod->owner.name ? words_.str(pod->owner.name) : ""};
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
                   .news_queues = {},
                   .demands = {},
                   .use = {},
                   .inputs = report.inputs,
                   .planning = report.planning,
                   .whole = report.whole,
                   .changes = static_cast<std::int64_t>(report.changes),
                   .sound = report.sound,
                   .acted = report.carried_out};
    const Snapshot& s = report.cluster.snapshot();
    const auto note = [&](const std::string& demand, const std::string& pod) {
        if (demand.empty() || item.demands.contains(demand)) return;
        if (const PodId id = pod_named(report.cluster, pod)) item.demands.emplace(demand, facts_of(s, id));
    };
    for (const Placement& p : report.plan.placements)
        note(p.owner.empty() ? p.pod : p.owner, p.pod);
    for (const Eviction& e : report.news)
        note(e.owner, e.owner);
    note_victims(report, item);
    if (!used_at_.is_set() || report.now - used_at_ >= kUseEvery) {
        used_at_ = report.now;
        if (std::string use = use_of_queues(s); use != use_) item.use = use_ = std::move(use);
    }
    recorder_.put(std::move(item));
}

// Whose queues lose, and how much work goes: in GPU-seconds where a victim has GPUs, else in core-seconds.
void RecordObserver::note_victims(const CycleReport& report, CycleItem& item) {
    const Snapshot& s = report.cluster.snapshot();
    const WorkResource gpu = work_resource(s, kGpu);
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> lost;  // GPU-seconds and core-seconds, by demand
    for (const Eviction& e : report.news) {
        const PodId victim = pod_named(report.cluster, e.pod);
        item.news_queues.push_back(victim ? name_of(s, s.pods[victim].queue) : "");
        if (!victim) continue;
        auto& [gpus, cores] = lost[e.owner];
        if (gpu) gpus = saturating_add(gpus, lost_work(s, victim, gpu));
        cores = saturating_add(cores, lost_work(s, victim, WorkResource{.dim = kCpu, .cls = {}}));
    }
    for (const auto& [demand, work] : lost) {
        const auto& [gpus, cores] = work;
        if (gpus > 0 || cores > 0)
            item.demands[demand].lost =
                text_of({{"resource", gpus > 0 ? kGpu : "cpu"}, {"seconds", gpus > 0 ? gpus : cores}});
    }
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
