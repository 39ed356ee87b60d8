#include "app/record_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "app/complaint.h"
#include "app/inputs.h"
#include "manifest/action_args.h"
#include "manifest/suggest.h"
#include "record/export.h"
#include "record/history.h"
#include "record/rebuild.h"
#include "record/replay.h"
#include "record/retention.h"
#include "text/cost_words.h"
#include "text/plan_table.h"
#include "text/table.h"

namespace reprieve {
namespace {

int end_with(const Stop& stop) {
    print_complaint(stop.message);
    return stop.code;
}

std::expected<Time, Stop> time_option(const char* option, const std::string& text) {
    if (text.empty()) return Time();
    const auto time = parse_time(text);
    if (!time) return std::unexpected(Stop{fmt::format("{}: {}", option, time.error().message), kExitUsage});
    return *time;
}

// Empty: some moment lies between them.
std::string wrong_window(Time from, Time to) {
    if (!to.is_set() || from <= to) return {};
    return fmt::format("--from {} is later than --to {}", format_time(from), format_time(to));
}

void tell_gaps(const std::vector<RecordGap>& gaps) {
    for (const RecordGap& gap : gaps) {
        print_complaint(fmt::format(
            "not everything is known from {} to {}: {}", format_time(gap.from), format_time(gap.to), gap.why));
    }
}

// Whoever asks whether all is well is not told so of what nobody could read.
int exit_code_of(const RecordReader& reader) { return reader.troubles().empty() ? kExitOk : kExitFailure; }

std::string cost_of(const std::string& certificate) {
    const auto json = nlohmann::ordered_json::parse(certificate, nullptr, false);
    if (!json.is_object() || !json.contains("cost")) return {};
    CostVector cost;
    for (const auto& term : json["cost"]) {
        if (term.is_array() && term.size() == 2 && term[0].is_string() && term[1].is_number_integer())
            cost.emplace_back(term[0].get<std::string>(), term[1].get<std::int64_t>());
    }
    return cost_words(cost);
}

Paint paint_of(const std::string& outcome) {
    if (outcome == "carriedOut") return Paint::kGreen;
    return outcome == "superseded" ? Paint::kDim : Paint::kYellow;
}

std::string history_text(const std::vector<RecordedDecision>& decisions, const std::vector<RecordedWait>& waits) {
    std::string out;
    Table table("Decisions",
                {{"AT", ColumnKind::kWord},
                 {"CYCLE", ColumnKind::kNumber},
                 {"FOR", ColumnKind::kName},
                 {"ACTION", ColumnKind::kWord},
                 {"PLACED", ColumnKind::kNumber},
                 {"EVICTED", ColumnKind::kNumber},
                 {"OUTCOME", ColumnKind::kWord},
                 {"STARTED", ColumnKind::kWord}});
    for (const RecordedDecision& one : decisions) {
        Row row{.cells = {{format_time(one.at)},
                          {std::to_string(one.cycle)},
                          {one.owner},
                          {one.action},
                          {one.placed.empty() ? "" : std::to_string(one.placed.size())},
                          {one.victims.empty() ? "" : std::to_string(one.victims.size())},
                          {one.outcome, paint_of(one.outcome)},
                          {one.started.is_set() ? format_time(one.started) : ""}},
                .notes = {}};
        if (!one.victims.empty()) row.notes.push_back(sentence("evicts " + list_words(one.victims)));
        if (const std::string cost = cost_of(one.certificate); !cost.empty())
            row.notes.push_back(sentence("at the cost of " + cost));
        table.add(std::move(row));
    }
    table.print(out, table_style());
    if (waits.empty()) return out;
    out += "\n";
    Table waiting(
        "Waits", {{"POD"}, {"SINCE", ColumnKind::kWord}, {"UNTIL", ColumnKind::kWord}, {"VERDICT", ColumnKind::kWord}});
    for (const RecordedWait& one : waits) {
        waiting.add({.cells = {{one.pod},
                               {format_time(one.since)},
                               {one.until.is_set() ? format_time(one.until) : "still"},
                               {one.never ? "never" : "not now"}},
                     .notes = {sentence(one.reason)}});
    }
    waiting.print(out, table_style());
    return out;
}

// An option that would be ignored; empty: there is none.
std::string wrong_export_options(const ExportOptions& options, Time from, Time to) {
    const bool moment = options.format == "manifests";
    const std::pair<const char*, bool> given[] = {{"--at", !moment && !options.at.empty()},
                                                  {"--cycle", !moment && options.cycle > 0},
                                                  {"--from", moment && !options.from.empty()},
                                                  {"--to", moment && !options.to.empty()}};
    for (const auto& [option, ignored] : given) {
        if (ignored)
            return fmt::format("{} does not go with --format {}, which takes {}",
                               option,
                               options.format,
                               moment ? "--at or --cycle" : "--from and --to");
    }
    return wrong_window(from, to);
}

std::string replay_text(const ReplayReport& report) {
    std::string out = fmt::format("{} planned again: {} identical, {} different\n",
                                  count_words(report.cycles, "cycle", "cycles"),
                                  report.identical,
                                  report.different);
    if (!report.first) return out;
    out += fmt::format("first difference in cycle {} at {}\n", report.first->cycle, format_time(report.first->at));
    out += fmt::format("recorded: {} evictions, {} placements; replayed: {} evictions, {} placements\n\n",
                       report.recorded.evictions,
                       report.recorded.placements,
                       report.replayed.evictions,
                       report.replayed.placements);
    Table table("Changed decisions", {{"CYCLE", ColumnKind::kNumber}, {"AT", ColumnKind::kWord}, {"FOR"}});
    for (const ChangedDecision& one : report.changed) {
        table.add({.cells = {{std::to_string(one.cycle)}, {format_time(one.at)}, {one.owner}},
                   .notes = {sentence("recorded: " + (one.recorded.empty() ? "nothing" : one.recorded)),
                             sentence("replayed: " + (one.replayed.empty() ? "nothing" : one.replayed))}});
    }
    table.print(out, table_style());
    if (report.changed_left_out > 0) out += fmt::format("and {} more\n", report.changed_left_out);
    if (report.changed.empty()) out += "no decision differs; what differs is in the words or figures of the plans\n";
    return out;
}

}  // namespace

std::expected<std::unique_ptr<RecordReader>, Stop> open_record(const std::string& path) {
    if (path.empty()) return std::unexpected(Stop{"--record DIR is missing", kExitUsage});
    auto reader = RecordReader::open(path);
    if (!reader) return std::unexpected(Stop{reader.error().message});
    (*reader)->tell_troubles([](const std::string& trouble) { print_complaint(trouble); });
    return std::move(*reader);
}

std::expected<RecordedCycle, Stop> find_cycle(RecordReader& reader, const std::string& at, std::int64_t cycle) {
    if (!at.empty() && cycle > 0) return std::unexpected(Stop{"--at and --cycle exclude each other", kExitUsage});
    const auto time = time_option("--at", at);
    if (!time) return std::unexpected(time.error());
    const auto found = cycle > 0 ? reader.cycle(cycle) : reader.cycle_at(at.empty() ? Time{INT64_MAX} : *time);
    if (found) return *found;
    if (cycle > 0) return std::unexpected(Stop{fmt::format("cycle {} is not in the record", cycle)});
    return std::unexpected(
        Stop{at.empty() ? "the record holds no cycle" : fmt::format("the record holds no cycle at or before {}", at)});
}

void tell_gaps_between(RecordReader& reader, Time cycle, const std::string& at) {
    const auto asked = parse_time(at);
    if (!asked) return;
    std::vector<RecordGap> gaps = reader.gaps();
    std::erase_if(gaps, [&](const RecordGap& gap) { return gap.to < cycle || gap.from > *asked; });
    tell_gaps(gaps);
}

int history_command(const HistoryOptions& asked) {
    HistoryOptions options = asked;
    if (const auto gang = gang_action_named(options.action)) options.action = to_text(*gang);
    if (const auto known = action_names();
        !options.action.empty() && std::ranges::find(known, options.action) == known.end()) {
        return end_with(
            {fmt::format("--action {}: there is no such action{}", options.action, suggestion(options.action, known)),
             kExitUsage});
    }
    DecisionQuery query{.name = options.name, .action = options.action, .since = {}, .until = {}, .most = 0};
    Duration since;
    if (!options.since.empty()) {
        const auto duration = parse_days(options.since);
        if (!duration) return end_with({"--since: " + duration.error().message, kExitUsage});
        since = *duration;
    }
    auto reader = open_record(options.record);
    if (!reader) return end_with(reader.error());
    if (since.us > 0) query.since = (*reader)->to() + Duration{-since.us};
    const std::vector<RecordedDecision> decisions = (*reader)->decisions(query);
    std::vector<RecordedWait> waits;
    if (!options.name.empty() && options.action.empty()) waits = (*reader)->waits(query);
    const std::vector<RecordGap> gaps = (*reader)->gaps();
    const int code = exit_code_of(**reader);
    if (!options.name.empty() && decisions.empty() && waits.empty() && (*reader)->lives(query).empty())
        return end_with({options.since.empty()
                             ? fmt::format("{}: is not in the record", options.name)
                             : fmt::format("{}: is not in the last {} of the record", options.name, options.since)});
    if (options.output == "json") {
        fmt::print("{}", history_to_json(decisions, options.name.empty() ? nullptr : &waits, gaps));
        return code;
    }
    tell_gaps(gaps);
    fmt::print("{}", history_text(decisions, waits));
    return code;
}

int replay_command(const ReplayCommandOptions& options) {
    ReplayOptions replaying;
    const auto from = time_option("--from", options.from);
    const auto to = time_option("--to", options.to);
    if (!from) return end_with(from.error());
    if (!to) return end_with(to.error());
    if (const std::string wrong = wrong_window(*from, *to); !wrong.empty()) return end_with({wrong, kExitUsage});
    replaying.from = *from;
    replaying.to = *to;
    if (!options.config_file.empty()) {
        const auto text = read_file(options.config_file);
        if (!text) return end_with({text.error().message});
        auto config = running_config(*text, options.config_file);
        if (!config) return end_with({config.error().message});
        replaying.config = std::move(*config);
    }
    auto reader = open_record(options.record);
    if (!reader) return end_with(reader.error());
    const auto report = replay(**reader, replaying);
    if (!report) return end_with({report.error().message});
    if (options.output == "json") {
        fmt::print("{}", replay_to_json(*report));
    } else {
        tell_gaps(report->gaps);
        fmt::print("{}", replay_text(*report));
    }
    return report->different == 0 ? exit_code_of(**reader) : kExitUnplaced;
}

int export_command(const ExportOptions& options) {
    const auto from = time_option("--from", options.from);
    const auto to = time_option("--to", options.to);
    if (!from) return end_with(from.error());
    if (!to) return end_with(to.error());
    if (const std::string wrong = wrong_export_options(options, *from, *to); !wrong.empty())
        return end_with({wrong, kExitUsage});
    auto reader = open_record(options.record);
    if (!reader) return end_with(reader.error());
    Result<std::string> text = fail("");
    if (options.format == "manifests") {
        const auto cycle = find_cycle(**reader, options.at, options.cycle);
        if (!cycle) return end_with(cycle.error());
        text = export_manifests(**reader, *cycle);
    } else if (options.format == "kwok") {
        text = export_kwok(**reader, *from, *to);
    } else if (options.format == "perfetto") {
        text = export_perfetto(**reader, *from, *to);
    } else {
        text = export_swf(**reader, *from, *to);
    }
    if (!text) return end_with({text.error().message});
    tell_gaps((*reader)->gaps());
    std::FILE* out = options.out.empty() ? stdout : std::fopen(options.out.c_str(), "wb");
    if (!out) return end_with({options.out + ": cannot be written"});
    const bool written = std::fwrite(text->data(), 1, text->size(), out) == text->size();
    const bool closed = options.out.empty() ? std::fflush(out) == 0 : std::fclose(out) == 0;
    if (!written || !closed)
        return end_with({(options.out.empty() ? "the output" : options.out) + ": cannot be written"});
    return kExitOk;
}

}  // namespace reprieve
