#include "kube/lease.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <future>
#include <utility>

#include "base/check.h"
#include "kube/kinds.h"

namespace reprieve {
namespace {

// A monotonic clock that also advances while the machine is suspended, or a resumed replica would believe that it still
// leads.
Duration monotonic_now() {
    timespec now{};
    REPRIEVE_CHECK(clock_gettime(CLOCK_BOOTTIME, &now) == 0, "no clock");
    return {std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000};
}

}  // namespace

LeaderLease::LeaderLease(HttpClient& client, ElectionOptions options, std::function<Time()> clock)
    : client_(&client),
      options_(std::move(options)),
      clock_(std::move(clock)),
      election_(options_) {
    REPRIEVE_CHECK(!options_.identity.empty(), "a replica needs a name");
    REPRIEVE_CHECK(options_.deadline < options_.duration, "we must stop before others may start");
    client_->run(this, [this] { step(); });
}

LeaderLease::~LeaderLease() { client_->forget(this); }

bool LeaderLease::leads() const { return !stopped_ && monotonic_now().us < leads_until_us_; }

void LeaderLease::on_hopeless(std::function<void(std::string)> call) {
    client_->run(this, [this, call = std::move(call)] { on_hopeless_ = call; });
}

void LeaderLease::on_change(std::function<void(bool)> call) {
    client_->run(this, [this, call = std::move(call)] { on_change_ = call; });
}

std::string LeaderLease::path(bool collection) const {
    return object_path("coordination.k8s.io/v1",
                       options_.ns,
                       "leases",
                       collection ? std::string_view() : std::string_view(options_.name));
}

HttpRequest LeaderLease::request(const char* method) const {
    HttpRequest request;
    request.method = method;
    request.path = path(std::string_view(method) == "POST");
    request.lane = Lane::kUrgent;
    request.deadline = std::min(options_.deadline, Duration{5'000'000});
    request.silence = request.deadline;
    request.patience = {};  // an old attempt must not come through late: each one is made anew
    return request;
}

std::chrono::steady_clock::time_point LeaderLease::leads_since() const {
    return std::chrono::steady_clock::time_point(std::chrono::microseconds(leads_since_us_));
}

void LeaderLease::publish() {
    const bool led = leads();
    if (!led) {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        leads_since_us_ = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    }
    leads_until_us_ = election_.leads_until().us;
    const bool leading = leads();
    // The time may have been over, and something else written, without anybody having noticed.
    const bool again = leading && !led;
    if (leading == told_ && !again) return;
    told_ = leading;
    spdlog::info("{} {} the lease {}/{} (holder: {})",
                 options_.identity,
                 leading ? "holds" : "does not hold",
                 options_.ns,
                 options_.name,
                 election_.seen().holder);
    if (on_change_) on_change_(leading);
}

void LeaderLease::again(Duration wait) {
    publish();
    client_->run_after(this, wait, [this] { step(); });
}

void LeaderLease::step() {
    if (resigned_) return;
    publish();
    const Election::Todo todo = election_.next(monotonic_now(), clock_());
    switch (todo.step) {
        case Election::Step::kRead:
            return read();
        case Election::Step::kCreate:
            return store(todo.record, true);
        case Election::Step::kWrite:
            return store(todo.record, false);
        case Election::Step::kWait:
            return again(client_->jitter().soften(options_.retry));
    }
}

void LeaderLease::read() {
    asking_ = true;
    client_->send(this, request("GET"), [this](const HttpAnswer& answer) {
        asking_ = false;
        const auto record = answer.ok() ? read_lease(answer.body) : std::nullopt;
        const bool is_known = record || answer.status == 404;
        if (is_known) election_.read(record, monotonic_now());
        if (resigned_) return give_up();
        if (!is_known) {
            spdlog::warn("lease {}/{}: {}", options_.ns, options_.name, answer.text());
            return again(options_.retry);
        }
        publish();
        step();
    });
}

void LeaderLease::store(const LeaseRecord& record, bool create) {
    HttpRequest put = request(create ? "POST" : "PUT");
    put.body = lease_body(options_, record);
    const Duration sent = monotonic_now();
    asking_ = true;
    client_->send(this, std::move(put), [this, sent, create](const HttpAnswer& answer) {
        asking_ = false;
        const auto stored = answer.ok() ? read_lease(answer.body) : std::nullopt;
        if (stored) election_.written(*stored, sent, monotonic_now());
        if (resigned_) return give_up();
        if (!stored) {
            spdlog::warn("lease {}/{}: {}", options_.ns, options_.name, answer.text());
            election_.refused();
            // What is made anew has a path that is always there, but for its namespace.
            if (create && answer.status == 404 && on_hopeless_) {
                return on_hopeless_(fmt::format(
                    "namespace {} does not exist, so the lease {}/{} cannot be made: create it, or name another lease "
                    "with --lease",
                    options_.ns,
                    options_.ns,
                    options_.name));
            }
        }
        again(options_.retry);
    });
}

void LeaderLease::resign(Duration wait) {
    stopped_ = true;
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> ended = done->get_future();
    client_->run(this, [this, done] {
        resigned_ = true;
        resignation_told_ = [done] { done->set_value(); };
        if (!asking_) give_up();
    });
    ended.wait_for(std::chrono::microseconds(wait.us));
}

void LeaderLease::give_up() {
    const auto record = election_.resignation(clock_());
    publish();
    if (!record) return resignation_told_();
    HttpRequest put = request("PUT");
    put.body = lease_body(options_, *record);
    asking_ = true;
    client_->send(this, std::move(put), [this](const HttpAnswer& answer) { given_up(answer); });
}

// Where somebody wrote in between, or an answer of our own got lost, the lease is read and given up once more.
void LeaderLease::given_up(const HttpAnswer& answer) {
    asking_ = false;
    constexpr int kConflict = 409;
    if (answer.status == kConflict && !std::exchange(gave_up_once_, true)) return read();
    resignation_told_();
}

}  // namespace reprieve
