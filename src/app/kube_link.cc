#include "app/kube_link.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include "base/version.h"
#include "kube/access.h"
#include "kube/lease.h"
#include "kube/sink.h"
#include "kube/source.h"

namespace reprieve {
namespace {

constexpr const char* kHome = "kube-system";  // outside a cluster: the one namespace that every cluster has
constexpr const char* kLeaseName = "reprieve";
constexpr long kReadBuffer = 256L << 10;
constexpr Duration kLookAtLease{2'000'000};  // at the latest
constexpr int kRefusals = 8;                 // of one kind in a row, over about ten seconds: they mean it
constexpr std::chrono::seconds kFarewell{3};
constexpr Duration kQuestion{5'000'000};  // about somebody who wants to look

// Two replicas must never take each other for themselves, not even after a restart in the same place.
std::string own_identity() {
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    std::random_device chance;
    return fmt::format("{}_{:08x}", host, chance());
}

Result<Access> access_of(const KubeTarget& target) {
    if (target.kubeconfig.empty()) return access_in_cluster(service_account_of_this_pod());
    return access_from_kubeconfig(target.kubeconfig,
                                  {.loopback_http = target.loopback_http, .context = target.context});
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
          source_(reads_, words, pods_, addresses_, source_options(target)),
          lease_(target.only_looks ? nullptr : std::make_unique<LeaderLease>(writes_, election, clock())),
          sink_(writes_, pods_, addresses_, sink_options(target, election)) {
        if (!lease_) return;
        lease_->on_change([this](bool leads) {
            if (leads) source_.look_now(lease_->leads_since());
            source_.wake();
        });
        lease_->on_hopeless([this](std::string why) { source_.fail(std::move(why)); });
    }

    [[nodiscard]] Source& source() override { return source_; }
    [[nodiscard]] Sink& sink() override { return sink_; }
    [[nodiscard]] bool leads() const override { return !lease_ || lease_->leads(); }
    [[nodiscard]] bool synced() const override { return source_.synced(); }
    [[nodiscard]] bool is_current() const override {
        return source_.is_current(lease_ ? lease_->leads_since() : std::chrono::steady_clock::time_point());
    }
    [[nodiscard]] std::string fault() const override { return source_.fault(); }
    void on_missed(std::function<void(const std::string& kind, Time from, Time to)> call) override {
        source_.on_missed(std::move(call));
    }
    void on_late(std::function<void(Time from, Time to)> call) override { source_.on_late(std::move(call)); }

    [[nodiscard]] LinkCounts counts() const override {
        LinkCounts out;
        for (const HttpClient* client : {&reads_, &writes_}) {
            const HttpCounts& counts = client->counts();
            out.totals.requests += counts.requests;
            out.totals.retries += counts.retries;
            out.totals.refused += counts.refused;
            out.totals.failures += counts.failures;
            out.totals.events_dropped += counts.given_up;
        }
        out.totals.objects = source_.counts().objects;
        out.totals.malformed = source_.counts().malformed;
        out.totals.lists = source_.watcher_counts().lists;
        out.totals.watches = source_.watcher_counts().watches;
        out.totals.writes_queued = sink_.queued();
        out.kinds = source_.health();
        for (const HttpClient* client : {&reads_, &writes_}) {
            for (const auto& [key, time] : client->times()) {
                RequestTime& sum = out.times[key];
                for (std::size_t i = 0; i < RequestTime::kBuckets; ++i)
                    sum.buckets[i] += time.buckets[i];
                sum.sum_us += time.sum_us;
            }
        }
        return out;
    }

    Result<std::string> post(const std::string& path, const std::string& body) override {
        auto promise = std::make_shared<std::promise<HttpAnswer>>();
        auto future = promise->get_future();
        HttpRequest request{.method = "POST", .path = path, .body = body};
        request.deadline = kQuestion;
        request.patience = {};
        reads_.send(this, std::move(request), [promise](HttpAnswer answer) { promise->set_value(std::move(answer)); });
        if (future.wait_for(std::chrono::microseconds(2 * kQuestion.us)) != std::future_status::ready)
            return fail("the API server does not answer");
        HttpAnswer answer = future.get();
        if (!answer.ok()) return fail(answer.text());
        return std::move(answer.body);
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
    [[nodiscard]] KubeSourceOptions source_options(const KubeTarget& target) {
        KubeSourceOptions options;
        options.census = &census_;
        options.clock = clock();
        options.refusals = kRefusals;
        options.stopped = target.stopped;
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

class KubeEvents final : public ClusterEvents {
public:
    KubeEvents(const KubeTarget& target, const Access& access)
        : client_(access, reading(client_options(target, access, 3))),
          feed_(client_) {}
    [[nodiscard]] EventFeed& feed() override { return feed_; }

private:
    HttpClient client_;
    EventFeed feed_;
};

// What the connection has to say goes to standard error, a line each, in the form of the run's own log.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit LogSink(LogFormat format) : format_(format) {}

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        const auto since = std::chrono::duration_cast<std::chrono::microseconds>(message.time.time_since_epoch());
        const std::string when = format_time({since.count()});
        const LogLine line{.event = std::string(message.payload.begin(), message.payload.end()),
                           .level = level_of(message.level)};
        if (format_ == LogFormat::kJson)
            fmt::print(stderr, "{}\n", as_json(line, when));
        else
            fmt::print(stderr, "{} {} {}\n", when, to_text(line.level), line.event);
    }
    void flush_() override { std::fflush(stderr); }

private:
    static LogLevel level_of(spdlog::level::level_enum level) {
        if (level >= spdlog::level::err) return LogLevel::kError;
        if (level == spdlog::level::warn) return LogLevel::kWarn;
        return level == spdlog::level::info ? LogLevel::kInfo : LogLevel::kDebug;
    }

    LogFormat format_;
};

void log_to_stderr(const KubeTarget& target) {
    auto logger = std::make_shared<spdlog::logger>("reprieve", std::make_shared<LogSink>(target.log_format));
    constexpr spdlog::level::level_enum kLevels[] = {
        spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
    logger->set_level(kLevels[static_cast<std::size_t>(target.log_level)]);
    logger->flush_on(spdlog::level::debug);
    spdlog::set_default_logger(std::move(logger));
}

}  // namespace

Result<std::unique_ptr<ClusterLink>> open_kube(const KubeTarget& target, Vocabulary& words) {
    const Result<Access> access = access_of(target);
    if (!access) return std::unexpected(access.error());
    const Result<ElectionOptions> election = election_of(target, *access);
    if (!election) return std::unexpected(election.error());
    log_to_stderr(target);
    return std::make_unique<KubeLink>(target, *access, *election, words);
}

Result<std::unique_ptr<ClusterEvents>> open_events(const KubeTarget& target) {
    const Result<Access> access = access_of(target);
    if (!access) return std::unexpected(access.error());
    return std::make_unique<KubeEvents>(target, *access);
}

}  // namespace reprieve
