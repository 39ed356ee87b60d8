// CountedClaims: claims for whole devices that can be counted instead of chosen.
//
// Choosing devices is a search (device_choice.h). For most claims its answer is known beforehand: it finds devices if
// and only if the node has enough of each kind idle. This class says for which pods and nodes that is so, and counts.
//
// Of the pods: their claims are their own and not allocated, and all ask for the same. Every request is for an exact
// number of devices, in one way; no constraints, no looking on, no more devices than a claim may have.
// A kind is what requests ask for that say the same of a device; it has as many devices per pod as they ask together.
// Of a node (counts_on): no selector fails on any of its devices; no device suits two kinds; and those that suit one
// are given whole, use up no counters, are described once, and are held by pods of this node alone, if by anybody.
//
// Then every idle device of a kind is as good as any other, and first fit never has to turn back: n pods fit if every
// kind has n times its number idle (docs/algorithms/claims.md). What is asked of a node is kept; facts must not change
// meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "state/snapshot.h"

namespace reprieve {

class CountedClaims {
public:
    struct Kind {
        const DeviceWish* wish = nullptr;  // the first of those that say the same
        const DeviceClass* cls = nullptr;
        Dim resource;            // an extended resource that it stands for; asked only where claims serve it
        std::int64_t count = 0;  // devices of one pod
    };
    struct Suiting {
        DeviceId device;
        std::uint32_t kind = 0;
    };

    // Nullopt: the claims of these pods are not of that sort, or not alike.
    [[nodiscard]] static std::optional<CountedClaims> of(const Snapshot& snapshot, std::span<const PodId> pods);
    // Whether these are such pods, and ask for the same.
    [[nodiscard]] bool speaks_of(std::span<const PodId> pods) const;

    // Tells those of one owner apart, also after one of them is gone.
    [[nodiscard]] std::uint32_t number() const { return number_; }
    void set_number(std::uint32_t number) { number_ = number; }

    [[nodiscard]] std::span<const Kind> kinds() const { return kinds_; }
    // False: on this node devices have to be chosen. The questions below are for nodes where they need not be.
    [[nodiscard]] bool counts_on(NodeId node) { return known(node).countable; }
    // The devices of the node that suit a kind.
    [[nodiscard]] std::span<const Suiting> suiting(NodeId node) { return known(node).suiting; }
    // Pods that fit on the node by their claims: with what is idle in this view, and if nobody held anything.
    [[nodiscard]] std::int64_t fit(NodeId node, const ClaimBook& view, std::int64_t most);
    [[nodiscard]] std::int64_t fit_if_empty(NodeId node, std::int64_t most);
    // Devices of the kind that are idle. Where the node is not asked for them: as many as `pods` of them could want.
    [[nodiscard]] std::int64_t idle(NodeId node, std::uint32_t kind, const ClaimBook& view, std::int64_t pods);
    // Whether claims serve this resource of the pods' requests there, so that the node's own amount does not count.
    [[nodiscard]] bool serve(NodeId node, Dim resource) const;

private:
    struct OnNode {
        bool known = false;
        bool countable = false;
        std::vector<Suiting> suiting;
    };
    explicit CountedClaims(const Snapshot& snapshot) : s_(snapshot) {}
    [[nodiscard]] bool add(const ClaimSpec& spec);
    [[nodiscard]] bool asks_alike(PodId a, PodId b) const;
    [[nodiscard]] bool asked_on(NodeId node, const Kind& kind) const;
    [[nodiscard]] const OnNode& known(NodeId node);
    [[nodiscard]] bool look_at(NodeId node, std::vector<Suiting>& out) const;
    [[nodiscard]] bool held_here(NodeId node, DeviceId device) const;

    const Snapshot& s_;
    PodId like_;
    std::uint32_t number_ = 0;
    std::vector<Kind> kinds_;
    bool has_extended_ = false;
    std::vector<OnNode> on_node_;  // by NodeId
};

}  // namespace reprieve
