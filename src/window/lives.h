// Lives: what became of pods while the loop ran: waited, had room promised, ran, was evicted for whom, is gone.
//
// Only pods that waited or were evicted while we looked have a life here; of the others the cluster itself says since
// when they run. So many are kept of those that were evicted, and so many of the others; whoever has had no news for
// longest is forgotten first.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/world.h"
#include "state/cluster.h"

namespace reprieve::window {

struct Life {
    struct Span {
        std::string state;  // waited, promised, ran, leaving
        Time from;
        Time to;  // not set: it goes on
        std::string node;
    };
    struct Mark {
        Time at;
        std::string owner;  // for whom it was evicted
        std::string action;
        std::string decision;
    };
    std::string pod;
    std::string controller;  // "ns/name" of what makes it again; empty: nobody
    std::string queue;
    std::string gang;
    std::int32_t priority = 0;
    std::vector<Span> spans;
    std::vector<Mark> marks;
    bool over = false;
    bool is_among_evicted = false;
    std::list<std::string>::iterator place;  // of its UID, between older and newer news
};

class Lives {
public:
    static constexpr std::size_t kMostEvicted = 4'000;
    static constexpr std::size_t kMostOthers = 4'000;

    void note(const Change& change, const Cluster& cluster, Time now);
    void promised(const std::string& uid, const std::string& node, Time now);
    void evicted(const std::string& uid,
                 const Cluster& cluster,
                 const Eviction& eviction,
                 const std::string& decision,
                 Time now);
    [[nodiscard]] const std::map<std::string, Life>& all() const { return lives_; }

private:
    Life& begin(const std::string& uid, const Pod& pod, const Cluster& cluster);
    // It has news.
    void put_last(Life& life);

    std::map<std::string, Life> lives_;  // by UID
    std::list<std::string> evicted_;     // UIDs, the oldest news first
    std::list<std::string> others_;
};

// Spans of the lives, and of whoever is in the cluster without one.
[[nodiscard]] std::string lifelines_document(const Cluster& cluster,
                                             const Plan& plan,
                                             const std::string& queue,
                                             const Lives& lives);

}  // namespace reprieve::window
