#include "sim/timeline_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "manifest/known_fields.h"

namespace reprieve {
namespace {

class TimelineCheck {
public:
    explicit TimelineCheck(const Store& store) : store_(store), decoder_(words_) {}

    Result<void> take(const TimelineEvent& event) {
        for (const Json& manifest : event.apply) {
            if (auto good = apply(event, manifest); !good) return good;
        }
        for (const Json& manifest : event.erase)
            objects_[key_of(manifest)] = std::nullopt;
        return {};
    }

    [[nodiscard]] std::vector<std::string> warnings() { return std::move(warnings_); }

private:
    static ObjectKey key_of(const Json& manifest) {
        const std::string ns = text_at(manifest, {"metadata", "namespace"});
        return {.kind = kind_of(text_at(manifest, {"apiVersion"}), text_at(manifest, {"kind"})),
                .ns = ns.empty() ? "default" : ns,
                .name = text_at(manifest, {"metadata", "name"})};
    }

    // What is there when the event comes; null: nothing that is known of.
    [[nodiscard]] const Json* known(const ObjectKey& key) const {
        if (const auto found = objects_.find(key); found != objects_.end())
            return found->second ? &*found->second : nullptr;
        for (const std::string& ns : {key.ns, std::string()}) {
            if (const SlotId slot = store_.find({key.kind, ns, key.name})) return &store_.at(slot).body;
        }
        return nullptr;
    }

    Result<void> apply(const TimelineEvent& event, const Json& manifest) {
        warn_of_fields(event, manifest);
        const ObjectKey key = key_of(manifest);
        const Json* before = known(key);
        // Without a spec it changes something that a controller makes later: what that will be is not known.
        if (before == nullptr && !manifest.contains("spec")) return {};
        Json body = manifest;
        if (before != nullptr) {
            body = *before;
            body.merge_patch(manifest);
        }
        if (auto decoded = decoder_.decode(body.dump()); !decoded)
            return fail(fmt::format("{}: {}", event.where("apply"), decoded.error().text()));
        objects_[key] = std::move(body);
        return {};
    }

    void warn_of_fields(const TimelineEvent& event, const Json& manifest) {
        static constexpr std::size_t kRoom = 64;  // that the parser may read behind the text
        std::string text = manifest.dump();
        text.reserve(text.size() + kRoom);
        const std::string object =
            fmt::format("{} {}", text_at(manifest, {"kind"}), text_at(manifest, {"metadata", "name"}));
        KnownFields::check(
            text,
            text_at(manifest, {"kind"}),
            text_at(manifest, {"apiVersion"}),
            [&](const std::string& path, const std::string& what, const char*) {
                warnings_.push_back(fmt::format("{}: {}: {}: {}", event.where("apply"), object, path, what));
            });
    }

    const Store& store_;
    Vocabulary words_;
    Decoder decoder_;
    std::map<ObjectKey, std::optional<Json>> objects_;  // by what events did; none: gone
    std::vector<std::string> warnings_;
};

}  // namespace

Result<std::vector<std::string>> check_timeline(const std::vector<TimelineEvent>& timeline, const Store& store) {
    std::vector<const TimelineEvent*> in_time;
    for (const TimelineEvent& event : timeline)
        in_time.push_back(&event);
    std::ranges::stable_sort(in_time, {}, [](const TimelineEvent* event) { return event->at; });
    TimelineCheck check(store);
    for (const TimelineEvent* event : in_time) {
        if (auto good = check.take(*event); !good) return std::unexpected(good.error());
    }
    return check.warnings();
}

}  // namespace reprieve
