#include "record/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "manifest/plan_json.h"
#include "record/blocks.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration kWaitPause{60'000'000};  // a wait whose reason changes is written again after so long
constexpr std::size_t kMostGone = 20'000;
constexpr std::int64_t kBlockPlans = 256;
constexpr std::size_t kPlanBlockBytes = std::size_t{8} << 20U;
constexpr Time kNoTime{1'000'000};

// Counts of nodes change from cycle to cycle without the reason becoming another.
std::string without_figures(const std::string& reason) {
    std::string out;
    for (const char c : reason) {
        if (c < '0' || c > '9') out += c;
    }
    return out;
}

// One entry of a list of a plan, as it stands in the plan's JSON.
std::string entry_of(const Plan& part, const char* list) {
    const Json json = Json::parse(plan_to_json_line(part));
    return json.at(list).at(0).dump();
}

std::string certificate_of(const Plan& plan, const std::pair<std::string, std::string>& demand) {
    for (const Certificate& one : plan.certificates) {
        if (one.owner != demand.first || one.action != demand.second) continue;
        Plan part;
        part.now = kNoTime;
        part.certificates.push_back(one);
        return entry_of(part, "certificates");
    }
    return {};
}

std::string eviction_json(const Eviction& eviction) {
    Plan part;
    part.now = kNoTime;
    part.evictions.push_back(eviction);
    return entry_of(part, "evictions");
}

// Most placements are a pod and a node, which have columns.
std::string placement_json(const Placement& placement) {
    if (placement.devices.empty() && placement.claims.empty() && placement.domain.empty()) return {};
    Plan part;
    part.now = kNoTime;
    part.placements.push_back(placement);
    return entry_of(part, "placements");
}

bool is_victim_step(SinkStep step) {
    return step == SinkStep::kMark || step == SinkStep::kEvict || step == SinkStep::kForceDelete ||
           step == SinkStep::kAnnotate;
}

}  // namespace

std::string plan_body(Plan plan) {
    plan.id.clear();
    plan.now = kNoTime;
    sort_plan(plan);
    std::string body = plan_to_json_line(plan);
    while (body.ends_with('\n'))
        body.pop_back();
    return body;
}

std::string packed_uid(const std::string& uid) {
    std::string out;
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    int high = -1;
    for (std::size_t i = 0; i < uid.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const bool hex = (uid[i] >= '0' && uid[i] <= '9') || (uid[i] >= 'a' && uid[i] <= 'f');
        if (uid.size() != 36 || (dash ? uid[i] != '-' : !hex)) return uid;
        if (dash) continue;
        if (high < 0) {
            high = digit(uid[i]);
        } else {
            out += static_cast<char>(high * 16 + digit(uid[i]));
            high = -1;
        }
    }
    return out;
}

std::string unpacked_uid(std::string_view bytes) {
    if (bytes.size() != 16) return std::string(bytes);
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        out += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
    }
    return out;
}

std::string inputs_to_json(const CycleInputs& inputs) {
    if (inputs == CycleInputs{}) return {};
    Json out = Json::object();
    if (!inputs.overdue.empty()) out["overdue"] = inputs.overdue;
    if (!inputs.first.empty()) out["first"] = inputs.first;
    if (inputs.reached >= 0) out["reached"] = inputs.reached;
    if (inputs.last_resort) out["lastResort"] = true;
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

CycleInputs inputs_from_json(std::string_view text) {
    CycleInputs out;
    if (text.empty()) return out;
    try {
        const Json json = Json::parse(text);
        out.overdue = json.value("overdue", std::set<std::string>());
        out.first = json.value("first", std::set<std::string>());
        out.reached = json.value("reached", std::int64_t{-1});
        out.last_resort = json.value("lastResort", false);
    } catch (const Json::exception&) {
        return {};  // damaged: a replay shows that the plan is another one
    }
    return out;
}

void Ledger::go_on_from(const RecordCounters& counters) { counters_ = counters; }

void Ledger::start_file(RecordFile& file) {
    for (auto& [name, life] : lives_)
        life.row = 0;
    gone_.clear();
    last_plan_.clear();
    plans_.clear();
    for (auto& [pod, wait] : waits_)
        write_wait(pod, wait, file);
}

void Ledger::forget() {
    for (auto& [name, life] : lives_)
        life.row = 0;
    gone_.clear();
    placed_.clear();
    evicted_.clear();
    waits_.clear();
    last_plan_.clear();
    plans_.clear();
}

std::int64_t Ledger::row_of(const std::string& pod, RecordFile& file) {
    if (const auto life = lives_.find(pod); life != lives_.end()) {
        if (life->second.row == 0) write_life(life->second, pod, {}, file);
        return life->second.row;
    }
    const auto [known, fresh] = gone_.try_emplace(pod, 0);
    if (fresh) {
        file.put("INSERT INTO pod(name) VALUES(?)", pod);
        known->second = file.last_row();
    }
    return known->second;
}

void Ledger::write_life(Life& life, const std::string& pod, Time ended, RecordFile& file) {
    const std::string uid = packed_uid(life.uid);
    const RecordFile::OrNull node{file.name(life.node)};
    if (life.row == 0) {
        file.put(
            "INSERT INTO pod(name, uid, node, controller, created, bound, started, leaving, ended) "
            "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            pod,
            RecordFile::Blob{uid},
            node,
            RecordFile::OrNull{file.name(life.controller)},
            life.created,
            life.bound,
            life.started,
            life.leaving,
            ended);
        life.row = file.last_row();
        return;
    }
    file.put("UPDATE pod SET node = ?, bound = ?, started = ?, leaving = ?, ended = ? WHERE id = ?",
             node,
             life.bound,
             life.started,
             life.leaving,
             ended,
             life.row);
}

void Ledger::see(const std::string& pod, const FactItem& item, RecordFile* file) {
    auto known = lives_.find(pod);
    const bool ends = known != lives_.end() && (!item.pod || item.pod->uid != known->second.uid);
    if (ends) {
        if (file) write_life(known->second, pod, item.at, *file);
        if (gone_.size() >= kMostGone) gone_.clear();
        if (known->second.row != 0) gone_[pod] = known->second.row;
        lives_.erase(known);
        placed_.erase(pod);
        evicted_.erase(pod);
        known = lives_.end();
    }
    if (!item.pod) return;
    const PodSight& sight = *item.pod;
    const bool fresh = known == lives_.end();
    if (fresh) {
        Life seen{.uid = sight.uid, .node = {}, .controller = sight.controller, .created = sight.created};
        known = lives_.emplace(pod, std::move(seen)).first;
    }
    Life& life = known->second;
    bool changed = false;
    const auto note = [&](Time& mark, bool is, Time at) {
        if (!is || mark.is_set()) return;
        mark = at;
        changed = true;
    };
    // A pod that was bound or ran before we saw it has been so at least since its own times.
    const bool moved = life.node != sight.node;
    life.node = sight.node;
    note(life.bound, !sight.node.empty(), fresh && sight.started.is_set() ? sight.started : item.at);
    note(life.started, sight.runs, fresh && sight.started.is_set() ? sight.started : item.at);
    note(life.leaving, sight.leaving.is_set(), item.at);
    if (file && (changed || moved) && (!fresh || life.row != 0)) write_life(life, pod, {}, *file);
}

void Ledger::take(const CycleItem& item, std::int64_t run, std::int64_t seq, RecordFile* file) {
    if (!file) return;
    ++counters_.cycle;
    opened_.clear();
    write_plan(item);
    const std::int64_t decided = write_decisions(item, *file);
    note_given_up(item, *file);
    write_waits(item, *file);
    write_cycle(item, run, seq, decided, *file);
    if (!item.use.empty()) {
        const std::string packed = pack_block(item.use);
        file->put("INSERT OR REPLACE INTO queue_use VALUES(?, ?, ?)",
                  item.at,
                  static_cast<std::int64_t>(item.use.size()),
                  RecordFile::Blob{packed});
    }
}

void Ledger::write_plan(const CycleItem& item) {
    std::string body = plan_body(item.plan);
    if (body == last_plan_) return;
    ++counters_.plan;
    if (plans_.empty()) {
        plans_first_ = counters_.plan;
        plans_flushed_ = counters_.plan - 1;
        plans_flushed_bytes_ = 0;
    }
    (plans_ += body) += '\n';
    last_plan_ = std::move(body);
}

void Ledger::write_cycle(
    const CycleItem& item, std::int64_t run, std::int64_t seq, std::int64_t decided, RecordFile& file) {
    file.put("INSERT INTO cycle VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             counters_.cycle,
             item.at,
             seq,
             run,
             counters_.plan,
             item.plan.id,
             inputs_to_json(item.inputs),
             decided,
             std::int64_t{item.acted},
             std::int64_t{item.sound},
             item.planning.us,
             item.whole.us,
             item.changes);
}

bool Ledger::full() const {
    return !plans_.empty() && (counters_.plan - plans_first_ + 1 >= kBlockPlans || plans_.size() >= kPlanBlockBytes);
}

void Ledger::flush(RecordFile& file) {
    if (plans_.empty() || plans_flushed_ == counters_.plan) return;
    const bool whole = full();
    std::string_view text = plans_;
    std::int64_t first = plans_first_;
    if (whole) {
        if (plans_flushed_ >= plans_first_) file.put("DELETE FROM plan_block WHERE first >= ?", plans_first_);
    } else {
        text.remove_prefix(plans_flushed_bytes_);
        first = plans_flushed_ + 1;
    }
    const std::string packed = pack_block(text);
    file.put("INSERT INTO plan_block(first, last, raw, body) VALUES(?, ?, ?, ?)",
             first,
             counters_.plan,
             static_cast<std::int64_t>(text.size()),
             RecordFile::Blob{packed});
    plans_flushed_ = counters_.plan;
    plans_flushed_bytes_ = plans_.size();
    if (whole) plans_.clear();
}

std::int64_t Ledger::open_decision(const Demand& demand, const CycleItem& item, RecordFile& file) {
    const auto [known, fresh] = opened_.try_emplace(demand, 0);
    if (!fresh) return known->second;
    const std::int64_t id = known->second = ++counters_.decision;
    const bool is_pod = lives_.contains(demand.first);
    const auto known_facts = item.demands.find(demand.first);
    const DemandFacts facts = known_facts == item.demands.end() ? DemandFacts() : known_facts->second;
    file.put(
        "INSERT INTO decision(id, cycle, owner, pod, action, queue, certificate, priority, lost) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        id,
        counters_.cycle,
        RecordFile::OrNull{is_pod ? 0 : file.name(demand.first)},
        RecordFile::OrNull{is_pod ? row_of(demand.first, file) : 0},
        RecordFile::OrNull{file.name(demand.second)},
        RecordFile::OrNull{file.name(facts.queue)},
        certificate_of(item.plan, demand),
        RecordFile::Maybe{facts.priority},
        facts.lost);
    return id;
}

void Ledger::supersede(const std::string& pod, std::int64_t by, RecordFile& file) {
    const auto known = placed_.find(pod);
    if (known == placed_.end() || known->second.decision == by) return;
    file.put("UPDATE decision SET superseded = ? WHERE id = ?", by, known->second.decision);
}

std::int64_t Ledger::write_decisions(const CycleItem& item, RecordFile& file) {
    const std::int64_t before = counters_.decision;
    for (std::size_t i = 0; i < item.news.size(); ++i) {
        const Eviction& eviction = item.news[i];
        const std::int64_t decision = open_decision({eviction.owner, eviction.action}, item, file);
        file.put("INSERT INTO eviction(decision, pod, node, queue, body) VALUES(?, ?, ?, ?, ?)",
                 decision,
                 row_of(eviction.pod, file),
                 RecordFile::OrNull{file.name(eviction.node)},
                 RecordFile::OrNull{i < item.news_queues.size() ? file.name(item.news_queues[i]) : 0},
                 eviction_json(eviction));
        evicted_[eviction.pod] = decision;
    }
    for (const Placement& placement : item.plan.placements) {
        const auto standing = placed_.find(placement.pod);
        if (standing != placed_.end() && standing->second.node == placement.node) {
            standing->second.later = placement.after_evictions;
            continue;
        }
        const std::string& owner = placement.owner.empty() ? placement.pod : placement.owner;
        const std::int64_t decision = open_decision({owner, placement.action}, item, file);
        supersede(placement.pod, decision, file);
        file.put("INSERT INTO placement(decision, pod, node, later, body) VALUES(?, ?, ?, ?, ?)",
                 decision,
                 row_of(placement.pod, file),
                 RecordFile::OrNull{file.name(placement.node)},
                 std::int64_t{placement.after_evictions},
                 placement_json(placement));
        placed_[placement.pod] = {.node = placement.node, .later = placement.after_evictions, .decision = decision};
    }
    return counters_.decision - before;
}

// Pods that were promised a place and now wait without one.
void Ledger::note_given_up(const CycleItem& item, RecordFile& file) {
    const auto give_up = [&](const std::string& pod) {
        const auto known = placed_.find(pod);
        if (known == placed_.end() || !known->second.later) return;
        supersede(pod, 0, file);
        placed_.erase(known);
    };
    for (const Unplaced& unplaced : item.plan.unplaced)
        give_up(unplaced.pod);
}

void Ledger::write_wait(const std::string& pod, Wait& wait, RecordFile& file) {
    file.put("INSERT INTO wait(pod, owner, since, cycle, never, reason) VALUES(?, ?, ?, ?, ?, ?)",
             pod,
             wait.owner,
             wait.since,
             wait.cycle,
             std::int64_t{wait.never},
             RecordFile::OrNull{file.name(wait.reason)});
    wait.row = file.last_row();
}

void Ledger::write_waits(const CycleItem& item, RecordFile& file) {
    const auto end = [&](const Wait& wait) { file.put("UPDATE wait SET until = ? WHERE id = ?", item.at, wait.row); };
    for (const Unplaced& unplaced : item.plan.unplaced) {
        const std::string& key = unplaced.pod.empty() ? unplaced.owner : unplaced.pod;
        std::string shape = without_figures(unplaced.reason);
        const auto [known, fresh] = waits_.try_emplace(key);
        Wait& wait = known->second;
        wait.seen = counters_.cycle;
        const bool same =
            !fresh && wait.never == unplaced.never && (wait.shape == shape || item.at - wait.written < kWaitPause);
        if (same) continue;
        if (!fresh) end(wait);
        wait = {.owner = unplaced.pod.empty() ? "" : unplaced.owner,
                .reason = unplaced.reason,
                .shape = std::move(shape),
                .since = item.at,
                .written = item.at,
                .never = unplaced.never,
                .row = 0,
                .cycle = counters_.cycle,
                .seen = counters_.cycle};
        write_wait(key, wait, file);
    }
    std::erase_if(waits_, [&](const auto& entry) {
        if (entry.second.seen == counters_.cycle) return false;
        end(entry.second);
        return true;
    });
}

void Ledger::take(const StepItem& item, RecordFile* file) {
    if (!file) return;
    const SinkReport& report = item.report;
    std::int64_t decision = 0;
    if (is_victim_step(report.step)) {
        if (const auto known = evicted_.find(report.pod); known != evicted_.end()) decision = known->second;
    } else if (const auto known = placed_.find(report.pod); known != placed_.end()) {
        decision = known->second.decision;
    }
    file->put("INSERT INTO write(at, decision, pod, step, ok, tried, what) VALUES(?, ?, ?, ?, ?, ?, ?)",
              item.at,
              RecordFile::OrNull{decision},
              RecordFile::OrNull{report.pod.empty() ? 0 : row_of(report.pod, *file)},
              static_cast<std::int64_t>(report.step),
              std::int64_t{report.ok},
              std::int64_t{report.tried},
              RecordFile::OrNull{file->name(report.what)});
}

}  // namespace reprieve
