#include "app/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/build_facts.h"
#include "app/check_command.h"
#include "app/complaint.h"
#include "app/completion.h"
#include "app/exit_codes.h"
#include "app/explain_command.h"
#include "app/kube_link.h"
#include "app/kubectl_plugin.h"
#include "app/plan_command.h"
#include "app/record_cli.h"
#include "app/run_command.h"
#include "app/run_window.h"
#include "app/schema_command.h"
#include "app/simulate_command.h"
#include "app/ui_command.h"
#include "base/version.h"
#include "manifest/suggest.h"

namespace reprieve {
namespace {

constexpr const char* kPlanExamples = R"(
Examples:
  reprieve plan -f examples/mixed-cluster                what would be decided now
  kubectl get nodes,pods,pdb,priorityclasses -A -o json | reprieve plan -f - -f job.yaml
  reprieve plan -f examples/mixed-cluster --for finetune -o json     only for one gang, as JSON
  reprieve plan -f examples/mixed-cluster --config deploy/base/config.yaml --now 2026-03-02T09:00:00Z
  reprieve plan -f examples/mixed-cluster --alternatives no budget broken, fewest jobs, least work lost, soonest free
  reprieve plan -f examples/mixed-cluster --verify       also check that victims who come back start nothing new

Exit codes: 0 everything placed (or nothing to do), 3 something stays unplaced, 2 bad usage, 1 bad input or failure.
)";

constexpr const char* kExplainExamples = R"(
Examples:
  reprieve explain embeddings-2 -f examples/mixed-cluster            why is it evicted, and what would have spared it
  reprieve explain research/finetune -f examples/mixed-cluster -o json     a gang, as JSON
  reprieve explain debug-h200 -f examples/mixed-cluster --config deploy/base/config.yaml --now 2026-03-02T09:00:00Z
  reprieve plan -f examples/mixed-cluster -o json > plan.json; reprieve explain embeddings-2 --plan plan.json

With -f the plan is made (or, beside --plan, checked) from the manifests, and what would have been otherwise is found by
planning again.
With --plan alone only what the plan says is told.
Exit codes: 0 explained, 2 bad usage, 1 bad input or failure (also: no such pod or gang).
)";

constexpr const char* kUiExamples = R"(
Examples:
  reprieve ui -f examples/mixed-cluster                  who leaves, for whom, at what cost; what waits; where room is
  kubectl get nodes,pods,pdb,priorityclasses -A -o json | reprieve ui -f -
  reprieve ui --record /var/lib/reprieve                 what was decided, with a slider over time
  reprieve ui results/report.html                        a report of simulate or referee

The page is at http://127.0.0.1:8900/ and its API at /api/v1/now, /api/v1/decisions, ... (docs/window.md).
Exit codes: 0 ended by a signal, 2 bad usage, 1 bad input or failure.
)";

constexpr const char* kRunExamples = R"(
Examples:
  reprieve run -f examples/run                           the embedded cluster, on this machine, until nothing happens any more
  reprieve run -f examples/run --speed real              as on the wall; 10x is ten times faster, fast does not wait at all
  reprieve run -f examples/run --dry-run                 plan and tell, change nothing
  reprieve run -f dump.json --cycles 20 --now 2026-01-01T12:00:00Z
  reprieve run --kubeconfig ~/.kube/config --dry-run     a real cluster: say what would be done
  reprieve run --in-cluster --ui :8080                   as a Deployment does; /healthz, /readyz and /metrics at :8080
  reprieve run -f examples/run --record /tmp/r           keep a record, for history, explain --record, replay and export

Without a cluster, -f feeds the embedded one: nodes with simulated kubelets, controllers that make lost pods again, and
what a `kind: Timeline` document says happens. Only pods whose schedulerName is ours (default: reprieve) are scheduled.
Exit codes: 0 everything placed, or stopped; 3 something stays unplaced, 2 bad usage, 1 bad input or failure.
)";

constexpr const char* kSimulateExamples = R"(
Examples:
  reprieve simulate -f nodes.csv --trace jobs.csv                         what would the default policy do to this workload
  reprieve simulate -f nodes.csv --trace jobs.csv --policy none --policy kube --policy mine=scheduler.yaml --out result
  reprieve simulate -f cluster.yaml --trace jobs.csv --until 168h --grace 30s --failures 720h/1h --seeds 5
  reprieve simulate -f nodes.csv --trace 'jobs-{seed}.csv' --seeds 5 --policy reprieve --policy volcano --out result
  reprieve simulate -f nodes.csv --trace openb.csv --policy place:bestfit --policy place:fgd
  reprieve simulate --trace /var/lib/reprieve --policy reprieve --policy mine=scheduler.yaml     one's own history (run --record)

nodes.csv: name, count, cpu, memory, gpus, labels (k=v;k=v), fails (at+down;...)
jobs.csv:  job, submit, duration, pods, cpu, memory, gpus, priority, queue, min, topology, checkpoint, restart, selector
Built in:  reprieve, none, kube, volcano, koordinator, fifo-backfill, place:random, place:dotprod, place:gpuclustering,
           place:gpupacking, place:bestfit, place:fgd
--out writes summary.json, jobs.csv, evictions.csv, samples.csv, history.csv, report.json and report.html; interrupted, the same
command goes on.
Exit codes: 0 simulated, 2 bad usage, 1 bad input or failure (also: the books of a run do not balance), 130 interrupted.
)";

// CLI11 would only say that a command is missing.
bool complain_of_unknown_command(const CLI::App& app, const std::string& typed) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    const std::vector<std::string_view> known(names.begin(), names.end());
    if (typed.starts_with('-') || std::ranges::find(names, typed) != names.end()) return false;
    print_complaint(fmt::format("unknown command '{}'{}", typed, suggestion(typed, known)));
    print_advice("Run `reprieve --help` for the commands.\n");
    return true;
}

int run(int argc, char** argv) {
    CLI::App app{"Reprieve: a Kubernetes scheduler whose trade is preemption"};
    app.name("reprieve");
    app.require_subcommand(1);
    app.failure_message(complaint_about_usage);
    app.set_version_flag("--version", fmt::format("reprieve {}", kVersion), "Print the version");
    app.footer("Run `reprieve COMMAND --help` for options and examples of a command.");
    int code = kExitOk;

    PlanOptions plan;
    CLI::App* plan_app = app.add_subcommand("plan", "Show what would be decided now; changes nothing");
    plan_app
        ->add_option("-f,--filename", plan.planning.files, "File or directory of manifests, YAML or JSON; - for stdin")
        ->type_name("FILE");
    plan_app->add_option("--config", plan.planning.config_file, "Scheduler configuration")->type_name("FILE");
    plan_app->add_option("--for", plan.only, "Plan only for these pods, gangs or workloads (name or namespace/name)")
        ->type_name("NAME");
    plan_app->add_option("--now", plan.planning.now, "The time to plan for (RFC 3339); default: the clock")
        ->type_name("TIME");
    plan_app->add_option("-o,--output", plan.output, "table, json or yaml")
        ->check(CLI::IsMember({"table", "json", "yaml"}))
        ->type_name("FORMAT");
    add_cycle_options(plan_app, plan.planning);
    plan_app->add_flag("--alternatives", plan.alternatives, "Show what other aims would cost beside it");
    plan_app->add_flag("--strict", plan.planning.strict, "A field that its kind does not have is an error");
    plan_app->add_flag("--verify", plan.verify, "Follow the plan and fail if it does not come to rest");
    plan_app->footer(kPlanExamples);
    plan_app->callback([&] { code = plan_command(plan); });

    ExplainOptions explain;
    CLI::App* explain_app = app.add_subcommand("explain", "Say what a plan means for a pod or gang, and why");
    explain_app->add_option("NAME", explain.name, "Pod, gang or serving deployment: name or namespace/name")
        ->required()
        ->type_name("NAME");
    explain_app->add_option("-f,--filename", explain.planning.files, "File or directory of manifests; - for stdin")
        ->type_name("FILE");
    explain_app->add_option("--plan", explain.plan_file, "A plan (plan -o json) or a log of plans (run --log)")
        ->type_name("FILE");
    explain_app->add_option("--config", explain.planning.config_file, "Scheduler configuration")->type_name("FILE");
    explain_app
        ->add_option("--now", explain.planning.now, "The time to plan for (RFC 3339); default: the plan's, the clock")
        ->type_name("TIME");
    explain_app->add_flag("--strict", explain.planning.strict, "A field that its kind does not have is an error");
    add_cycle_options(explain_app, explain.planning);
    explain_app->add_flag("--gang", explain.gang, "NAME is a gang, though a pod has the same name");
    explain_app->add_option("-o,--output", explain.output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
    explain_app->footer(kExplainExamples);
    explain_app->callback([&] { code = explain_command(explain); });

    RunOptions run_options;
    CLI::App* run_app = app.add_subcommand("run", "Run the scheduler, on a cluster or on the embedded one");
    run_app
        ->add_option(
            "-f,--filename", run_options.files, "Manifests for the embedded cluster: file or directory; - for stdin")
        ->type_name("FILE");
    run_app->add_option("--kubeconfig", run_options.kubeconfig, "Run on the cluster of this kubeconfig")
        ->type_name("FILE");
    run_app->add_option("--context", run_options.context, "Context of the kubeconfig; default: its current one")
        ->type_name("NAME");
    run_app->add_flag("--in-cluster", run_options.in_cluster, "Run on the cluster this program runs in");
    run_app->add_flag("--allow-loopback-http", run_options.loopback_http, "Plain HTTP to this machine is fine");
    run_app
        ->add_option("--lease",
                     run_options.lease,
                     "The Lease that decides which replica acts; default: reprieve, in the "
                     "namespace of this program or, with --kubeconfig, in kube-system")
        ->type_name("NAMESPACE/NAME");
    run_app
        ->add_option("--lease-duration",
                     run_options.lease_duration,
                     "After so long others take over from a replica that has "
                     "fallen silent; default: 15s")
        ->type_name("DURATION");
    run_app->add_option("--config", run_options.config_file, "Scheduler configuration")->type_name("FILE");
    run_app->add_option("--cycles", run_options.cycles, "Stop after so many cycles; 0: never")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->type_name("N");
    run_app->add_option("--ui", run_options.ui, "Serve the window, health and metrics there, e.g. 127.0.0.1:8080")
        ->type_name("ADDR");
    run_app->add_flag("--ui-open", run_options.ui_open, "Off this machine: everybody may look, no token is asked for");
    run_app->add_flag("--ui-scope", run_options.ui_scope, "Whoever may list pods in some namespaces only sees these");
    run_app->add_option("--log", run_options.log, "Append every new plan to this file, a line of JSON each")
        ->type_name("FILE");
    run_app->add_option("--log-format", run_options.log_format, "text or json; default: text")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
    run_app->add_option("--log-level", run_options.log_level, "debug, info, warn or error; default: info")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
        ->type_name("LEVEL");
    run_app->add_option("--record", run_options.record, "Keep a record of facts, plans and writes in this folder")
        ->type_name("DIR");
    run_app->add_option("--record-keep", run_options.record_keep, "Delete files of the record after so long, e.g. 7d")
        ->type_name("DURATION");
    run_app->add_option("--record-max", run_options.record_max, "Delete the oldest files beyond this size, e.g. 20GiB")
        ->type_name("SIZE");
    run_app->add_flag("--dry-run", run_options.dry_run, "Plan and tell, change nothing");
    run_app
        ->add_option("--speed",
                     run_options.speed,
                     "Embedded cluster: fast, real or a factor such as 10x; default: 10x on a terminal, else fast")
        ->type_name("SPEED");
    run_app
        ->add_option("--now", run_options.now, "Embedded cluster: its time at the start (RFC 3339); default: the clock")
        ->type_name("TIME");
    run_app->add_option("--seed", run_options.seed, "Embedded cluster: chooses the names of new pods")->type_name("N");
    run_app->footer(kRunExamples);
    run_app->callback([&] { code = run_command(run_options, {.kube = open_kube, .ui = open_window}); });

    UiOptions ui;
    CLI::App* ui_app =
        app.add_subcommand("ui", "Show a web page on what lies in files: manifests, a record or a report");
    ui_app->add_option("REPORT", ui.report, "A report of simulate or referee: HTML, JSON or its folder")
        ->type_name("REPORT");
    ui_app->add_option("-f,--filename", ui.planning.files, "File or directory of manifests; - for stdin")
        ->type_name("FILE");
    ui_app->add_option("--record", ui.record, "A record: its folder or one of its files")->type_name("RECORD");
    ui_app->add_option("--config", ui.planning.config_file, "Scheduler configuration")->type_name("FILE");
    ui_app->add_option("--now", ui.planning.now, "The time to plan for (RFC 3339); default: the clock")
        ->type_name("TIME");
    ui_app->add_option("--listen", ui.listen, "Where to serve it; port 0 is any that is free")
        ->capture_default_str()
        ->type_name("ADDR");
    ui_app->add_flag("--ui-open", ui.open, "Serve it to other machines too, to everybody");
    ui_app->add_option("--ui-dir", ui.page_folder, "For work on the page: take it from this folder")->type_name("DIR");
    ui_app->footer(kUiExamples);
    ui_app->callback([&] { code = ui_command(ui); });

    SimulateOptions simulate_options;
    CLI::App* simulate_app = app.add_subcommand("simulate", "Compare policies on a whole workload, on a virtual clock");
    simulate_app
        ->add_option("-f,--filename",
                     simulate_options.cluster,
                     "The cluster: nodes.csv, or manifests with its nodes; default: that of the record")
        ->type_name("FILE");
    simulate_app
        ->add_option(
            "--trace",
            simulate_options.trace,
            "The workload: jobs.csv, SWF (.swf) or a record (its folder or a file of it); {seed}: one for each seed")
        ->required()
        ->type_name("FILE");
    simulate_app
        ->add_option(
            "--policy", simulate_options.policies, "A policy that is built in, or NAME=FILE; default: reprieve")
        ->type_name("NAME[=FILE]");
    simulate_app->add_option("--seeds", simulate_options.seeds, "Runs of each policy, with seeds from 1")
        ->check(CLI::Range(1, 1000))
        ->type_name("N");
    simulate_app->add_option("--until", simulate_options.until, "End there: seconds of the trace, or a duration")
        ->type_name("T");
    simulate_app->add_option("--grace", simulate_options.grace, "From an eviction until the pod is gone; default: 0s")
        ->type_name("DURATION");
    simulate_app
        ->add_option(
            "--failures", simulate_options.failures, "Nodes fail by chance: mean time up and down, e.g. 720h/1h")
        ->type_name("UP/DOWN");
    simulate_app->add_option("--out", simulate_options.out, "Write the results to this folder")->type_name("DIR");
    simulate_app->add_option("-j,--processes", simulate_options.processes, "Runs at once; default: the cores")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->type_name("N");
    simulate_app->footer(kSimulateExamples);
    simulate_app->callback([&] { code = simulate_command(simulate_options); });

    add_record_commands(app, code);

    std::string check_file;
    CLI::App* check_app = app.add_subcommand("check", "Check a scheduler configuration");
    check_app->add_option("CONFIG", check_file, "Scheduler configuration or volcano-scheduler.conf")
        ->required()
        ->type_name("FILE");
    check_app->footer("\nExample:\n  reprieve check deploy/base/config.yaml\n");
    check_app->callback([&] { code = check_command(check_file); });

    CLI::App* version_app = app.add_subcommand("version", "Print the version, the commit and how it was built");
    std::string version_output = "text";
    version_app->add_option("-o,--output", version_output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
    version_app->callback(
        [&] { fmt::print("{}", version_output == "json" ? version_json() : fmt::format("reprieve {}\n", kVersion)); });
    add_schema_command(app);

    std::string shell;
    CLI::App* completion_app = app.add_subcommand("completion", "Print a shell completion script");
    completion_app->add_option("SHELL", shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
    completion_app->footer("\nExample:\n  source <(reprieve completion bash)\n");
    completion_app->callback([&] { fmt::print("{}", *completion_script(shell)); });

    if (argc > 1 && complain_of_unknown_command(app, argv[1])) return kExitUsage;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream advice;
        const int status = app.exit(error, std::cout, advice);
        print_advice(advice.str());
        return status == 0 ? kExitOk : kExitUsage;
    }
    if (std::fflush(stdout) != 0) {
        print_complaint("cannot write the output");
        return kExitFailure;
    }
    return code;
}

}  // namespace

int program(int argc, char** argv) {
    try {
        if (is_kubectl_plugin(argv[0])) return kubectl_plugin(argc, argv);
        return run(argc, argv);
    } catch (const std::exception& error) {
        print_complaint(std::string("unexpected failure: ") + error.what());
        return kExitFailure;
    }
}

}  // namespace reprieve
