#include "kube/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "kube/bodies.h"
#include "kube/kinds.h"
#include "kube/volume_run.h"
#include "model/soft_eviction.h"

namespace reprieve {
namespace {

constexpr int kMostConflicts = 3;
constexpr int kMostLooksBack = 60;  // at a pod of which nobody knows whether it was bound

std::string name_part(const std::string& pod) { return pod.substr(pod.find('/') + 1); }

// Whether an annotation change would change nothing, as far as we can see.
bool is_done(const AnnotationChange& change, const KnownPod& known) {
    const bool never_heard_of = known.uid.empty() && known.confirmed;
    if (never_heard_of || !known.certain) return false;
    const auto now = [&](const std::string& key) -> std::optional<std::string> {
        if (key == kClaimAnnotation) return known.claimed_by;
        if (key == kDeletionCostAnnotation)
            return known.deletion_cost ? std::to_string(*known.deletion_cost) : std::string();
        if (key == kPlanAnnotation && !known.has_plan) return std::string();
        if (key == SoftEviction::kAnnotation && !known.softly_evicted) return std::string();
        return std::nullopt;
    };
    for (const auto& [key, value] : change.set) {
        if (now(key) != value) return false;
    }
    for (const std::string& key : change.remove) {
        if (now(key) != std::string()) return false;
    }
    return true;
}

bool withdraws(const AnnotationChange& change) {
    return std::ranges::find(change.remove, SoftEviction::kAnnotation) != change.remove.end();
}

void apply(const AnnotationChange& change, KnownPod& pod) {
    for (const auto& [key, value] : change.set) {
        if (key == kClaimAnnotation) pod.claimed_by = value;
        if (key == kDeletionCostAnnotation) pod.deletion_cost = std::strtoll(value.c_str(), nullptr, 10);
    }
    for (const std::string& key : change.remove) {
        if (key == kClaimAnnotation) pod.claimed_by.clear();
        if (key == kDeletionCostAnnotation) pod.deletion_cost.reset();
        if (key == kPlanAnnotation) pod.has_plan = false;
        if (key == SoftEviction::kAnnotation) pod.softly_evicted = pod.marked = false;
    }
}

}  // namespace

KubeSink::KubeSink(HttpClient& client, KnownPods& pods, AddressBook& addresses, KubeSinkOptions options)
    : client_(&client),
      pods_(&pods),
      addresses_(&addresses),
      options_(std::move(options)),
      outbox_(client, pods, options_.may_act),
      announcer_(outbox_, options_.announcer),
      lasting_(
          outbox_,
          options_.nominate_after,
          [this](const std::shared_ptr<const Plan>& plan, const Placement& placement) {
              run(plan,
                  {.owner = placement.pod, .waiting = {{.placement = &placement, .intent = nullptr}}, .evictions = {}});
          }),
      groups_(outbox_, addresses, options_.census, options_.look_again),
      queues_(outbox_, addresses, options_.resource_quotas),
      scaling_(outbox_, addresses, options_.scaling, [this](const std::vector<Eviction>& replicas) {
          for (const Eviction& eviction : replicas)
              announcer_.preempted(eviction, client_->clock().now());
      }) {
    outbox_.on_failure(options_.on_failure);
    // Whoever left it there, and also where no plan follows.
    pods.on_old_plan([this] { client_->run(this, [this] { look_again(); }); });
    if (!options_.census) return;
    options_.census->on_change([this] { client_->run_after(this, options_.count_after, [this] { count_gangs(); }); });
}

KubeSink::~KubeSink() {
    pods_->on_old_plan({});
    if (options_.census) options_.census->on_change({});
    client_->forget(this);
    addresses_->claims().forget(&outbox_);
    client_->forget(&outbox_);  // before the parts that its callbacks belong to go
}

void KubeSink::carry_out(const Plan& plan) {
    outbox_.open();
    // Nothing was read since the plan was made: both are done on this thread.
    client_->run(this, [this, copy = std::make_shared<const Plan>(plan), seen = pods_->newest()] {
        begin(copy, seen);
        outbox_.close();
    });
}

void KubeSink::begin(const std::shared_ptr<const Plan>& plan, const std::string& seen) {
    clear_nominations(*plan);
    victims_.clear();
    for (const Eviction& eviction : plan->evictions)
        victims_.insert(eviction.uid);
    tidy_up(victims_);
    for (const AnnotationChange& change : plan->annotations)
        annotate(change);
    lasting_.begin(plan);
    for (auto& [owner, demand] : demands_of(*plan)) {
        if (!demand.evictions.empty()) {
            demand.seen = seen;
            run(plan, std::move(demand));
            continue;
        }
        for (const DemandWrites::Waiting& one : demand.waiting) {
            lasting_.offer(*one.placement);
            if (one.intent != nullptr) outbox_.report_done(SinkStep::kNominate, one.placement->pod, one.placement->uid);
        }
    }
    lasting_.end();
    prepare_claims(*plan);
    release_claims(*plan);
    groups_.take(*plan);
    begun_ = true;
    count_gangs();
    for (const Placement& placement : plan->placements) {
        if (!placement.after_evictions) bind(plan, placement);
    }
    std::map<std::string, std::string> force;  // pod -> UID
    for (const std::string& pod : plan->force_deletes)
        force.emplace(pod, std::string());
    for (const Eviction& eviction : plan->evictions) {
        if (eviction.mode == EvictionMode::kForceDelete) force[eviction.pod] = eviction.uid;
    }
    for (const auto& [pod, uid] : force)
        force_delete(pod, uid, plan->now);
    scaling_.take(*plan);
    queues_.take(*plan);
    announcer_.unplaced(*plan);
}

void KubeSink::run(const std::shared_ptr<const Plan>& plan, DemandWrites demand) {
    std::make_shared<DemandRun>(outbox_, ++runs_, plan, std::move(demand), [this, plan](const Eviction& eviction) {
        announcer_.preempted(eviction, plan->now);
    })->start();
}

// Changes that come before the first plan, or while another acts, wait for the next plan.
void KubeSink::count_gangs() {
    if (!options_.census || !begun_ || !options_.may_act()) return;
    for (const auto& [gang, count] : options_.census->take_changes())
        groups_.count(gang, count, client_->clock().now());
    groups_.let_in(
        addresses_->gangs_to_let_in([this](std::string_view scheduler) { return options_.census->serves(scheduler); }));
}

void KubeSink::clear_nominations(const Plan& plan) {
    std::set<std::string> placed;  // a new nomination or a binding replaces the old one
    for (const Placement& placement : plan.placements)
        placed.insert(placement.pod);
    for (const std::string& pod : plan.nominations_cleared) {
        if (!placed.contains(pod)) clear_nomination(pod);
    }
}

void KubeSink::clear_nomination(const std::string& pod) {
    const KnownPod known = pods_->find(pod);
    const bool is_gone = known.uid.empty();  // or bound and at rest
    if (is_gone || (known.certain && known.nominated.empty() && !known.has_plan))
        return outbox_.report_done(SinkStep::kClearNomination, pod, known.uid);
    PodWrite write{.step = SinkStep::kClearNomination, .pod = pod, .uid = known.uid};
    write.request.method = "PATCH";
    write.request.path = pod_path(pod, "status");
    write.request.content_type = kStrategicPatch;
    write.request.body = clear_nomination_body(known.uid);
    write.change = [](KnownPod& entry) {
        entry.nominated.clear();
        entry.has_plan = false;
        entry.plan_node.clear();
        entry.plan_victims.clear();
    };
    write.gone_is_fine = true;
    outbox_.write(std::move(write));
}

void KubeSink::annotate(const AnnotationChange& change) {
    const KnownPod known = pods_->find(change.pod);
    if (is_done(change, known)) return;
    PodWrite write{.step = SinkStep::kAnnotate, .pod = change.pod, .uid = known.uid};
    write.request.method = "PATCH";
    // A pod that need not go is not marked either: both came in one call.
    if (withdraws(change)) {
        write.request.path = pod_path(change.pod, "status");
        write.request.content_type = kStrategicPatch;
        write.request.body = unmark_body(known.uid, change.remove);
    } else {
        write.request.path = pod_path(change.pod);
        write.request.content_type = kMergePatch;
        write.request.body = annotations_body(known.uid, change.set, change.remove);
    }
    write.change = [&](KnownPod& entry) { apply(change, entry); };
    outbox_.write(std::move(write));
}

void KubeSink::force_delete(const std::string& pod, const std::string& uid, Time now) {
    const KnownPod known = pods_->find(pod);
    const bool hastened = known.certain && known.deleting.is_set() && known.grace_seconds <= 1;
    const bool overdue = hastened && now - known.deleting > options_.force_delete_timeout;
    if (hastened && !overdue) return;
    if (hastened && known.grace_seconds == 0) return;  // nothing stronger is left; a finalizer holds it
    // Without its object nobody knows that the container may still run, and its devices would be given away.
    if (hastened && known.has_claims) return;
    const std::int64_t grace = overdue ? 0 : 1;
    PodWrite write{.step = SinkStep::kForceDelete, .pod = pod, .uid = uid.empty() ? known.uid : uid};
    write.request.method = "DELETE";
    write.request.path = pod_path(pod);
    write.request.body = delete_body(write.uid, grace);
    write.change = [now, grace](KnownPod& entry) {
        if (!entry.deleting.is_set()) entry.deleting = now;
        entry.grace_seconds = grace;
    };
    write.gone_is_fine = true;
    outbox_.write(std::move(write));
}

void KubeSink::bind(const std::shared_ptr<const Plan>& plan, const Placement& placement) {
    const KnownPod known = pods_->find(placement.pod);
    if (known.certain && known.bound && known.uid == placement.uid)
        return groups_.member_ended(placement.owner, true, plan->now);
    pods_->begin_write(placement.pod, placement.uid, [](KnownPod& entry) {
        entry.bound = true;
        entry.nominated.clear();  // the server does that
    });
    if (placement.volumes.empty()) return give_devices(plan, placement);
    outbox_.open();
    std::make_shared<VolumeRun>(outbox_,
                                options_.volumes,
                                placement,
                                [this, plan, &placement](bool ok, std::string what) {
                                    if (ok)
                                        give_devices(plan, placement);
                                    else
                                        bound(plan, placement, false, std::move(what));
                                    outbox_.close();
                                })
        ->start();
}

// What can be written on the claims of those who wait before their devices are free.
void KubeSink::prepare_claims(const Plan& plan) {
    for (const Placement& placement : plan.placements) {
        if (!placement.after_evictions) continue;
        for (const PlacedClaim& claim : placement.claims) {
            if (claim.is_new && !claim.extended) prepare_claim(claim.claim);
        }
    }
}

// Where it fails, whoever allocates the claim does it.
void KubeSink::prepare_claim(const std::string& claim) {
    ClaimIndex& index = addresses_->claims();
    const std::string text = index.text(claim);
    if (text.empty() || preparing_.contains(claim)) return;
    HttpRequest request;
    request.method = "PUT";
    request.body = prepared_claim(text);
    if (request.body.empty()) return;
    const std::size_t slash = claim.find('/');
    request.path = object_path(index.api_version(), claim.substr(0, slash), "resourceclaims", claim.substr(slash + 1));
    request.rank = std::numeric_limits<std::uint64_t>::max();  // evictions go first
    preparing_.insert(claim);
    outbox_.call(claim, std::move(request), [this, claim, &index](const HttpAnswer& answer) {
        preparing_.erase(claim);
        if (answer.ok()) index.note_answer(claim, reader_.version_of(answer.body), true, answer.body);
    });
}

// Claims that were allocated for a pod that has no place.
void KubeSink::release_claims(const Plan& plan) {
    std::map<std::string, Placement> by_uid;
    for (const ClaimRelease& release : plan.releases) {
        Placement& of_pod = by_uid[release.uid];
        of_pod.pod = release.pod;
        of_pod.uid = release.uid;
        of_pod.claims.emplace_back().claim = release.claim;
    }
    for (const auto& [uid, claims] : by_uid) {
        if (claims_.contains(uid) || !releasing_.insert(uid).second) continue;
        outbox_.open();
        ClaimRuns(outbox_, addresses_->claims(), options_.claims, claims, plan.now).release([this, uid] {
            releasing_.erase(uid);
            outbox_.close();
        });
    }
}

// Claims first: a kubelet refuses a pod that its claims do not name.
void KubeSink::give_devices(const std::shared_ptr<const Plan>& plan, const Placement& placement) {
    if (placement.claims.empty()) return send_binding(plan, placement, {});
    if (releasing_.contains(placement.uid)) return bound(plan, placement, false, "its claims are being given back");
    outbox_.open();
    ClaimRuns claims(outbox_, addresses_->claims(), options_.claims, placement, plan->now);
    claims_.insert_or_assign(placement.uid, claims);
    claims.start([this, plan, &placement](bool ok, std::string what) {
        if (ok)
            send_binding(plan, placement, {});
        else
            bound(plan, placement, false, std::move(what));
        outbox_.close();
    });
}

void KubeSink::send_binding(const std::shared_ptr<const Plan>& plan, const Placement& placement, BindTries tries) {
    HttpRequest request;
    request.method = "POST";
    request.path = pod_path(placement.pod, "binding");
    request.body = binding_body(name_part(placement.pod), placement.uid, placement.node, placement.devices);
    outbox_.call(placement.pod, std::move(request), [this, plan, &placement, tries](const HttpAnswer& answer) {
        const bool is_open = answer.status == 409 || (!answer.ok() && answer.unsure);
        if (is_open) return read_back(plan, placement, answer.text(), tries);
        bound(plan, placement, answer.ok(), answer.ok() ? std::string() : answer.text());
        if (answer.status == 404) pods_->forget_gone(placement.pod, placement.uid);
    });
}

void KubeSink::read_back(const std::shared_ptr<const Plan>& plan,
                         const Placement& placement,
                         const std::string& refusal,
                         BindTries tries) {
    HttpRequest request;
    request.path = pod_path(placement.pod);
    outbox_.call(placement.pod, std::move(request), [this, plan, &placement, refusal, tries](const HttpAnswer& answer) {
        const auto pod = nlohmann::json::parse(answer.ok() ? answer.body : "{}", nullptr, false);
        const auto text = [&](const char* path) {
            return pod.is_object() ? pod.value(nlohmann::json::json_pointer(path), std::string()) : std::string();
        };
        const bool same_pod = answer.ok() && (placement.uid.empty() || text("/metadata/uid") == placement.uid);
        const std::string node = text("/spec/nodeName");
        // Somebody else wrote to the pod at the same moment: that alone is no reason not to bind it.
        const bool still_free = same_pod && node.empty() && text("/metadata/deletionTimestamp").empty();
        if (still_free && tries.conflicts < kMostConflicts)
            return send_binding(plan, placement, {.conflicts = tries.conflicts + 1, .looks = tries.looks});
        const bool there = same_pod && node == placement.node;
        const bool unsure = !answer.ok() && answer.status != 404;
        // An API server that has just started answers no to everybody for a moment.
        if (unsure && tries.looks < kMostLooksBack) {
            outbox_.open();
            return outbox_.run_after(options_.look_back, [this, plan, &placement, refusal, tries] {
                read_back(plan, placement, refusal, {.conflicts = tries.conflicts, .looks = tries.looks + 1});
                outbox_.close();
            });
        }
        bound(plan, placement, there, there ? std::string() : refusal, unsure);
    });
}

void KubeSink::bound(
    const std::shared_ptr<const Plan>& plan, const Placement& placement, bool ok, std::string what, bool unsure) {
    const auto claims = claims_.extract(placement.uid);
    // Whether it is bound after all may not be known: then the claims stay, and the next plan finds them.
    if (ok || unsure || claims.empty()) return tell_bound(plan, placement, ok, std::move(what), unsure);
    // Nobody plans with the pod, or its claims, before they are free again.
    outbox_.open();
    claims.mapped().take_back([this, plan, &placement, what = std::move(what)] {
        tell_bound(plan, placement, false, what, false);
        outbox_.close();
    });
}

void KubeSink::tell_bound(
    const std::shared_ptr<const Plan>& plan, const Placement& placement, bool ok, std::string what, bool unsure) {
    const bool has_note = pods_->find(placement.pod).has_plan;
    pods_->end_write(placement.pod, placement.uid, ok, {});
    groups_.member_ended(placement.owner, ok, plan->now);
    if (ok) {
        announcer_.bound(placement, plan->now);
        if (has_note) remove_plan(placement.pod, placement.uid);
    }
    outbox_.report({.step = SinkStep::kBind,
                    .pod = placement.pod,
                    .uid = placement.uid,
                    .ok = ok,
                    .what = std::move(what),
                    .unsure = unsure});
}

void KubeSink::tidy_up(const std::set<std::string>& victims) {
    for (const auto& [pod, uid] : pods_->with_old_plans())
        remove_plan(pod, uid);
    for (const auto& [pod, uid] : pods_->with_old_marks(victims))
        remove_mark(pod, uid);
}

void KubeSink::remove_plan(const std::string& pod, const std::string& uid) {
    HttpRequest request;
    request.method = "PATCH";
    request.path = pod_path(pod);
    request.content_type = kMergePatch;
    request.body = annotations_body(uid, {}, {kPlanAnnotation});
    remove(pod, uid, std::move(request), &KnownPod::has_plan);
}

void KubeSink::remove_mark(const std::string& pod, const std::string& uid) {
    HttpRequest request;
    request.method = "PATCH";
    request.path = pod_path(pod, "status");
    request.content_type = kStrategicPatch;
    request.body = unmark_body(uid, {});
    remove(pod, uid, std::move(request), &KnownPod::marked);
}

// Nobody waits for it to go. What could not be removed is there again, and found again. What another plan has written
// anew before the removal had its turn stays, as does a pod that has got the name of the one that was meant.
void KubeSink::remove(const std::string& pod, const std::string& uid, HttpRequest request, bool KnownPod::* what) {
    const auto note = [this, pod, uid, what](bool there) {
        pods_->begin_write(pod, uid, [&](KnownPod& entry) { entry.*what = there; });
    };
    note(false);
    request.brief = true;
    const auto is_due = [this, pod, uid, what] {
        const KnownPod known = pods_->find(pod);
        return known.uid == uid && !(known.*what);
    };
    const auto gate =
        std::make_shared<const std::function<bool()>>([this, is_due] { return options_.may_act() && is_due(); });
    request.gate = gate.get();
    request.rank = HttpRequest::kTidy;
    outbox_.tell(std::move(request), [this, pod, uid, note, is_due, gate](const HttpAnswer& answer) {
        if (answer.withheld && !is_due()) return pods_->end_write(pod, uid, true, {});
        const ApiStatus status = answer.ok() ? ApiStatus() : read_status(answer.body);
        if (!answer.ok() && answer.status != 404 && !status.wrong_uid) {
            note(true);
            pods_->end_write(pod, uid, true, {});
            look_again();
        }
        pods_->end_write(pod, uid, true, answer.ok() ? reader_.version_of(answer.body) : std::string());
        if (answer.status == 404 || status.wrong_uid) pods_->forget_gone(pod, uid);
    });
}

// Whatever was in the way may have passed by then, and whoever may not act may be allowed to.
void KubeSink::look_again() {
    if (looking_) return;
    looking_ = true;
    outbox_.run_after(options_.look_again, [this] {
        looking_ = false;
        if (options_.may_act())
            tidy_up(victims_);
        else
            look_again();
    });
}

}  // namespace reprieve
