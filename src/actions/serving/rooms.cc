#include "actions/serving/rooms.h"

namespace reprieve::serving {

Rooms::Rooms(const World& world) {
    rooms_.reserve(world.nodes.size());
    for (const Node& node : world.nodes)
        rooms_.push_back({node.free, node.later, Amounts(node.free.size())});
}

bool Rooms::fits(NodeIndex node, const Amounts& need) const {
    return covers(free(node), need) && covers(later(node), need);
}

void Rooms::take(NodeIndex node, const Amounts& need) {
    subtract(rooms_[node.index()].free, need);
    subtract(rooms_[node.index()].later, need);
}

void Rooms::give_back(NodeIndex node, const Amounts& taken) {
    add(rooms_[node.index()].free, taken);
    add(rooms_[node.index()].later, taken);
}

bool Rooms::suffices(NodeIndex node, const Amounts& need, const Amounts& freed, const Amounts& staying) const {
    const Room& room = rooms_[node.index()];
    Amounts soon = room.free;
    add(soon, room.left_over);
    add(soon, freed);
    Amounts in_the_end = room.later;
    add(in_the_end, staying);
    return covers(soon, need) && covers(in_the_end, need);
}

Amounts Rooms::hold(NodeIndex node, const Amounts& need, const Amounts& freed, const Amounts& staying) {
    Room& room = rooms_[node.index()];
    // On a node that is overcommitted this is negative: the victims make up for that first.
    Amounts from_free = smaller(room.free, need);
    subtract(room.free, from_free);
    Amounts missing = need;
    subtract(missing, from_free);
    add(room.left_over, freed);
    subtract(room.left_over, missing);
    add(room.later, staying);
    subtract(room.later, need);
    return from_free;
}

}  // namespace reprieve::serving
