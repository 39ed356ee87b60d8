#include "window/file_source.h"

#include <thread>

#include "window/copy_process.h"
#include "window/documents.h"

namespace reprieve::window {

FileSource::FileSource(Cluster& cluster, const Plan& plan, const SchedulerConfig& config, const Origin& origin)
    : cluster_(cluster),
      plan_(plan),
      config_(config),
      room_(room_document(cluster, plan)) {
    auto moment = std::make_shared<Moment>();
    moment->serial = 1;
    moment->now = plan.now;
    Health health;
    health.evictions_in_all = std::ssize(plan.evictions);
    for (const Decision& decision : decisions_of(plan, 1))
        moment->decisions.push_back(describe(cluster, plan, decision, origin));
    health.decisions_in_all = std::ssize(moment->decisions);
    moment->summary = summary_document(cluster, plan, health, "files");
    moment->waiting = waiting_document(cluster, plan);
    Taken taken;
    count_taken(cluster, plan.evictions, taken);
    moment->queues = queues_document(cluster, plan, taken, "");
    moment_ = std::move(moment);
}

Result<std::shared_ptr<const Moment>> FileSource::moment(std::optional<Time>) { return moment_; }

Result<std::string> FileSource::ask(std::optional<Time>, const Question& question) {
    auto copy = start_copy(
        [&] {
            Scene scene{cluster_, plan_, config_};
            return question(scene);
        },
        {});
    if (!copy) return std::unexpected(copy.error());
    return copy->wait();
}

Result<std::string> FileSource::room(std::optional<Time>) { return room_; }

Result<std::string> FileSource::lifelines(std::optional<Time>, const std::string& queue) {
    return lifelines_document(cluster_, plan_, queue);
}

std::int64_t FileSource::newest(std::int64_t seen, std::chrono::milliseconds wait) {
    if (seen == moment_->serial) std::this_thread::sleep_for(wait);
    return moment_->serial;
}

}  // namespace reprieve::window
