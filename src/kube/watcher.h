// Watcher: follows one kind of object: all of them, page by page, then every change from there on.
//
//     start -> listing -> watching --- ended, cut, silent ---> watching again from the last version seen
//                ^           |
//                +-- 410 ----+        404 -> absent, until started again
//
// Lives on the client's thread. What it reads goes into the inbox; when that is full it stops reading until told that
// there is room.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kube/backoff.h"
#include "kube/frames.h"
#include "kube/http_client.h"
#include "kube/inbox.h"
#include "kube/kind_health.h"

namespace reprieve {

struct WatcherOptions {
    std::size_t page_items = 500;          // of the first page; the next ones are cut by the size of the last
    std::size_t most_page_items = 10'000;  // of any page
    std::size_t page_goal = 8U << 20U;     // bytes; fewer and larger pages cost the server less, and us memory
    std::size_t page_bytes = 256U << 20U;
    std::size_t line_bytes = 32U << 20U;
    Duration list_deadline{60'000'000};
    Duration list_silence{5'000'000};  // twice as long after every failure
    // A watch is ended by the server after between one and two times this.
    Duration watch_length{300'000'000};
    // Bookmarks come every minute; a watch without a byte for so long is dead.
    Duration watch_silence{150'000'000};
    BackoffLimits backoff{{50'000}, kLongestWatchBackoff};
    Duration quiet{60'000'000};  // after so long without trouble the next one is the first again
};

// Read from any thread.
struct WatcherCounts {
    std::atomic<std::uint64_t> lists{0};
    std::atomic<std::uint64_t> watches{0};
    std::atomic<std::uint64_t> expired{0};  // 410
};

class Watcher {
public:
    Watcher(HttpClient& client, Inbox& inbox, std::size_t kind, WatcherOptions options, WatcherCounts& counts)
        : client_(&client),
          inbox_(&inbox),
          kind_(kind),
          options_(options),
          counts_(&counts),
          backoff_(options.backoff) {}

    // Called with every refusal that may be for good: 401, 403, 404, a server that cannot be trusted.
    using Refused = std::function<void(const HttpAnswer&)>;
    void on_refused(Refused call) { refused_ = std::move(call); }

    // Called when something is heard again after trouble: others need not wait any longer either.
    void on_recovered(std::function<void()> call) { recovered_ = std::move(call); }

    // Called when the server has begun to answer a watch.
    void on_open(std::function<void()> call) { opened_ = std::move(call); }

    // `path` is the collection's.
    void start(std::string api_version, std::string path);
    // Forgets the kind; what was known of it is gone.
    void stop();
    [[nodiscard]] bool running() const { return state_ != State::kAbsent; }
    // Everything there is has been read once.
    [[nodiscard]] bool has_listed() const { return !version_.empty(); }
    // Refusals (401, 403, 404) in a row.
    [[nodiscard]] int refusals() const { return refusals_; }
    void on_room();
    // Whoever waits because of trouble tries again now.
    void try_now();
    // A watch that has not been heard from since then is begun anew: its connection may be dead without knowing.
    void prove(std::chrono::steady_clock::time_point since);

    // From any thread. How often a watch was begun again, and when the last byte came; not set: none yet.
    [[nodiscard]] std::uint64_t restarts() const { return restarts_; }
    [[nodiscard]] std::optional<Duration> silent_for() const;
    // From any thread. Whether there is a watch, and the server has spoken on it (or begun it) since then.
    [[nodiscard]] bool is_current(std::chrono::steady_clock::time_point since) const;
    // From any thread. How long ago a watch broke off that has not been heard from since; 0: none did.
    [[nodiscard]] Duration broken_for() const;

private:
    enum class State : unsigned char { kAbsent, kListing, kWatching, kWaiting };

    void list(std::string continued);
    void listed(HttpAnswer answer, bool first);
    // How many items the page after one of so many bytes asks for.
    void cut_next_page(std::size_t bytes);
    // A page could not be read: later ones stay smaller, but not below what every first page has.
    void cut_all_pages();
    void watch();
    [[nodiscard]] bool receive(std::string_view bytes);
    void give_up_line();
    void watch_ended(const HttpAnswer& answer);
    void retry(bool relist, const HttpAnswer& answer);
    void retry_after(Duration wait);
    void heard();
    void note_trouble();
    // Takes over the version of the last event. False: the watch cannot go on from there.
    [[nodiscard]] bool take_version();

    HttpClient* client_;
    Inbox* inbox_;
    std::size_t kind_;
    WatcherOptions options_;
    WatcherCounts* counts_;
    Refused refused_;
    std::function<void()> recovered_;
    std::function<void()> opened_;
    bool in_trouble_ = false;     // nothing was heard since an attempt failed
    bool waits_to_list_ = false;  // while waiting
    std::uint64_t wait_ = 0;      // counts waits, so that one that was cut short does not end another
    Backoff backoff_;
    FrameReader frames_;
    State state_ = State::kAbsent;
    std::string api_version_;
    std::string path_;
    int refusals_ = 0;
    std::chrono::steady_clock::time_point trouble_;  // the last one
    std::string version_;                            // from which to watch
    std::string partial_;                            // a line whose end has not come yet
    std::string last_line_;                          // of the current watch
    HttpClient::StreamId stream_ = 0;
    std::size_t page_items_ = 0;  // of the page that is asked for
    std::size_t page_cap_ = 0;    // pages that could not be read were larger
    bool waits_for_room_ = false;
    std::string next_page_;  // while waiting for room
    std::atomic<std::uint64_t> restarts_{0};
    std::atomic<bool> open_{false};           // the server has begun to answer this watch
    std::atomic<std::int64_t> heard_us_{0};   // on the steady clock; 0: nothing yet
    std::int64_t lost_us_ = 0;                // the last byte before a watch that could not go on; 0: none
    std::atomic<std::int64_t> broken_us_{0};  // when a watch broke off that has not been heard from since; 0: none
};

}  // namespace reprieve
