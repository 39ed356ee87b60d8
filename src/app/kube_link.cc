#include "app/kube_link.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "app/version.h"
#include "kube/access.h"
#include "kube/lease.h"
#include "kube/sink.h"
#include "kube/source.h"

namespace reprieve {
namespace {

constexpr const char* kHome = "reprieve-system";
constexpr const char* kLeaseName = "reprieve";
constexpr long kReadBuffer = 256L << 10;
constexpr Duration kLookAtLease{2'000'000};  // at the latest
constexpr int kRefusals = 8;                 // of one kind in a row, over about ten seconds: they mean it
constexpr std::chrono::seconds kFarewell{3};

// Two replicas must never take each other for themselves, not even after a restart in the same place.
std::string own_identity() {
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    std::random_device chance;
    return fmt::format("{}_{:08x}", host, chance());
}

Result<Access> access_of(const KubeTarget& target) {
    if (target.kubeconfig.empty()) return access_in_cluster(service_account_of_this_pod());
    return access_from_kubeconfig(target.kubeconfig, {.loopback_http = target.loopback_http});
}

Result<ElectionOptions> election_of(const KubeTarget& target, const Access& access) {
    const bool in_cluster = target.kubeconfig.empty();
    ElectionOptions options{.ns = in_cluster && !access.ns.empty() ? access.ns : kHome,
                            .name = kLeaseName,
                            .identity = own_identity(),
                            .duration = target.lease_duration,
                            .deadline = {target.lease_duration.us * 2 / 3},
                            .retry = std::min(kLookAtLease, Duration{target.lease_duration.us / 7})};
    if (target.lease.empty()) return options;
    const std::size_t slash = target.lease.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == target.lease.size())
        return fail(fmt::format("--lease: \"{}\" is not of the form namespace/name", target.lease));
    options.ns = target.lease.substr(0, slash);
    options.name = target.lease.substr(slash + 1);
    return options;
}

HttpClientOptions client_options(const KubeTarget& target, const Access& access, std::uint64_t seed) {
    HttpClientOptions options;
    options.line.plain_http = target.loopback_http && access.server.starts_with("http://");
    options.line.user_agent = fmt::format("reprieve/{}", kVersion);
    options.seed = seed;
    return options;
}

HttpClientOptions reading(HttpClientOptions options) {
    options.line.buffer_bytes = kReadBuffer;
    return options;
}

class KubeLink final : public ClusterLink {
public:
    KubeLink(const KubeTarget& target, const Access& access, const ElectionOptions& election, Vocabulary& words)
        : reads_(access, reading(client_options(target, access, 1))),
          writes_(access, client_options(target, access, 2)),
          census_(target.scheduler_names),
          source_(reads_, words, pods_, addresses_, source_options()),
          lease_(target.only_looks ? nullptr : std::make_unique<LeaderLease>(writes_, election, clock())),
          sink_(writes_, pods_, addresses_, sink_options(target, election)) {
        if (lease_) lease_->on_change([this](bool) { source_.wake(); });
    }

    [[nodiscard]] Source& source() override { return source_; }
    [[nodiscard]] Sink& sink() override { return sink_; }
    [[nodiscard]] bool leads() const override { return !lease_ || lease_->leads(); }
    [[nodiscard]] bool synced() const override { return source_.synced(); }
    [[nodiscard]] std::string fault() const override { return source_.fault(); }

    [[nodiscard]] LinkCounts counts() const override {
        LinkCounts out;
        for (const HttpClient* client : {&reads_, &writes_}) {
            const HttpCounts& counts = client->counts();
            out.requests += counts.requests;
            out.retries += counts.retries;
            out.refused += counts.refused;
            out.failures += counts.failures;
            out.events_dropped += counts.given_up;
        }
        out.objects = source_.counts().objects;
        out.malformed = source_.counts().malformed;
        out.lists = source_.watcher_counts().lists;
        out.watches = source_.watcher_counts().watches;
        return out;
    }

    void close() override {
        const auto end = std::chrono::steady_clock::now() + kFarewell;
        while (leads() && !sink_.settled() && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (lease_) lease_->resign({std::chrono::microseconds(kFarewell).count()});
    }

private:
    [[nodiscard]] std::function<Time()> clock() const {
        return [this] { return reads_.clock().now(); };
    }
    [[nodiscard]] KubeSourceOptions source_options() {
        KubeSourceOptions options;
        options.census = &census_;
        options.clock = clock();
        options.refusals = kRefusals;
        return options;
    }
    [[nodiscard]] KubeSinkOptions sink_options(const KubeTarget& target, const ElectionOptions& election) {
        KubeSinkOptions options;
        options.may_act = [this] { return leads(); };
        options.on_failure = [this] { source_.wake(); };
        options.census = &census_;
        options.announcer.instance = election.identity;
        options.resource_quotas = target.resource_quotas;
        return options;
    }

    HttpClient reads_;
    HttpClient writes_;
    KnownPods pods_;
    AddressBook addresses_;
    GangCensus census_;
    KubeSource source_;
    std::unique_ptr<LeaderLease> lease_;
    KubeSink sink_;
};

// What the connection has to say goes to standard error, a line each, in the form of the run's own log.
void log_to_stderr() {
    auto logger = std::make_shared<spdlog::logger>("reprieve", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc);
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
}

}  // namespace

Result<std::unique_ptr<ClusterLink>> open_kube(const KubeTarget& target, Vocabulary& words) {
    const Result<Access> access = access_of(target);
    if (!access) return std::unexpected(access.error());
    const Result<ElectionOptions> election = election_of(target, *access);
    if (!election) return std::unexpected(election.error());
    log_to_stderr();
    return std::make_unique<KubeLink>(target, *access, *election, words);
}

}  // namespace reprieve
