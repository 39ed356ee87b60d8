// HttpClient: many requests in flight to one API server, on a thread of its own.
//
// Every callback runs on that thread, one at a time, so whoever lives on callbacks and timers alone needs no lock.
// Passing failures (no answer, 429, 5xx) are tried again with growing waits, no earlier than the server asks for. The
// number of usual requests in flight is bounded; the rest waits its turn, by rank and then in order. Connections that
// have fallen silent are left for new ones long before a deadline is reached.
//
// Whoever hands in callbacks names itself as their owner and calls `forget` before it goes.
#pragma once

#include <curl/curl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/backoff.h"
#include "kube/http.h"
#include "kube/request_times.h"
#include "kube/server_clock.h"
#include "kube/socket_loop.h"
#include "kube/transfer.h"

namespace reprieve {

struct HttpClientOptions {
    LineOptions line;
    std::size_t in_flight = 64;         // usual requests at a time
    std::size_t idle_in_flight = 8;     // idle requests at a time while nothing else is to be done
    Duration idle_pause{100'000};       // between two idle requests while there is something else to be done
    std::size_t idle_waiting = 10'000;  // beyond this, the oldest idle request is given up
    long connections = 0;               // at most; 0: as many as needed
    Duration silence{5'000'000};        // of all connections while a first answer is waited for
    std::uint64_t seed = 1;
};

// Since the client was made. Read from any thread.
struct HttpCounts {
    std::atomic<std::uint64_t> requests{0};  // attempts that got an answer
    std::atomic<std::uint64_t> retries{0};
    std::atomic<std::uint64_t> refused{0};   // 429
    std::atomic<std::uint64_t> failures{0};  // no answer
    std::atomic<std::uint64_t> given_up{0};  // idle requests that found no time
};

class HttpClient {
public:
    using Done = std::function<void(HttpAnswer)>;
    using Task = std::function<void()>;
    using StreamId = std::uint64_t;

    HttpClient(Access access, HttpClientOptions options);
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    // From any thread.
    void send(const void* owner, HttpRequest request, Done done);
    void run(const void* owner, Task task);
    void run_after(const void* owner, Duration wait, Task task);
    // After this no callback of the owner runs any more. Waits for one that is running, unless called from it.
    void forget(const void* owner);
    [[nodiscard]] const HttpCounts& counts() const { return counts_; }
    // Whoever asked has asked again.
    void count_retry() { ++counts_.retries; }
    [[nodiscard]] RequestTable times() const { return times_.table(); }
    [[nodiscard]] const Access& access() const { return line_.access(); }
    [[nodiscard]] const ServerClock& clock() const { return clock_; }

    // On the client's thread: the same as `send`, and a number by which a usual request can be given a better rank, as
    // long as it waits for its turn, and for the next time if it is tried again. False: it is over.
    std::uint64_t submit(const void* owner, HttpRequest request, Done done);
    bool hasten(std::uint64_t number, std::uint64_t rank, std::uint64_t better);

    // On the client's thread. A stream is one attempt; `done` gets no body where the answer was a success.
    StreamId open(const void* owner, HttpRequest request, Transfer::Receive receive, Done done);
    void close(StreamId id);
    // Streams that took no bytes are offered them again.
    void resume_streams();
    [[nodiscard]] Jitter& jitter() { return jitter_; }

private:
    using Clock = std::chrono::steady_clock;

    struct Call {
        const void* owner = nullptr;
        HttpRequest request;
        Done done;
        Transfer::Receive receive;
        StreamId stream = 0;
        std::uint64_t number = 0;   // in order of arrival
        Clock::time_point started;  // of the first attempt
        Clock::time_point begun;    // of this one
        std::uint64_t round = 0;    // of connections, that this attempt is in
        Backoff backoff;
        bool unsure = false;  // an attempt ended without a word on whether it was carried out
        std::unique_ptr<Transfer> transfer;
        [[nodiscard]] bool is_stream() const { return stream != 0; }
    };
    using CallPtr = std::unique_ptr<Call>;
    using Waiting = std::map<std::pair<std::uint64_t, std::uint64_t>, CallPtr>;  // by rank, then arrival
    struct Posted {
        const void* owner;
        Task task;
        Duration wait;
    };

    void loop();
    void take_posted();
    void run_due_timers();
    void start_waiting();
    void wait(CallPtr call);
    bool start_next(Waiting& lane);  // false: its gate was shut
    void start(CallPtr call);
    void collect_finished();
    void finish(Transfer* transfer, CURLcode code);
    void end_silent();
    // Ends what is over as if its time were up; says how many there were.
    std::size_t time_out(const std::function<bool(const Call&)>& is_over);
    [[nodiscard]] bool is_silent(const Call& call, Clock::time_point now) const;
    void note_pulse(const Call& call, CURLcode code);
    void end(CallPtr call, HttpAnswer answer);
    [[nodiscard]] bool try_again(CallPtr& call, const HttpAnswer& answer);
    void enqueue(CallPtr call);
    void drop(const void* owner);
    [[nodiscard]] std::chrono::milliseconds longest_wait() const;
    [[nodiscard]] bool on_own_thread() const { return std::this_thread::get_id() == own_id_.load(); }
    void post(Posted posted);

    Line line_;
    HttpClientOptions options_;
    HttpCounts counts_;
    RequestTimes times_;
    ServerClock clock_;
    Jitter jitter_;
    CURLM* multi_;
    std::optional<SocketLoop> sockets_;

    // Between threads.
    std::mutex mutex_;
    std::vector<Posted> posted_;
    std::atomic<bool> woken_{false};
    std::atomic<bool> stop_{false};
    std::atomic<std::thread::id> own_id_{};

    // The thread's own.
    std::deque<Posted> tasks_;
    std::array<Waiting, 3> waiting_;
    std::uint64_t calls_ = 0;
    std::array<std::size_t, 3> active_count_{};
    std::unordered_map<Transfer*, CallPtr> active_;
    std::vector<std::unique_ptr<Transfer>> spare_;
    std::unordered_map<std::uint64_t, CallPtr> resting_;  // until they are tried again; by number
    std::multimap<Clock::time_point, Posted> timers_;
    Clock::time_point hold_until_;  // the server asked to be left alone
    Clock::time_point next_idle_;   // no idle request before, while there is something else to be done
    Clock::time_point next_look_;   // for calls that hear nothing
    StreamId next_stream_ = 1;

    std::thread thread_;
};

}  // namespace reprieve
