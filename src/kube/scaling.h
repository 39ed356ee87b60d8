// Scaling: changes of a serving deployment's replicas, each after the hints that go with it.
//
// A ReplicaSet learns which pod to delete from an annotation on the pod, over another watch than the one that tells it
// how many to delete. So a scale-down waits until the annotations have come back by our own watch, and a moment longer.
// The newest plan is what counts: what it does not ask for is not done any more. Lives on the client's thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kube/address_book.h"
#include "kube/outbox.h"
#include "model/plan.h"

namespace reprieve {

struct ScalingOptions {
    Duration settle{1'000'000};
    Duration look_every{100'000};
    Duration give_up{30'000'000};  // a hint that does not come back
};

class Scaling {
public:
    // The replicas that a scale-down sends away, once it is done. Their controller knows nothing of the reason.
    using Done = std::function<void(const std::vector<Eviction>& replicas)>;
    Scaling(Outbox& outbox, const AddressBook& addresses, ScalingOptions options, Done done)
        : outbox_(&outbox),
          addresses_(&addresses),
          options_(options),
          done_(std::move(done)) {}

    void take(const Plan& plan);

private:
    using Target = std::pair<std::string, std::string>;  // serving deployment, plane
    struct Order {
        ScaleChange change;
        std::vector<Eviction> replicas;  // those that its hints are on
    };
    struct Pending {
        Order order;
        Duration waited;
        Duration settled;
        bool sent = false;
    };
    void look();
    void advance(Pending& pending);
    [[nodiscard]] bool hints_seen(const ScaleChange& change) const;
    void send(Pending& pending);
    void end(const Order& order, bool ok, std::string what, bool tried = true);
    // After a refusal: whether somebody, perhaps we ourselves, has done it already.
    void read_back(const Order& order, const CommitAddress& address, const std::string& refusal);

    Outbox* outbox_;
    const AddressBook* addresses_;
    ScalingOptions options_;
    Done done_;
    std::map<Target, Pending> pending_;
    bool looking_ = false;
};

}  // namespace reprieve
