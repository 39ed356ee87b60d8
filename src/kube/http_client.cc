#include "kube/http_client.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>

#include "base/check.h"

namespace reprieve {
namespace {

constexpr int kPluginTries = 5;  // while a program is asked for new credentials
constexpr std::size_t kSpareTransfers = 128;
constexpr long kMostConnections = 256;  // kept open: a watch for each kind, and the requests in flight
constexpr std::chrono::milliseconds kLookForSilence{250};
constexpr int kMostSilenceDoublings = 5;

std::chrono::microseconds span_of(Duration duration) { return std::chrono::microseconds(duration.us); }

void start_libcurl() {
    // libcurl wants this once, before any other call.
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    REPRIEVE_CHECK(code == CURLE_OK, "libcurl does not start");
}

std::size_t lane_of(const HttpRequest& request) { return static_cast<std::size_t>(request.lane); }

}  // namespace

HttpClient::HttpClient(Access access, HttpClientOptions options)
    : line_(std::move(access), options.line),
      options_(options),
      jitter_(options.seed) {
    start_libcurl();
    multi_ = curl_multi_init();
    REPRIEVE_CHECK(multi_ != nullptr, "no memory for a client");
    curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, options_.connections);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMostConnections);
    sockets_.emplace(multi_);
    thread_ = std::thread([this] { loop(); });
}

HttpClient::~HttpClient() {
    stop_ = true;
    sockets_->wake();
    thread_.join();
    for (auto& [transfer, call] : active_)
        curl_multi_remove_handle(multi_, transfer->handle());
    active_.clear();
    spare_.clear();
    sockets_.reset();
    curl_multi_cleanup(multi_);
}

std::uint64_t HttpClient::submit(const void* owner, HttpRequest request, Done done) {
    REPRIEVE_CHECK(on_own_thread());
    auto call = std::make_unique<Call>();
    call->owner = owner;
    call->request = std::move(request);
    call->done = std::move(done);
    const std::uint64_t number = calls_ + 1;
    enqueue(std::move(call));
    return number;
}

bool HttpClient::hasten(std::uint64_t number, std::uint64_t rank, std::uint64_t better) {
    REPRIEVE_CHECK(on_own_thread());
    Waiting& usual = waiting_[static_cast<std::size_t>(Lane::kUsual)];
    if (auto node = usual.extract({rank, number}); !node.empty()) {
        node.key().first = better;
        node.mapped()->request.rank = better;
        usual.insert(std::move(node));
        return true;
    }
    if (const auto at = resting_.find(number); at != resting_.end()) {
        at->second->request.rank = better;
        return true;
    }
    const auto at = std::ranges::find_if(active_, [&](const auto& entry) { return entry.second->number == number; });
    if (at == active_.end()) return false;
    at->second->request.rank = better;
    return true;
}

void HttpClient::send(const void* owner, HttpRequest request, Done done) {
    auto call = std::make_shared<CallPtr>(std::make_unique<Call>());
    (*call)->owner = owner;
    (*call)->request = std::move(request);
    (*call)->done = std::move(done);
    if (on_own_thread()) {
        enqueue(std::move(*call));
        return;
    }
    run(owner, [this, call] { enqueue(std::move(*call)); });
}

void HttpClient::run(const void* owner, Task task) { post({owner, std::move(task), {}}); }

void HttpClient::run_after(const void* owner, Duration wait, Task task) { post({owner, std::move(task), wait}); }

void HttpClient::post(Posted posted) {
    {
        const std::lock_guard lock(mutex_);
        posted_.push_back(std::move(posted));
    }
    if (!woken_.exchange(true)) sockets_->wake();
}

void HttpClient::forget(const void* owner) {
    if (on_own_thread()) {
        drop(owner);
        return;
    }
    std::promise<void> done;
    // Owned by nobody, so that it cannot be dropped itself.
    run(nullptr, [&] {
        drop(owner);
        done.set_value();
    });
    done.get_future().wait();
}

void HttpClient::drop(const void* owner) {
    for (auto& lane : waiting_)
        std::erase_if(lane, [&](const auto& entry) { return entry.second->owner == owner; });
    std::erase_if(resting_, [&](const auto& entry) { return entry.second->owner == owner; });
    std::erase_if(timers_, [&](const auto& timer) { return timer.second.owner == owner; });
    std::erase_if(active_, [&](auto& entry) {
        if (entry.second->owner != owner) return false;
        curl_multi_remove_handle(multi_, entry.first->handle());
        if (!entry.second->is_stream()) --active_count_[lane_of(entry.second->request)];
        return true;
    });
    std::erase_if(tasks_, [&](const Posted& posted) { return posted.owner == owner; });
    const std::lock_guard lock(mutex_);
    std::erase_if(posted_, [&](const Posted& posted) { return posted.owner == owner; });
}

HttpClient::StreamId HttpClient::open(const void* owner, HttpRequest request, Transfer::Receive receive, Done done) {
    REPRIEVE_CHECK(on_own_thread());
    auto call = std::make_unique<Call>();
    call->owner = owner;
    call->request = std::move(request);
    call->request.patience = {};
    call->receive = std::move(receive);
    call->done = std::move(done);
    call->number = ++calls_;
    call->stream = next_stream_++;
    const StreamId id = call->stream;
    start(std::move(call));
    return id;
}

void HttpClient::close(StreamId id) {
    REPRIEVE_CHECK(on_own_thread());
    for (auto it = active_.begin(); it != active_.end(); ++it) {
        if (it->second->stream != id) continue;
        curl_multi_remove_handle(multi_, it->first->handle());
        active_.erase(it);
        return;
    }
}

void HttpClient::resume_streams() {
    REPRIEVE_CHECK(on_own_thread());
    // Resuming may deliver bytes at once, and with them change what is active.
    std::vector<Transfer*> streams;
    for (const auto& [transfer, call] : active_) {
        if (call->is_stream()) streams.push_back(transfer);
    }
    for (Transfer* transfer : streams) {
        if (active_.contains(transfer)) transfer->resume();
    }
}

void HttpClient::loop() {
    own_id_ = std::this_thread::get_id();
    while (!stop_) {
        woken_ = false;
        take_posted();
        run_due_timers();
        start_waiting();
        sockets_->turn(woken_ ? std::chrono::milliseconds(0) : longest_wait());
        collect_finished();
        end_silent();
    }
}

void HttpClient::take_posted() {
    {
        const std::lock_guard lock(mutex_);
        std::ranges::move(posted_, std::back_inserter(tasks_));
        posted_.clear();
    }
    // A task may forget an owner whose tasks are still to come here.
    while (!tasks_.empty() && !stop_) {
        Posted posted = std::move(tasks_.front());
        tasks_.pop_front();
        if (posted.wait.us == 0) {
            posted.task();
        } else {
            const auto due = Clock::now() + span_of(posted.wait);
            timers_.emplace(due, std::move(posted));
        }
    }
}

void HttpClient::run_due_timers() {
    while (!stop_ && !timers_.empty() && timers_.begin()->first <= Clock::now()) {
        const Posted due = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        due.task();
    }
}

void HttpClient::enqueue(CallPtr call) {
    call->number = ++calls_;
    wait(std::move(call));
    Waiting& idle = waiting_[static_cast<std::size_t>(Lane::kIdle)];
    if (idle.size() <= options_.idle_waiting) return;
    // The oldest of those that matter least.
    const auto first = idle.lower_bound({std::prev(idle.end())->first.first, 0});
    const CallPtr oldest = std::move(first->second);
    idle.erase(first);
    ++counts_.given_up;
    oldest->done({.failure = "given up: too many requests are waiting", .retryable = false});
}

void HttpClient::wait(CallPtr call) {
    Waiting& lane = waiting_[lane_of(call->request)];
    const std::pair place{call->request.rank, call->number};
    lane.emplace(place, std::move(call));
}

bool HttpClient::start_next(Waiting& lane) {
    CallPtr call = std::move(lane.begin()->second);
    lane.erase(lane.begin());
    if (!may_go(call->request)) {
        HttpAnswer answer = withheld_answer();
        answer.unsure = call->unsure;
        call->done(std::move(answer));
        return false;
    }
    if (call->request.body_now) call->request.body = call->request.body_now();
    if (call->started == Clock::time_point()) call->started = Clock::now();
    ++active_count_[lane_of(call->request)];
    start(std::move(call));
    return true;
}

void HttpClient::start_waiting() {
    auto& [urgent, usual, idle] = waiting_;
    while (!urgent.empty())
        start_next(urgent);
    if (Clock::now() < hold_until_) return;
    const std::size_t& usual_active = active_count_[static_cast<std::size_t>(Lane::kUsual)];
    const std::size_t& idle_active = active_count_[static_cast<std::size_t>(Lane::kIdle)];
    while (!usual.empty() && usual_active < options_.in_flight)
        start_next(usual);
    if (usual_active == 0) {
        while (!idle.empty() && idle_active < options_.idle_in_flight)
            start_next(idle);
    } else if (!idle.empty() && idle_active == 0) {
        // While there is real work, one idle request at a time, and what can wait only now and then, so that it does
        // not starve: each costs the server as much as one that somebody waits for.
        const auto now = Clock::now();
        const bool can_wait = idle.begin()->first.first >= HttpRequest::kTidy;
        if (can_wait && now < next_idle_) return;
        if (start_next(idle) && can_wait) next_idle_ = now + span_of(options_.idle_pause);
    }
}

void HttpClient::start(CallPtr call) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Transfer>());
    std::unique_ptr<Transfer> transfer = std::move(spare_.back());
    spare_.pop_back();
    call->begun = Clock::now();
    call->round = line_.pulse().round();
    transfer->prepare(line_, call->request, call->receive);
    const CURLMcode code = curl_multi_add_handle(multi_, transfer->handle());
    REPRIEVE_CHECK(code == CURLM_OK, "{}", curl_multi_strerror(code));
    Transfer* key = transfer.get();
    call->transfer = std::move(transfer);
    active_.emplace(key, std::move(call));
}

void HttpClient::collect_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;  // the message dies with the next call
        finish(Transfer::of(message->easy_handle), code);
    }
}

void HttpClient::finish(Transfer* transfer, CURLcode code) {
    const auto found = active_.find(transfer);
    REPRIEVE_CHECK(found != active_.end(), "a transfer that nobody started");
    CallPtr call = std::move(found->second);
    active_.erase(found);
    curl_multi_remove_handle(multi_, transfer->handle());
    if (!call->is_stream()) --active_count_[lane_of(call->request)];
    note_pulse(*call, code);
    HttpAnswer answer = transfer->finish(code);
    if (spare_.size() < kSpareTransfers) spare_.push_back(std::move(call->transfer));
    end(std::move(call), std::move(answer));
}

void HttpClient::note_pulse(const Call& call, CURLcode code) {
    if (code == CURLE_OK) line_.pulse().hear(call.round, Clock::now());
    if (code == CURLE_OPERATION_TIMEDOUT && line_.pulse().give_up(call.round))
        spdlog::warn("{} {}: no answer; other connections are opened", call.request.method, call.request.path);
}

bool HttpClient::is_silent(const Call& call, Clock::time_point now) const {
    if (call.is_stream()) return false;
    const Duration first = call.request.silence.us > 0 ? call.request.silence : options_.silence;
    const Duration limit{first.us << std::min(call.backoff.failures(), kMostSilenceDoublings)};
    return line_.pulse().is_silent(call.round, call.begun, limit, now);
}

void HttpClient::end_silent() {
    const auto now = Clock::now();
    if (now < next_look_) return;
    next_look_ = now + kLookForSilence;
    if (time_out([&](const Call& call) { return is_silent(call, now); }) == 0) return;
    // Streams on the same connections hear nothing either.
    static_cast<void>(
        time_out([&](const Call& call) { return call.is_stream() && call.round != line_.pulse().round(); }));
}

std::size_t HttpClient::time_out(const std::function<bool(const Call&)>& is_over) {
    std::vector<std::pair<std::uint64_t, Transfer*>> over;  // in order of arrival
    for (const auto& [transfer, call] : active_) {
        if (is_over(*call)) over.emplace_back(call->number, transfer);
    }
    std::ranges::sort(over);
    for (const auto& [number, transfer] : over) {
        // Whoever hears that its call has failed may have given up others.
        const auto found = active_.find(transfer);
        if (found != active_.end() && found->second->number == number) finish(transfer, CURLE_OPERATION_TIMEDOUT);
    }
    return over.size();
}

void HttpClient::end(CallPtr call, HttpAnswer answer) {
    if (!answer.withheld) ++(answer.status == 0 ? counts_.failures : counts_.requests);
    if (!call->is_stream() && !answer.withheld) {
        const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - call->begun);
        times_.note(call->request.method, static_cast<int>(answer.status), {took.count()});
    }
    // The first bytes of a quiet watch come a minute after its date, with the first bookmark.
    if (answer.server_ahead && !call->is_stream()) clock_.hear(*answer.server_ahead);
    if (answer.status == 401) line_.credentials().distrust();
    if (answer.status == 429) ++counts_.refused;
    const bool is_open = (answer.status == 0 && !answer.withheld) || answer.status >= 500;
    call->unsure = call->unsure || is_open;
    answer.unsure = call->unsure;
    if (!try_again(call, answer)) call->done(std::move(answer));
}

bool HttpClient::try_again(CallPtr& call, const HttpAnswer& answer) {
    const HttpRequest& request = call->request;
    // A token or certificate that was replaced a moment ago deserves a second try.
    const bool has_files = !line_.access().token_file.empty() || !line_.access().certificate_file.empty();
    const bool from_file = has_files && call->backoff.failures() == 0;
    const bool from_plugin = !line_.access().exec.command.empty() && call->backoff.failures() < kPluginTries;
    const bool stale = answer.status == 401 && (from_file || from_plugin);
    if (!answer.passing() && !stale) return false;
    if (request.is_final != nullptr && request.is_final(answer)) return false;
    if (request.once && answer.unsure) return false;
    if (request.patience.us == 0) return false;
    const Duration pause = call->backoff.next(jitter_, answer.retry_after);
    const auto now = Clock::now();
    if (now + span_of(pause) > call->started + span_of(request.patience)) return false;
    if (answer.status == 429 && request.lane != Lane::kUrgent)
        hold_until_ = std::max(hold_until_, now + span_of(answer.retry_after));
    ++counts_.retries;
    spdlog::debug("{} {}: {}; again in {}", request.method, request.path, answer.text(), format_duration(pause));

    const void* owner = call->owner;
    const std::uint64_t number = call->number;
    resting_.emplace(number, std::move(call));
    const auto again = [this, number] {
        auto rested = resting_.extract(number);
        if (!rested.empty()) wait(std::move(rested.mapped()));
    };
    timers_.emplace(now + span_of(pause), Posted{owner, again, {}});
    return true;
}

std::chrono::milliseconds HttpClient::longest_wait() const {
    using std::chrono::ceil;
    using std::chrono::milliseconds;
    constexpr milliseconds kLongestPoll{1000};
    milliseconds wait = kLongestPoll;
    const auto now = Clock::now();
    if (!timers_.empty()) wait = std::min(wait, ceil<milliseconds>(timers_.begin()->first - now));
    if (hold_until_ > now) wait = std::min(wait, ceil<milliseconds>(hold_until_ - now));
    const bool has_calls = std::ranges::any_of(active_count_, [](std::size_t count) { return count > 0; });
    if (has_calls) wait = std::min(wait, ceil<milliseconds>(next_look_ - now));
    if (!waiting_[static_cast<std::size_t>(Lane::kIdle)].empty() && next_idle_ > now)
        wait = std::min(wait, ceil<milliseconds>(next_idle_ - now));
    return std::max(wait, milliseconds(0));
}

}  // namespace reprieve
