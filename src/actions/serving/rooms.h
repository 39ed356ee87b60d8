// Rooms: what is left on each node while a cycle hands it out.
//
// Free room can be used now. What victims leave beyond the need is left over: it serves later matches, never a replica
// that starts now. `later` keeps faith with everybody else: whatever is handed out here must still be there when all
// that was promised has come.
#pragma once

#include <vector>

#include "actions/serving/world.h"

namespace reprieve::serving {

class Rooms {
public:
    explicit Rooms(const World& world);

    // For a replica that starts now.
    [[nodiscard]] bool fits(NodeIndex node, const Amounts& need) const;
    void take(NodeIndex node, const Amounts& need);
    void give_back(NodeIndex node, const Amounts& taken);

    // For a replica that waits for victims. `freed` is what they hold, `staying` the part of it held by those who would
    // not leave by themselves.
    [[nodiscard]] bool suffices(NodeIndex node,
                                const Amounts& need,
                                const Amounts& freed,
                                const Amounts& staying) const;
    // Returns what was taken from free room.
    Amounts hold(NodeIndex node, const Amounts& need, const Amounts& freed, const Amounts& staying);

    [[nodiscard]] const Amounts& free(NodeIndex node) const { return rooms_[node.index()].free; }
    [[nodiscard]] const Amounts& later(NodeIndex node) const { return rooms_[node.index()].later; }

private:
    struct Room {
        Amounts free;
        Amounts later;
        Amounts left_over;
    };
    std::vector<Room> rooms_;
};

}  // namespace reprieve::serving
