// Probe: Source, Sink and lease of one replica, without a mind of its own: it reports what it sees, carries out the
// plans it is given, and says whether it leads. It stands between an API server and a test.
//
// One thread polls; requests of the test are served by it between two polls.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kube/lease.h"
#include "kube/sink.h"
#include "kube/source.h"
#include "model/vocabulary.h"

namespace reprieve {

struct ProbeOptions {
    Access access;
    std::size_t in_flight = 64;
    std::string identity;  // empty: without a lease
    KubeSourceOptions source;
    ElectionOptions election;
    bool plain_http = false;
    bool knows_answers = false;  // acts by itself as the benchmark's floor does
};

class Probe {
public:
    explicit Probe(ProbeOptions options);
    ~Probe();

    // Polls until asked to stop. Gives why the world ended.
    std::string run();
    void stop();

    // From another thread: runs on the polling one and waits for it.
    nlohmann::json ask(const std::function<nlohmann::json()>& question);

    // On the polling thread.
    [[nodiscard]] nlohmann::json state() const;
    [[nodiscard]] nlohmann::json counts() const;
    [[nodiscard]] nlohmann::json reports();
    // {"plan": ..., "uids": {pod: uid}}; UIDs that are not given are what was seen.
    [[nodiscard]] nlohmann::json carry_out(const std::string& request);

private:
    struct SeenPod {
        std::string uid;
        std::string node;
        std::string nominated;
        bool deleting = false;
        bool marked = false;
        bool planned = false;
        bool ours = false;
    };
    void take(const Change& change);
    void act();
    void fill_uids(Plan& plan) const;
    static void fill_intents(Plan& plan);
    [[nodiscard]] std::string uid_of(const std::string& pod) const;

    ProbeOptions options_;
    Vocabulary words_;
    KnownPods known_;
    AddressBook addresses_;
    std::unique_ptr<HttpClient> reads_;
    std::unique_ptr<HttpClient> writes_;
    std::unique_ptr<LeaderLease> lease_;
    std::unique_ptr<KubeSource> source_;
    std::unique_ptr<KubeSink> sink_;

    std::map<std::string, SeenPod> pods_;
    std::map<std::string, std::set<std::string>> others_;  // by kind
    nlohmann::json reports_ = nlohmann::json::array();
    double first_poll_seconds_ = 0;
    double poll_cpu_seconds_ = 0;

    std::map<int, bool> planned_;      // preemptors for whom a plan was carried out
    std::map<int, int> victims_left_;  // by preemptor
    std::set<int> waiting_;            // seen, not planned
    std::set<int> ready_;              // all victims gone, not bound

    std::mutex mutex_;
    std::deque<std::packaged_task<nlohmann::json()>> questions_;
};

}  // namespace reprieve
