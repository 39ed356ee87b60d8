#include "referee/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWorst = 10;

// Hours as people read them; the sums are exact enough without more.
double rounded(double hours) { return std::round(hours * 1000) / 1000; }

Json json_of_totals(const RefereeTotals& totals) {
    Json out = Json::object();
    out["evictions"] = totals.evictions;
    out["podsLost"] = totals.pods_lost;
    out["leastPods"] = totals.least_pods;
    out["gpuHoursLost"] = rounded(totals.gpu_hours_lost);
    out["leastGpuHours"] = rounded(totals.least_gpu_hours);
    out["byVerdict"] = totals.by_verdict;
    return out;
}

Json json_of_cheaper(const Ruling& ruling) {
    if (!ruling.has_cheaper) return nullptr;
    Json cost = Json::array();
    for (const auto& [term, value] : ruling.cheaper_cost)
        cost.push_back({term, value});
    return {{"victims", ruling.cheaper}, {"cost", std::move(cost)}, {"status", ruling.cheaper_status}};
}

Json json_of_verdict(const JudgedDecision& one) {
    Json out = Json::object();
    out["at"] = format_time(one.at);
    out["scheduler"] = one.scheduler;
    out["for"] = one.owner;
    out["queue"] = one.ruling.queue;
    out["priority"] = one.ruling.priority;
    out["victims"] = one.victims;
    out["nodes"] = one.ruling.nodes;
    out["verdict"] = to_text(one.ruling.verdict);
    out["confidence"] = one.confidence;
    out["evidence"] = one.ruling.evidence;
    out["couldHaveStayed"] = one.ruling.could_have_stayed;
    out["cheaper"] = json_of_cheaper(one.ruling);
    out["gpuHoursLost"] = rounded(one.ruling.gpu_hours_lost);
    out["leastGpuHours"] = rounded(one.ruling.least_gpu_hours);
    out["leastPods"] = one.ruling.least_pods;
    return out;
}

}  // namespace

void RefereeTotals::add(const JudgedDecision& one) {
    ++evictions;
    pods_lost += std::ssize(one.victims);
    least_pods += one.ruling.least_pods;
    gpu_hours_lost += one.ruling.gpu_hours_lost;
    least_gpu_hours += one.ruling.least_gpu_hours;
    ++by_verdict[to_text(one.ruling.verdict)];
}

RefereeTotals RefereeReport::totals() const {
    RefereeTotals out;
    for (const JudgedDecision& one : verdicts)
        out.add(one);
    return out;
}

std::map<std::string, RefereeTotals> RefereeReport::totals_by(const std::string& what) const {
    std::map<std::string, RefereeTotals> out;
    for (const JudgedDecision& one : verdicts) {
        std::string key = one.scheduler;
        if (what == "queue") key = one.ruling.queue;
        if (what == "priority") key = std::to_string(one.ruling.priority);
        if (what == "day") key = format_time(one.at).substr(0, 10);
        out[key].add(one);
    }
    return out;
}

std::vector<std::size_t> RefereeReport::worst() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const CaseVerdict verdict = verdicts[i].ruling.verdict;
        if (verdict != CaseVerdict::kFair && verdict != CaseVerdict::kUnclear) out.push_back(i);
    }
    const auto loss = [&](std::size_t i) {
        const Ruling& ruling = verdicts[i].ruling;
        return std::pair(ruling.gpu_hours_lost - ruling.least_gpu_hours,
                         std::ssize(verdicts[i].victims) - ruling.least_pods);
    };
    std::ranges::stable_sort(out, [&](std::size_t a, std::size_t b) { return loss(a) > loss(b); });
    if (out.size() > kWorst) out.resize(kWorst);
    return out;
}

bool RefereeReport::all_fair() const {
    return std::ranges::all_of(verdicts, [](const JudgedDecision& one) {
        return one.ruling.verdict == CaseVerdict::kFair || one.ruling.verdict == CaseVerdict::kUnclear;
    });
}

std::string referee_to_json(const RefereeReport& report) {
    Json out = Json::object();
    out["from"] = report.from.is_set() ? Json(format_time(report.from)) : Json();
    out["to"] = report.to.is_set() ? Json(format_time(report.to)) : Json();
    out["verdicts"] = Json::array();
    for (const JudgedDecision& one : report.verdicts)
        out["verdicts"].push_back(json_of_verdict(one));
    out["totals"] = json_of_totals(report.totals());
    for (const char* what : {"scheduler", "queue", "priority", "day"}) {
        Json& group = out["by"][what] = Json::object();
        for (const auto& [name, totals] : report.totals_by(what))
            group[name] = json_of_totals(totals);
    }
    out["worst"] = report.worst();
    out["gaps"] = Json::array();
    for (const RecordGap& gap : report.gaps)
        out["gaps"].push_back({{"from", format_time(gap.from)}, {"to", format_time(gap.to)}, {"why", gap.why}});
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace reprieve
