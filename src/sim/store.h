// Store: the objects of the embedded cluster, as an API server keeps them: JSON by kind, namespace and name.
//
// An object is decoded when it is written, so what is in here is well-formed. Every write is a line in the log; whoever
// watches remembers how far it has read. A name keeps its slot for ever; slots are numbered in the order of arrival, so
// nothing depends on hashes. Owned by World.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/decode.h"
#include "model/objects.h"
#include "model/vocabulary.h"
#include "sim/event_queue.h"
#include "sim/json_path.h"

namespace reprieve {

struct ObjectKey {
    std::string kind;  // "Pod", "Job.batch.volcano.sh"
    std::string ns;    // empty for kinds that have none
    std::string name;
    friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

// "Job.batch.volcano.sh" of apiVersion and kind.
[[nodiscard]] std::string kind_of(const std::string& api_version, const std::string& kind);
// The controller among metadata.ownerReferences; its kind is empty where there is none.
[[nodiscard]] ObjectKey owner_of(const Json& body);

class Store {
public:
    struct Entry {
        ObjectKey key;
        bool present = false;
        Json body;      // of one that is gone: as it was last, until it is forgotten
        Object object;  // the same, decoded into `words()`
        ObjectKey owner;

        [[nodiscard]] const Pod& pod() const { return std::get<Pod>(object); }
        [[nodiscard]] bool is_pod() const { return key.kind == "Pod"; }
        [[nodiscard]] std::string uid() const { return text_at(body, {"metadata", "uid"}); }
    };

    Store(std::uint64_t seed, const Time& now);
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // Creates or replaces; gives what has none a uid and a time of creation. Nothing is written where nothing changes.
    // None: a kind that no decision depends on.
    [[nodiscard]] Result<SlotId> put(Json body);
    // Changes an object that is there; the change is ours, so it must leave the object well-formed.
    void edit(SlotId slot, Json body);
    void remove(SlotId slot);
    // Lets go of the body of one that is gone.
    void forget(SlotId slot);

    // None: not there.
    [[nodiscard]] SlotId find(const ObjectKey& key) const;
    [[nodiscard]] SlotId find_pod(const std::string& full_name) const;  // "ns/name"
    [[nodiscard]] const Entry& at(SlotId slot) const { return entries_[slot.index()]; }
    [[nodiscard]] const std::map<ObjectKey, SlotId>& slots() const { return slots_; }  // also of those that are gone
    [[nodiscard]] std::vector<SlotId> of_kind(const std::string& kind) const;          // there; by namespace and name
    [[nodiscard]] const std::set<SlotId>& pods_on(const std::string& node) const;
    [[nodiscard]] const std::set<SlotId>& children(const ObjectKey& owner) const;

    [[nodiscard]] std::size_t log_size() const { return log_.size(); }
    [[nodiscard]] SlotId logged(std::size_t line) const { return log_[line]; }

    [[nodiscard]] Vocabulary& words() { return words_; }
    [[nodiscard]] const Vocabulary& words() const { return words_; }
    // A number from the seed; the same ones in the same order.
    std::uint64_t random();
    std::string make_uid();
    [[nodiscard]] Time now() const { return *now_; }

private:
    void enter(const Entry& entry, SlotId slot);
    void leave(const Entry& entry, SlotId slot);
    [[nodiscard]] ObjectKey key_of(const Json& body, const Object& object) const;
    void write(SlotId slot, Json body, Object object);

    const Time* now_;
    Vocabulary words_;
    Decoder decoder_;
    std::map<ObjectKey, SlotId> slots_;
    std::deque<Entry> entries_;  // references stay good while others arrive
    std::vector<SlotId> log_;
    std::map<std::string, std::set<SlotId>> by_node_;
    std::map<ObjectKey, std::set<SlotId>> by_owner_;
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
};

}  // namespace reprieve
