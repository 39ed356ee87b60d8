// DeviceChooser: the search behind device_choice.h, for the claims of one pod or of several pods on one node.
//
// Depth first over claims, requests, alternatives and devices; the first full solution wins. A branch is left early
// only where it holds no solution, so the first solution is the one that the plain search would find, too:
//   likeness   a device that led nowhere is not followed by another one that is like it in everything that this search
//              looks at: exchange the two devices in a solution that uses the second one.
//   hope       every device of a solution is allowed by the constraints as they stand after the devices before it: a
//              match constraint never forgets its value, and a distinct one never frees one. So where a request that is
//              still to be met has fewer such devices than it asks for, or fewer distinct values among them, nothing
//              below this point is a solution.
// Neither is used for what could end the whole attempt: which device fails first must not change (Strictness).
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "state/device_choice.h"
#include "state/device_match.h"
#include "state/device_tally.h"

namespace reprieve {

class DeviceChooser {
public:
    // kUpstream: a selector that fails ends the attempt, as in Kubernetes. kLenient: the device is passed over.
    // Whatever devices an attempt can end with by the first rule, it can end with by the second: so a lenient "no" is a
    // "no".
    enum class Strictness : std::uint8_t { kUpstream, kLenient };

    DeviceChooser(const Snapshot& snapshot,
                  NodeId node,
                  std::span<const ClaimBook* const> views,
                  Strictness strictness = Strictness::kUpstream);

    // False: the attempt has ended; `trouble` says why.
    [[nodiscard]] bool add(DeviceClaimId id, PodId pod);
    // The devices that the pod was promised, if they will do; else any.
    [[nodiscard]] DeviceChoice run(std::vector<DeviceId> promised);
    [[nodiscard]] DeviceChoice run();
    // After kFound: what every claim is given.
    void take(std::vector<ClaimGrant>& out);

    [[nodiscard]] const std::string& trouble() const { return trouble_; }
    // What is in the way of the first request that cannot be met by itself.
    [[nodiscard]] std::string explain();
    // Devices looked at so far.
    [[nodiscard]] std::int64_t steps() const { return steps_; }

private:
    struct Wish {
        const DeviceWish* fact = nullptr;
        const DeviceClass* cls = nullptr;
        StringId base;   // the request
        StringId label;  // "request" or "request/alternative"
        std::int64_t count = 0;
        std::vector<std::pair<std::size_t, OfferId>> all;  // mode All: pool and device
        // What could be given to it at all, as others hold devices; nothing: not worked out yet.
        std::optional<std::vector<OfferId>> hopes;
    };
    struct Request {
        const DeviceRequest* fact = nullptr;
        std::vector<Wish> wishes;
    };
    struct Chosen {
        std::size_t pool = 0;
        OfferId offer;
        GivenDevice given;
        bool charged = false;  // its counters, in every view where the device has no shares yet
    };
    // A constraint and the attributes it has seen.
    using Seen = std::vector<const DeviceAttribute*>;
    struct Claim {
        DeviceClaimId id;
        PodId pod;
        const ClaimSpec* spec = nullptr;
        std::vector<Request> requests;
        std::vector<Chosen> chosen;
        std::vector<Seen> constraints;
        bool may_end = false;  // some device ends the attempt, wherever the search meets it
    };
    struct Place {
        std::size_t pool = 0;
        std::size_t offer = 0;
    };

    bool end(DeviceClaimId claim, std::string_view what);
    [[nodiscard]] bool add_wish(DeviceClaimId id, const DeviceRequest& request, const DeviceWish& wish, Request& out);
    [[nodiscard]] std::string beyond_64_bits(DeviceClaimId id, const Wish& wish);
    [[nodiscard]] bool find_all(DeviceClaimId id, Wish& wish);
    [[nodiscard]] Selected select(DeviceClaimId id, const Wish& wish, OfferId offer);
    [[nodiscard]] bool here(OfferId offer) const;

    // The search.
    [[nodiscard]] bool next_request(std::size_t c, std::size_t r);
    [[nodiscard]] bool next_device(std::size_t c, std::size_t r, Wish& wish, std::int64_t got, Place from);
    [[nodiscard]] bool stopped() const;
    [[nodiscard]] bool choose(std::size_t c, const Wish& wish, std::size_t pool, OfferId offer, bool must);
    void unchoose(std::size_t c, const Wish& wish);
    [[nodiscard]] bool has_hope(std::size_t c, std::size_t r, Wish& wish, std::int64_t got);
    [[nodiscard]] bool has_hope_for(std::size_t c, Wish& wish, std::int64_t wanted);
    [[nodiscard]] const std::vector<OfferId>& hopes_of(std::size_t c, Wish& wish);

    // Who has it.
    [[nodiscard]] bool is_barred(OfferId offer) const;
    [[nodiscard]] bool taken_by(std::size_t c, DeviceId device) const;
    [[nodiscard]] bool taken(DeviceId device) const;
    [[nodiscard]] bool held_whole(DeviceId device, bool shareable) const;
    [[nodiscard]] bool in_use(std::size_t c, const Wish& wish, OfferId offer) const;

    // Constraints.
    [[nodiscard]] static bool concerns(const DeviceConstraint& constraint, const Wish& wish);
    [[nodiscard]] static bool constrain(Claim& claim, const Wish& wish, const PooledDevice& device);

    // Shares and counters.
    [[nodiscard]] bool has_room(OfferId offer, std::span<const ConsumedAmount> amounts) const;
    [[nodiscard]] bool is_chosen(DeviceId device) const;
    // The counters of a device that is shared already are paid for.
    [[nodiscard]] bool pays_in(const ClaimBook& view, OfferId offer) const;
    [[nodiscard]] bool pays(OfferId offer) const;
    [[nodiscard]] const std::map<CounterKey, Wide>& held_counters(std::size_t pool, std::size_t view);
    [[nodiscard]] bool overdrawn(std::size_t pool, const std::map<CounterKey, Wide>& held) const;
    [[nodiscard]] bool counters_allow(std::size_t pool, OfferId offer);

    [[nodiscard]] bool alike(OfferId a, OfferId b) const;
    [[nodiscard]] DeviceTally count(std::size_t c, const Wish& wish);

    const Snapshot& s_;
    const ClaimTable& table_;
    const Vocabulary& words_;
    NodeId node_id_;
    const Node& node_;
    std::span<const ClaimBook* const> views_;
    std::span<const NodePool> pools_;
    Strictness strictness_;
    std::vector<Claim> claims_;
    std::map<std::pair<std::size_t, std::size_t>, std::map<CounterKey, Wide>> counters_;  // by pool and view
    std::vector<DeviceId> promised_;                                                      // if any: no others
    std::string trouble_;
    std::int64_t steps_ = 0;
};

}  // namespace reprieve
