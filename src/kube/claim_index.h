// ClaimIndex: which claims have been seen to hold which devices, for the second look of those who allocate.
//
// The API server does not keep one device out of two claims. So, after a claim has been given devices, its writer waits
// until the watch has brought its own write back. A watch tells the changes of a kind in the order in which they were
// made: by then every claim that was allocated before is in here, and the writer, being the later one, gives way where
// another claim has one of its devices. Used from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/device_claims.h"
#include "model/vocabulary.h"

namespace reprieve {

class ClaimIndex {
public:
    void see(const ResourceClaim& claim,
             const Vocabulary& words,
             const std::string& api_version,
             const std::string& version);
    void see_gone(const ResourceClaim& like, const Vocabulary& words);

    // Where claims are served: "resource.k8s.io/v1".
    [[nodiscard]] std::string api_version() const;
    // Whether this version of the claim, or a later one, has come by.
    [[nodiscard]] bool has_seen(const std::string& claim, const std::string& version) const;
    // A device of the claim that another claim has too, as a sentence; empty: there is none. Shares of one device do
    // not exclude each other.
    [[nodiscard]] std::string shared_device(const std::string& claim) const;

private:
    struct Held {
        std::uint64_t device = 0;  // a hash of driver, pool and name
        bool whole = true;
    };
    struct Seen {
        std::uint64_t version = 0;
        std::vector<Held> devices;
    };
    void forget(const std::string& name);

    mutable std::mutex mutex_;
    std::string api_version_ = "resource.k8s.io/v1";
    std::unordered_map<std::string, Seen> claims_;                         // by "ns/name"
    std::unordered_map<std::uint64_t, std::vector<std::string>> holders_;  // device -> claims, in the order seen
};

}  // namespace reprieve
