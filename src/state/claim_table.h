// ClaimTable: every claim for devices, and what pods have to do with them.
//
// A row is a ResourceClaim that exists, or one that would be made for a pod: from a template, or for extended resources
// that a DeviceClass stands behind. Rows are facts: what a plan does with them is kept in the ClaimBooks of both views.
// Rows come and go one by one; ids of rows that are gone are given out again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cel/expression.h"
#include "model/device_claims.h"
#include "state/claim_book.h"
#include "state/device_pools.h"
#include "state/ids.h"
#include "state/one_or_few.h"

namespace reprieve {

class Vocabulary;

struct ClaimRow {
    StringId ns;
    std::string name;
    const ClaimSpec* spec = nullptr;
    std::optional<GivenDevices> given;  // its allocation, as a fact
    bool extended = false;
    bool deleting = false;
    std::int32_t made_spec = -1;  // where `spec` is one of the table's own
    std::vector<PodId> pods;      // running pods in its reservedFor
    std::int32_t leaving = 0;     // pods in its reservedFor that are on their way out
    std::int32_t strangers = 0;   // users that no eviction removes
    std::string stranger;         // the first of them, for people
    std::string not_ready;        // what keeps pods with its devices from being bound, after the claim's name
};

// What one pod has to do with claims.
struct PodClaims {
    std::vector<DeviceClaimId> wants;  // in the order of its spec; the one for extended resources last
    std::vector<DeviceClaimId> made;   // those of them that would be made for it
    std::vector<DeviceClaimId> holds;  // allocated claims that it is reserved for; by name
    std::string trouble;               // why it cannot be given what it wants, wherever it goes
    bool has_alternatives = false;     // a request can be met in several ways
    ClassId apart;                     // its class, where what it wants is not a matter of one node alone
};

// What a selector says of a device.
enum class Selected : std::uint8_t { kNo, kYes, kError };

class ClaimTable {
public:
    DevicePools pools;
    std::map<StringId, const DeviceClass*> classes;
    std::map<Dim, const DeviceClass*> class_of_resource;  // extended resources that claims can serve

    DeviceClaimId add(ClaimRow row);
    // Nobody wants or holds it any more.
    void remove(DeviceClaimId id);
    // A row for extended resources, with a specification of its own.
    DeviceClaimId add_with_spec(ClaimRow row, ClaimSpec spec);
    [[nodiscard]] ClaimRow& row(DeviceClaimId id) { return rows_[id]; }
    [[nodiscard]] const ClaimRow& row(DeviceClaimId id) const { return rows_[id]; }
    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    [[nodiscard]] const PodClaims& of(PodId pod) const {
        static const PodClaims kNone;
        return pod.index() < of_pod_.size() && of_pod_[pod.index()] > 0 ? pod_claims_[of_pod_[pod.index()] - 1] : kNone;
    }
    [[nodiscard]] bool knows(PodId pod) const { return pod.index() < of_pod_.size() && of_pod_[pod.index()] > 0; }
    PodClaims& make(PodId pod);
    void forget(PodId pod);
    // Notes that the pod holds the claim, or does no more.
    void hold(PodId pod, DeviceClaimId id, bool enter);
    // Claims that are allocated the device, looking on left out; in no order.
    [[nodiscard]] std::span<const DeviceClaimId> holders(DeviceId device) const;
    void index_holder(DeviceClaimId id, bool enter);

    // Whether a device passes the selectors, one after the other. `what`: filled in where one of them fails.
    [[nodiscard]] Selected select(std::span<const DeviceSelector> selectors, OfferId offer, std::string* what) const;
    // Whether the selectors of the class fail on some device, or those of the request on one that the class selects.
    [[nodiscard]] bool fails_somewhere(const DeviceClass& cls, std::span<const DeviceSelector> selectors) const;
    // What is wrong with the texts of these selectors; empty: nothing.
    [[nodiscard]] std::string fault_of(std::span<const DeviceSelector> selectors) const;
    // What these offers are is about to change.
    void forget_answers(std::span<const OfferId> offers);
    // Expressions come with claims, and nobody counts who uses one: from time to time all are read again.
    void limit_selectors();

    [[nodiscard]] std::string name_of(DeviceClaimId id, const Vocabulary& words) const;  // "ns/name"
    void set_words(const Vocabulary& words) { words_ = &words; }

private:
    struct KnownSelector {
        Result<cel::Expression> expression;
        std::vector<std::int8_t> answers;  // by OfferId; -1: not asked yet
    };
    [[nodiscard]] KnownSelector& known(const std::string& text) const;
    [[nodiscard]] cel::Device seen_by_selectors(OfferId offer) const;

    const Vocabulary* words_ = nullptr;
    IdVector<DeviceClaimId, ClaimRow> rows_;
    std::vector<DeviceClaimId> unused_rows_;
    std::deque<ClaimSpec> made_specs_;
    std::vector<std::int32_t> unused_specs_;
    std::vector<std::uint32_t> of_pod_;  // 1 + position in pod_claims_; 0: it has nothing to do with claims
    std::deque<PodClaims> pod_claims_;
    std::vector<std::uint32_t> unused_pod_claims_;
    OneOrFew<DeviceId, DeviceClaimId> holders_;
    mutable std::map<std::string, KnownSelector> selectors_;
    mutable std::map<std::string, bool> fails_;  // by the texts of the class's selectors and the request's
    mutable std::string fails_key_;
};

}  // namespace reprieve
