#include "quota_world.h"

#include <algorithm>

namespace reprieve::property {
namespace {

const std::vector<std::string> kResources{"cpu", "memory"};
constexpr const char* kPrefix = "quota.scheduling.koordinator.sh/";

std::int64_t get(const Amounts& amounts, const std::string& resource, std::int64_t otherwise = 0) {
    const auto at = amounts.find(resource);
    return at == amounts.end() ? otherwise : at->second;
}

Json quantities(const Amounts& amounts) {
    Json out = Json::object();
    for (const auto& [resource, value] : amounts)
        out[resource] = resource == "cpu" ? std::to_string(value) + "m" : std::to_string(value);
    return out;
}

Amounts random_amounts(int most) {
    Amounts out{{"cpu", draw(0, most) * 1000}};
    if (!rarely(3)) out["memory"] = draw(0, most) * 100;
    return out;
}

QuotaShape random_quota(const std::string& name, const std::string& parent) {
    QuotaShape q{.name = name,
                 .parent = parent,
                 .low = random_amounts(6),
                 .high = {},
                 .weight = {},
                 .lends = !rarely(4),
                 .scales = !rarely(4)};
    for (const auto& [resource, low] : q.low) {
        if (!rarely(6)) q.high[resource] = low + draw(0, 8) * (resource == "cpu" ? 1000 : 100);
    }
    if (rarely(3)) q.weight = random_amounts(3);
    return q;
}

QuotaPod random_quota_pod(const std::string& name, const QuotaWorld& world) {
    QuotaPod pod{.name = name, .quota = "", .node = "", .gang = "", .priority = draw(0, 4), .requests = {}};
    if (!rarely(8))
        pod.quota = world.quotas[static_cast<std::size_t>(draw(0, static_cast<int>(world.quotas.size()) - 1))].name;
    pod.fixed = rarely(3);
    pod.requests["cpu"] = draw(1, 3) * 1000;
    if (rarely(2)) pod.requests["memory"] = draw(1, 3) * 100;
    return pod;
}

// Running pods go where there is room; whoever finds none waits.
void seat(QuotaPod& pod, std::vector<Amounts>& free) {
    for (std::size_t n = 0; n < free.size(); ++n) {
        const bool fits = std::ranges::all_of(
            pod.requests, [&](const auto& item) { return get(free[n], item.first) >= item.second; });
        if (!fits) continue;
        for (const auto& [resource, value] : pod.requests)
            free[n][resource] -= value;
        pod.node = "n" + std::to_string(n);
        return;
    }
}

Json pod_document(const QuotaPod& pod) {
    Json labels = Json::object();
    if (!pod.quota.empty()) labels[std::string(kPrefix) + "name"] = pod.quota;
    if (pod.fixed) labels[std::string(kPrefix) + "preemptible"] = "false";
    Json notes = Json::object();
    if (!pod.gang.empty()) {
        notes["gang.scheduling.koordinator.sh/name"] = pod.gang;
        notes["gang.scheduling.koordinator.sh/min-available"] = std::to_string(pod.gang_size);
    }
    Json spec = {
        {"priority", pod.priority},
        {"containers", Json::array({{{"name", "c"}, {"resources", {{"requests", quantities(pod.requests)}}}}})}};
    if (!pod.node.empty()) spec["nodeName"] = pod.node;
    return {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", pod.name}, {"namespace", "default"}, {"uid", pod.name}, {"labels", labels}, {"annotations", notes}}},
        {"spec", spec},
        {"status", {{"phase", pod.node.empty() ? "Pending" : "Running"}}}};
}

Json quota_document(const QuotaShape& q) {
    const std::string prefix = kPrefix;
    Json labels = {{prefix + "allow-lent-resource", q.lends ? "true" : "false"},
                   {prefix + "min-quota-scale", q.scales ? "true" : "false"}};
    if (!q.parent.empty()) labels[prefix + "parent"] = q.parent;
    Json notes = Json::object();
    if (!q.weight.empty()) notes[prefix + "shared-weight"] = quantities(q.weight).dump();
    return {{"apiVersion", "scheduling.sigs.k8s.io/v1alpha1"},
            {"kind", "ElasticQuota"},
            {"metadata", {{"name", q.name}, {"namespace", "quotas"}, {"labels", labels}, {"annotations", notes}}},
            {"spec", {{"min", quantities(q.low)}, {"max", quantities(q.high)}}}};
}

// -- the oracle

struct Level {
    const QuotaWorld& world;
    std::map<std::string, QuotaNumbers>& out;

    [[nodiscard]] std::vector<std::string> children(const std::string& parent) const {
        std::vector<std::string> names;
        for (const QuotaShape& q : world.quotas) {
            if (q.parent == parent) names.push_back(q.name);
        }
        std::ranges::sort(names);
        return names;
    }

    // What the quota asks its parent for.
    std::int64_t ask(const std::string& name, const std::string& resource) {
        const QuotaShape& q = world.quota(name);
        std::int64_t asked = 0;
        for (const QuotaPod& pod : world.pods)
            asked += pod.quota == name ? get(pod.requests, resource) : 0;
        for (const std::string& child : children(name))
            asked += ask(child, resource);
        if (!q.lends) asked = std::max(asked, get(q.low, resource));
        out[name].request[resource] = asked;
        return std::min(asked, get(q.high, resource, asked));
    }

    [[nodiscard]] std::int64_t limited(const std::string& name, const std::string& resource) const {
        const std::int64_t asked = out.at(name).request.at(resource);
        return std::min(asked, get(world.quota(name).high, resource, asked));
    }

    [[nodiscard]] std::int64_t weight(const std::string& name, const std::string& resource) const {
        const QuotaShape& q = world.quota(name);
        const bool written = std::ranges::any_of(q.weight, [](const auto& item) { return item.second > 0; });
        return get(written ? q.weight : q.high, resource);
    }

    void scale(const std::vector<std::string>& names, const std::string& resource, std::int64_t total) {
        std::int64_t kept = 0;
        std::int64_t scaled = 0;
        for (const std::string& n : names)
            (world.quota(n).scales ? scaled : kept) += get(world.quota(n).low, resource);
        for (const std::string& n : names) {
            const std::int64_t low = get(world.quota(n).low, resource);
            const bool shrinks = kept + scaled > total && world.quota(n).scales && scaled > 0;
            out[n].least[resource] = shrinks ? std::max<std::int64_t>(0, total - kept) * low / scaled : low;
        }
    }

    void share(const std::string& parent, const std::string& resource, std::int64_t total) {
        const std::vector<std::string> names = children(parent);
        scale(names, resource, total);
        std::vector<std::string> borrowers;
        std::int64_t left = total;
        for (const std::string& n : names) {
            const std::int64_t least = out[n].least[resource];
            const bool borrows = limited(n, resource) > least;
            out[n].runtime[resource] = borrows || !world.quota(n).lends ? least : limited(n, resource);
            left -= out[n].runtime[resource];
            if (borrows && weight(n, resource) > 0) borrowers.push_back(n);
        }
        while (left > 0 && !borrowers.empty())
            left = hand_out(borrowers, resource, left);
        for (const std::string& n : names)
            share(n, resource, out[n].runtime[resource]);
    }

    // One round; returns what came back from those who got more than they asked for.
    std::int64_t hand_out(std::vector<std::string>& borrowers, const std::string& resource, std::int64_t left) {
        std::int64_t weights = 0;
        for (const std::string& n : borrowers)
            weights += weight(n, resource);
        std::vector<std::pair<std::int64_t, std::string>> remainders;
        std::int64_t spare = left;
        for (const std::string& n : borrowers) {
            const std::int64_t product = weight(n, resource) * left;
            out[n].runtime[resource] += product / weights;
            spare -= product / weights;
            remainders.emplace_back(-(product % weights), n);
        }
        std::ranges::sort(remainders);
        for (std::int64_t i = 0; i < spare; ++i)
            ++out[remainders[static_cast<std::size_t>(i)].second].runtime[resource];
        std::int64_t back = 0;
        std::erase_if(borrowers, [&](const std::string& n) {
            std::int64_t& got = out[n].runtime[resource];
            if (got < limited(n, resource)) return false;
            back += got - limited(n, resource);
            got = limited(n, resource);
            return true;
        });
        return back;
    }
};

}  // namespace

const QuotaShape& QuotaWorld::quota(const std::string& name) const {
    return *std::ranges::find(quotas, name, &QuotaShape::name);
}

const QuotaPod& QuotaWorld::pod(const std::string& name) const {
    return *std::ranges::find(pods, name.substr(name.find('/') + 1), &QuotaPod::name);
}

std::vector<std::string> QuotaWorld::path(const std::string& name) const {
    std::vector<std::string> out;
    for (std::string at = name; !at.empty(); at = quota(at).parent)
        out.push_back(at);
    return out;
}

std::vector<Json> QuotaWorld::documents() const {
    std::vector<Json> out;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        Json room = quantities(nodes[n]);
        room["pods"] = "110";
        out.push_back({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", "n" + std::to_string(n)}}},
                       {"status", {{"allocatable", room}}}});
    }
    for (const QuotaShape& q : quotas)
        out.push_back(quota_document(q));
    for (const QuotaPod& p : pods)
        out.push_back(pod_document(p));
    return out;
}

QuotaWorld random_quota_world() {
    QuotaWorld world;
    std::vector<Amounts> free;
    for (int n = draw(1, 3); n > 0; --n)
        world.nodes.push_back({{"cpu", draw(3, 9) * 1000}, {"memory", draw(3, 9) * 100}});
    free = world.nodes;
    for (int top = draw(1, 3); top > 0; --top) {
        const std::string t = "t" + std::to_string(top);
        world.quotas.push_back(random_quota(t, ""));
        for (int middle = draw(0, 2); middle > 0; --middle) {
            const std::string m = t + "m" + std::to_string(middle);
            world.quotas.push_back(random_quota(m, t));
            for (int leaf = draw(0, 2); leaf > 0; --leaf)
                world.quotas.push_back(random_quota(m + "l" + std::to_string(leaf), m));
        }
    }
    for (int i = draw(0, 12); i > 0; --i) {
        QuotaPod pod = random_quota_pod("r" + std::to_string(i), world);
        seat(pod, free);
        if (!pod.node.empty()) world.pods.push_back(std::move(pod));
    }
    for (int i = draw(1, 4); i > 0; --i) {
        QuotaPod pod = random_quota_pod("p" + std::to_string(i), world);
        const int members = rarely(2) ? draw(2, 3) : 1;
        if (members > 1) {
            pod.gang = "g" + std::to_string(i);
            pod.gang_size = members;
        }
        for (int m = 0; m < members; ++m) {
            world.pods.push_back(pod);
            if (members > 1) world.pods.back().name += "-" + std::to_string(m);
        }
    }
    return world;
}

std::map<std::string, QuotaNumbers> expected_numbers(const QuotaWorld& world) {
    std::map<std::string, QuotaNumbers> out;
    Level level{world, out};
    for (const std::string& resource : kResources) {
        std::int64_t total = 0;
        for (const Amounts& node : world.nodes)
            total += get(node, resource);
        for (const QuotaPod& pod : world.pods)
            total -= pod.quota.empty() && !pod.node.empty() ? get(pod.requests, resource) : 0;
        for (const std::string& top : level.children(""))
            level.ask(top, resource);
        level.share("", resource, total);
    }
    return out;
}

}  // namespace reprieve::property
