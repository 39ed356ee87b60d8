// Laboratory: clusters made of manifests, for tests that look inside.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manifest/decode.h"
#include "model/config.h"
#include "random_world.h"
#include "state/cluster.h"

namespace reprieve::property {

inline constexpr Time kNow{std::int64_t{1767268800} * 1'000'000};  // 2026-01-01T12:00:00Z

class Laboratory {
public:
    Laboratory();

    // Facts as they come from a watch.
    void apply(const Json& document);
    void remove(const Json& document);
    // Forgets the words that no object names any more.
    void sweep() { cluster_.sweep(); }
    void refresh(Time now = kNow);

    [[nodiscard]] Cluster& cluster() { return cluster_; }

    // The plan of one cycle, as it is printed.
    [[nodiscard]] std::string plan(const SchedulerConfig& config);

private:
    [[nodiscard]] Object decoded(const Json& document);

    Cluster cluster_;
    Decoder decoder_;
};

// A cluster with these documents, refreshed.
[[nodiscard]] std::unique_ptr<Laboratory> build(const std::vector<Json>& documents, Time now = kNow);

[[nodiscard]] SchedulerConfig read_config(const Json& config);

// Free room of every node and use of every queue, by name: what two clusters of the same facts must agree on.
[[nodiscard]] std::string numbers(const Cluster& cluster);

// Empty where two texts are the same; else the lines in which they differ.
[[nodiscard]] std::string difference(const std::string& a, const std::string& b);

// For the report of a failing case.
[[nodiscard]] std::string as_text(const std::vector<Json>& documents);

}  // namespace reprieve::property
