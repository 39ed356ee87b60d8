#include "kube/outbox.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace reprieve {
namespace {

using Clock = std::chrono::steady_clock;

WriteEnd end_of(const HttpAnswer& answer) {
    if (answer.ok()) return WriteEnd::kDone;
    if (answer.status == 404) return WriteEnd::kGone;
    const bool may_be_another = answer.status == 422 || answer.status == 409;
    if (!may_be_another) return WriteEnd::kFailed;
    const ApiStatus status = read_status(answer.body);
    const bool other_uid = status.wrong_uid || status.message.find("UID in precondition") != std::string::npos ||
                           status.message.find("UID in the precondition") != std::string::npos;
    return other_uid ? WriteEnd::kGone : WriteEnd::kFailed;
}

}  // namespace

std::string pod_path(const std::string& pod, std::string_view sub) {
    const std::size_t slash = pod.find('/');
    std::string path = fmt::format("/api/v1/namespaces/{}/pods/{}", pod.substr(0, slash), pod.substr(slash + 1));
    if (!sub.empty()) path += fmt::format("/{}", sub);
    return path;
}

void Outbox::write(PodWrite write, Ended ended) {
    if (write.change) pods_->begin_write(write.pod, write.uid, write.change);
    write.request.brief = true;
    Ending ending{.report = {.step = write.step, .pod = write.pod, .uid = std::move(write.uid)},
                  .tracked = write.change != nullptr,
                  .gone_is_fine = write.gone_is_fine,
                  .withheld_is_fine = write.withheld_is_fine,
                  .ended = std::move(ended)};
    // A soft eviction is a mark, which may be written twice.
    if (write.step == SinkStep::kEvict && std::string_view(write.request.method) != "PATCH") {
        write.request.once = true;
        ending.again = write.request;
    }
    send(std::move(write.request), std::move(ending));
}

void Outbox::send(HttpRequest request, Ending ending) {
    const std::string pod = ending.report.pod;
    call(pod, std::move(request), [this, ending = std::move(ending)](const HttpAnswer& answer) mutable {
        answered(std::move(ending), answer);
    });
}

void Outbox::answered(Ending ending, const HttpAnswer& answer) {
    const WriteEnd end = end_of(answer);
    ending.unsure = ending.unsure || answer.unsure;
    const bool is_open = end == WriteEnd::kFailed && ending.unsure && ending.again.once;
    if (!is_open) return conclude(std::move(ending), end, answer);
    if (ending.until == Clock::time_point())
        ending.until = Clock::now() + std::chrono::microseconds(ending.again.patience.us);
    const Duration pause = ending.backoff.next(client_->jitter(), answer.retry_after);
    open();
    run_after(pause, [this, ending = std::move(ending), answer]() mutable {
        look(std::move(ending), answer);
        close();
    });
}

void Outbox::look(Ending ending, const HttpAnswer& answer) {
    open();
    const std::string path = pod_path(ending.report.pod);
    const std::string uid = ending.report.uid;
    const auto look = std::make_shared<SecondLook>(
        *client_, this, path, uid, [this, ending = std::move(ending), answer](std::optional<WriteEnd> seen) mutable {
            looked(std::move(ending), seen, answer);
            close();
        });
    look->start();
}

// Only of a pod that is known to stay the same is asked again.
void Outbox::looked(Ending ending, std::optional<WriteEnd> seen, const HttpAnswer& answer) {
    const HttpRequest& again = ending.again;
    const bool is_final = !answer.passing() || (again.is_final != nullptr && again.is_final(answer));
    const Clock::duration left = ending.until - Clock::now();
    if (seen != WriteEnd::kFailed || is_final || left <= Clock::duration::zero()) {
        ending.report.unsure = !seen;
        return conclude(std::move(ending), seen.value_or(WriteEnd::kFailed), answer);
    }
    HttpRequest request = again;
    request.patience = {std::chrono::duration_cast<std::chrono::microseconds>(left).count()};
    client_->count_retry();
    send(std::move(request), std::move(ending));
}

void Outbox::conclude(Ending ending, WriteEnd end, const HttpAnswer& answer) {
    SinkReport& report = ending.report;
    if (ending.tracked) {
        const bool has_pod = answer.ok() && !answer.body.starts_with(R"({"kind":"Status",)");
        pods_->end_write(
            report.pod, report.uid, end == WriteEnd::kDone, has_pod ? reader_.version_of(answer.body) : std::string());
        if (end == WriteEnd::kGone) pods_->forget_gone(report.pod, report.uid);
    }
    report.ok = end == WriteEnd::kDone || (ending.gone_is_fine && end == WriteEnd::kGone) ||
                (ending.withheld_is_fine && answer.withheld && may_act_());
    if (!report.ok) report.what = answer.text();
    report.tried = !answer.withheld;
    if (ending.ended) ending.ended(end, answer);
    this->report(std::move(report));
}

void Outbox::call(const std::string& object, HttpRequest request, HttpClient::Done done) {
    open();
    enter(object, {std::move(request), [this, done = std::move(done)](HttpAnswer answer) {
                       done(std::move(answer));
                       close();
                   }});
}

void Outbox::enter(const std::string& object, Waiting waiting) {
    const std::uint64_t rank = waiting.request.rank;
    const auto [found, first] = lines_.try_emplace(object);
    if (first) return leave(object, std::move(waiting), rank);
    Line& line = found->second;
    line.behind.push_back(std::move(waiting));
    if (rank < line.rank && client_->hasten(line.number, line.rank, rank)) line.rank = rank;
}

// REQUIRES: the object has a line. Others may be called back before this returns.
void Outbox::leave(const std::string& object, Waiting waiting, std::uint64_t rank) {
    if (waiting.request.gate == nullptr) waiting.request.gate = &may_act_;
    waiting.request.rank = rank;
    Line& line = lines_.at(object);
    line.rank = rank;
    line.number = client_->submit(
        this, std::move(waiting.request), [this, object, done = std::move(waiting.done)](HttpAnswer answer) {
            done(std::move(answer));
            next(object);
        });
}

void Outbox::next(const std::string& object) {
    const auto found = lines_.find(object);
    std::deque<Waiting>& behind = found->second.behind;
    if (behind.empty()) {
        lines_.erase(found);
        return;
    }
    std::uint64_t rank = behind.front().request.rank;
    for (const Waiting& one : behind)
        rank = std::min(rank, one.request.rank);
    Waiting waiting = std::move(behind.front());
    behind.pop_front();
    leave(object, std::move(waiting), rank);
}

void Outbox::tell(HttpRequest request, HttpClient::Done done) {
    request.lane = Lane::kIdle;
    ++told_;
    // What is made anew waits for nobody.
    const std::string line = std::string_view(request.method) == "POST" ? fmt::format("new {}", ++made_) : request.path;
    enter(line, {std::move(request), [this, done = std::move(done)](const HttpAnswer& answer) {
                     if (!answer.ok()) spdlog::debug("{}", answer.text());
                     if (done) done(answer);
                     --told_;
                 }});
}

void Outbox::report(SinkReport report) {
    const bool failed = !report.ok;
    {
        const std::lock_guard lock(mutex_);
        reports_.push_back(std::move(report));
    }
    if (failed && on_failure_) on_failure_();
}

void Outbox::collect(std::vector<SinkReport>& out) {
    const std::lock_guard lock(mutex_);
    std::ranges::move(reports_, std::back_inserter(out));
    reports_.clear();
}

}  // namespace reprieve
