#include "app/cluster_look.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "app/kube_link.h"
#include "app/stop_signal.h"
#include "loop/control_loop.h"

namespace reprieve {
namespace {

constexpr std::chrono::seconds kPatience{60};

bool is_file(const std::string& path) {
    std::error_code wrong;
    return std::filesystem::exists(path, wrong);
}

}  // namespace

std::string usual_kubeconfig(const std::string& named) {
    if (!named.empty()) return named;
    if (const char* listed = std::getenv("KUBECONFIG"); listed != nullptr && *listed != '\0') {
        std::string_view rest = listed;
        while (!rest.empty()) {
            const std::size_t colon = std::min(rest.find(':'), rest.size());
            if (std::string path(rest.substr(0, colon)); !path.empty() && is_file(path)) return path;
            rest.remove_prefix(std::min(colon + 1, rest.size()));
        }
        return listed;  // the error names it
    }
    const char* home = std::getenv("HOME");
    std::string usual = fmt::format("{}/.kube/config", home == nullptr ? "" : home);
    return is_file(usual) || std::getenv("KUBERNETES_SERVICE_HOST") == nullptr ? usual : std::string();
}

Result<Time> look_at_cluster(const KubeTarget& wanted, const SchedulerConfig& config, Cluster& cluster) {
    const StopSignal signal;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    KubeTarget target = wanted;
    target.only_looks = true;
    target.stopped = [end] { return StopSignal::received() || std::chrono::steady_clock::now() > end; };
    target.scheduler_names = config.scheduler_names;
    auto link = open_kube(target, cluster.words());
    if (!link) return std::unexpected(link.error());
    LoopObserver nobody;
    ControlLoop loop(
        cluster, (*link)->source(), (*link)->sink(), nobody, {.config = config, .dry_run = true, .cycles = 1});
    // One turn takes in everything that is there.
    (void)loop.turn();
    (*link)->close();
    if (const std::string fault = (*link)->fault(); !fault.empty()) return fail(fault);
    if (!(*link)->synced()) return fail(fmt::format("the cluster could not be read within {} s", kPatience.count()));
    const Time now = (*link)->source().now();
    if (auto refreshed = cluster.refresh(now); !refreshed) return std::unexpected(refreshed.error());
    return now;
}

}  // namespace reprieve
