#include "sim/store.h"

#include <fmt/format.h>

#include <type_traits>

#include "base/check.h"
#include "base/hash.h"

namespace reprieve {
namespace {

const std::set<SlotId> kNobody;

}  // namespace

std::string kind_of(const std::string& api_version, const std::string& kind) {
    const std::size_t slash = api_version.find('/');
    return slash == std::string::npos ? kind : fmt::format("{}.{}", kind, api_version.substr(0, slash));
}

ObjectKey owner_of(const Json& body) {
    const Json* owners = find_path(body, {"metadata", "ownerReferences"});
    if (owners == nullptr || !owners->is_array() || owners->empty()) return {};
    const Json* chosen = &owners->front();
    for (const Json& owner : *owners) {
        const Json* controls = find_path(owner, {"controller"});
        if (controls != nullptr && controls->is_boolean() && controls->get<bool>()) chosen = &owner;
    }
    std::string ns = text_at(body, {"metadata", "namespace"});
    return {kind_of(text_at(*chosen, {"apiVersion"}), text_at(*chosen, {"kind"})),
            ns.empty() ? "default" : std::move(ns),
            text_at(*chosen, {"name"})};
}

Store::Store(std::uint64_t seed, const Time& now) : now_(&now), decoder_(words_), seed_(seed) {}

std::uint64_t Store::random() { return mix_hash(mix_hash(seed_, ++drawn_), 0x9FB21C651E98DF25ULL); }

std::string Store::make_uid() {
    const std::uint64_t a = random();
    const std::uint64_t b = random();
    return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
                       a >> 32U,
                       (a >> 16U) & 0xFFFFU,
                       a & 0xFFFU,
                       0x8000U | ((b >> 48U) & 0x3FFFU),
                       b & 0xFFFFFFFFFFFFULL);
}

ObjectKey Store::key_of(const Json& body, const Object& object) const {
    std::string ns = std::visit(
        [&](const auto& fact) {
            if constexpr (requires { fact.ns; })
                return words_.str(fact.ns);
            else
                return std::string();
        },
        object);
    return {kind_of(text_at(body, {"apiVersion"}), text_at(body, {"kind"})),
            std::move(ns),
            text_at(body, {"metadata", "name"})};
}

Result<SlotId> Store::put(Json body) {
    auto decoded = decoder_.decode(body.dump());
    if (!decoded) return fail(decoded.error().text());
    if (!*decoded) return SlotId();
    const ObjectKey key = key_of(body, **decoded);
    const auto [known, fresh] = slots_.try_emplace(key, SlotId(entries_.size()));
    if (fresh) entries_.push_back({.key = key, .present = false, .body = {}, .object = {}, .owner = {}});
    const Entry& before = entries_[known->second.index()];

    // What the API server fills in; a new object of an old name is another object.
    Json& metadata = body["metadata"];
    if (!key.ns.empty()) metadata["namespace"] = key.ns;
    if (text_at(metadata, {"uid"}).empty()) metadata["uid"] = before.present ? before.uid() : make_uid();
    if (text_at(metadata, {"creationTimestamp"}).empty()) {
        metadata["creationTimestamp"] =
            before.present ? text_at(before.body, {"metadata", "creationTimestamp"}) : format_time(now());
    }
    if (key.kind == "Pod" && text_at(body, {"status", "phase"}).empty())
        make_path(body, {"status", "phase"}) = "Pending";
    edit(known->second, std::move(body));
    return known->second;
}

void Store::edit(SlotId slot, Json body) {
    const Entry& before = entries_[slot.index()];
    if (before.present && before.body == body) return;
    auto decoded = decoder_.decode(body.dump());
    REPRIEVE_CHECK(decoded.has_value(), "{}", decoded.error().text());
    REPRIEVE_CHECK(decoded->has_value(), "{} is no object of a cluster", before.key.kind);
    write(slot, std::move(body), std::move(**decoded));
}

void Store::write(SlotId slot, Json body, Object object) {
    Entry& entry = entries_[slot.index()];
    if (entry.present) leave(entry, slot);
    entry.present = true;
    entry.owner = owner_of(body);
    entry.body = std::move(body);
    entry.object = std::move(object);
    enter(entry, slot);
    log_.push_back(slot);
}

void Store::remove(SlotId slot) {
    Entry& entry = entries_[slot.index()];
    if (!entry.present) return;
    leave(entry, slot);
    entry.present = false;
    log_.push_back(slot);
}

void Store::forget(SlotId slot) {
    if (!entries_[slot.index()].present) entries_[slot.index()].body = Json();
}

void Store::enter(const Entry& entry, SlotId slot) {
    if (!entry.owner.kind.empty()) by_owner_[entry.owner].insert(slot);
    if (entry.is_pod() && entry.pod().node) by_node_[words_.str(entry.pod().node)].insert(slot);
}

void Store::leave(const Entry& entry, SlotId slot) {
    if (!entry.owner.kind.empty()) by_owner_[entry.owner].erase(slot);
    if (entry.is_pod() && entry.pod().node) by_node_[words_.str(entry.pod().node)].erase(slot);
}

SlotId Store::find(const ObjectKey& key) const {
    const auto found = slots_.find(key);
    return found != slots_.end() && entries_[found->second.index()].present ? found->second : SlotId();
}

SlotId Store::find_pod(const std::string& full_name) const {
    const std::size_t slash = full_name.find('/');
    if (slash == std::string::npos) return {};
    return find({"Pod", full_name.substr(0, slash), full_name.substr(slash + 1)});
}

std::vector<SlotId> Store::of_kind(const std::string& kind) const {
    std::vector<SlotId> out;
    for (auto at = slots_.lower_bound({kind, "", ""}); at != slots_.end() && at->first.kind == kind; ++at) {
        if (entries_[at->second.index()].present) out.push_back(at->second);
    }
    return out;
}

const std::set<SlotId>& Store::pods_on(const std::string& node) const {
    const auto found = by_node_.find(node);
    return found == by_node_.end() ? kNobody : found->second;
}

const std::set<SlotId>& Store::children(const ObjectKey& owner) const {
    const auto found = by_owner_.find(owner);
    return found == by_owner_.end() ? kNobody : found->second;
}

}  // namespace reprieve
