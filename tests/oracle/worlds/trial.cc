#include "trial.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "by_allocation.h"
#include "changes.h"
#include "engine.h"

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

// The first line in which two texts differ.
std::string difference(const std::string& a, const std::string& b) {
    const auto line_at = [](const std::string& text, std::size_t at) {
        const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
        return text.substr(begin, text.find('\n', at) - begin);
    };
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    return "built at once:" + line_at(a, at) + ", changed fact by fact:" + line_at(b, at);
}

Judgement judge_here(const World& world) {
    const Decision decision = decide({documents(world)}, config(world));
    Judgement out = world.foreign != 0 ? judge_by_allocation(world, decision) : judge(world, decision);
    const World after = next_world(world, decision);
    for (const std::string& violation : decide({documents(after)}, config(after)).violations)
        out.complaints.push_back({.fault = Fault::kAudit, .demand = "", .what = "of the next plan: " + violation});
    if (const std::string other = decide(another_past(world), config(world)).text; other != decision.text)
        out.complaints.push_back({.fault = Fault::kStale, .demand = "", .what = difference(decision.text, other)});
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

}  // namespace reprieve::worlds
