// EventFeed: events and other objects that the loop has no use for, followed as texts, for the referee.
//
// Collections that are not served, or not for us, are passed over; they are asked for again from time to time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kube/http_client.h"
#include "kube/inbox.h"
#include "kube/watcher.h"

namespace reprieve {

struct FedObject {
    std::string key;   // "Event.events.k8s.io ns/x"
    std::string json;  // empty: it is gone
};

class EventFeed {
public:
    // The client must outlive the feed.
    explicit EventFeed(HttpClient& client);
    ~EventFeed();
    EventFeed(const EventFeed&) = delete;
    EventFeed& operator=(const EventFeed&) = delete;

    // Appends what has come since the last call; does not wait.
    void poll(std::vector<FedObject>& out);
    // For how long, up to the last `poll`, nothing could come because a watch had broken off; 0: it had not.
    [[nodiscard]] Duration late() const { return late_; }
    // For how long nothing has been able to come until now because a watch broke off; 0: all of them are heard.
    [[nodiscard]] Duration broken_for() const;

private:
    HttpClient* client_;
    Inbox inbox_;
    WatcherCounts counts_;
    FrameReader frames_;
    FrameReader names_;
    Duration late_;
    std::vector<std::unique_ptr<Watcher>> watchers_;
};

}  // namespace reprieve
