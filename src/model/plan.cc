#include "model/plan.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <tuple>

#include "base/check.h"

namespace reprieve {
namespace {

// By `key`. Stable: what the keys do not tell apart stays in the order made, which is itself deterministic. Entries are
// large, and most plans are sorted already: each is moved at most once.
template <class T, class Key>
void sort_entries(std::vector<T>& entries, Key key) {
    if (std::ranges::is_sorted(entries, {}, key)) return;
    std::vector<std::uint32_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(
        order, {}, [&](std::uint32_t at) -> decltype(auto) { return std::invoke(key, entries[at]); });
    std::vector<T> sorted;
    sorted.reserve(entries.size());
    for (const std::uint32_t at : order)
        sorted.push_back(std::move(entries[at]));
    entries = std::move(sorted);
}

}  // namespace

void sort_plan(Plan& plan) {
    sort_entries(plan.placements, &Placement::pod);
    sort_entries(plan.evictions, &Eviction::pod);
    std::ranges::sort(plan.nominations_cleared);
    for (ScaleChange& change : plan.scale)
        std::ranges::sort(change.hints);
    sort_entries(plan.scale, [](const ScaleChange& change) { return std::tie(change.deployment, change.plane); });
    std::ranges::sort(plan.force_deletes);
    for (AnnotationChange& change : plan.annotations)
        std::ranges::sort(change.remove);
    sort_entries(plan.annotations, &AnnotationChange::pod);
    sort_entries(plan.queues, &QueueReport::name);
    sort_entries(plan.unplaced,
                 [](const Unplaced& item) -> const std::string& { return item.pod.empty() ? item.owner : item.pod; });
    sort_entries(plan.certificates, [](const Certificate& item) { return std::tie(item.owner, item.action); });
    std::ranges::sort(plan.warnings);
}

std::vector<std::string> promised_devices(const Placement& placement) {
    std::vector<std::string> out;
    for (const PlacedClaim& claim : placement.claims) {
        if (!claim.is_new) continue;
        for (const ClaimedDevice& device : claim.results)
            out.push_back(device.driver + "/" + device.pool + "/" + device.device);
    }
    std::ranges::sort(out);
    return out;
}

std::vector<std::string> device_words(const Placement& placement) {
    std::vector<std::string> out = placement.devices;
    for (const PlacedClaim& claim : placement.claims) {
        for (const ClaimedDevice& device : claim.results) {
            std::string words = device.device + " of " + claim.claim;
            if (const std::size_t slash = device.request.find('/'); slash != std::string::npos)
                words += " (alternative " + device.request.substr(slash + 1) + ")";
            out.push_back(std::move(words));
        }
    }
    return out;
}

const char* to_text(UnitKind kind) {
    switch (kind) {
        case UnitKind::kPod:
            return "pod";
        case UnitKind::kSafe:
            return "safe";
        case UnitKind::kWhole:
            return "whole";
        case UnitKind::kReplica:
            return "replica";
    }
    REPRIEVE_CHECK(false, "unit kind {}", static_cast<int>(kind));
}

const char* to_text(EvictionMode mode) {
    switch (mode) {
        case EvictionMode::kDelete:
            return "delete";
        case EvictionMode::kEvict:
            return "evict";
        case EvictionMode::kSoft:
            return "soft";
        case EvictionMode::kScaleDown:
            return "scaleDown";
        case EvictionMode::kForceDelete:
            return "forceDelete";
    }
    REPRIEVE_CHECK(false, "eviction mode {}", static_cast<int>(mode));
}

const char* to_text(CertificateStatus status) {
    switch (status) {
        case CertificateStatus::kOptimal:
            return "optimal";
        case CertificateStatus::kGap:
            return "gap";
        case CertificateStatus::kInfeasible:
            return "infeasible";
        case CertificateStatus::kHeuristic:
            return "heuristic";
        case CertificateStatus::kUnknown:
            return "unknown";
    }
    REPRIEVE_CHECK(false, "certificate status {}", static_cast<int>(status));
}

}  // namespace reprieve
