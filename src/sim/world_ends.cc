#include "sim/world_ends.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace reprieve {
namespace {

// An object that says only who it is.
Object identity(const Object& object) {
    return std::visit(
        []<class T>(const T& fact) -> Object {
            T like;
            like.name = fact.name;
            if constexpr (requires { like.ns; }) like.ns = fact.ns;
            if constexpr (requires { like.kind; }) like.kind = fact.kind;
            return like;
        },
        object);
}

}  // namespace

WorldSource::WorldSource(World& world, Vocabulary& words, Pace pace)
    : world_(world),
      decoder_(words),
      pace_(std::move(pace)) {}

bool WorldSource::poll(std::vector<Change>& out, Duration wait) {
    const std::size_t before = out.size();
    read_log(out);
    if (out.size() > before) return true;
    const std::optional<Time> next = world_.next_event();
    if (!next && wait == kForever) return false;
    const Time waited = wait == kForever ? *next : world_.now() + wait;
    const Time until = next ? std::min(*next, waited) : waited;
    const Time to = pace_ ? pace_(world_.now(), until) : until;
    world_.advance(std::clamp(to, world_.now(), std::max(until, world_.now())));
    read_log(out);
    return true;
}

// What is gone is named as it was when it was there.
std::shared_ptr<const FactText> WorldSource::text_of(SlotId slot, const Json& body, std::string json) {
    if (!keeps_texts_) return nullptr;
    std::pair<std::string, std::string>& kind = kinds_[slot];
    if (!json.empty()) kind = {text_at(body, {"apiVersion"}), text_at(body, {"kind"})};
    return std::make_shared<const FactText>(
        FactText{.api_version = kind.first, .kind = kind.second, .json = std::move(json)});
}

void WorldSource::read_log(std::vector<Change>& out) {
    const Store& store = world_.store();
    std::set<SlotId> told;
    for (; read_ < store.log_size(); ++read_) {
        const SlotId slot = store.logged(read_);
        if (!told.insert(slot).second) continue;  // the newest state is told once
        const Store::Entry& entry = store.at(slot);
        if (!entry.present) {
            const auto known = known_.find(slot);
            if (known == known_.end()) continue;
            out.push_back(
                {.object = std::move(known->second), .removed = true, .digest = {}, .text = text_of(slot, {}, {})});
            known_.erase(known);
            continue;
        }
        std::string json = entry.body.dump();
        auto decoded = decoder_.decode(json);
        REPRIEVE_CHECK(decoded.has_value() && decoded->has_value(), "{} {}", entry.key.kind, entry.key.name);
        known_.insert_or_assign(slot, identity(**decoded));
        const Digest digest = digest_bytes(json);
        out.push_back({.object = std::move(**decoded),
                       .removed = false,
                       .digest = digest,
                       .text = text_of(slot, entry.body, std::move(json))});
    }
}

void WorldSink::carry_out(const Plan& plan) {
    for (Deed& deed : deeds_of(plan))
        world_.request(std::move(deed));
    world_.settle();
}

}  // namespace reprieve
