// Neighbours: who stands in which topology domain, for the rules that look beyond a node.
//
// A book is opened when its question is first asked, by one walk over the scene, and follows every pod that comes or
// goes after that. So a question costs as much as its answer, whatever the size of the cluster and of the plan.
// Invariant: a book holds exactly the pods of the scene (and, of spread, the evicted ones) that its selectors match.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/case.h"

namespace reprieve {

class Scene;
struct Seat;

// One term or constraint, by the shape of the pods that have it and its place there.
using TermKey = std::pair<SpecId, std::size_t>;

class NeighbourBook {
public:
    NeighbourBook() = default;
    NeighbourBook(const NeighbourBook&) = delete;
    NeighbourBook& operator=(const NeighbourBook&) = delete;
    virtual ~NeighbourBook() = default;

    // Whether pods with this namespace and these labels belong in it.
    [[nodiscard]] virtual bool matches(StringId ns, const Labels& labels) const = 0;
    // Such a pod comes (+1) or goes (-1).
    virtual void count(const Seat& seat, int sign) = 0;
};

// The pods that all required affinity terms of one shape speak of: its mates.
class MateBook final : public NeighbourBook {
public:
    // In one domain of one term.
    struct Company {
        std::int64_t settled = 0;  // there before the plan
        std::int64_t placed = 0;
        // By owner: those of them that must be near nobody themselves. The others may rest on whom they keep company.
        std::map<std::string_view, std::int64_t> steady_for;
    };

    MateBook(const Case& judged, SpecId shape) : judged_(judged), terms_(judged.words.spec(shape).affinity) {}

    [[nodiscard]] bool matches(StringId ns, const Labels& labels) const override;
    void count(const Seat& seat, int sign) override;

    [[nodiscard]] std::int64_t settled() const { return settled_; }
    [[nodiscard]] std::int64_t all() const { return all_; }
    // Null: nobody is there.
    [[nodiscard]] const Company* company(std::size_t term, StringId domain) const;
    // Placed mates with the same terms that have no mate near them, those near this node left out.
    [[nodiscard]] std::int64_t lonely_elsewhere(NodeId node) const;

private:
    using Where = std::vector<StringId>;  // a domain of each term; none: the node has no such label
    struct Group {
        std::int64_t pods = 0;
        std::int64_t alike = 0;  // placed by the plan, with the same terms
    };

    [[nodiscard]] Where where(NodeId node) const;
    [[nodiscard]] static std::int64_t lonely(const Where& where, const Group& group);

    const Case& judged_;
    const std::vector<PodAffinityTerm>& terms_;
    std::int64_t settled_ = 0;
    std::int64_t all_ = 0;
    std::int64_t lonely_ = 0;
    std::map<std::pair<std::size_t, StringId>, Company> company_;
    std::map<Where, Group> groups_;
};

// The pods that one anti-affinity term speaks of, by domain.
class StrangerBook final : public NeighbourBook {
public:
    StrangerBook(const Case& judged, const PodAffinityTerm& term) : judged_(judged), term_(term) {}

    [[nodiscard]] bool matches(StringId ns, const Labels& labels) const override;
    void count(const Seat& seat, int sign) override;
    [[nodiscard]] const std::set<PodId>& in(StringId domain) const;

private:
    const Case& judged_;
    const PodAffinityTerm& term_;
    std::map<StringId, std::set<PodId>> by_domain_;
};

// Pods that one spread constraint counts, by domain.
class SpreadLedger final : public NeighbourBook {
public:
    // REQUIRES: `asks` has the constraint at that place.
    SpreadLedger(const Scene& scene, PodId asks, std::size_t constraint);

    [[nodiscard]] bool matches(StringId ns, const Labels& labels) const override;
    void count(const Seat& seat, int sign) override;

    // How many more pods the domain holds than the emptiest one. `at_fault`: at least, whatever the order of the plan's
    // steps; else at most.
    [[nodiscard]] std::int64_t skew(StringId domain, std::string_view owner, bool at_fault) const;

private:
    struct Domain {
        std::int64_t settled = 0;           // there before the plan
        std::int64_t placed_alike = 0;      // by the plan, with the same constraint
        std::int64_t placed_otherwise = 0;  // by the plan, without it
        std::int64_t evicted = 0;
        [[nodiscard]] std::int64_t all() const { return settled + placed_alike + placed_otherwise; }
    };
    using ByOwner = std::map<std::string_view, std::map<StringId, std::int64_t>>;
    using Ranking = std::set<std::pair<std::int64_t, StringId>>;

    [[nodiscard]] StringId domain_of(NodeId node) const;
    template <class Change>
    void change(StringId domain, Change change);
    [[nodiscard]] std::optional<std::int64_t> fewest_elsewhere(StringId domain,
                                                               std::string_view owner,
                                                               bool at_fault) const;

    const Case& judged_;
    const SpreadConstraint& rule_;
    StringId ns_;
    std::vector<bool> takes_part_;  // by node
    std::map<StringId, Domain> domains_;
    Ranking by_most_;     // everybody, and those who are evicted
    Ranking by_settled_;  // those who were there before the plan
    ByOwner placed_for_;
    ByOwner evicted_for_;
};

class Neighbours {
public:
    explicit Neighbours(const Case& judged) : judged_(judged) {}

    // Every pod of the scene is told once it is there, and once before it goes.
    void count(const Seat& seat, int sign);

    [[nodiscard]] const MateBook& mates(const Scene& scene, SpecId shape);
    [[nodiscard]] const StrangerBook& strangers(const Scene& scene, TermKey term);
    [[nodiscard]] const SpreadLedger& spread(const Scene& scene, PodId asks, std::size_t constraint);

    // Calls `visit(pod, term)` for all pods whose anti-affinity keeps this one away from the node.
    template <class Visit>
    void each_repelling(PodId pod, NodeId node, Visit visit) const {
        for (const auto& [key, by_domain] : repelling_) {
            const StringId domain = domain_of(key, node);
            const auto there = domain ? by_domain.find(domain) : by_domain.end();
            if (there == by_domain.end()) continue;
            for (const auto& [term, pods] : there->second) {
                if (pods.empty() || !speaks_of(term, pod)) continue;
                for (const PodId other : pods) {
                    if (other != pod) visit(other, key);
                }
            }
        }
    }
    [[nodiscard]] bool anybody_repels() const { return !repelling_.empty(); }

private:
    // Books that pods of one namespace and with the same labels belong in.
    struct Relevant {
        std::size_t checked = 0;
        std::vector<NeighbourBook*> books;
    };
    using Kind = std::pair<StringId, LabelsId>;

    [[nodiscard]] StringId domain_of(StringId key, NodeId node) const;
    [[nodiscard]] bool speaks_of(TermKey term, PodId pod) const;
    const std::vector<NeighbourBook*>& relevant(PodId pod);
    template <class Book>
    Book& open(const Scene& scene, std::unique_ptr<Book> book);
    void count_repelling(const Seat& seat, int sign);

    const Case& judged_;
    std::vector<std::unique_ptr<NeighbourBook>> books_;
    std::map<Kind, Relevant> relevant_;
    std::map<SpecId, MateBook*> mates_;
    std::map<TermKey, StrangerBook*> strangers_;
    std::map<std::tuple<StringId, SpecId, std::size_t>, SpreadLedger*> spreads_;
    // Labels of nodes by which pods here keep others away -> domain -> their terms -> those pods.
    std::map<StringId, std::map<StringId, std::map<TermKey, std::set<PodId>>>> repelling_;
    mutable std::map<std::tuple<TermKey, StringId, LabelsId>, bool> speaks_;
};

// Whether the term speaks of pods with these labels in this namespace (audit_affinity.cc).
[[nodiscard]] bool speaks_of(const Case& judged, const PodAffinityTerm& term, StringId ns, const Labels& labels);

}  // namespace reprieve
