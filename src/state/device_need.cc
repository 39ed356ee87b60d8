#include "state/device_need.h"

#include <algorithm>

#include "state/cluster.h"

namespace reprieve {
namespace {

// Of one request: which alternative will be taken is not known, so each class counts with the most that one of them
// asks for. How many "all" are is a matter of the node: it counts as one.
void add_request(const DeviceRequest& request, std::vector<DemandNeed::OfClass>& out) {
    std::vector<DemandNeed::OfClass> most;
    for (const DeviceWish& wish : request.wishes) {
        if (wish.admin || !wish.cls) continue;
        const std::int64_t count = wish.mode == DeviceCount::kAll ? 1 : wish.count;
        const auto at = std::ranges::find(most, wish.cls, &DemandNeed::OfClass::cls);
        if (at == most.end())
            most.push_back({wish.cls, count});
        else
            at->count = std::max(at->count, count);
    }
    for (const DemandNeed::OfClass& mine : most) {
        const auto at = std::ranges::find(out, mine.cls, &DemandNeed::OfClass::cls);
        if (at == out.end())
            out.push_back(mine);
        else
            at->count = saturating_add(at->count, mine.count);
    }
}

}  // namespace

std::int32_t DemandNeed::place_of(StringId cls) const {
    const auto at = std::ranges::find(devices, cls, &OfClass::cls);
    return at == devices.end() ? -1 : static_cast<std::int32_t>(at - devices.begin());
}

DemandNeed need_of(const Snapshot& s, std::span<const PodId> pods, std::span<const Resources::Amount> amounts) {
    const ClaimTable& table = s.device_claims;
    DemandNeed out;
    if (table.empty() && table.class_of_resource.empty()) {
        out.amounts.assign(amounts.begin(), amounts.end());
        return out;
    }
    // What is allocated already is not asked for again, and what members share is asked for once.
    std::vector<DeviceClaimId> claims;
    for (PodId pod : pods) {
        for (DeviceClaimId id : table.of(pod).wants) {
            const ClaimRow& row = table.row(id);
            if (!row.extended && row.spec != nullptr && !row.given && s.later.claim_book().users(id) == 0)
                claims.push_back(id);
        }
    }
    std::ranges::sort(claims, [&](DeviceClaimId a, DeviceClaimId b) {
        const ClaimRow& x = table.row(a);
        const ClaimRow& y = table.row(b);
        if (x.ns != y.ns) return s.words->text(x.ns) < s.words->text(y.ns);
        return x.name != y.name ? x.name < y.name : a < b;
    });
    const auto repeated = std::ranges::unique(claims);
    claims.erase(repeated.begin(), repeated.end());
    for (DeviceClaimId id : claims) {
        for (const DeviceRequest& request : table.row(id).spec->requests)
            add_request(request, out.devices);
    }
    for (const Resources::Amount& amount : amounts) {
        const auto cls = table.class_of_resource.find(amount.dim);
        if (cls == table.class_of_resource.end() || amount.value <= 0) {
            out.amounts.push_back(amount);
            continue;
        }
        std::int32_t place = out.place_of(cls->second->name);
        if (place < 0) {
            place = static_cast<std::int32_t>(out.devices.size());
            out.devices.push_back({cls->second->name, 0});
        }
        std::int64_t& count = out.devices[static_cast<std::size_t>(place)].count;
        count = saturating_add(count, amount.value);
    }
    for (const auto& [resource, cls] : table.class_of_resource) {
        if (const std::int32_t place = out.place_of(cls->name); place >= 0)
            out.backed.push_back({resource, static_cast<std::uint32_t>(place)});
    }
    return out;
}

StringId class_of_request(const ClaimSpec& spec, StringId label, const Vocabulary& words) {
    const std::string_view text = words.text(label);
    const std::size_t slash = text.find('/');
    for (const DeviceRequest& request : spec.requests) {
        if (request.name == label && !request.wishes.empty()) return request.wishes.front().cls;
        if (slash == std::string_view::npos || words.text(request.name) != text.substr(0, slash)) continue;
        for (const DeviceWish& wish : request.wishes) {
            if (words.text(wish.name) == text.substr(slash + 1)) return wish.cls;
        }
    }
    return {};
}

std::int64_t devices_of_class(const Snapshot& s, DeviceClaimId claim, StringId cls) {
    const ClaimRow& row = s.device_claims.row(claim);
    if (!row.given || row.spec == nullptr) return 0;
    return std::ranges::count_if(row.given->devices, [&](const GivenDevice& given) {
        return !given.admin && class_of_request(*row.spec, given.request, *s.words) == cls;
    });
}

bool claims_serve(const Snapshot& s, PodId pod) {
    const auto for_it = [&](DeviceClaimId id) {
        const ClaimRow& row = s.device_claims.row(id);
        const StringId own = s.facts->pod(pod).more().extended_claim;
        return row.extended || (own && s.words->text(own) == row.name);
    };
    return std::ranges::any_of(s.device_claims.of(pod).holds, for_it);
}

std::int64_t amount_of(const Snapshot& s, PodId pod, const WorkResource& work) {
    const Resources& requests = s.spec_of(pod).requests;
    const auto& behind = s.device_claims.class_of_resource;
    std::int64_t sum = work.dim && !(work.cls && behind.contains(work.dim)) ? requests.get(work.dim) : 0;
    if (!work.cls || claims_serve(s, pod)) return sum;
    for (const auto& [resource, cls] : behind) {
        if (cls->name == work.cls) sum = saturating_add(sum, requests.get(resource));
    }
    return sum;
}

WorkResource work_resource(const Snapshot& s, std::string_view name) {
    if (name.empty()) return {};
    WorkResource out = work_resource(s, s.words->find_dimension(name));
    if (const StringId cls = s.words->find_string(name); cls && s.device_claims.classes.contains(cls)) out.cls = cls;
    return out;
}

WorkResource work_resource(const Snapshot& s, Dim resource) {
    if (!resource) return {};
    const auto cls = s.device_claims.class_of_resource.find(resource);
    return {.dim = resource, .cls = cls == s.device_claims.class_of_resource.end() ? StringId() : cls->second->name};
}

}  // namespace reprieve
