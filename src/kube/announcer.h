// Announcer: tells people and other programs what happened to a pod: Events, and why a pod is not scheduled yet.
//
// All of it is sent when there is nothing better to do, and nothing twice. Lives on the client's thread.
#pragma once

#include <map>
#include <string>

#include "kube/event_book.h"
#include "kube/outbox.h"
#include "model/plan.h"

namespace reprieve {

struct AnnouncerOptions {
    std::string controller = "reprieve";
    std::string instance = "reprieve";  // which replica
};

class Announcer {
public:
    Announcer(Outbox& outbox, AnnouncerOptions options) : outbox_(&outbox), options_(std::move(options)) {}

    void bound(const Placement& placement, Time now);
    void preempted(const Eviction& eviction, Time now);
    // A plan says why pods wait, of all that do: the others need no memory.
    void unplaced(const Plan& plan);

    // One sentence for people, with the nodes counted by reason.
    [[nodiscard]] static std::string why(const Unplaced& entry);

private:
    struct News {
        std::string pod;
        std::string uid;
        const char* type;
        const char* reason;
        const char* action;
        std::string note;
    };
    struct Told {
        std::string uid;
        std::string message;
        Time at;
    };
    void unplaced(const Unplaced& entry, Time now);
    void send(const News& news, Time now);
    [[nodiscard]] std::string event_body(const News& news, const std::string& event, Time now) const;
    void tell_condition(const std::string& pod, const std::string& uid, const std::string& message, Time now);

    Outbox* outbox_;
    AnnouncerOptions options_;
    EventBook book_;
    std::map<std::string, Told> told_;
};

}  // namespace reprieve
