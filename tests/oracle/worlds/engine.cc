#include "engine.h"

#include <cstdlib>

#include "actions/cycle.h"
#include "audit/audit.h"
#include "base/check.h"
#include "manifest/config.h"
#include "manifest/decode.h"
#include "manifest/plan_json.h"
#include "state/cluster.h"

namespace reprieve::worlds {
namespace {

constexpr Time kClock{(kBegin + kNow) * 1'000'000};

std::vector<std::pair<std::string, std::int64_t>> read_vector(const Json& owner, const char* key) {
    std::vector<std::pair<std::string, std::int64_t>> out;
    if (!owner.contains(key)) return out;
    for (const Json& term : owner[key])
        out.emplace_back(term[0], term[1]);
    return out;
}

// "0", or "1:4Gi" for a share.
Mask read_devices(const Json& list) {
    Mask out = 0;
    for (const Json& device : list)
        out |= bit(std::atoi(device.get<std::string>().c_str()));
    return out;
}

// "gpu-0" of the pool of its node.
Mask read_claims(const Json& claims) {
    Mask out = 0;
    for (const Json& claim : claims) {
        for (const Json& result : claim["results"])
            out |= bit(std::atoi(result["device"].get<std::string>().substr(4).c_str()));
    }
    return out;
}

// Names of pods are unique in a world, wherever they are.
std::string by_default(const std::string& name) { return "default" + name.substr(name.find('/')); }

Decision read(const std::string& text) {
    const Json plan = Json::parse(text);
    Decision out{.text = text};
    for (const Json& p : plan["placements"]) {
        PlannedPlace place{.node = p["node"], .later = p["when"] == "afterEvictions"};
        if (p.contains("devices")) place.devices = read_devices(p["devices"]);
        if (p.contains("claims")) place.devices |= read_claims(p["claims"]);
        out.places.emplace(p["pod"], std::move(place));
    }
    for (const Json& e : plan["evictions"])
        out.evictions.push_back({.pod = by_default(e["pod"]), .owner = e["for"]});
    for (const Json& c : plan["certificates"]) {
        out.claims.push_back({.owner = c["for"],
                              .action = c["action"],
                              .status = c["status"],
                              .cost = read_vector(c, "cost"),
                              .bound = read_vector(c, "bound")});
    }
    return out;
}

void take_in(Cluster& cluster, Decoder& decoder, const Batch& batch) {
    for (const Json& document : batch) {
        auto object = decoder.decode(document.dump());
        REPRIEVE_CHECK(object && *object, "{}: {}", document.dump(), object ? "ignored" : object.error().text());
        cluster.apply(std::move(**object));
    }
    const auto done = cluster.refresh(kClock);
    REPRIEVE_CHECK(done, "{}", done.error().message);
}

}  // namespace

Decision decide(const std::vector<Batch>& batches, const Json& config) {
    const auto settings = parse_config(config.dump(), "config");
    REPRIEVE_CHECK(settings, "{}", settings.error().message);
    Cluster cluster(ClusterOptions{.scheduler_names = {}, .topology_levels = settings->topology_levels});
    Decoder decoder(cluster.words());
    for (const Batch& batch : batches)
        take_in(cluster, decoder, batch);
    const Plan plan = run_cycle(cluster, *settings);
    Decision out = read(plan_to_json(plan));
    for (const Violation& violation : audit(cluster, plan, *settings))
        out.violations.push_back(format_violation(violation));
    return out;
}

}  // namespace reprieve::worlds
