// ClaimIndex: what the watch, and the answers to our own writes, have told of claims: which of them hold which devices,
// for the second look of those who allocate, and the texts from which the next write can be made without asking.
//
// The second look: the API server does not keep one device out of two claims. So, after a claim has been given devices,
// its writer waits until the watch of claims has come as far as its own write. A watch tells the changes of a kind in
// the order in which they were made, and a list that is complete tells all that were made before it: so by then every
// claim that was allocated before is in here, and the writer, being the later one, gives way where another claim has
// one of its devices. Of two writers with one device the later one therefore always sees the earlier. The answer to
// the write cannot tell that: it says in which place of the order the write stands, not who stands before it.
//
// The texts: a claim without devices is kept as it was last told, by whomever that was; a write names the version of
// its text, so that one made from an old text is refused and nothing is lost but a call. Used from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/device_claims.h"
#include "model/vocabulary.h"

namespace reprieve {

class ClaimIndex {
public:
    // An object of a list or a watch.
    void see(const ResourceClaim& claim,
             const Vocabulary& words,
             const std::string& api_version,
             const std::string& version,
             std::string_view json);
    void see_gone(const ResourceClaim& like, const Vocabulary& words);
    // Everything up to this version has come by: an event of the watch, or the last page of a list.
    void see_version(const std::string& version);
    void see_class(const std::string& name, std::string_view json);
    void see_class_gone(const std::string& name);
    // The answer to a write of ours.
    void note_answer(const std::string& claim, const std::string& version, bool is_free, const std::string& json);

    // Where claims are served: "resource.k8s.io/v1".
    [[nodiscard]] std::string api_version() const;
    [[nodiscard]] bool knows(const std::string& claim) const;
    // The newest text of a claim without devices; empty: it has some, or is not known.
    [[nodiscard]] std::string text(const std::string& claim) const;
    // Of a DeviceClass; empty: it is not known.
    [[nodiscard]] std::string class_text(const std::string& name) const;

    // True: everything up to this version has come by. Else `call` is called once when it has, on the thread that tells
    // of it, unless the owner is forgotten first.
    [[nodiscard]] bool has_seen(const std::string& version, const void* owner, std::function<void()> call);
    void forget(const void* owner);
    // A device of the claim that another claim has too, as a sentence; empty: there is none. Shares of one device do
    // not exclude each other.
    [[nodiscard]] std::string shared_device(const std::string& claim) const;

private:
    struct Held {
        std::uint64_t device = 0;  // a hash of driver, pool and name
        bool whole = true;
    };
    struct Text {
        std::uint64_t version = 0;
        std::string json;
    };
    struct Waiting {
        const void* owner = nullptr;
        std::function<void()> call;
    };
    void forget_devices(const std::string& name);
    void note_text(const std::string& name, std::uint64_t version, bool is_free, std::string_view json);

    mutable std::mutex mutex_;
    std::string api_version_ = "resource.k8s.io/v1";
    std::uint64_t seen_ = 0;                                               // everything up to this version
    std::unordered_map<std::string, std::vector<Held>> claims_;            // by "ns/name"
    std::unordered_map<std::uint64_t, std::vector<std::string>> holders_;  // device -> claims, in the order seen
    std::unordered_map<std::string, Text> texts_;                          // of claims without devices
    std::map<std::string, std::string> classes_;
    std::multimap<std::uint64_t, Waiting> waiting_;  // by the version that is waited for
};

}  // namespace reprieve
