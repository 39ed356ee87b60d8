#include "app/kubectl_plugin.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "app/build_facts.h"
#include "app/cluster_look.h"
#include "app/complaint.h"
#include "app/exit_codes.h"
#include "app/explain_command.h"
#include "app/plan_command.h"
#include "app/planning.h"
#include "app/record_commands.h"
#include "base/version.h"
#include "kube/access.h"
#include "manifest/plan_json.h"
#include "manifest/suggest.h"
#include "state/pod_named.h"
#include "text/plan_sections.h"
#include "text/plan_table.h"

namespace reprieve {
namespace {

constexpr const char* kUsualNamespace = "default";

constexpr const char* kExamples = R"(
Examples:
  kubectl reprieve why-pending chat-0 -n serving     what stands in the way of this pod, and what would help
  kubectl reprieve explain finetune                  what the next plan means for a pod or gang, and why
  kubectl reprieve plan                              what would be decided now
  kubectl reprieve queues --context staging          who shares the cluster, and how much each has
  kubectl reprieve history trainer-3 --record DIR    who evicted it, for whom, at what cost: from a record

Only reads, with your own rights. Exit codes: 0 answered, 3 (plan) something stays unplaced, 2 bad usage, 1 failure.
)";

// What every question has in common.
struct Asked {
    PlanningOptions planning;
    std::string kubeconfig;
    std::string context;
    std::string ns;
    std::string name;
    bool gang = false;
    std::vector<std::string> only;
    std::string output;
};

int stop_with(const Stop& stop) {
    print_complaint(stop.message);
    return stop.code;
}

void add_common(CLI::App& app, Asked& asked) {
    app.add_option("-n,--namespace", asked.ns, "Namespace of NAME; default: that of the context")->type_name("NAME");
    app.add_option("--context", asked.context, "Context of the kubeconfig; default: its current one")
        ->type_name("NAME");
    app.add_option("--kubeconfig", asked.kubeconfig, "Default: $KUBECONFIG, else ~/.kube/config")->type_name("FILE");
    app.add_option(
           "--config", asked.planning.config_file, "Scheduler configuration; default: schedulerNames [reprieve]")
        ->type_name("FILE");
    app.add_option("-f,--filename", asked.planning.files, "Manifests instead of the cluster; - for stdin")
        ->type_name("FILE");
    app.add_option("--now", asked.planning.now, "With -f: the time to plan for (RFC 3339)")->type_name("TIME");
}

// Where the facts come from, and the namespace that names without one are in.
std::expected<void, Stop> settle(Asked& asked) {
    if (!asked.planning.files.empty()) {
        if (asked.ns.empty()) asked.ns = kUsualNamespace;
        return {};
    }
    if (!asked.planning.now.empty()) return std::unexpected(Stop{"--now goes with -f", kExitUsage});
    KubeTarget target{.kubeconfig = usual_kubeconfig(asked.kubeconfig), .context = asked.context};
    target.log_level = LogLevel::kError;
    if (asked.ns.empty() && !target.kubeconfig.empty()) {
        const auto access =
            access_from_kubeconfig(target.kubeconfig, {.loopback_http = false, .context = asked.context});
        if (!access) return std::unexpected(Stop{access.error().message});
        asked.ns = access->ns;
    }
    if (asked.ns.empty()) asked.ns = kUsualNamespace;
    asked.planning.cluster = std::move(target);
    return {};
}

std::string full_name(const Asked& asked) {
    return asked.name.find('/') == std::string::npos ? asked.ns + "/" + asked.name : asked.name;
}

int ask_plan(Asked& asked) {
    if (auto ready = settle(asked); !ready) return stop_with(ready.error());
    return plan_command({.planning = asked.planning, .only = asked.only, .output = asked.output});
}

int ask_explain(Asked& asked) {
    if (auto ready = settle(asked); !ready) return stop_with(ready.error());
    return explain_command({.name = full_name(asked),
                            .gang = asked.gang,
                            .planning = asked.planning,
                            .plan_file = {},
                            .output = asked.output});
}

int ask_queues(Asked& asked) {
    if (auto ready = settle(asked); !ready) return stop_with(ready.error());
    auto planning = Planning::read(asked.planning);
    if (!planning) return stop_with(planning.error());
    const Plan plan = (*planning)->plan();
    if (asked.output == "json") {
        fmt::print("{}", queues_to_json(plan));
        return kExitOk;
    }
    const Table table = queues_section(plan);
    std::string out;
    if (table.empty())
        out = "no queues: every pod is in the queue default, which has no limits\n";
    else
        table.print(out, table_style());
    fmt::print("{}", out);
    return kExitOk;
}

// What can be said of a pod without planning; empty: it waits for us.
std::string at_rest(const Cluster& cluster, const std::string& name, PodId pod) {
    const PodRow& row = cluster.snapshot().pods[pod];
    if (row.state != PodState::kPending)
        return fmt::format("{} is not pending: it has its place on {}\n", name, cluster.snapshot().node_name(row.node));
    if (row.has(kForeign))
        return fmt::format(
            "{} waits for another scheduler (spec.schedulerName): Reprieve neither places nor evicts it\n", name);
    return {};
}

int ask_why_pending(Asked& asked) {
    if (auto ready = settle(asked); !ready) return stop_with(ready.error());
    auto planning = Planning::read(asked.planning);
    if (!planning) return stop_with(planning.error());
    const std::string name = full_name(asked);
    const Cluster& cluster = (*planning)->cluster();
    if (const PodId pod = pod_named(cluster, name)) {
        if (const std::string word = at_rest(cluster, name, pod); !word.empty()) {
            fmt::print("{}", word);
            return kExitOk;
        }
    }
    return explain_with(**planning, name, false, asked.output);
}

std::vector<std::string> pending_pods(const Cluster& cluster, const std::string& ns) {
    std::vector<std::string> names;
    for (const PodId pod : cluster.pending()) {
        const std::string full = cluster.snapshot().pod_name(pod);
        if (full.starts_with(ns + "/")) names.push_back(full.substr(ns.size() + 1));
    }
    std::ranges::sort(names);
    return names;
}

// What kubectl's completion asks: words that may come next, one a line, then a number that says how to use them.
int complete(const std::vector<std::string>& typed) {
    static const std::map<std::string, std::vector<std::string>> kWords{
        {"", {"plan", "explain", "history", "queues", "why-pending", "version"}},
        {"plan", {"--for", "-o", "-n", "--context", "--kubeconfig", "--config", "-f"}},
        {"explain", {"--gang", "-o", "-n", "--context", "--kubeconfig", "--config", "-f"}},
        {"history", {"--record", "--since", "--action", "-o", "-n"}},
        {"queues", {"-o", "-n", "--context", "--kubeconfig", "--config", "-f"}},
        {"why-pending", {"-o", "-n", "--context", "--kubeconfig", "--config", "-f"}},
        {"version", {"-o"}}};
    constexpr int kNoFiles = 4;
    constexpr int kFiles = 0;
    const std::string current = typed.empty() ? "" : typed.back();
    const std::string before = typed.size() > 1 ? typed[typed.size() - 2] : "";
    std::string command;
    for (std::size_t i = 0; i + 1 < typed.size() && command.empty(); ++i) {
        if (kWords.contains(typed[i])) command = typed[i];
    }
    std::vector<std::string> offered;
    int directive = kNoFiles;
    if (before == "-o") {
        offered = command == "plan"                             ? std::vector<std::string>{"table", "json", "yaml"}
                  : command == "queues" || command == "history" ? std::vector<std::string>{"table", "json"}
                                                                : std::vector<std::string>{"text", "json"};
    } else if (before == "-f" || before == "--filename" || before == "--config" || before == "--kubeconfig" ||
               before == "--record") {
        directive = kFiles;
    } else if (before == "-n" || before == "--namespace" || before == "--context" || before == "--for") {
        offered.clear();  // names that only the cluster or the user knows
    } else if ((command == "why-pending" || command == "explain") && !current.starts_with('-')) {
        // The pods that wait; a cluster that does not answer offers nothing.
        Asked asked;
        for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
            if (typed[i] == "-n" || typed[i] == "--namespace") asked.ns = typed[i + 1];
            if (typed[i] == "--context") asked.context = typed[i + 1];
            if (typed[i] == "-f") asked.planning.files.push_back(typed[i + 1]);
        }
        if (!settle(asked)) return kExitOk;
        if (auto planning = Planning::read(asked.planning)) offered = pending_pods((*planning)->cluster(), asked.ns);
    } else if (const auto found = kWords.find(command); found != kWords.end()) {
        offered = found->second;
    }
    for (const std::string& word : offered) {
        if (word.starts_with(current)) fmt::print("{}\n", word);
    }
    fmt::print(":{}\n", directive);
    return kExitOk;
}

}  // namespace

bool is_kubectl_plugin(std::string_view program) {
    const std::size_t slash = program.rfind('/');
    return (slash == std::string_view::npos ? program : program.substr(slash + 1)) == "kubectl-reprieve";
}

int kubectl_plugin(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "__complete") return complete({argv + 2, argv + argc});
    CLI::App app{"Questions to Reprieve about the cluster of the current context; changes nothing"};
    app.name("kubectl reprieve");
    app.require_subcommand(1);
    app.failure_message(complaint_about_usage);
    app.footer(kExamples);
    int code = kExitOk;

    Asked plan{.output = "table"};
    CLI::App* plan_app = app.add_subcommand("plan", "What would be decided now");
    add_common(*plan_app, plan);
    plan_app->add_option("--for", plan.only, "Plan only for these pods, gangs or workloads (name or namespace/name)")
        ->type_name("NAME");
    plan_app->add_option("-o,--output", plan.output, "table, json or yaml")
        ->check(CLI::IsMember({"table", "json", "yaml"}))
        ->type_name("FORMAT");
    plan_app->callback([&] { code = ask_plan(plan); });

    Asked explain{.output = "text"};
    CLI::App* explain_app = app.add_subcommand("explain", "What the next plan means for a pod or gang, and why");
    add_common(*explain_app, explain);
    explain_app->add_option("NAME", explain.name, "Pod or gang: name or namespace/name")->required()->type_name("NAME");
    explain_app->add_flag("--gang", explain.gang, "NAME is a gang, though a pod has the same name");

    Asked why{.output = "text"};
    CLI::App* why_app = app.add_subcommand("why-pending", "Why a pod waits, and what would help it");
    add_common(*why_app, why);
    why_app->add_option("POD", why.name, "Pod: name or namespace/name")->required()->type_name("POD");
    for (auto [command, asked] : {std::pair{explain_app, &explain}, std::pair{why_app, &why}}) {
        command->add_option("-o,--output", asked->output, "text or json")
            ->check(CLI::IsMember({"text", "json"}))
            ->type_name("FORMAT");
    }
    explain_app->callback([&] { code = ask_explain(explain); });
    why_app->callback([&] { code = ask_why_pending(why); });

    Asked queues{.output = "table"};
    CLI::App* queues_app = app.add_subcommand("queues", "Who shares the cluster, and how much each has");
    add_common(*queues_app, queues);
    queues_app->add_option("-o,--output", queues.output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->type_name("FORMAT");
    queues_app->callback([&] { code = ask_queues(queues); });

    HistoryOptions history;
    std::string history_ns;
    CLI::App* history_app = app.add_subcommand("history", "What was decided, from a record of `reprieve run`");
    history_app->add_option("NAME", history.name, "Pod, gang or queue: name or namespace/name")->type_name("NAME");
    history_app->add_option("-n,--namespace", history_ns, "Namespace of NAME")->type_name("NAME");
    history_app->add_option("--record", history.record, "The record: a folder or one of its files")
        ->required()
        ->type_name("DIR");
    history_app->add_option("--since", history.since, "Only so long before the end of the record, e.g. 2h or 7d")
        ->type_name("DURATION");
    history_app->add_option("--action", history.action, "Only decisions of this action, e.g. preempt")
        ->type_name("ACTION");
    history_app->add_option("-o,--output", history.output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->type_name("FORMAT");
    history_app->callback([&] {
        if (!history_ns.empty() && history.name.find('/') == std::string::npos)
            history.name = history_ns + "/" + history.name;
        code = history_command(history);
    });

    std::string version_output = "text";
    CLI::App* version_app = app.add_subcommand("version", "Print the version");
    version_app->add_option("-o,--output", version_output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
    version_app->callback(
        [&] { fmt::print("{}", version_output == "json" ? version_json() : fmt::format("reprieve {}\n", kVersion)); });

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream advice;
        const int status = app.exit(error, std::cout, advice);
        print_advice(advice.str());
        return status == 0 ? kExitOk : kExitUsage;
    }
    return code;
}

}  // namespace reprieve
