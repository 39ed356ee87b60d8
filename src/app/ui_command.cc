#include "app/ui_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/complaint.h"
#include "app/exit_codes.h"
#include "app/inputs.h"
#include "app/stop_signal.h"
#include "base/version.h"
#include "record/reader.h"
#include "web/server.h"
#include "window/api.h"
#include "window/file_source.h"
#include "window/page.h"
#include "window/record_source.h"
#include "window/report.h"
#include "window/report_page.h"

namespace reprieve {
namespace {

int refuse(const std::string& message, int code = kExitFailure) {
    print_complaint(message);
    return code;
}

// What a command needs to plan the same again.
std::string planning_arguments(const PlanningOptions& planning) {
    std::string out;
    for (const std::string& file : planning.files)
        out += (out.empty() ? "-f " : " -f ") + file;
    if (!planning.config_file.empty()) out += " --config " + planning.config_file;
    return out;
}

// Serves until somebody ends it.
int serve(WebServer& server, const UiOptions& options, const std::string& what) {
    if (auto started = server.start(options.listen); !started) return refuse(started.error().message);
    const std::string host = options.listen.substr(0, options.listen.rfind(':'));
    fmt::print("{}: http://{}:{}/  (Ctrl-C ends it)\n", what, host.empty() ? "localhost" : host, server.port());
    std::fflush(stdout);
    const StopSignal signal;
    while (!StopSignal::received())
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return kExitOk;
}

// The text of a report: HTML as it is, JSON drawn by the page.
Result<std::string> read_report(const std::string& path) {
    std::string file = path;
    if (std::filesystem::is_directory(path)) file = path + "/report.html";
    auto text = read_file(file);
    if (!text) return text;
    const std::size_t first = text->find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (*text)[first] == '<') return text;
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_object() && json.contains("policies")) return window::report_html("simulate", *text);
    if (json.is_object() && json.contains("verdicts")) return window::report_html("referee", *text);
    return fail(fmt::format("{}: neither a report in HTML nor the JSON of simulate or referee", file));
}

int serve_report(const UiOptions& options) {
    auto report = read_report(options.report);
    if (!report) return refuse(report.error().message);
    const window::ReportPage page(std::move(*report), listens_only_here(options.listen));
    WebServer server;
    page.route(server);
    return serve(server, options, "The report");
}

window::WindowOptions window_options(const UiOptions& options) {
    return {
        .version = kVersion,
        .take = [](Cluster& cluster, std::string_view text, Time now) { return load_changes_text(cluster, text, now); },
        .authorize = {},
        .only_loopback = listens_only_here(options.listen),
        .page_folder = options.page_folder};
}

int serve_source(window::MomentSource& source, const UiOptions& options) {
    window::Window window(source, window_options(options));
    if (!window::has_page() && options.page_folder.empty())
        print_advice("This build has no window, only its API: it was made without Node.\n");
    WebServer server;
    window.route(server);
    return serve(server, options, "The window");
}

int serve_record(const UiOptions& options) {
    auto reader = RecordReader::open(options.record);
    if (!reader) return refuse(reader.error().message);
    (*reader)->tell_troubles([](const std::string& trouble) { print_complaint(trouble); });
    window::RecordSource source(
        std::move(*reader), {.kind = "record", .arguments = "--record " + options.record}, options.record);
    return serve_source(source, options);
}

int serve_files(const UiOptions& options) {
    auto planning = Planning::read(options.planning);
    if (!planning) return refuse(planning.error().message, planning.error().code);
    const Plan plan = (*planning)->plan();
    const window::Origin origin{.kind = "files", .arguments = planning_arguments(options.planning)};
    window::FileSource source((*planning)->cluster(), plan, (*planning)->config(), origin);
    return serve_source(source, options);
}

}  // namespace

int ui_command(const UiOptions& options) {
    const bool files = !options.planning.files.empty();
    const int given = (files ? 1 : 0) + (options.record.empty() ? 0 : 1) + (options.report.empty() ? 0 : 1);
    if (given != 1) return refuse("one of -f FILE, --record RECORD and REPORT is needed", kExitUsage);
    if (!listens_only_here(options.listen) && !options.open) {
        return refuse("--listen: off this machine everybody could look; add --ui-open if that is meant", kExitUsage);
    }
    if (!options.record.empty()) return serve_record(options);
    return files ? serve_files(options) : serve_report(options);
}

}  // namespace reprieve
