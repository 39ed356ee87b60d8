// FactTable: the facts of one kind by (namespace, name), in slots whose addresses and ids stay.
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
        const auto [it, fresh] = ids_.try_emplace(name_key(ns, name));
        if (fresh) it->second = free_slot();
        slots_[it->second.index()] = std::move(fact);
        return it->second;
    }
    bool erase(StringId ns, StringId name) {
        const auto it = ids_.find(name_key(ns, name));
        if (it == ids_.end()) return false;
        slots_[it->second.index()].reset();
        unused_.push_back(it->second);
        ids_.erase(it);
        return true;
    }
    [[nodiscard]] IdType find(StringId ns, StringId name) const {
        const auto it = ids_.find(name_key(ns, name));
        return it == ids_.end() ? IdType() : it->second;
    }
    // Null: the slot is free.
    [[nodiscard]] const T* get(IdType id) const {
        if (!id || id.index() >= slots_.size() || !slots_[id.index()]) return nullptr;
        return &*slots_[id.index()];
    }
    [[nodiscard]] std::size_t slots() const { return slots_.size(); }
    [[nodiscard]] std::size_t size() const { return ids_.size(); }

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
};

}  // namespace reprieve
