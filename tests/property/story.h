// Story: a world whose plans are followed cycle after cycle. Every plan must satisfy the audit.
#pragma once

#include <vector>

#include "laboratory.h"
#include "planning.h"
#include "world.h"

namespace reprieve::property {

class Story {
public:
    Story(std::vector<Json> world, Json config);

    // Plans, checks the plan and follows it.
    Json cycle();
    bool let_victims_go() { return world_.let_victims_go(); }
    void return_victims();
    [[nodiscard]] const std::vector<Json>& documents() const { return world_.documents(); }

private:
    Json config_;
    scenario::Setup setup_;
    scenario::World world_;
};

// Whether the plan binds somebody now.
[[nodiscard]] bool binds(const Json& plan);

}  // namespace reprieve::property
