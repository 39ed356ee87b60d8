// OneOrFew: for each id a list of ids of another kind, where hardly any list has more than one entry. Four bytes each.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "base/id.h"

namespace reprieve {

template <class Key, class Value>
class OneOrFew {
public:
    [[nodiscard]] std::span<const Value> of(Key key) const {
        if (!only_.contains(key)) return {};
        if (only_[key]) return {&only_[key], 1};
        const auto several = several_.find(key);
        return several == several_.end() ? std::span<const Value>() : std::span<const Value>(several->second);
    }
    // Before the entry that stands at this place.
    void insert(Key key, std::size_t place, Value value) {
        if (!only_.contains(key)) only_.resize(key.index() + 1);
        std::vector<Value> list = copy(key);
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), value);
        write(key, std::move(list));
    }
    void add(Key key, Value value) { insert(key, of(key).size(), value); }
    // One such entry, if there is one.
    void remove(Key key, Value value) {
        std::vector<Value> list = copy(key);
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] != value) continue;
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
            return write(key, std::move(list));
        }
    }
    friend bool operator==(const OneOrFew&, const OneOrFew&) = default;

private:
    [[nodiscard]] std::vector<Value> copy(Key key) const {
        const std::span<const Value> list = of(key);
        return {list.begin(), list.end()};
    }
    void write(Key key, std::vector<Value> list) {
        only_[key] = list.size() == 1 ? list.front() : Value();
        if (list.size() > 1)
            several_[key] = std::move(list);
        else
            several_.erase(key);
    }

    IdVector<Key, Value> only_;  // none: the list is empty, or has several
    std::map<Key, std::vector<Value>> several_;
};

}  // namespace reprieve
