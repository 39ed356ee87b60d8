#include "actions/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <string_view>
#include <utility>

#include "actions/quota_report.h"
#include "base/quantity.h"
#include "model/placed_devices.h"

namespace reprieve {
namespace {

// The last op of a pod tells where it ended; ops that were taken back again leave nothing.
std::map<PodId, const Op*> standing_ops(const Session& session) {
    std::map<PodId, const Op*> last;
    for (const Op& op : session.tx.journal()) {
        if (op.sign > 0)
            last[op.pod] = &op;
        else
            last.erase(op.pod);
    }
    return last;
}

std::vector<VolumeBinding> volumes_of(const Snapshot& s, std::span<const ClaimBinding> bindings) {
    std::vector<VolumeBinding> out;
    for (const ClaimBinding& binding : bindings) {
        const VolumeClaim* claim = s.facts->claim(binding.claim);
        if (claim == nullptr) continue;
        const PersistentVolume* volume = binding.volume ? s.facts->volumes().get(binding.volume) : nullptr;
        out.push_back({.claim = fmt::format("{}/{}", s.words->text(claim->ns), s.words->text(claim->name)),
                       .volume = volume == nullptr ? "" : s.words->str(volume->name)});
    }
    return out;
}

const char* op_text(SelectorOp op) {
    switch (op) {
        case SelectorOp::kIn:
            return "In";
        case SelectorOp::kNotIn:
            return "NotIn";
        case SelectorOp::kExists:
            return "Exists";
        case SelectorOp::kDoesNotExist:
            return "DoesNotExist";
        case SelectorOp::kGt:
            return "Gt";
        case SelectorOp::kLt:
            return "Lt";
    }
    return "";
}

std::vector<std::vector<NodeRule>> node_rules(const std::vector<NodeSelectorTerm>& terms, const Vocabulary& words) {
    std::vector<std::vector<NodeRule>> out;
    for (const NodeSelectorTerm& term : terms) {
        std::vector<NodeRule>& rules = out.emplace_back();
        for (const std::vector<Requirement>* list : {&term.labels, &term.names}) {
            for (const Requirement& requirement : *list) {
                NodeRule& rule = rules.emplace_back();
                if (list == &term.labels) rule.key = words.str(requirement.key);
                rule.op = op_text(requirement.op);
                for (StringId value : requirement.values)
                    rule.values.push_back(words.str(value));
                std::ranges::sort(rule.values);
                if (requirement.op == SelectorOp::kGt || requirement.op == SelectorOp::kLt)
                    rule.values.push_back(std::to_string(requirement.bound));
            }
        }
    }
    return out;
}

void add_binding_conditions(const Snapshot& s, DeviceId device, ClaimedDevice& out) {
    const std::span<const OfferId> offers = s.device_claims.pools.offers_of(device);
    if (offers.empty()) return;
    for (const BindingCondition& condition : *s.device_claims.pools.offer(offers.back()).fact->binding)
        (condition.is_failure ? out.failure_conditions : out.binding_conditions).push_back(condition.type);
}

// Names of the driver's own domain are written without it, as drivers write them.
ClaimedDevice device_of(const Snapshot& s, const GivenDevice& given) {
    const auto& [driver, pool, name] = s.device_claims.pools.key(given.device);
    ClaimedDevice out{.request = s.words->str(given.request),
                      .driver = s.words->str(driver),
                      .pool = s.words->str(pool),
                      .device = s.words->str(name),
                      .admin = given.admin,
                      .share = {}};
    for (const ConsumedAmount& amount : given.amounts) {
        std::string key = s.words->str(amount.name.id);
        if (amount.name.domain != driver) key = fmt::format("{}/{}", s.words->text(amount.name.domain), key);
        out.share[key] = format_nano_quantity(amount.value);
    }
    return out;
}

// In the order of the pod's spec.
std::vector<PlacedClaim> claims_of(const Snapshot& s, PodId pod, std::span<const ClaimGrant> grants) {
    std::vector<PlacedClaim> out;
    for (DeviceClaimId id : s.device_claims.of(pod).wants) {
        const auto grant = std::ranges::find(grants, id, &ClaimGrant::claim);
        if (grant == grants.end()) continue;
        const ClaimRow& row = s.device_claims.row(id);
        PlacedClaim& claim = out.emplace_back();
        claim.claim = s.device_claims.name_of(id, *s.words);
        claim.is_new = grant->promised_to.valid();
        claim.extended = row.extended;
        if (grant->given.nodes) claim.nodes = node_rules(*grant->given.nodes, *s.words);
        for (const GivenDevice& given : grant->given.devices) {
            ClaimedDevice& device = claim.results.emplace_back(device_of(s, given));
            const StringId cls = class_of_request(*row.spec, given.request, *s.words);
            if (cls) device.cls = s.words->str(cls);
            add_binding_conditions(s, given.device, device);
        }
    }
    return out;
}

// A claim is free when the last pod that uses it goes, and nothing else keeps it.
bool comes_free(const Snapshot& s, DeviceClaimId id) {
    const ClaimRow& row = s.device_claims.row(id);
    return row.strangers == 0 &&
           std::ranges::all_of(row.pods, [&](PodId user) { return s.pods[user].state == PodState::kEvicted; });
}

std::vector<std::string> freed_by(const Snapshot& s, PodId pod) {
    std::vector<std::string> out;
    for (DeviceClaimId id : s.device_claims.of(pod).holds) {
        if (comes_free(s, id)) out.push_back(s.device_claims.name_of(id, *s.words));
    }
    std::ranges::sort(out);
    return out;
}

// With whom the victim uses claims that come free, where that is why they are one unit.
std::string shared_words(const Snapshot& s, PodId pod, const OpNote& note) {
    constexpr std::size_t kMostNames = 3;
    std::string out;
    if (!note.claim || !comes_free(s, note.claim)) return out;
    for (DeviceClaimId id : s.device_claims.of(pod).holds) {
        const ClaimRow& row = s.device_claims.row(id);
        if (row.pods.size() < 2 || !comes_free(s, id)) continue;
        std::string others;
        std::size_t named = 0;
        for (PodId user : row.pods) {
            if (user == pod || named == kMostNames) continue;
            others += fmt::format("{}{}", others.empty() ? "" : ", ", s.pod_name(user));
            ++named;
        }
        if (row.pods.size() - 1 > named) others += fmt::format(" and {} more", row.pods.size() - 1 - named);
        out += fmt::format(", uses claim {} with {}", s.device_claims.name_of(id, *s.words), others);
    }
    return out;
}

// Which devices the victim gives up.
std::string freed_words(const Snapshot& s, PodId pod, const std::vector<std::string>& frees) {
    std::string out;
    for (DeviceClaimId id : s.device_claims.of(pod).holds) {
        const std::string claim = s.device_claims.name_of(id, *s.words);
        if (std::ranges::find(frees, claim) == frees.end()) continue;
        std::string devices;
        for (const GivenDevice& given : s.device_claims.row(id).given->devices) {
            const auto& [driver, pool, name] = s.device_claims.pools.key(given.device);
            devices += fmt::format("{}{}", devices.empty() ? "" : ", ", s.words->text(name));
        }
        if (!devices.empty()) out += fmt::format("; frees {} of claim {}", devices, claim);
    }
    return out;
}

// Whoever starts with others is listed for its own gang, also where several gangs start as one.
std::string gang_of(const Snapshot& s, PodId pod, const OpNote& note) {
    const GangId gang = s.pods[pod].gang;
    return gang && s.gangs[gang].min > 0 ? s.gang_name(gang) : note.owner;
}

template <class Items>
void append(const Items& more, Items& to) {
    to.insert(to.end(), more.begin(), more.end());
}

void append(const Plan& part, Plan& plan) {
    append(part.evictions, plan.evictions);
    append(part.scale, plan.scale);
    append(part.force_deletes, plan.force_deletes);
    append(part.annotations, plan.annotations);
    append(part.matches, plan.matches);
    append(part.unplaced, plan.unplaced);
}

std::string explain(const OpNote& note, const std::string& shared) {
    return note.reason + note.part + shared + (note.violations > 0 ? ", over its disruption budget" : "") + note.detail;
}

}  // namespace

void NotedUnits::add(const Snapshot& s, std::uint32_t id, const OpNote& note, PodId victim, VictimBill& bill) {
    if (units_.insert(id).second) {
        if (note.claim && comes_free(s, note.claim)) {
            bill.add_part(note.violations, s.pods[victim].queue);
            gangs_[note.claim] += note.whole_gang && note.unit == UnitKind::kWhole ? 1 : 0;
        } else {
            bill.add_unit(note.unit != UnitKind::kSafe, note.violations, s.pods[victim].queue);
        }
    }
    bill.add_pod(victim, note.priority);
}

void NotedUnits::finish(VictimBill& bill) const {
    for (const auto& [claim, gangs] : gangs_)
        bill.add_units(std::max<std::int64_t>(1, gangs), std::max<std::int64_t>(1, gangs));
}

void PlanBuilder::add(Plan part) { parts_.push_back(std::move(part)); }

std::uint32_t PlanBuilder::note(OpNote note) {
    notes_.push_back(std::move(note));
    return static_cast<std::uint32_t>(notes_.size() - 1);
}

void PlanBuilder::certificate(Certificate certificate, Bill bill) {
    certificates_.push_back(std::move(certificate));
    bills_.push_back(std::move(bill));
}

void PlanBuilder::forget_since(const Mark& mark) {
    certificates_.resize(mark.certificates);
    bills_.erase(bills_.begin() + static_cast<std::ptrdiff_t>(mark.bills), bills_.end());
}

void PlanBuilder::doubt(const Mark& since, const CostVector& from) {
    for (std::size_t i = since.certificates; i < certificates_.size(); ++i) {
        Certificate& certificate = certificates_[i];
        const bool below =
            std::ranges::lexicographical_compare(from | std::views::values, certificate.cost | std::views::values);
        if (certificate.status != CertificateStatus::kOptimal || !below) continue;
        certificate.status = CertificateStatus::kGap;
        certificate.bound = from;
    }
}

void PlanBuilder::charge_again(const Session& session, const std::set<std::string>& owners) {
    if (owners.empty()) return;
    // What each of them still costs, by one walk over the journal.
    struct Charge {
        VictimBill total;
        NotedUnits units;
    };
    std::map<std::string_view, Charge> charges;
    std::map<std::string_view, const CostOrder*> orders;
    for (const Bill& bill : bills_) {
        if (!owners.contains(bill.owner) || !orders.emplace(bill.owner, &bill.order).second) continue;
        charges.emplace(bill.owner,
                        Charge{VictimBill(session.snapshot, bill.order, bill.work, bill.need, bill.queue_order), {}});
    }
    for (const auto& [pod, op] : standing_ops(session)) {
        const OpNote& note = notes_[op->note];
        const auto at = op->kind == OpKind::kEvict ? charges.find(note.owner) : charges.end();
        if (at == charges.end()) continue;
        at->second.units.add(session.snapshot, op->note, note, pod, at->second.total);
    }
    for (auto& [owner, charge] : charges)
        charge.units.finish(charge.total);
    std::set<std::string_view> written;  // the first certificate of an owner is the one that its bill belongs to
    for (Certificate& certificate : certificates_) {
        const auto at = charges.find(certificate.owner);
        if (at == charges.end() || at->second.units.empty() || !written.insert(at->first).second) continue;
        charge(certificate, orders.at(at->first)->print(at->second.total.cost()));
    }
    // Where nobody goes any more there is nothing to prove.
    std::set<std::string> idle;
    for (const auto& [owner, one] : charges) {
        if (one.units.empty()) idle.emplace(owner);
    }
    charges.clear();
    std::set<std::string> billed = idle;
    std::erase_if(certificates_, [&](const Certificate& c) { return idle.erase(c.owner) > 0; });
    std::erase_if(bills_, [&](const Bill& bill) { return billed.erase(bill.owner) > 0; });
}

void PlanBuilder::doubt_after(const std::string& owner) {
    auto at = std::ranges::find(certificates_, owner, &Certificate::owner);
    for (; at != certificates_.end(); ++at) {
        if (at->owner == owner) continue;
        if (at->status == CertificateStatus::kInfeasible) at->status = CertificateStatus::kUnknown;
        if (at->status != CertificateStatus::kOptimal && at->status != CertificateStatus::kGap) continue;
        at->status = CertificateStatus::kHeuristic;
        at->bound.clear();
    }
}

void PlanBuilder::charge(Certificate& certificate, CostVector cost) {
    certificate.cost = std::move(cost);
    if (certificate.status != CertificateStatus::kGap && certificate.status != CertificateStatus::kOptimal) return;
    // It may now be cheaper than what was proven for this demand alone.
    const bool proven = certificate.cost <= certificate.bound;
    certificate.status = proven ? CertificateStatus::kOptimal : CertificateStatus::kGap;
    if (proven) certificate.bound = certificate.cost;
}

Plan PlanBuilder::build(const Session& session) const {
    const Snapshot& s = session.snapshot;
    Plan plan;
    plan.now = s.now_time;
    std::set<std::string> kept;
    for (const auto& [pod, op] : standing_ops(session)) {
        const OpNote& note = notes_[op->note];
        if (op->kind == OpKind::kEvict) {
            std::vector<std::string> frees = freed_by(s, pod);
            const std::string freed = freed_words(s, pod, frees);
            const std::string shared = shared_words(s, pod, note);
            plan.evictions.push_back({.pod = s.pod_name(pod),
                                      .node = std::string(s.node_name(op->node)),
                                      .uid = s.facts->pod(pod).uid,
                                      .unit = shared.empty() ? note.unit : UnitKind::kWhole,
                                      .group = note.group,
                                      .owner = note.owner,
                                      .action = to_text(note.action),
                                      .mode = note.mode,
                                      .pdb_violation = note.violations > 0,
                                      .stage = note.stage,
                                      .reason = explain(note, shared) + freed,
                                      .frees = std::move(frees)});
        } else if (op->kind != OpKind::kGrow) {
            Placement p{.pod = s.pod_name(pod),
                        .node = std::string(s.node_name(op->node)),
                        .uid = s.facts->pod(pod).uid,
                        .devices = {},
                        .after_evictions = op->kind == OpKind::kNominate,
                        .owner = gang_of(s, pod, note),
                        .domain = note.domain,
                        .action = to_text(note.action),
                        .volumes = volumes_of(s, session.tx.bindings_of(*op)),
                        .claims = claims_of(s, pod, session.tx.grants_of(*op))};
            for (const DeviceHold& hold : session.tx.devices_of(*op))
                p.devices.push_back(device_text(hold));
            // Given up on the way, and found again.
            if (s.facts->pod(pod).nominated && s.words->text(s.facts->pod(pod).nominated) == p.node) kept.insert(p.pod);
            plan.placements.push_back(std::move(p));
        }
    }
    plan.evictions.insert(plan.evictions.end(), overdue_.begin(), overdue_.end());
    plan.unplaced = unplaced_;
    plan.certificates = certificates_;
    std::ranges::set_difference(cleared_, kept, std::back_inserter(plan.nominations_cleared));
    plan.warnings = warnings_;
    for (const Plan& part : parts_)
        append(part, plan);
    sort_plan(plan);
    return plan;
}

std::vector<QueueReport> report_queues(const Snapshot& s, const Limits& limits) {
    std::vector<bool> inhabited(s.queues.size());
    for (const PodRow& row : s.pods) {
        if (row.queue && row.state != PodState::kAbsent && !row.has(kServing)) inhabited[row.queue.index()] = true;
    }
    std::vector<QueueReport> out;
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        const QueueRow& row = s.queues[q];
        if (!row.alive || (row.fact == nullptr && !inhabited[q.index()])) continue;
        QueueReport report{.name = s.words->str(row.name)};
        NamedAmounts& used = report.shares["used"];
        used["cpu"] = 0;
        used["memory"] = 0;
        for (Dim dim : IdRange<Dim>(s.dims)) {
            const std::int64_t value = s.now.queue_used(q, dim);
            const bool listed = row.fact != nullptr && (row.fact->limit.lists(dim) || row.fact->guarantee.lists(dim) ||
                                                        (row.fact->deserved && row.fact->deserved->lists(dim)));
            if (value != 0 || listed) used[std::string(s.words->text(dim))] = value;
        }
        if (row.fact != nullptr && row.fact->is_quota) report_quota(s, limits, q, report);
        out.push_back(std::move(report));
    }
    return out;
}

void report_deserved(const Snapshot& s, const Shares& shares, std::vector<QueueReport>& queues) {
    for (QueueId q : IdRange<QueueId>(s.queues.size())) {
        if (!s.queues[q].alive) continue;
        const auto at = std::ranges::find(queues, s.words->text(s.queues[q].name), &QueueReport::name);
        if (at == queues.end()) continue;
        for (const auto& [dim, value] : shares.deserved(q)) {
            if (dim != kPods) at->shares["deserved"][std::string(s.words->text(dim))] = value;
        }
    }
}

}  // namespace reprieve
