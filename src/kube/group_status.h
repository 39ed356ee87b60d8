// GroupStatus: what the PodGroups of a plan are told, each in the dialect it was written in.
//
// Core: condition PodGroupInitiallyScheduled, which never goes back once it is True. Volcano: phase, one condition, and
// how many members run, succeeded and failed. The other dialects have controllers of their own that count pods. Lives
// on the client's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/address_book.h"
#include "kube/gang_census.h"
#include "kube/outbox.h"
#include "model/plan.h"

namespace reprieve {

class GroupStatus {
public:
    // The census, if there is one, is asked again for a gang that could not be told, after a while.
    GroupStatus(Outbox& outbox, const AddressBook& addresses, GangCensus* census = nullptr, Duration again = {})
        : outbox_(&outbox),
          addresses_(&addresses),
          census_(census),
          again_(again) {}

    // A new plan: gangs of which members wait, or are bound now, or have no place.
    void take(const Plan& plan);
    // One member that the plan binds was bound, or was not.
    void member_ended(const std::string& gang, bool bound, Time now);
    // What its members do has changed, or may have.
    void count(const std::string& gang, const GangCount& count, Time now);
    // These are outside of their queues, and may come in.
    void let_in(const std::vector<std::string>& gangs);

private:
    struct Verdict {
        bool scheduled = false;
        std::string reason;
        std::string message;
        friend bool operator==(const Verdict&, const Verdict&) = default;
    };
    struct Binding {
        std::size_t open = 0;
        bool complete = true;  // nobody failed, nobody waits
    };
    [[nodiscard]] static Verdict all_bound();
    void tell_that_it_waits(const std::string& gang, const Plan& plan);
    void tell(const std::string& gang, Verdict verdict, Time now);
    // Volcano's numbers, and the phases that follow from them.
    void tell_numbers(const std::string& gang, const GangAddress& address, const GangCount& count);
    void send(const std::string& gang, const GangAddress& address, const std::string& body);
    // Of a group that is not there any more.
    void forget(const std::string& gang);
    void not_told(const std::string& gang, const HttpAnswer& answer);

    Outbox* outbox_;
    const AddressBook* addresses_;
    GangCensus* census_;
    Duration again_;
    std::map<std::string, Binding> binding_;  // gangs with binds on their way
    std::set<std::string> waiting_;           // gangs that were told that they wait for victims
    std::map<std::string, Verdict> told_;
    std::map<std::string, std::string> numbers_;  // as last told
    std::map<std::string, std::string> let_in_;   // groups that were outside, and the version that was answered
};

}  // namespace reprieve
