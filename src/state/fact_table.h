// FactTable: the facts of one kind by (namespace, name), in slots whose addresses and ids stay.
//
// A name may be known without a fact (a gang that only its pods name, the queue `default`): it has an id, and no fact.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/id.h"
#include "model/labels.h"

namespace reprieve {

// One number for (namespace, name).
[[nodiscard]] inline std::uint64_t name_key(StringId ns, StringId name) {
    return std::uint64_t{ns.value()} << 32U | name.value();
}

template <class IdType, class T>
class FactTable {
public:
    // Puts a fact in place of the one of the same name, or in a new slot.
    IdType put(StringId ns, StringId name, T fact) {
        const IdType id = reserve(ns, name);
        std::optional<T>& slot = slots_[id.index()];
        if (!slot) ++facts_;
        slot = std::move(fact);
        return id;
    }
    // The same by the fact's own name. False: the same fact is there already.
    bool replace(StringId ns, T fact) {
        const StringId name = fact.name;
        const T* before = get(ns, name);
        if (before != nullptr && *before == fact) return false;
        put(ns, name, std::move(fact));
        return true;
    }
    // The id of a name, with or without a fact.
    IdType reserve(StringId ns, StringId name) {
        const auto [it, fresh] = ids_.try_emplace(name_key(ns, name));
        if (fresh) it->second = free_slot();
        return it->second;
    }
    // Forgets the fact and lets go of its slot.
    bool erase(StringId ns, StringId name) {
        const auto it = ids_.find(name_key(ns, name));
        if (it == ids_.end()) return false;
        const bool was_there = clear(it->second);
        unused_.push_back(it->second);
        ids_.erase(it);
        return was_there;
    }
    // Forgets the fact; its name keeps the id.
    bool clear(IdType id) {
        std::optional<T>& slot = slots_[id.index()];
        if (!slot) return false;
        slot.reset();
        --facts_;
        return true;
    }
    [[nodiscard]] IdType find(StringId ns, StringId name) const {
        const auto it = ids_.find(name_key(ns, name));
        return it == ids_.end() ? IdType() : it->second;
    }
    // Null: there is no such fact.
    [[nodiscard]] const T* get(IdType id) const {
        if (!id || id.index() >= slots_.size() || !slots_[id.index()]) return nullptr;
        return &*slots_[id.index()];
    }
    [[nodiscard]] const T* get(StringId ns, StringId name) const { return get(find(ns, name)); }
    [[nodiscard]] std::size_t slots() const { return slots_.size(); }
    [[nodiscard]] std::size_t size() const { return facts_; }
    // Calls `see(id, fact)` for every fact, in the order of slots.
    template <class See>
    void for_each(See see) const {
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i]) see(IdType(i), *slots_[i]);
        }
    }

private:
    IdType free_slot() {
        if (!unused_.empty()) {
            const IdType id = unused_.back();
            unused_.pop_back();
            return id;
        }
        slots_.emplace_back();
        return IdType(slots_.size() - 1);
    }

    std::deque<std::optional<T>> slots_;
    std::vector<IdType> unused_;
    std::unordered_map<std::uint64_t, IdType> ids_;
    std::size_t facts_ = 0;
};

}  // namespace reprieve
