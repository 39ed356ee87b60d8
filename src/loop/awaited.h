// Awaited: what those who wait for evictions still wait for: their victims, and the claims that are free with them.
//
// It answers one question: has the last of it gone just now? Then the next cycle has somebody to bind and is worth
// beginning at once; after every other of these changes there would be nothing to do yet. Whatever it says, only the
// cycle decides: what is forgotten here, by a restart or a plan that changed, is bound a moment later.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "model/plan.h"
#include "model/vocabulary.h"
#include "model/world.h"

namespace reprieve {

class Awaited {
public:
    // A plan is carried out. Demands that it lets nobody wait for any more are forgotten.
    void take(const Plan& plan);
    // A fact from the watch. True: it is the last thing that some demand waited for.
    [[nodiscard]] bool hear(const Change& change, const Vocabulary& words);

private:
    void add(const std::string& thing, const std::string& demand);

    std::map<std::string, std::set<std::string>> demands_;  // by thing: "pod ns/name", "claim ns/name"
    std::map<std::string, std::size_t> left_;               // things, by demand
};

}  // namespace reprieve
