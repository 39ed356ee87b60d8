#include "app/record_cli.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/exit_codes.h"
#include "app/record_commands.h"
#include "app/referee_command.h"

namespace reprieve {
namespace {

constexpr const char* kHistoryExamples = R"(
Examples:
  reprieve history --record /var/lib/reprieve             everything that was decided
  reprieve history team-a/trainer-3 --record DIR          who evicted it, for whom, at what cost; how long it waited
  reprieve history research --record DIR --since 2h --action preempt -o json
  sqlite3 DIR/record-2026-11-16.db 'select pod, "for", reason from evictions'

A record is made by `reprieve run --record DIR`. --since counts from its end.
Exit codes: 0 answered, 2 bad usage, 1 bad input (also: no such pod, gang or queue in the record, or a part of it cannot
be read; what can be is printed).
)";

constexpr const char* kReplayExamples = R"(
Examples:
  reprieve replay DIR                                     plan every cycle again: is it the same, byte for byte?
  reprieve replay DIR --config new.yaml                   what would a new configuration have decided otherwise?
  reprieve replay DIR --from 2026-11-16T08:00:00Z --to 2026-11-16T09:00:00Z -o json

To judge an upgrade, replay a record of the old version with the new program.
Exit codes: 0 identical, 3 different, 2 bad usage, 1 bad input or failure (also: a part of the record cannot be read; the
rest is identical).
)";

constexpr const char* kExportExamples = R"(
Examples:
  reprieve export DIR --format manifests --at 2026-11-16T08:00:00Z > world.json; reprieve plan -f world.json
  reprieve export DIR --format kwok > recording.yaml      the same days, another scheduler:
      kwokctl kectl snapshot replay --path recording.yaml     (KWOK 0.8; before: kwokctl snapshot replay)
  reprieve export DIR --format perfetto --out trace.pftrace   nodes, pods and arrows from demands to victims, for ui.perfetto.dev
  reprieve export DIR --format swf > jobs.swf             the workload, in the Standard Workload Format

Exit codes: 0 written, 2 bad usage, 1 bad input or failure.
)";

constexpr const char* kRefereeExamples = R"(
Examples:
  reprieve referee --kubeconfig ~/.kube/config --for 1h   watch a cluster that others schedule, then report
  reprieve referee --kubeconfig F --scheduler volcano -o json
  reprieve referee --in-cluster --ui :8080                as deploy/referee does; metrics at :8080
  reprieve referee --record DIR                           judge what Reprieve itself did

It reads and never writes: get, list and watch are all it needs. Without --for it watches until it is stopped, then reports.
Exit codes: 0 all fair or unclear, 3 some are not, 2 bad usage, 1 bad input or failure (also: a part of the record cannot
be read; the rest is fair or unclear).
)";

void add_record_option(CLI::App* command, std::string& record, bool positional) {
    CLI::Option* named =
        command->add_option("--record", record, "The record: a folder or one of its files")->type_name("DIR");
    if (!positional) return;
    CLI::Option* place = command->add_option("R", record, "The record, in place of --record")->type_name("DIR");
    place->excludes(named);
}

}  // namespace

void add_cycle_options(CLI::App* command, PlanningOptions& planning) {
    command->add_option("--record", planning.record, "Plan a cycle of this record again, instead of -f")
        ->type_name("DIR");
    command->add_option("--at", planning.at, "With --record: the last cycle at or before this time; default: the last")
        ->type_name("TIME");
    command->add_option("--cycle", planning.cycle, "With --record: this cycle, as in `history`")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000'000));
}

void add_record_commands(CLI::App& app, int& code) {
    const auto history = std::make_shared<HistoryOptions>();
    CLI::App* history_app =
        app.add_subcommand("history", "Say what was decided, when, for whom, and what became of it");
    history_app->add_option("NAME", history->name, "Pod, gang or queue: name or namespace/name")->type_name("NAME");
    add_record_option(history_app, history->record, false);
    history_app->add_option("--since", history->since, "Only so long before the end of the record, e.g. 2h or 7d")
        ->type_name("DURATION");
    history_app->add_option("--action", history->action, "Only decisions of this action, e.g. preempt")
        ->type_name("ACTION");
    history_app->add_option("-o,--output", history->output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->type_name("FORMAT");
    history_app->footer(kHistoryExamples);
    history_app->callback([history, &code] { code = history_command(*history); });

    const auto replay = std::make_shared<ReplayCommandOptions>();
    CLI::App* replay_app = app.add_subcommand("replay", "Plan every cycle of a record again and compare");
    add_record_option(replay_app, replay->record, true);
    replay_app->add_option("--from", replay->from, "Only cycles at or after this time (RFC 3339)")->type_name("TIME");
    replay_app->add_option("--to", replay->to, "Only cycles at or before this time")->type_name("TIME");
    replay_app->add_option("--config", replay->config_file, "Another configuration; default: the recorded one")
        ->type_name("FILE");
    replay_app->add_option("-o,--output", replay->output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->type_name("FORMAT");
    replay_app->footer(kReplayExamples);
    replay_app->callback([replay, &code] { code = replay_command(*replay); });

    const auto exported = std::make_shared<ExportOptions>();
    CLI::App* export_app = app.add_subcommand("export", "Write a record for another tool");
    add_record_option(export_app, exported->record, true);
    export_app->add_option("--format", exported->format, "manifests, kwok, perfetto or swf")
        ->required()
        ->check(CLI::IsMember({"manifests", "kwok", "perfetto", "swf"}))
        ->type_name("FORMAT");
    export_app->add_option("--at", exported->at, "manifests: the last cycle at or before this time; default: the last")
        ->type_name("TIME");
    export_app->add_option("--cycle", exported->cycle, "manifests: this cycle, as in `history`")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000'000));
    export_app->add_option("--from", exported->from, "kwok, perfetto, swf: from this time on")->type_name("TIME");
    export_app->add_option("--to", exported->to, "kwok, perfetto, swf: until this time")->type_name("TIME");
    export_app->add_option("--out", exported->out, "Write to this file instead of standard output")->type_name("FILE");
    export_app->footer(kExportExamples);
    export_app->callback([exported, &code] { code = export_command(*exported); });

    const auto referee = std::make_shared<RefereeCommandOptions>();
    CLI::App* referee_app = app.add_subcommand("referee", "Judge the evictions that schedulers make; changes nothing");
    referee_app->add_option("--kubeconfig", referee->kubeconfig, "Watch the cluster of this kubeconfig")
        ->type_name("FILE");
    referee_app->add_option("--context", referee->context, "Context of the kubeconfig; default: its current one")
        ->type_name("NAME");
    referee_app->add_flag("--in-cluster", referee->in_cluster, "Watch the cluster this program runs in");
    referee_app->add_flag("--allow-loopback-http", referee->loopback_http, "Plain HTTP to this machine is fine");
    add_record_option(referee_app, referee->record, false);
    referee_app->add_option("--scheduler", referee->schedulers, "Judge only these schedulers")->type_name("NAME");
    referee_app->add_option("--for", referee->duration, "Watch so long; default: until stopped")->type_name("DURATION");
    referee_app
        ->add_option(
            "--start-within", referee->start_within, "A beneficiary that starts later was not helped; default: 10m")
        ->type_name("DURATION");
    referee_app
        ->add_option(
            "--config", referee->config_file, "Scheduler configuration whose rules and costs are the yardstick")
        ->type_name("FILE");
    referee_app->add_option("--ui", referee->ui, "Serve health and metrics there")->type_name("ADDR");
    referee_app->add_option("-o,--output", referee->output, "table, json or html")
        ->check(CLI::IsMember({"table", "json", "html"}))
        ->type_name("FORMAT");
    referee_app->footer(kRefereeExamples);
    referee_app->callback([referee, &code] { code = referee_command(*referee); });
}

}  // namespace reprieve
