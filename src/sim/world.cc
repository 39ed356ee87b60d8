#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "sim/derived_objects.h"
#include "sim/pod_times.h"
#include "sim/timeline_check.h"

namespace reprieve {
namespace {

constexpr int kRoundsMax = 10'000;  // far beyond what controllers need to come to rest

}  // namespace

World::World(WorldOptions options)
    : options_(options),
      now_(options.start),
      store_(options.seed, now_),
      api_(store_),
      kubelets_(store_, events_),
      controllers_(store_, api_),
      budgets_(store_),
      planes_(store_, api_),
      claims_(store_),
      loader_(std::make_unique<Loader>(store_.words(),
                                       [this](Object&&, const SourceRef& source) { take_document(source); })) {
    loader_->set_field_check(FieldCheck::kWarn);
    loader_->on_document("Timeline", [this](std::string_view, std::string_view json, const SourceRef& source) {
        take_timeline(json, source);
    });
    for (const char* kind : {"JobSet", "LeaderWorkerSet"}) {
        loader_->on_document(kind, [this](std::string_view, std::string_view json, const SourceRef& source) {
            take_derived(json, source);
        });
    }
}

Result<void> World::load(const std::string& path) { return finish_load(loader_->load(path)); }

Result<void> World::load_text(const std::string& name, std::string_view text) {
    return finish_load(loader_->load_text(name, text));
}

Result<void> World::finish_load(std::expected<void, LoadError> loaded) {
    if (!loaded) return fail(loaded.error().text());
    if (fault_) return fail(fault_->text());
    return {};
}

// Times, and that a controller's template makes a pod: later there would be nobody to tell.
Result<void> World::check(const Json& body) const {
    if (auto times = check_pod_times(body); !times) return times;
    std::vector<const Json*> templates;
    if (const Json* one = find_path(body, {"spec", "template"})) templates.push_back(one);
    if (const Json* tasks = find_path(body, {"spec", "tasks"}); tasks != nullptr && tasks->is_array()) {
        for (const Json& task : *tasks)
            templates.push_back(find_path(task, {"template"}));
    }
    Vocabulary words;
    Decoder decoder(words);
    for (const Json* made_from : templates) {
        if (made_from == nullptr || !made_from->is_object()) continue;
        Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "template"}}}};
        if (const Json* metadata = find_path(*made_from, {"metadata"}); metadata != nullptr && metadata->is_object())
            pod["metadata"].update(*metadata);
        if (const Json* spec = find_path(*made_from, {"spec"})) pod["spec"] = *spec;
        if (auto decoded = decoder.decode(pod.dump()); !decoded) {
            return fail(fmt::format("template.{}: {}", decoded.error().field, decoded.error().what));
        }
    }
    return {};
}

void World::take_document(const SourceRef& source) {
    if (fault_) return;
    const auto refuse = [&](std::string object, std::string what) {
        fault_ = LoadError{.file = source.file(),
                           .line = source.line(),
                           .object = std::move(object),
                           .field = "",
                           .what = std::move(what)};
    };
    Json body = Json::parse(source.text().json, nullptr, false);
    // Items of a list may leave it to the list to say what they are.
    if (text_at(body, {"kind"}).empty()) body["kind"] = source.text().kind;
    if (text_at(body, {"apiVersion"}).empty()) body["apiVersion"] = source.text().api_version;
    const std::string object = fmt::format("{} {}", text_at(body, {"kind"}), text_at(body, {"metadata", "name"}));
    if (auto good = check(body); !good) return refuse(object, good.error().message);
    const std::size_t before = store_.log_size();
    const Result<SlotId> slot = store_.put(body);
    if (!slot) return refuse("", slot.error().message);
    const auto [known, fresh] = given_.try_emplace(*slot, body);
    if (!fresh && store_.log_size() != before && known->second != body)
        refuse(object, "metadata.name: given twice, with different contents");
}

// Their controllers are not here: what they would make is.
void World::take_derived(std::string_view json, const SourceRef& source) {
    if (fault_) return;
    Json body = Json::parse(json, nullptr, false);
    body["kind"] = source.text().kind;
    for (const Json& object : derived_objects(body)) {
        const auto refuse = [&](std::string what) {
            fault_ = LoadError{.file = source.file(),
                               .line = source.line(),
                               .object = fmt::format("{} {}", source.text().kind, text_at(body, {"metadata", "name"})),
                               .field = "",
                               .what = std::move(what)};
        };
        if (auto good = check(object); !good) return refuse(good.error().message);
        if (const Result<SlotId> slot = store_.put(object); !slot) return refuse(slot.error().message);
    }
}

void World::take_timeline(std::string_view json, const SourceRef& source) {
    if (fault_) return;
    const auto refuse = [&](std::string what) {
        fault_ = LoadError{
            .file = source.file(), .line = source.line(), .object = "Timeline", .field = "", .what = std::move(what)};
    };
    auto events = read_timeline(json);
    if (!events) return refuse(events.error().message);
    for (std::size_t i = 0; i < events->size(); ++i) {
        (*events)[i].source = fmt::format("{}:{}", source.file(), source.line());
        for (const Json& manifest : (*events)[i].apply) {
            if (auto good = check(manifest); !good)
                return refuse(fmt::format("events[{}].apply: {}", i, good.error().message));
        }
    }
    std::ranges::move(*events, std::back_inserter(timeline_));
}

std::vector<std::string> World::warnings() const {
    std::vector<std::string> out;
    const LoadReport report = loader_->report();
    for (const auto& [kind, count] : report.ignored)
        out.push_back(fmt::format("ignored {} object{} of kind {}", count, count == 1 ? "" : "s", kind));
    for (const auto& [what, count] : report.warnings)
        out.push_back(count == 1 ? what : fmt::format("{} ({} times)", what, count));
    out.insert(out.end(), timeline_warnings_.begin(), timeline_warnings_.end());
    return out;
}

Result<void> World::check_timeline() {
    auto checked = reprieve::check_timeline(timeline_, store_);
    if (!checked) return std::unexpected(checked.error());
    timeline_warnings_ = std::move(*checked);
    return {};
}

void World::begin() {
    given_.clear();
    for (std::size_t i = 0; i < timeline_.size(); ++i) {
        events_.push(options_.start + timeline_[i].at, {.kind = EventKind::kTimeline, .slot = {}, .mark = i});
    }
    settle();
}

void World::settle() {
    const std::size_t first = seen_;
    for (int round = 0; seen_ < store_.log_size(); ++round) {
        REPRIEVE_CHECK(round < kRoundsMax, "the controllers do not come to rest");
        while (seen_ < store_.log_size()) {
            const SlotId slot = store_.logged(seen_++);
            kubelets_.observe(slot);
            controllers_.observe(slot);
            budgets_.observe(slot);
            planes_.observe(slot);
            claims_.observe(slot);
        }
        controllers_.act();
        budgets_.act();
        planes_.act();
        claims_.act();
    }
    for (std::size_t i = first; i < seen_; ++i)
        store_.forget(store_.logged(i));
}

void World::advance(Time until) {
    REPRIEVE_CHECK(until >= now_, "time does not run backwards");
    while (const auto next = events_.pop(until)) {
        now_ = std::max(now_, next->first);
        fire(next->second);
        settle();
    }
    now_ = until;
}

void World::fire(const Event& event) {
    switch (event.kind) {
        case EventKind::kTimeline:
            happen(timeline_[event.mark]);
            return;
        case EventKind::kDeed: {
            const auto found = requests_.find(event.mark);
            reports_.push_back(perform(found->second, api_));
            requests_.erase(found);
            return;
        }
        default:
            kubelets_.fire(event);
    }
}

void World::happen(const TimelineEvent& event) {
    for (const Json& manifest : event.apply) {
        if (auto done = api_.apply(manifest); !done)
            complaints_.push_back(
                fmt::format("{} at {}: {}", event.where("apply"), format_duration(event.at), done.error().message));
    }
    for (const Json& manifest : event.erase) {
        if (auto done = api_.erase(manifest); !done)
            complaints_.push_back(
                fmt::format("{} at {}: {}", event.where("delete"), format_duration(event.at), done.error().message));
    }
}

Time World::due(const Deed& deed) {
    Time at = now_ + options_.latency;
    if (options_.jitter.us == 0) return at;
    at = at + Duration{static_cast<std::int64_t>(store_.random() % static_cast<std::uint64_t>(options_.jitter.us + 1))};
    Time& last = last_due_[deed.pod.name];
    return last = std::max(last, at);
}

void World::request(Deed deed) {
    if (options_.latency.us == 0 && options_.jitter.us == 0) {
        reports_.push_back(perform(deed, api_));
        return;
    }
    events_.push(due(deed), {.kind = EventKind::kDeed, .slot = {}, .mark = next_request_});
    requests_.emplace(next_request_++, std::move(deed));
}

void World::collect(std::vector<SinkReport>& out) {
    std::ranges::move(reports_, std::back_inserter(out));
    reports_.clear();
}

}  // namespace reprieve
