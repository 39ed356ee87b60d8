#include "trial.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace reprieve::worlds {
namespace {

// The world once the victims are gone and whoever was placed runs.
World next_world(const World& world, const Decision& decision) {
    World out = world;
    for (WorldPod& pod : out.pods) {
        const auto at = decision.places.find("default/" + pod.name);
        if (at == decision.places.end()) continue;
        pod.node =
            static_cast<int>(std::ranges::find(out.nodes, at->second.node, &WorldNode::name) - out.nodes.begin());
    }
    std::erase_if(out.pods, [&](const WorldPod& pod) {
        return std::ranges::find(decision.evictions, "default/" + pod.name, &PlannedEviction::pod) !=
               decision.evictions.end();
    });
    return out;
}

Judgement judge_here(const World& world) {
    const Decision decision = decide(documents(world), config(world));
    Judgement out = judge(world, decision);
    const World after = next_world(world, decision);
    for (const std::string& violation : decide(documents(after), config(after)).violations)
        out.complaints.push_back({.fault = Fault::kAudit, .demand = "", .what = "of the next plan: " + violation});
    return out;
}

Json to_json(const Judgement& judgement) {
    Json out{{"fates", Json::array()}, {"complaints", Json::array()}};
    for (const Fate& f : judgement.fates)
        out["fates"].push_back({f.is_gang, f.feasible, f.needs_victims, f.served, f.proven});
    for (const Complaint& c : judgement.complaints)
        out["complaints"].push_back({static_cast<int>(c.fault), c.demand, c.what});
    return out;
}

Judgement from_json(const Json& json) {
    Judgement out;
    for (const Json& f : json["fates"]) {
        out.fates.push_back({.is_gang = f[0], .feasible = f[1], .needs_victims = f[2], .served = f[3], .proven = f[4]});
    }
    for (const Json& c : json["complaints"])
        out.complaints.push_back({.fault = static_cast<Fault>(c[0].get<int>()), .demand = c[1], .what = c[2]});
    return out;
}

std::string read_all(std::FILE* file) {
    std::rewind(file);
    std::string out;
    std::array<char, 4096> chunk{};
    while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), file))
        out.append(chunk.data(), n);
    return out;
}

}  // namespace

Judgement try_world(const World& world) {
    std::FILE* answer = std::tmpfile();
    std::FILE* last_words = std::tmpfile();
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(fileno(last_words), STDERR_FILENO);
        const std::string text = to_json(judge_here(world)).dump();
        std::fwrite(text.data(), 1, text.size(), answer);
        std::fflush(answer);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Judgement out;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        out = from_json(Json::parse(read_all(answer)));
    } else {
        out.complaints.push_back({.fault = Fault::kAbort, .demand = "", .what = read_all(last_words)});
    }
    std::fclose(answer);
    std::fclose(last_words);
    return out;
}

std::optional<Complaint> find(const Judgement& judgement, Fault fault) {
    const auto at = std::ranges::find(judgement.complaints, fault, &Complaint::fault);
    if (at == judgement.complaints.end()) return std::nullopt;
    return *at;
}

namespace {

void drop_pod(World& world, std::size_t p) { world.pods.erase(world.pods.begin() + static_cast<std::ptrdiff_t>(p)); }

bool drop_node(World& world, std::size_t n) {
    if (std::ranges::any_of(world.pods, [&](const WorldPod& pod) { return pod.node == static_cast<int>(n); }))
        return false;
    world.nodes.erase(world.nodes.begin() + static_cast<std::ptrdiff_t>(n));
    for (WorldPod& pod : world.pods) {
        if (pod.node > static_cast<int>(n)) --pod.node;
    }
    return true;
}

// Every world that is simpler by one step.
std::vector<World> simpler(const World& world) {
    std::vector<World> out;
    const auto with = [&](auto&& change) {
        World next = world;
        change(next);
        out.push_back(std::move(next));
    };
    for (std::size_t p = 0; p < world.pods.size(); ++p)
        with([&](World& w) { drop_pod(w, p); });
    for (std::size_t n = 0; n < world.nodes.size(); ++n) {
        World next = world;
        if (drop_node(next, n)) out.push_back(std::move(next));
    }
    for (std::size_t b = 0; b < world.budgets.size(); ++b)
        with([&](World& w) { w.budgets.erase(w.budgets.begin() + static_cast<std::ptrdiff_t>(b)); });
    for (std::size_t p = 0; p < world.pods.size(); ++p) {
        const WorldPod& pod = world.pods[p];
        for (std::size_t i = 0; i < pod.traits.near.size(); ++i)
            with([&](World& w) {
                w.pods[p].traits.near.erase(w.pods[p].traits.near.begin() + static_cast<std::ptrdiff_t>(i));
            });
        for (std::size_t i = 0; i < pod.traits.spreads.size(); ++i)
            with([&](World& w) {
                w.pods[p].traits.spreads.erase(w.pods[p].traits.spreads.begin() + static_cast<std::ptrdiff_t>(i));
            });
        if (pod.traits.port != 0) with([&](World& w) { w.pods[p].traits.port = 0; });
        if (pod.gang >= 0 && pod.node >= 0) with([&](World& w) { w.pods[p].gang = -1; });
        if (pod.is_protected) with([&](World& w) { w.pods[p].is_protected = false; });
        if (pod.traits.priority != 0 && pod.node >= 0) with([&](World& w) { w.pods[p].traits.priority = 0; });
    }
    for (std::size_t g = 0; g < world.gangs.size(); ++g) {
        if (world.gangs[g].min > 1) with([&](World& w) { --w.gangs[g].min; });
    }
    return out;
}

}  // namespace

World shrink(World world, Fault fault) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (World& next : simpler(world)) {
            if (!find(try_world(next), fault)) continue;
            world = std::move(next);
            smaller = true;
            break;
        }
    }
    return world;
}

}  // namespace reprieve::worlds
