#include "sim/pod_times.h"

#include <fmt/format.h>

namespace reprieve {
namespace {

Result<std::optional<Duration>> read_time(const Json& metadata, std::string_view name) {
    const std::string key = fmt::format("reprieve.dev/sim-{}", name);
    const Json* note = find_path(metadata, {"annotations", key});
    if (note == nullptr) return std::nullopt;
    const Result<Duration> duration = parse_duration(note->is_string() ? note->get<std::string>() : note->dump());
    if (!duration) return fail(fmt::format("metadata.annotations[{}]: {}", key, duration.error().message));
    if (duration->us < 0) return fail(fmt::format("metadata.annotations[{}]: must not be negative", key));
    return *duration;
}

Result<void> check_metadata(const Json* metadata, std::string_view where) {
    if (metadata == nullptr) return {};
    const Result<PodTimes> times = read_pod_times(*metadata);
    if (!times) return fail(fmt::format("{}{}", where, times.error().message));
    return {};
}

}  // namespace

Result<PodTimes> read_pod_times(const Json& metadata) {
    PodTimes times;
    const auto start = read_time(metadata, "start");
    if (!start) return std::unexpected(start.error());
    if (*start) times.start = **start;
    const auto run = read_time(metadata, "run");
    if (!run) return std::unexpected(run.error());
    times.run = *run;
    const auto terminate = read_time(metadata, "terminate");
    if (!terminate) return std::unexpected(terminate.error());
    times.terminate = *terminate;
    return times;
}

Result<void> check_pod_times(const Json& body) {
    if (auto own = check_metadata(find_path(body, {"metadata"}), ""); !own) return own;
    if (auto of_template = check_metadata(find_path(body, {"spec", "template", "metadata"}), "spec.template.");
        !of_template)
        return of_template;
    const Json* tasks = find_path(body, {"spec", "tasks"});
    if (tasks == nullptr || !tasks->is_array()) return {};
    for (std::size_t i = 0; i < tasks->size(); ++i) {
        const Json* metadata = find_path((*tasks)[i], {"template", "metadata"});
        if (auto of_task = check_metadata(metadata, fmt::format("spec.tasks[{}].template.", i)); !of_task)
            return of_task;
    }
    return {};
}

}  // namespace reprieve
