#include "window/api.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "base/utf8.h"
#include "manifest/action_args.h"
#include "manifest/json_fields.h"
#include "web/etag.h"
#include "window/manners.h"
#include "window/page.h"
#include "window/scope.h"

namespace reprieve::window {
namespace {

constexpr int kMostStreams = 64;
constexpr std::size_t kLargestManifest = std::size_t{4} << 20U;
constexpr std::size_t kPageLimit = 100;  // decisions in one answer, if nobody says otherwise
constexpr std::size_t kLongestPage = 1000;
constexpr std::string_view kCertificateWords[] = {"optimal", "gap", "infeasible", "heuristic", "unknown", "none"};
constexpr std::string_view kOutcomeWords[] = {"carriedOut", "planned", "partly", "dropped", "superseded"};
constexpr std::size_t kMostWhys = 500;
constexpr std::chrono::milliseconds kStreamTurn{500};
constexpr int kTurnsToPing = 30;
constexpr const char* kJson = "application/json; charset=utf-8";

constexpr std::array kViews{"/", "/decisions", "/waiting", "/room", "/lifelines", "/queues", "/what-if"};

int status_of(const Error& error) {
    switch (error.kind) {
        case ErrorKind::kUsage:
            return 400;
        case ErrorKind::kNotFound:
            return 404;
        default:
            return 503;
    }
}

Result<std::optional<Time>> asked_time(const WebRequest& request) {
    const std::string text = request.query("at");
    if (text.empty()) return std::nullopt;
    const auto time = parse_time(text);
    if (!time) return fail("at: " + time.error().message, ErrorKind::kUsage);
    return *time;
}

Result<std::size_t> asked_number(const WebRequest& request, const char* key, std::size_t otherwise, std::size_t most) {
    const std::string text = request.query(key);
    if (text.empty()) return otherwise;
    std::size_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || rest != text.data() + text.size())
        return fail(fmt::format("{}: not a number", key), ErrorKind::kUsage);
    // Nothing at a time would never come to an end.
    if (number == 0) return fail(fmt::format("{}: at least 1", key), ErrorKind::kUsage);
    if (number > most) return fail(fmt::format("{}: at most {}", key, most), ErrorKind::kUsage);
    return number;
}

// One of a few words, or nothing.
Result<std::string> asked_word(const WebRequest& request, const char* key, std::span<const std::string_view> words) {
    std::string text = request.query(key);
    if (text.empty() || std::ranges::find(words, text) != words.end()) return text;
    return fail(fmt::format("{}: one of {}", key, fmt::join(words, ", ")), ErrorKind::kUsage);
}

struct DecisionFilter {
    std::string queue;
    std::string action;
    std::string certificate;
    std::string outcome;
    std::string text;
    std::optional<std::int64_t> priority;  // at least
    bool only_evicting = false;

    static Result<DecisionFilter> of(const WebRequest& request) {
        static constexpr std::string_view kYesOrNo[] = {"true", "false"};
        const auto action = asked_word(request, "action", action_names());
        const auto certificate = asked_word(request, "certificate", kCertificateWords);
        const auto outcome = asked_word(request, "outcome", kOutcomeWords);
        const auto evicting = asked_word(request, "evicting", kYesOrNo);
        for (const auto* word : {&action, &certificate, &outcome, &evicting}) {
            if (!*word) return std::unexpected(word->error());
        }
        DecisionFilter filter{.queue = request.query("queue"),
                              .action = *action,
                              .certificate = *certificate,
                              .outcome = *outcome,
                              .text = request.query("q"),
                              .priority = {},
                              .only_evicting = *evicting == "true"};
        if (const std::string least = request.query("priority"); !least.empty()) {
            std::int64_t number = 0;
            const auto [rest, error] = std::from_chars(least.data(), least.data() + least.size(), number);
            if (error != std::errc() || rest != least.data() + least.size())
                return fail("priority: not a number", ErrorKind::kUsage);
            filter.priority = number;
        }
        return filter;
    }

    [[nodiscard]] bool passes(const DecisionEntry& entry) const {
        const auto same = [](const std::string& wanted, const std::string& is) {
            return wanted.empty() || wanted == is;
        };
        if (only_evicting && !entry.evicts) return false;
        if (!same(queue, entry.queue) || !same(action, entry.action) || !same(outcome, entry.outcome)) return false;
        if (!certificate.empty() && certificate != (entry.status.empty() ? "none" : entry.status)) return false;
        if (priority && (!entry.priority || *entry.priority < *priority)) return false;
        return text.empty() ||
               std::ranges::any_of(entry.names, [&](const auto& name) { return name.find(text) != std::string::npos; });
    }
};

}  // namespace

Window::Window(MomentSource& source, WindowOptions options) : source_(source), options_(std::move(options)) {}

void Window::route(WebServer& server) {
    server.guard([this](const WebRequest& request) { return refuse(request); });
    document(server, "/api/v1/now", [this](const WebRequest& r) { return now(r); });
    document(server, "/api/v1/decisions", [this](const WebRequest& r) { return decisions(r); });
    document(server, "/api/v1/decisions/([^/]+)", [this](const WebRequest& r) { return decision(r); });
    document(server, "/api/v1/waiting", [this](const WebRequest& r) { return waiting(r); });
    document(server, "/api/v1/room", [this](const WebRequest& r) -> Result<std::string> {
        const auto at = asked_time(r);
        if (!at) return std::unexpected(at.error());
        return source_.room(*at);
    });
    document(server, "/api/v1/lifelines", [this](const WebRequest& r) -> Result<std::string> {
        const auto at = asked_time(r);
        if (!at) return std::unexpected(at.error());
        return source_.lifelines(*at, r.query("queue"));
    });
    document(server, "/api/v1/queues", [this](const WebRequest& r) -> Result<std::string> {
        const auto at = asked_time(r);
        if (!at) return std::unexpected(at.error());
        const auto moment = source_.moment(*at);
        if (!moment) return std::unexpected(moment.error());
        return (*moment)->queues;
    });
    document(server, "/api/v1/what-if", [this](const WebRequest&) -> Result<std::string> {
        OrderedJson out{{"method", "POST"}, {"body", "manifests, YAML or JSON"}, {"largestBytes", kLargestManifest}};
        out["available"] = static_cast<bool>(options_.take);
        return out.dump();
    });
    server.post("/api/v1/what-if", [this](const WebRequest& r) { return what_if(r); });
    server.get("/api/v1/events", [this](const WebRequest& r) { return events(r); });
    server.get("/assets/([^/]+)", [this](const WebRequest& r) { return asset(r); });
    for (const char* view : kViews)
        server.get(view, [this](const WebRequest& r) { return page(r); });
    server.get("/decisions/([^/]+)", [this](const WebRequest& r) { return page(r); });
    server.refusals(refusal);
}

// Health and metrics beside the window are for whoever asks. Off loopback the API is for those whom the API server
// knows.
std::optional<WebAnswer> Window::refuse(const WebRequest& request) {
    const bool ours = request.path.starts_with("/api/") || request.path.starts_with("/assets/") ||
                      request.path.starts_with("/decisions/") ||
                      std::ranges::find(kViews, request.path) != kViews.end();
    if (!ours) return std::nullopt;
    if (auto foreign = refuse_foreign(request, options_.only_loopback)) return foreign;
    if (!request.path.starts_with("/api/")) return std::nullopt;
    if (const auto viewer = viewer_of(request); !viewer) {
        WebAnswer answer = refusal(401, viewer.error().message);
        answer.headers["WWW-Authenticate"] = "Bearer";
        return answer;
    }
    return std::nullopt;
}

Result<Viewer> Window::viewer_of(const WebRequest& request) {
    if (!options_.authorize) return Viewer{};
    const std::string header = request.header("Authorization");
    if (!header.starts_with("Bearer ")) return fail("a bearer token is needed");
    return options_.authorize(header.substr(7));
}

void Window::document(WebServer& server, const std::string& path, Ask ask) {
    server.get(path, [this, ask = std::move(ask)](const WebRequest& request) { return answer(request, ask(request)); });
}

WebAnswer Window::answer(const WebRequest& request, const Result<std::string>& text) {
    if (!text) return refusal(status_of(text.error()), text.error().message);
    const Result<Viewer> viewer = viewer_of(request);
    if (!viewer) return refusal(401, viewer.error().message);
    std::string body = viewer->everything ? *text : scoped(*text, viewer->namespaces);
    const std::string etag = etag_of(body);
    return with_manners(unless_known(request, {.body = std::move(body), .content_type = kJson}, etag));
}

Result<std::string> Window::now(const WebRequest& request) {
    const auto at = asked_time(request);
    if (!at) return std::unexpected(at.error());
    const auto moment = source_.moment(*at);
    if (!moment) return std::unexpected(moment.error());
    std::string text = (*moment)->summary;
    // What is the same for every moment of a source.
    OrderedJson more{{"version", options_.version}, {"serial", (*moment)->serial}, {"extent", nullptr}};
    if (const auto extent = source_.extent()) {
        OrderedJson gaps = OrderedJson::array();
        for (const Extent::Gap& gap : extent->gaps)
            gaps.push_back(
                {{"from", format_time(gap.from)}, {"to", format_time(gap.to)}, {"why", valid_utf8(gap.why)}});
        more["extent"] = {{"from", format_time(extent->from)}, {"to", format_time(extent->to)}, {"gaps", gaps}};
    }
    OrderedJson recent = OrderedJson::array();
    for (const auto& entry : (*moment)->decisions) {
        if (!entry->evicts) continue;
        recent.push_back(OrderedJson::parse(entry->row));
        if (recent.size() == 40) break;
    }
    more["recent"] = std::move(recent);
    const std::string tail = more.dump();
    text.pop_back();
    return text + "," + tail.substr(1);
}

Result<std::string> Window::decisions(const WebRequest& request) {
    const auto at = asked_time(request);
    const auto filter = DecisionFilter::of(request);
    const auto limit = asked_number(request, "limit", kPageLimit, kLongestPage);
    if (!at) return std::unexpected(at.error());
    if (!filter) return std::unexpected(filter.error());
    if (!limit) return std::unexpected(limit.error());
    const auto moment = source_.moment(*at);
    if (!moment) return std::unexpected(moment.error());
    // The page begins after the decision that the last one ended with; newer ones do not move it.
    const std::string after = request.query("after");
    bool begun = after.empty();
    std::size_t total = 0;
    std::size_t listed = 0;
    std::string last;
    bool more = false;
    std::string rows;
    for (const auto& entry : (*moment)->decisions) {
        const bool passes = filter->passes(*entry);
        total += passes ? 1 : 0;
        if (!begun) {
            begun = entry->id == after;
            continue;
        }
        if (!passes) continue;
        if (listed == *limit) {
            more = true;
            continue;
        }
        rows += (rows.empty() ? "" : ",\n") + entry->row;
        last = entry->id;
        ++listed;
    }
    if (!begun) return fail("after: no such decision", ErrorKind::kNotFound);
    return fmt::format(R"({{"apiVersion":"reprieve.dev/v1","kind":"Decisions","total":{},"next":{},"decisions":[{}]}})",
                       total,
                       more ? OrderedJson(last).dump() : "null",
                       rows);
}

Result<std::string> Window::decision(const WebRequest& request) {
    const auto at = asked_time(request);
    if (!at) return std::unexpected(at.error());
    const auto moment = source_.moment(*at);
    if (!moment) return std::unexpected(moment.error());
    const std::string id = request.path.substr(request.path.rfind('/') + 1);
    const auto& all = (*moment)->decisions;
    const auto found = std::ranges::find(all, id, [](const auto& entry) { return entry->id; });
    if (found == all.end()) return fail("no decision has that id here", ErrorKind::kNotFound);
    const DecisionEntry& entry = **found;
    OrderedJson around = OrderedJson::object();
    around["newer"] = found == all.begin() ? OrderedJson(nullptr) : OrderedJson((*std::prev(found))->id);
    around["older"] = std::next(found) == all.end() ? OrderedJson(nullptr) : OrderedJson((*std::next(found))->id);
    auto receipt = source_.receipt(entry);
    if (!receipt) return std::unexpected(receipt.error());
    receipt->pop_back();
    return fmt::format(
        R"({},"neighbours":{},"why":{}}})", *receipt, around.dump(), why(entry, request.query("why") != "false"));
}

// Worked out once, by a copy of the cluster of that moment.
std::string Window::why(const DecisionEntry& entry, bool wait) {
    if (!entry.why.empty()) return entry.why;
    const auto missing = [](const std::string& sentence) {
        OrderedJson out = OrderedJson::object();
        put(out, "missing", sentence);
        return out.dump();
    };
    if (!entry.no_why.empty()) return missing(entry.no_why);
    {
        const std::lock_guard lock(whys_mutex_);
        if (const auto known = whys_.find(entry.id); known != whys_.end()) return known->second;
    }
    if (!wait) return missing("asked for without it");
    std::vector<std::string> victims;
    const OrderedJson row = OrderedJson::parse(entry.row);
    for (const auto& eviction : row["evictions"])
        victims.push_back(eviction["pod"]);
    const std::lock_guard asking(asking_);
    auto answer = source_.ask_about(entry, [&](Scene& scene) { return why_document(scene, entry.owner, victims); });
    if (!answer) return missing(answer.error().message);
    const std::lock_guard lock(whys_mutex_);
    if (whys_.size() >= kMostWhys) whys_.clear();
    return whys_[entry.id] = std::move(*answer);
}

Result<std::string> Window::waiting(const WebRequest& request) {
    const auto at = asked_time(request);
    if (!at) return std::unexpected(at.error());
    if (const std::string name = request.query("name"); !name.empty()) {
        // Of others' pods tenants learn nothing, not even whether there is one of that name.
        const auto viewer = viewer_of(request);
        if (!viewer || !(viewer->everything || viewer->namespaces.contains(name.substr(0, name.find('/')))))
            return fail("nobody of that name waits in a namespace that you may see", ErrorKind::kNotFound);
        const std::unique_lock asking(asking_, std::try_to_lock);
        if (!asking) return fail("somebody else's question is being answered; ask again", ErrorKind::kNotNow);
        return source_.ask(*at, [&](Scene& scene) { return explanation_document(scene, name); });
    }
    const auto moment = source_.moment(*at);
    if (!moment) return std::unexpected(moment.error());
    return (*moment)->waiting;
}

WebAnswer Window::what_if(const WebRequest& request) {
    if (!options_.take) return refusal(404, "this window has no what-if");
    const auto at = asked_time(request);
    if (!at) return refusal(400, at.error().message);
    if (request.body.size() > kLargestManifest)
        return refusal(413, fmt::format("manifests of more than {} MiB are not taken", kLargestManifest >> 20U));
    if (request.body.empty()) return refusal(400, "there are no manifests in the request");
    const std::unique_lock asking(asking_, std::try_to_lock);
    if (!asking) {
        WebAnswer busy = refusal(429, "somebody else's question is being answered; ask again in a moment");
        busy.headers["Retry-After"] = "1";
        return busy;
    }
    const auto text =
        source_.ask(*at, [&](Scene& scene) { return what_if_document(scene, request.body, options_.take); });
    if (!text) return refusal(422, text.error().message);
    return answer(request, text);
}

WebAnswer Window::events(const WebRequest& request) {
    // Counted until the stream is gone, however it ends.
    const auto place = std::shared_ptr<void>(nullptr, [this](void*) { --streams_; });
    if (++streams_ > kMostStreams) {
        WebAnswer full = refusal(503, "there are as many event streams as are served at once; ask again later");
        full.headers["Retry-After"] = "5";
        return full;
    }
    const std::string seen = request.header("Last-Event-ID");
    std::int64_t serial = -1;
    std::from_chars(seen.data(), seen.data() + seen.size(), serial);
    auto state = std::make_shared<std::pair<std::int64_t, int>>(serial, 0);  // last told, quiet turns
    WebAnswer out{.content_type = "text/event-stream"};
    out.headers["Cache-Control"] = "no-store";
    out.headers["X-Accel-Buffering"] = "no";
    out.stream = [this, state, place]() -> std::optional<std::string> {
        if (closing_) return std::nullopt;
        const std::int64_t newest = source_.newest(state->first, kStreamTurn);
        if (newest == state->first) {
            if (++state->second < kTurnsToPing) return "";
            state->second = 0;
            return ": ping\n\n";
        }
        state->first = newest;
        state->second = 0;
        return fmt::format("id: {}\nevent: cycle\ndata: {{\"serial\":{}}}\n\n", newest, newest);
    };
    return with_manners(std::move(out));
}

WebAnswer Window::page(const WebRequest& request) {
    const auto found = page_file(options_.page_folder, "index.html");
    if (!found) return with_manners({.status = 503, .body = found.error().message + "\n"});
    WebAnswer out{.body = found->gzip, .content_type = found->content_type, .headers = {}, .gzipped = true};
    return with_manners(unless_known(request, std::move(out), found->etag));
}

// Their names carry a digest of what is in them.
WebAnswer Window::asset(const WebRequest& request) {
    const auto found = page_file(options_.page_folder, request.path.substr(request.path.rfind('/') + 1));
    if (!found) return refusal(404, found.error().message);
    WebAnswer out{.body = found->gzip, .content_type = found->content_type, .headers = {}, .gzipped = true};
    out.headers["Cache-Control"] = options_.page_folder.empty() ? "public, max-age=31536000, immutable" : "no-cache";
    return with_manners(unless_known(request, std::move(out), found->etag));
}

}  // namespace reprieve::window
