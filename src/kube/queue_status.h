// QueueStatus: what a plan granted to queues, written on the Queue, from where the next cycle reads it again.
//
// Lives on the client's thread.
#pragma once

#include <map>
#include <string>

#include "kube/address_book.h"
#include "kube/outbox.h"
#include "model/plan.h"

namespace reprieve {

class QueueStatus {
public:
    QueueStatus(Outbox& outbox, const AddressBook& addresses) : outbox_(&outbox), addresses_(&addresses) {}

    // Only queues that were rebalanced (they have shares that are being preempted for) are written to.
    void take(const Plan& plan);

private:
    Outbox* outbox_;
    const AddressBook* addresses_;
    std::map<std::string, std::string> told_;  // body by queue
};

// Amounts in the units of the model, as a resource list: {"cpu":"1500m","memory":"1024"}.
[[nodiscard]] std::string resource_list_text(const NamedAmounts& amounts);

}  // namespace reprieve
