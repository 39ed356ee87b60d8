// JointPlacement: can all these pods be given a node and devices, whoever is served first?
//
// Elsewhere members of a gang get their devices one after the other, each the first ones that suit it. Where claims
// have constraints or alternatives, or ask for overlapping devices, an early member may take what a later one needs, so
// a "no" by that way proves nothing (first_fit.h). This one is complete. It looks at a simpler question, which every
// way of placing the members answers with yes:
//
//   Q   The members can be divided among the nodes so that on each node
//       (a) facts let each of its members in,
//       (b) what they ask for together is free, by every resource that claims do not serve there, and
//       (c) their claims can be met together (choose_for_all).
//
// Why a "no" is certain. Assume that some order of placing the members succeeds. Look at one node and its members. (a)
// and (b) are rules that each member passed, and room that is free is taken once. (c): each member was given devices
// that are free in the view, each device whole once, each share and counter within its amount, each claim's constraints
// kept; together these are one assignment that choose_for_all allows, because amounts and counters of some members are
// no more than those of all. So Q holds. Everything else (ports, volumes, rules about other pods, devices that nodes
// share, a claim that members on several nodes share) is left out, which can only turn a "no" into a "yes".
// So: if Q does not hold, the members cannot be placed in this view.
//
// Q is decided node by node. Members that ask alike (one spec, claims that say the same) are one kind, and only how
// many of each kind a node takes matters. What a node can take is kept closed downwards (without one of them the others
// still fit), so the numbers still to be placed after each node are a set of vectors, and dominated ones are dropped.
//
// A "yes" is tried: members are put where Q says, with the devices that choose_for_all found. Rules that were left out
// may still refuse; then nothing is claimed. It is not tried where a free device can end a member's attempt: then it
// matters which devices are asked first, and that is not ours to choose.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "search/placement.h"

namespace reprieve {

class JointPlacement {
public:
    enum class Answer : std::uint8_t {
        kPlaced,   // all are placed in the transaction
        kNowhere,  // there is no way; the transaction is as before
        kGaveUp    // too much to try, or what was tried was refused; the transaction is as before
    };

    JointPlacement(Session& session, Placer& placer, View view, std::span<const NodeId> nodes, std::uint32_t note);

    [[nodiscard]] Answer place(std::span<const PodId> pods);

private:
    // How many of each kind.
    using Counts = std::vector<std::uint32_t>;
    enum class Holds : std::uint8_t { kYes, kNo, kUnknown };
    // How members were divided so far: those left, and what the last node took.
    struct State {
        Counts left;
        Counts taken;
        std::size_t before = 0;  // of the states after the node before
    };

    void sort_into_kinds(std::span<const PodId> pods);
    [[nodiscard]] bool asks_alike(PodId a, PodId b) const;
    [[nodiscard]] bool any_admin_access(std::span<const PodId> pods) const;
    // Q for one node and so many members of each kind.
    [[nodiscard]] Holds holds(NodeId node, const Counts& counts);
    [[nodiscard]] bool has_room(NodeId node, const Counts& counts) const;
    [[nodiscard]] std::vector<PodId> some_of(const Counts& counts) const;
    // The numbers of members that the node can take; false: that is not known.
    [[nodiscard]] bool list_fits(NodeId node, std::vector<Counts>& out);
    [[nodiscard]] bool put_all(const std::vector<std::vector<State>>& after, std::size_t state);
    [[nodiscard]] std::vector<const ClaimBook*> books() const;

    Session& session_;
    Placer& placer_;
    View view_;
    std::span<const NodeId> nodes_;
    std::uint32_t note_;
    std::vector<std::vector<PodId>> kinds_;
    Counts all_;
    std::int64_t steps_ = 0;
    std::int64_t questions_ = 0;
};

}  // namespace reprieve
