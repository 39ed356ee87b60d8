// LeaderLease: keeps an Election going over the network, and knows at any moment whether we may act.
//
// `leads` asks our own clock, so it turns false in time even when the network thread, or the network, hangs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "kube/election.h"
#include "kube/http_client.h"

namespace reprieve {

class LeaderLease {
public:
    // `clock` is the time of day, for people who read the Lease.
    LeaderLease(HttpClient& client, ElectionOptions options, std::function<Time()> clock);
    ~LeaderLease();

    // From any thread.
    [[nodiscard]] bool leads() const;
    // Since when `leads` is true without a break, on the steady clock.
    [[nodiscard]] std::chrono::steady_clock::time_point leads_since() const;
    // Stops acting now and tells the others, waiting up to `wait` for the answer. A renewal that is on its way is
    // waited for: what it changes has to be known to be given up.
    void resign(Duration wait);
    // Called on the client's thread when `leads` has changed, or was false for a while.
    void on_change(std::function<void(bool)> call);
    // Called on the client's thread, once, with a sentence: the Lease can never be had.
    void on_hopeless(std::function<void(std::string)> call);

private:
    void step();
    void read();
    void store(const LeaseRecord& record, bool create);
    void again(Duration wait);
    void publish();
    // After `resign`: writes that the lease is nobody's, if it is ours.
    void give_up();
    void given_up(const HttpAnswer& answer);
    [[nodiscard]] HttpRequest request(const char* method) const;
    [[nodiscard]] std::string path(bool collection) const;

    HttpClient* client_;
    ElectionOptions options_;
    std::function<Time()> clock_;
    Election election_;
    std::function<void(bool)> on_change_;
    std::function<void(std::string)> on_hopeless_;
    bool told_ = false;
    bool resigned_ = false;
    bool asking_ = false;                     // a request is on its way
    bool gave_up_once_ = false;               // and somebody had written in between
    std::function<void()> resignation_told_;  // called at the end of it
    std::atomic<bool> stopped_{false};
    std::atomic<std::int64_t> leads_until_us_{0};
    std::atomic<std::int64_t> leads_since_us_{0};  // on the steady clock
};

}  // namespace reprieve
