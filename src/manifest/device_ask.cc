// What a pod asks of the devices of its node, in the spellings of several device plugins.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "manifest/device_units.h"
#include "manifest/key.h"
#include "manifest/pod_draft.h"

namespace reprieve {
namespace {

// The amounts as written; 0: not asked for.
struct Amounts {
    Dim whole_dim;
    std::int64_t whole = 0;
    std::int64_t memory = 0;  // reprieve.dev
    std::int64_t milli = 0;
    std::int64_t vgpu_number = 0;  // volcano.sh
    std::int64_t vgpu_memory_mebi = 0;
    std::int64_t vgpu_memory_percent = 0;
    std::int64_t vgpu_cores_percent = 0;
    Dim card_dim;  // volcano.sh, the older way
    std::int64_t cards = 0;
    std::int64_t card_memory_mebi = 0;
    std::int64_t hami_memory_mebi = 0;  // HAMi, beside a number of nvidia.com/gpu
    std::int64_t hami_memory_percent = 0;
    std::int64_t hami_cores_percent = 0;
    std::int64_t core_percent = 0;  // koordinator.sh
    std::int64_t ratio_percent = 0;
    std::int64_t koordinator_memory = 0;
    std::int64_t shared = 0;

    [[nodiscard]] bool own_share() const { return memory > 0 || milli > 0; }
    [[nodiscard]] bool volcano_share() const {
        return vgpu_number > 0 || vgpu_memory_mebi > 0 || vgpu_memory_percent > 0 || vgpu_cores_percent > 0;
    }
    [[nodiscard]] bool card_share() const { return cards > 0 || card_memory_mebi > 0; }
    [[nodiscard]] bool hami_share() const {
        return hami_memory_mebi > 0 || hami_memory_percent > 0 || hami_cores_percent > 0;
    }
    [[nodiscard]] bool koordinator_share() const {
        return core_percent > 0 || ratio_percent > 0 || koordinator_memory > 0;
    }
};

// False: not a share of devices.
bool take_share(std::string_view name, std::int64_t amount, Amounts& out) {
    switch (key_id(name)) {
        case "reprieve.dev/gpu-memory"_key:
            out.memory = amount;
            return true;
        case "reprieve.dev/gpu-milli"_key:
            out.milli = amount;
            return true;
        case "volcano.sh/vgpu-number"_key:
            out.vgpu_number = amount;
            return true;
        case "volcano.sh/vgpu-memory"_key:
            out.vgpu_memory_mebi = amount;
            return true;
        case "volcano.sh/vgpu-memory-percentage"_key:
            out.vgpu_memory_percent = amount;
            return true;
        case "volcano.sh/vgpu-cores"_key:
            out.vgpu_cores_percent = amount;
            return true;
        case "volcano.sh/gpu-memory"_key:
            out.card_memory_mebi = amount;
            return true;
        case "nvidia.com/gpumem"_key:
            out.hami_memory_mebi = amount;
            return true;
        case "nvidia.com/gpumem-percentage"_key:
            out.hami_memory_percent = amount;
            return true;
        case "nvidia.com/gpucores"_key:
            out.hami_cores_percent = amount;
            return true;
        case "nvidia.com/priority"_key:  // among those who share a device; no amount of anything
            return true;
        case "koordinator.sh/gpu-core"_key:
            out.core_percent = amount;
            return true;
        case "koordinator.sh/gpu-memory-ratio"_key:
            out.ratio_percent = amount;
            return true;
        case "koordinator.sh/gpu-memory"_key:
            out.koordinator_memory = amount;
            return true;
        case "koordinator.sh/gpu"_key:
            out.core_percent = out.ratio_percent = amount;
            return true;
        case "koordinator.sh/gpu.shared"_key:
            out.shared = amount;
            return true;
        default:
            return false;
    }
}

Amounts take_amounts(Resources& requests, const Vocabulary& words) {
    Amounts amounts;
    std::vector<Dim> shares;
    for (const Resources::Amount& amount : requests) {
        if (amount.dim <= kEphemeralStorage) continue;
        const std::string_view name = words.text(amount.dim);
        if (take_share(name, amount.value, amounts)) {
            shares.push_back(amount.dim);
        } else if (is_device_resource(name) && amount.value > 0 && (!amounts.whole_dim || name == kUsualDevice)) {
            amounts.whole_dim = amount.dim;
            amounts.whole = amount.value;
        } else if (key_id(name) == "volcano.sh/gpu-number"_key) {
            amounts.card_dim = amount.dim;
            amounts.cards = amount.value;
        }
    }
    for (const Dim dim : shares)
        requests.erase(dim);
    return amounts;
}

std::int32_t milli_of(std::int64_t percent) {
    return static_cast<std::int32_t>(std::min(percent, kWholePercent) * kMilliPerPercent);
}

// In MiB; empty: well formed.
std::string take_memory(std::int64_t mebi, std::string_view name, DeviceAsk& out) {
    if (mebi > INT64_MAX / kMebi) return fmt::format("{} {} (in MiB) is too large", name, mebi);
    out.share_memory = mebi * kMebi;
    return {};
}

// Percentages of 200 and more are that many whole devices; gpu.shared divides the amounts over as many devices.
std::string ask_koordinator(const Amounts& amounts, DeviceAsk& out) {
    const std::int64_t largest = std::max(amounts.core_percent, amounts.ratio_percent);
    std::int64_t devices = 1;
    if (amounts.shared > 0) {
        devices = amounts.shared;
    } else if (largest > kWholePercent) {
        devices = largest / kWholePercent;
        for (const std::int64_t percent : {amounts.core_percent, amounts.ratio_percent}) {
            if (percent == 0 || percent == devices * kWholePercent) continue;
            return fmt::format("koordinator.sh/gpu-core {} and gpu-memory-ratio {} are no number of whole devices",
                               amounts.core_percent,
                               amounts.ratio_percent);
        }
    }
    if (devices > kMostDevices) return fmt::format("ask for {} devices", devices);
    out.shares = static_cast<std::int32_t>(devices);
    out.share_milli = std::min(amounts.core_percent / devices, kWholePercent) * kMilliPerPercent;
    out.share_memory_milli = milli_of(amounts.ratio_percent / devices);
    out.share_memory = amounts.koordinator_memory / devices;
    return {};
}

std::string ask_volcano(const Amounts& amounts, DeviceAsk& out) {
    if (amounts.vgpu_number > kMostDevices) return fmt::format("ask for {} devices", amounts.vgpu_number);
    out.dialect = DeviceDialect::kVgpu;
    out.shares = static_cast<std::int32_t>(std::max<std::int64_t>(amounts.vgpu_number, 1));
    out.share_milli = milli_of(amounts.vgpu_cores_percent);
    // Per cent go before MiB, as there. A number alone asks for all the memory of each.
    out.share_memory_milli = milli_of(amounts.vgpu_memory_percent);
    if (out.share_memory_milli > 0) return {};
    if (amounts.vgpu_memory_mebi == 0) out.share_memory_milli = milli_of(kWholePercent);
    return take_memory(amounts.vgpu_memory_mebi, "volcano.sh/vgpu-memory", out);
}

// Cards by number are whole ones; memory is a share of one card.
std::string ask_cards(const Amounts& amounts, DeviceAsk& out) {
    out.dialect = DeviceDialect::kGpuShare;
    if (amounts.cards > kMostDevices) return fmt::format("ask for {} devices", amounts.cards);
    if (amounts.cards > 0 && amounts.card_memory_mebi > 0)
        return "ask for devices in two ways: volcano.sh/gpu-number and volcano.sh/gpu-memory exclude each other";
    if (amounts.cards > 0) {
        out.whole_dim = amounts.card_dim;
        out.whole = static_cast<std::int32_t>(amounts.cards);
        return {};
    }
    out.shares = 1;
    return take_memory(amounts.card_memory_mebi, "volcano.sh/gpu-memory", out);
}

// The number stays a request: the kubelet counts shares by it. MiB go before per cent, and all of the memory without a
// word on compute is all of the compute too, as HAMi's admission fills it in.
std::string ask_hami(const Amounts& amounts, DeviceAsk& out) {
    if (amounts.whole > kMostDevices) return fmt::format("ask for {} devices", amounts.whole);
    out.dialect = DeviceDialect::kHami;
    out.shares = static_cast<std::int32_t>(std::max<std::int64_t>(amounts.whole, 1));
    out.share_milli = milli_of(amounts.hami_cores_percent);
    if (amounts.hami_memory_mebi > 0) return take_memory(amounts.hami_memory_mebi, "nvidia.com/gpumem", out);
    const std::int64_t percent = amounts.hami_memory_percent;
    out.share_memory_milli = milli_of(percent == 0 ? kWholePercent : percent);
    if (amounts.hami_cores_percent == 0 && percent >= kWholePercent) out.share_milli = milli_of(kWholePercent);
    return {};
}

}  // namespace

bool is_device_resource(std::string_view name) { return name.ends_with("/gpu") && name != "koordinator.sh/gpu"; }

std::string take_device_ask(const Vocabulary& words, Resources& requests, DeviceAsk& out) {
    if (requests.empty() || std::prev(requests.end())->dim <= kEphemeralStorage) return {};
    const Amounts amounts = take_amounts(requests, words);
    const bool with_number = amounts.whole > 0 && words.text(amounts.whole_dim) == kUsualDevice;
    const bool spellings[] = {amounts.whole > 0 && !(amounts.hami_share() && with_number),
                              amounts.own_share(),
                              amounts.volcano_share(),
                              amounts.card_share(),
                              amounts.hami_share(),
                              amounts.koordinator_share(),
                              out.any()};  // by annotations
    if (std::count(std::begin(spellings), std::end(spellings), true) > 1) {
        return "ask for devices in two ways: whole ones and shares exclude each other";
    }
    if (amounts.volcano_share()) return ask_volcano(amounts, out);
    if (amounts.card_share()) return ask_cards(amounts, out);
    if (amounts.hami_share()) return ask_hami(amounts, out);
    if (amounts.koordinator_share()) return ask_koordinator(amounts, out);
    if (amounts.own_share()) {
        out.shares = 1;
        out.share_memory = amounts.memory;
        out.share_milli = amounts.milli;
    } else if (amounts.whole > kMostDevices) {
        return fmt::format("ask for {} devices", amounts.whole);
    } else if (amounts.whole > 0) {
        out.whole_dim = amounts.whole_dim;
        out.whole = static_cast<std::int32_t>(amounts.whole);
    }
    return {};
}

}  // namespace reprieve
