#include "engine.h"

#include "actions/cycle.h"
#include "audit/audit.h"
#include "base/check.h"
#include "manifest/config.h"
#include "manifest/decode.h"
#include "manifest/plan_json.h"
#include "state/cluster.h"

namespace reprieve::worlds {
namespace {

constexpr Time kNow{std::int64_t{1767268800} * 1'000'000};  // 2026-01-01T12:00:00Z

std::vector<std::pair<std::string, std::int64_t>> read_vector(const Json& owner, const char* key) {
    std::vector<std::pair<std::string, std::int64_t>> out;
    if (!owner.contains(key)) return out;
    for (const Json& term : owner[key])
        out.emplace_back(term[0], term[1]);
    return out;
}

Decision read(const std::string& text) {
    const Json plan = Json::parse(text);
    Decision out{.text = text};
    for (const Json& p : plan["placements"]) {
        PlannedPlace place{.node = p["node"], .later = p["when"] == "afterEvictions"};
        if (p.contains("devices")) place.devices = p["devices"].get<std::vector<std::string>>();
        out.places.emplace(p["pod"], std::move(place));
    }
    for (const Json& e : plan["evictions"])
        out.evictions.push_back({.pod = e["pod"], .owner = e["for"]});
    for (const Json& c : plan["certificates"]) {
        out.claims.push_back({.owner = c["for"],
                              .action = c["action"],
                              .status = c["status"],
                              .cost = read_vector(c, "cost"),
                              .bound = read_vector(c, "bound")});
    }
    return out;
}

}  // namespace

Decision decide(const std::vector<Json>& documents, const Json& config) {
    const auto settings = parse_config(config.dump(), "config");
    REPRIEVE_CHECK(settings, "{}", settings.error().message);
    Cluster cluster(ClusterOptions{.scheduler_names = {}, .topology_levels = settings->topology_levels});
    Decoder decoder(cluster.words());
    for (const Json& document : documents) {
        auto object = decoder.decode(document.dump());
        REPRIEVE_CHECK(object && *object, "{}: {}", document.dump(), object ? "ignored" : object.error().text());
        cluster.apply(std::move(**object));
    }
    const auto done = cluster.refresh(kNow);
    REPRIEVE_CHECK(done, "{}", done.error().message);
    const Plan plan = run_cycle(cluster, *settings);
    Decision out = read(plan_to_json(plan));
    for (const Violation& violation : audit(cluster, plan, *settings))
        out.violations.push_back(format_violation(violation));
    return out;
}

}  // namespace reprieve::worlds
