// KubeSink: carries out plans on a real cluster, as ordinary API calls.
//
// For each demand: intent and nomination, then the marks on all victims, then their evictions (DemandRun); nominations
// that evict nobody once they have lasted; beside it finalizers on the claims of those who wait, bindings, cleared
// nominations, annotations, force deletes and scalings; and, when there is time, what people are told. Each object's
// calls go out in order, many objects at a time, and none is made for what is known to be so already. All work is done
// on the client's thread: `carry_out` returns at once.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/address_book.h"
#include "kube/announcer.h"
#include "kube/claim_runs.h"
#include "kube/demand_run.h"
#include "kube/frames.h"
#include "kube/gang_census.h"
#include "kube/group_status.h"
#include "kube/http_client.h"
#include "kube/known_pods.h"
#include "kube/lasting_nominations.h"
#include "kube/outbox.h"
#include "kube/queue_status.h"
#include "kube/scaling.h"
#include "kube/volume_run.h"
#include "model/world.h"

namespace reprieve {

struct KubeSinkOptions {
    // Asked before every call; false: we are not (any more) the one who acts.
    std::function<bool()> may_act = [] { return true; };
    // Called, on the client's thread, when a step has failed: time to look again.
    std::function<void()> on_failure;
    AnnouncerOptions announcer;
    ScalingOptions scaling;
    VolumeRunOptions volumes;
    ClaimRunOptions claims;
    // What a queue was granted also becomes a ResourceQuota of the namespace of that name.
    bool resource_quotas = false;
    // A pod that was force deleted and is still there after so long is removed without waiting for its node.
    Duration force_delete_timeout{30'000'000};
    Duration look_again{5'000'000};      // for what could not be tidied up
    Duration look_back{1'000'000};       // at a pod whose binding may have been carried out
    Duration nominate_after{1'000'000};  // a nomination that waits for pods which leave anyway is told when it lasts
    GangCensus* census = nullptr;        // who counts the members of gangs; must outlive the sink
    Duration count_after{200'000};       // members that start together are told of together
};

class KubeSink final : public Sink {
public:
    // All of them must outlive the sink. The client should not be the one that a KubeSource reads with.
    KubeSink(HttpClient& client, KnownPods& pods, AddressBook& addresses, KubeSinkOptions options);
    ~KubeSink() override;

    void carry_out(const Plan& plan) override;
    void collect(std::vector<SinkReport>& out) override { outbox_.collect(out); }
    [[nodiscard]] bool idle() const override { return outbox_.idle(); }
    [[nodiscard]] std::int64_t queued() const { return outbox_.queued(); }
    // Idle, and everybody has been told. For a shutdown without loose ends.
    [[nodiscard]] bool settled() const { return outbox_.settled(); }

private:
    void begin(const std::shared_ptr<const Plan>& plan, const std::string& seen);
    void run(const std::shared_ptr<const Plan>& plan, DemandWrites demand);
    void count_gangs();
    void clear_nominations(const Plan& plan);
    void clear_nomination(const std::string& pod);
    void annotate(const AnnotationChange& change);
    void force_delete(const std::string& pod, const std::string& uid, Time now);
    void bind(const std::shared_ptr<const Plan>& plan, const Placement& placement);
    void prepare_claims(const Plan& plan);
    void prepare_claim(const std::string& claim);
    void release_claims(const Plan& plan);
    void give_devices(const std::shared_ptr<const Plan>& plan, const Placement& placement);
    struct BindTries {
        int conflicts = 0;
        int looks = 0;  // that were not answered
    };
    void send_binding(const std::shared_ptr<const Plan>& plan, const Placement& placement, BindTries tries);
    void bound(const std::shared_ptr<const Plan>& plan,
               const Placement& placement,
               bool ok,
               std::string what,
               bool unsure = false);
    void tell_bound(
        const std::shared_ptr<const Plan>& plan, const Placement& placement, bool ok, std::string what, bool unsure);
    // After a conflict: whether the pod is where we want it, perhaps by our own hand.
    void read_back(const std::shared_ptr<const Plan>& plan,
                   const Placement& placement,
                   const std::string& refusal,
                   BindTries tries);
    // What is left over, also by whoever acted before us and died: plans on pods that are bound, marks on pods that
    // stay. `victims` are about to go.
    void tidy_up(const std::set<std::string>& victims);
    void remove_plan(const std::string& pod, const std::string& uid);
    void remove_mark(const std::string& pod, const std::string& uid);
    // `what`: whether the pod has what is removed.
    void remove(const std::string& pod, const std::string& uid, HttpRequest request, bool KnownPod::* what);
    void look_again();

    HttpClient* client_;
    KnownPods* pods_;
    AddressBook* addresses_;
    KubeSinkOptions options_;
    Outbox outbox_;
    Announcer announcer_;
    LastingNominations lasting_;
    GroupStatus groups_;
    QueueStatus queues_;
    Scaling scaling_;
    FrameReader reader_;
    std::uint64_t runs_ = 0;
    std::set<std::string> preparing_;          // claims on which a finalizer is being written
    std::set<std::string> releasing_;          // UIDs of pods whose claims are being given back
    std::map<std::string, ClaimRuns> claims_;  // by UID of the pod: its claims are taken, it is not bound yet
    std::set<std::string> victims_;            // of the newest plan, by UID
    bool looking_ = false;                     // for what is left over, in a while
    bool begun_ = false;                       // a plan came, so that all that is there has been seen
};

}  // namespace reprieve
