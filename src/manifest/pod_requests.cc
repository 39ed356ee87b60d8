// What a pod asks for in all: containers and sidecars together or the peak of its start, plus overhead.
#include <algorithm>

#include "manifest/key.h"
#include "manifest/pod_draft.h"

namespace reprieve {
namespace {

// What scores assume of a container that says nothing.
constexpr std::int64_t kAssumedCpuMilli = 100;
constexpr std::int64_t kAssumedMemory = std::int64_t{200} * 1024 * 1024;

// A container with what it asks for after defaults and resizes.
struct Asking {
    Resources requests;
    bool init = false;
    bool restartable = false;
};

const ContainerStatusDraft* status_of(const PodDraft& draft, std::string_view name) {
    for (const ContainerStatusDraft& status : draft.statuses) {
        if (status.name == name && (!status.allocated.empty() || !status.actual.empty())) return &status;
    }
    return nullptr;
}

// As the API server does: a limit stands for a request that is missing.
Resources written_requests(const ContainerDraft& container) {
    Resources requests = container.requests;
    for (const Resources::Amount& limit : container.limits) {
        if (!requests.lists(limit.dim)) requests.set(limit.dim, limit.value);
    }
    return requests;
}

// While a resize is on its way a container counts with the larger of what it has and what it wants; `has_only`: a
// resize that cannot be granted counts for nothing.
std::vector<Asking> askings(const PodDraft& draft, bool has_only) {
    std::vector<Asking> all;
    all.reserve(draft.containers.size());
    for (const ContainerDraft& container : draft.containers) {
        Asking& asking = all.emplace_back(Asking{{}, container.init, container.restartable});
        const ContainerStatusDraft* status = draft.statuses.empty() ? nullptr : status_of(draft, container.name);
        if (status == nullptr || !has_only) asking.requests = written_requests(container);
        if (status == nullptr) continue;
        asking.requests.raise_to(status->allocated);
        asking.requests.raise_to(status->actual);
    }
    return all;
}

// Amounts of these are meant for each device, so containers do not add up.
bool is_per_device(const Vocabulary& words, Dim dim) {
    if (dim <= kEphemeralStorage) return false;
    switch (key_id(words.text(dim))) {
        case "volcano.sh/vgpu-memory"_key:
        case "volcano.sh/vgpu-memory-percentage"_key:
        case "volcano.sh/vgpu-cores"_key:
        case "nvidia.com/gpumem"_key:
        case "nvidia.com/gpumem-percentage"_key:
        case "nvidia.com/gpucores"_key:
            return true;
        default:
            return false;
    }
}

// Ordinary containers and sidecars run together; an init container runs beside the sidecars that come before it.
std::int64_t sum_of(const std::vector<Asking>& all, Dim dim, std::int64_t assumed) {
    std::int64_t together = 0;
    std::int64_t sidecars = 0;
    std::int64_t peak = 0;
    for (const Asking& one : all) {
        const std::int64_t* listed = one.requests.find(dim);
        const std::int64_t amount = listed != nullptr ? *listed : assumed;
        if (!one.init) {
            together = saturating_add(together, amount);
        } else if (one.restartable) {
            together = saturating_add(together, amount);
            sidecars = saturating_add(sidecars, amount);
            peak = std::max(peak, sidecars);
        } else {
            peak = std::max(peak, saturating_add(sidecars, amount));
        }
    }
    return std::max(together, peak);
}

std::int64_t largest_of(const std::vector<Asking>& all, Dim dim) {
    std::int64_t largest = 0;
    for (const Asking& one : all)
        largest = std::max(largest, one.requests.get(dim));
    return largest;
}

bool can_stand_on_pod(const Vocabulary& words, Dim dim) {
    return dim == kCpu || dim == kMemory || words.text(dim).starts_with("hugepages-");
}

// Resources written for the whole pod replace the sums; a limit does so only where no container asks.
void apply_pod_level(const PodDraft& draft, const Vocabulary& words, Resources& requests) {
    if (draft.pod_requests) {
        for (const Resources::Amount& amount : *draft.pod_requests) {
            if (can_stand_on_pod(words, amount.dim)) requests.set(amount.dim, amount.value);
        }
    }
    if (!draft.pod_limits) return;
    for (const Resources::Amount& amount : *draft.pod_limits) {
        if (can_stand_on_pod(words, amount.dim) && !requests.lists(amount.dim)) requests.set(amount.dim, amount.value);
    }
}

Resources sum_all(const PodDraft& draft, const std::vector<Asking>& all, const Vocabulary& words) {
    Resources requests;
    for (const Asking& one : all) {
        for (const Resources::Amount& amount : one.requests) {
            if (requests.lists(amount.dim)) continue;
            requests.set(amount.dim,
                         is_per_device(words, amount.dim) ? largest_of(all, amount.dim) : sum_of(all, amount.dim, 0));
        }
    }
    apply_pod_level(draft, words, requests);
    requests.add(draft.overhead);
    return requests;
}

std::int64_t score_of(const PodDraft& draft, const std::vector<Asking>& all, Dim dim, std::int64_t assumed) {
    const std::int64_t* of_pod = draft.pod_requests ? draft.pod_requests->find(dim) : nullptr;
    const std::int64_t amount = of_pod != nullptr ? *of_pod : sum_of(all, dim, assumed);
    return saturating_add(amount, draft.overhead.get(dim));
}

}  // namespace

PodRequests sum_requests(const PodDraft& draft, Resize resize, const Vocabulary& words) {
    const std::vector<Asking> all = askings(draft, resize == Resize::kInfeasible);
    PodRequests sums;
    sums.requests = sum_all(draft, all, words);
    sums.score_cpu = score_of(draft, all, kCpu, kAssumedCpuMilli);
    sums.score_memory = score_of(draft, all, kMemory, kAssumedMemory);
    if (resize == Resize::kDeferred) {
        sums.held = sum_all(draft, askings(draft, true), words);
        sums.held->drop_zeros();
        sums.held->set(kPods, 1);
    }
    return sums;
}

}  // namespace reprieve
