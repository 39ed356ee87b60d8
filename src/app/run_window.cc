#include "app/run_window.h"

#include "app/inputs.h"
#include "app/monitor.h"
#include "app/token_check.h"
#include "base/version.h"
#include "window/api.h"
#include "window/loop_and_record.h"
#include "window/loop_source.h"

namespace reprieve {
namespace {

class RunWindow final : public RunUi {
public:
    RunWindow(const UiTarget& target, ClusterLink& link, Cluster& cluster, const SchedulerConfig& config)
        : source_(cluster, config, facts_of(target, link)),
          check_([&link](const std::string& path, const std::string& body) { return link.post(path, body); },
                 target.scope,
                 [this] { return source_.namespaces(); }),
          past_(source_, target.record),
          window_(target.record.empty() ? static_cast<window::MomentSource&>(source_) : past_, options_of(target)),
          monitor_(link) {
        if (target.recording) monitor_.follow_recording(target.recording);
    }

    ~RunWindow() override {
        window_.close();
        monitor_.server().stop();
    }

    [[nodiscard]] Result<void> start(const std::string& address) {
        window_.route(monitor_.server());
        return monitor_.start(address);
    }

    [[nodiscard]] int port() const override { return monitor_.port(); }
    void loop_ended() override { source_.loop_ended(); }

    void on_change(const Change& change, const Cluster& cluster, Time now) override {
        source_.on_change(change, cluster, now);
    }
    void on_cycle(const CycleReport& report) override {
        monitor_.on_cycle(report);
        source_.on_cycle(report);
    }
    void on_step(const SinkReport& report, Time now) override { monitor_.on_step(report, now); }
    void on_trouble(const std::string& what, Time now) override { source_.on_trouble(what, now); }
    void on_turn(const Cluster& cluster, Time now) override { source_.on_turn(cluster, now); }
    void on_pulse() override { monitor_.on_pulse(); }

private:
    static window::LoopFacts facts_of(const UiTarget& target, const ClusterLink& link) {
        return {.leads = [&link] { return link.leads(); },
                .synced = [&link] { return link.synced(); },
                .recording = static_cast<bool>(target.recording),
                .dry_run = target.dry_run,
                .origin = {.kind = "loop", .arguments = target.arguments}};
    }

    window::WindowOptions options_of(const UiTarget& target) {
        const bool here = listens_only_here(target.address);
        window::WindowOptions options{.version = kVersion,
                                      .take = [](Cluster& cluster,
                                                 std::string_view text,
                                                 Time now) { return load_changes_text(cluster, text, now); },
                                      .authorize = {},
                                      .only_loopback = here,
                                      .page_folder = {}};
        if (!here && !target.open) options.authorize = [this](const std::string& token) { return check_(token); };
        return options;
    }

    window::LoopSource source_;
    TokenCheck check_;
    window::LoopAndRecord past_;
    window::Window window_;
    Monitor monitor_;  // last: its server's threads end first
};

}  // namespace

Result<std::unique_ptr<RunUi>> open_window(const UiTarget& target,
                                           ClusterLink& link,
                                           Cluster& cluster,
                                           const SchedulerConfig& config) {
    auto ui = std::make_unique<RunWindow>(target, link, cluster, config);
    if (auto started = ui->start(target.address); !started) return std::unexpected(started.error());
    return ui;
}

}  // namespace reprieve
