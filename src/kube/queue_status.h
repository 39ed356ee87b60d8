// QueueStatus: what a plan says about queues, written on the Queue, from where the next cycle reads it again, and,
// where that is wanted, as a ResourceQuota of the namespace that has the queue's name.
//
// Lives on the client's thread.
#pragma once

#include <map>
#include <string>

#include "kube/address_book.h"
#include "kube/outbox.h"
#include "manifest/queue_notes.h"
#include "model/plan.h"

namespace reprieve {

class QueueStatus {
public:
    QueueStatus(Outbox& outbox, const AddressBook& addresses, bool resource_quotas)
        : outbox_(&outbox),
          addresses_(&addresses),
          resource_quotas_(resource_quotas) {}

    // Only queues that were rebalanced (they have shares that are being preempted for) and quotas that went above their
    // runtime or came back are written to.
    void take(const Plan& plan);

private:
    void write_status(const std::string& queue, const QueueNotes& notes);
    void write_quota(const std::string& queue, const NamedAmounts& allocated);
    // Sends the body unless it was sent before; a failure that may pass is tried with the next plan.
    void send(const std::string& queue, HttpRequest request);

    Outbox* outbox_;
    const AddressBook* addresses_;
    bool resource_quotas_;
    struct Told {
        std::string queue;
        std::string body;
    };
    std::map<std::string, Told> told_;  // by path; of queues that there are
};

}  // namespace reprieve
