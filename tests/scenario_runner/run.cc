#include "run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "checks.h"
#include "manifest/config.h"
#include "manifest/plan_json.h"
#include "planning.h"
#include "text/plan_table.h"
#include "world.h"

namespace reprieve::scenario {
namespace {

constexpr int kMostCycles = 12;  // more than any world needs to settle

class Run {
public:
    Run(const Scenario& scenario, Setup setup)
        : scenario_(scenario),
          setup_(std::move(setup)),
          world_(scenario.documents, setup_.now) {}

    std::string cycles() {
        for (std::size_t i = 0; i < scenario_.expect.cycles.size(); ++i) {
            const CycleExpect& expect = scenario_.expect.cycles[i];
            Faults faults;
            for (const Json& event : expect.events)
                world_.happen(event, faults);
            Planned planned = plan(i == 0 && expect.events.empty(), faults);
            std::ranges::copy(check_cycle(expect, planned), std::back_inserter(faults));
            if (planned.error.empty()) {
                keep(planned);
                world_.follow(Json::parse(planned.json), faults);
            }
            if (!faults.empty()) return report(i, planned, faults);
        }
        return "";
    }

    // All evictions on the way, all who are bound in the end.
    std::string settled(const Decisions& expect) {
        Json all{{"evictions", Json::array()}, {"placements", Json::array()}};
        for (int i = 0; i < kMostCycles; ++i) {
            Faults faults;
            const Planned planned = plan(i == 0, faults);
            faults.insert(faults.end(), planned.violations.begin(), planned.violations.end());
            if (!planned.error.empty()) faults.push_back(planned.error);
            if (!faults.empty()) return report(static_cast<std::size_t>(i), planned, faults);
            const Json now = Json::parse(planned.json);
            world_.follow(now, faults);
            bool moved = world_.let_victims_go();
            for (const Json& eviction : now["evictions"])
                all["evictions"].push_back(eviction);
            for (const Json& placement : now["placements"]) {
                if (placement["when"] != "now") continue;
                all["placements"].push_back(placement);
                moved = true;
            }
            if (!moved) {
                faults = check_decisions(expect, all);
                return faults.empty() ? "" : report(static_cast<std::size_t>(i), planned, faults);
            }
        }
        return fmt::format("{}\n  still deciding after {} cycles", scenario_.sentence, kMostCycles);
    }

    [[nodiscard]] const std::string& plans() const { return plans_; }

private:
    // The plan, and whether the order of the documents changes it. The first one is made of the file as it stands.
    Planned plan(bool from_text, Faults& faults) {
        setup_.now = world_.now();
        Planned planned = from_text && !scenario_.repeats ? plan_text(scenario_.name, scenario_.text, setup_)
                                                          : plan_documents(world_.documents(), setup_);
        std::vector<Json> shuffled(world_.documents().rbegin(), world_.documents().rend());
        for (int round = 0; round < 2; ++round) {
            const Planned again = plan_documents(shuffled, setup_);
            if (again.json != planned.json)
                faults.push_back(fmt::format("the order of the documents changes the plan:\n{}", again.json));
            if (again.error.empty() != planned.error.empty())
                faults.push_back(
                    fmt::format("the order of the documents decides whether they are refused: {}", again.error));
            std::ranges::shuffle(shuffled, dice_);
        }
        return planned;
    }

    void keep(Planned& planned) {
        // The id is a digest of version and input: it would only make every golden file change with every release.
        Plan plan = planned.plan;
        plan.id.clear();
        plans_ += plan_to_json(plan);
    }

    std::string report(std::size_t cycle, const Planned& planned, const Faults& faults) {
        std::string out = fmt::format("{}\n", scenario_.sentence);
        if (scenario_.expect.cycles.size() > 1 || scenario_.expect.settled) out += fmt::format("cycle {}:\n", cycle);
        out += fmt::format("  {}\n", fmt::join(faults, "\n  "));
        if (planned.error.empty()) out += fmt::format("\n{}", plan_to_table(planned.plan, {}));
        return out;
    }

    const Scenario& scenario_;
    Setup setup_;
    World world_;
    std::mt19937 dice_{20260101};
    std::string plans_;
};

Result<Setup> setup_of(const Expect& expect) {
    Json config = expect.config;
    config["apiVersion"] = "reprieve.dev/v1";
    config["kind"] = "SchedulerConfig";
    Setup out;
    out.config_text = config.dump();
    out.only = expect.only;
    const auto parsed = parse_config(out.config_text, "config");
    if (!parsed) return std::unexpected(parsed.error());
    out.config = *parsed;
    const auto now = parse_time(expect.now);
    if (!now) return std::unexpected(now.error());
    out.now = *now;
    return out;
}

std::string compare_golden(const std::string& plans, const std::filesystem::path& golden, bool update) {
    if (update) {
        std::ofstream(golden, std::ios::binary) << plans;
        return "";
    }
    const auto kept = read_text(golden);
    if (kept && *kept == plans) return "";
    return fmt::format(
        "the plan is not the one kept in {} (`make golden` rewrites it):\n{}", golden.filename().string(), plans);
}

}  // namespace

std::string run_scenario(const Scenario& scenario, const std::filesystem::path& golden, bool update) {
    const auto setup = setup_of(scenario.expect);
    if (!setup) return fmt::format("{}\n  {}", scenario.sentence, setup.error().message);
    Run run(scenario, *setup);
    if (std::string wrong = run.cycles(); !wrong.empty()) return wrong;
    if (scenario.expect.golden) {
        if (std::string wrong = compare_golden(run.plans(), golden, update); !wrong.empty())
            return fmt::format("{}\n  {}", scenario.sentence, wrong);
    }
    if (!scenario.expect.settled) return "";
    return Run(scenario, *setup).settled(*scenario.expect.settled);
}

}  // namespace reprieve::scenario
