#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <thread>

#include "answers.h"
#include "probe.h"

namespace {

// Ends the probe when the process is asked to end. Signals are taken by one thread, as ordinary news.
class Farewell {
public:
    explicit Farewell(reprieve::Probe& probe) {
        thread_ = std::thread([this, &probe] {
            int signal = 0;
            sigwait(&signals(), &signal);
            if (!over_) probe.stop();
        });
    }
    ~Farewell() {
        over_ = true;
        pthread_kill(thread_.native_handle(), SIGTERM);
        thread_.join();
    }
    // Before any thread is started, so that all of them leave signals alone.
    static void block() { pthread_sigmask(SIG_BLOCK, &signals(), nullptr); }

private:
    static sigset_t& signals() {
        static sigset_t set = [] {
            sigset_t made;
            sigemptyset(&made);
            sigaddset(&made, SIGTERM);
            sigaddset(&made, SIGINT);
            return made;
        }();
        return set;
    }
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
    using namespace reprieve;
    CLI::App app("Source, Sink and lease on a real API server, driven by a test");
    std::string kubeconfig;
    std::string address;
    bool verbose = false;
    std::int64_t silence_seconds = 150;
    double rediscover_seconds = 30;
    double lease_seconds = 15;
    ProbeOptions options;
    app.add_option("--kubeconfig", kubeconfig)->required();
    app.add_option("--listen", address, "host:port for the test's questions");
    app.add_option("--identity", options.identity, "take part in the election under this name");
    app.add_option("--lease-seconds", lease_seconds);
    app.add_option("--in-flight", options.in_flight);
    app.add_option("--inbox-bytes", options.source.inbox_bytes);
    app.add_option("--page-items", options.source.watcher.page_items);
    app.add_option("--silence-seconds", silence_seconds);
    app.add_option("--rediscover-seconds", rediscover_seconds);
    app.add_option("--refusals", options.source.refusals);
    app.add_flag("--knows-answers", options.knows_answers, "act as the floor of bench/e2e/p2 does");
    app.add_flag("--verbose", verbose);
    CLI11_PARSE(app, argc, argv);
    options.source.watcher.most_page_items = options.source.watcher.page_items;

    spdlog::set_level(verbose ? spdlog::level::debug : spdlog::level::info);
    Farewell::block();
    Result<Access> access = access_from_kubeconfig(kubeconfig);
    if (!access) {
        fmt::print(stderr, "{}\n", access.error().message);
        return 1;
    }
    options.access = std::move(*access);
    options.source.watcher.watch_silence = {silence_seconds * 1'000'000};
    options.source.rediscover = {static_cast<std::int64_t>(rediscover_seconds * 1e6)};
    options.election.duration = {static_cast<std::int64_t>(lease_seconds * 1e6)};
    options.election.deadline = {static_cast<std::int64_t>(lease_seconds * 1e6 * 2 / 3)};
    options.election.retry = {static_cast<std::int64_t>(lease_seconds * 1e6 / 7)};

    Probe probe(std::move(options));
    const Farewell farewell(probe);
    WebServer server;
    answer_questions(server, probe);
    if (!address.empty()) {
        if (const Result<void> started = server.start(address); !started) {
            fmt::print(stderr, "{}\n", started.error().message);
            return 1;
        }
    }
    const std::string fault = probe.run();
    server.stop();
    if (fault.empty()) return 0;
    fmt::print(stderr, "{}\n", fault);
    return 1;
}
