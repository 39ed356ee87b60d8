// worlds_oracle: draws worlds, has the engine decide them, judges every decision, and prints a table by rule.
//
//   worlds_oracle --count 500 --first 1   so many worlds from that number on; 500 times REPRIEVE_ORACLE without it
//   worlds_oracle --out DIR               writes every world with a fault there, as manifests for `reprieve plan -f`
//   worlds_oracle --world 17              one world: manifests, plan, judgement
//   worlds_oracle --rule "host ports"     only worlds drawn with that rule; may be repeated: with all of them
//   worlds_oracle --fault "false optimal" writes and counts as failure only worlds with that fault
//   worlds_oracle --shrink                leaves out of a failing world what the fault does not need
//
// Exit code 0: no claim was false, 99 % of the demands that can be served are, 90 % of the plans that evict are proven.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "engine.h"
#include "tally.h"
#include "trial.h"

namespace reprieve::worlds {
namespace {

struct Options {
    std::uint64_t first = 1;
    std::uint64_t count = 500;
    std::int64_t world = -1;
    std::string out;
    std::vector<std::string> rules;
    std::vector<std::string> without;
    std::vector<std::string> except;
    std::string fault;
    bool shrink = false;
};

bool wanted(const World& world, const Options& options) {
    const auto drawn = [&](const std::string& name) {
        return std::ranges::any_of(world.rules, [&](Rule rule) { return name == to_text(rule); });
    };
    return std::ranges::all_of(options.rules, drawn) && std::ranges::none_of(options.without, drawn);
}

std::string as_yaml(const World& world, const std::vector<Complaint>& complaints) {
    std::string out;
    for (const Complaint& c : complaints) {
        std::string what = c.what;
        std::ranges::replace(what, '\n', ' ');
        out += fmt::format("# {}: {} {}\n", to_text(c.fault), c.demand, what);
    }
    std::string rules;
    for (Rule rule : world.rules)
        rules += fmt::format("{}{}", rules.empty() ? "" : ", ", to_text(rule));
    out += fmt::format("# world {}: {}\n", world.number, rules);
    bool first = true;
    for (const Json& document : documents(world)) {
        out += fmt::format("{}{}\n", first ? "" : "---\n", document.dump());
        first = false;
    }
    return out;
}

void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

void keep(World world, const Judgement& judgement, const Options& options) {
    std::filesystem::create_directories(options.out);
    Judgement shown = judgement;
    if (options.shrink) {
        const auto fault = std::ranges::find_if(judgement.complaints, [&](const Complaint& c) {
                               return options.fault.empty() || options.fault == to_text(c.fault);
                           })->fault;
        world = shrink(std::move(world), fault);
        shown = try_world(world);
    }
    const std::string stem = fmt::format("{}/world-{}", options.out, world.number);
    write(stem + ".yaml", as_yaml(world, shown.complaints));
    write(stem + ".config.json", config(world).dump() + "\n");
}

bool failed(const Judgement& judgement, const Options& options) {
    return std::ranges::any_of(judgement.complaints, [&](const Complaint& c) {
        return options.fault.empty() || options.fault == to_text(c.fault);
    });
}

int look_at(const Options& options) {
    World world = draw_world(static_cast<std::uint64_t>(options.world));
    Judgement judgement = try_world(world);
    if (options.shrink && failed(judgement, options)) {
        const auto fault = std::ranges::find_if(judgement.complaints, [&](const Complaint& c) {
                               return options.fault.empty() || options.fault == to_text(c.fault);
                           })->fault;
        world = shrink(world, fault);
        judgement = try_world(world);
    }
    std::cout << as_yaml(world, judgement.complaints) << "# config: " << config(world).dump() << "\n";
    if (!find(judgement, Fault::kAbort)) std::cout << decide({documents(world)}, config(world)).text;
    return judgement.complaints.empty() ? 0 : 1;
}

int look_at_many(const Options& options) {
    Tally tally;
    int faulty = 0;
    std::uint64_t number = options.first;
    for (std::uint64_t looked = 0; looked < options.count; ++number) {
        const World world = draw_world(number);
        if (!wanted(world, options)) continue;
        ++looked;
        const Judgement judgement = try_world(world);
        tally.add(world, judgement);
        if (!failed(judgement, options)) continue;
        ++faulty;
        if (!options.out.empty()) keep(world, judgement, options);
    }
    std::cout << tally.table()
              << fmt::format("{} worlds with a fault; served {:.2f} %, proven {:.2f} %\n",
                             faulty,
                             tally.served_percent(),
                             tally.proven_percent());
    return tally.is_green(options.except) ? 0 : 1;
}

// REPRIEVE_ORACLE=20 looks at 20 times as many.
double times() {
    const char* text = std::getenv("REPRIEVE_ORACLE");
    return text == nullptr ? 1 : std::strtod(text, nullptr);
}

int run(int argc, char** argv) {
    Options options;
    options.count = static_cast<std::uint64_t>(static_cast<double>(options.count) * times());
    CLI::App app("Random worlds, decided by the engine and judged exhaustively");
    app.add_option("--first", options.first, "number of the first world");
    app.add_option("--count", options.count, "how many worlds");
    app.add_option("--world", options.world, "look at this world alone");
    app.add_option("--out", options.out, "folder for the manifests of faulty worlds");
    app.add_option("--rule", options.rules, "only worlds drawn with this rule");
    app.add_option("--without", options.without, "no worlds drawn with this rule");
    app.add_option("--except", options.except, "a fault that the exit code does not depend on");
    app.add_option("--fault", options.fault, "only worlds with this fault count as faulty");
    app.add_flag("--shrink", options.shrink, "leave out of faulty worlds what the fault does not need");
    CLI11_PARSE(app, argc, argv);
    return options.world >= 0 ? look_at(options) : look_at_many(options);
}

}  // namespace
}  // namespace reprieve::worlds

int main(int argc, char** argv) { return reprieve::worlds::run(argc, argv); }
