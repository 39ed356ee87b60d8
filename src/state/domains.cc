#include "state/domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/pattern.h"
#include "model/vocabulary.h"

namespace reprieve {
namespace {

using NodeSet = std::set<NodeId>;

class HyperNodes {
public:
    HyperNodes(const DomainInput& input, Vocabulary& words, std::vector<std::string>& warnings)
        : input_(input),
          words_(words),
          warnings_(warnings) {
        for (std::size_t i = 0; i < input.hyper_nodes.size(); ++i)
            by_name_[input.hyper_nodes[i]->name] = i;
        for (std::size_t i = 0; i < input.nodes.size(); ++i) {
            if (input.nodes[i] != nullptr) nodes_[input.nodes[i]->name] = NodeId(i);
        }
        state_.resize(input.hyper_nodes.size());
        members_.resize(input.hyper_nodes.size());
        parent_.resize(input.hyper_nodes.size(), kNone);
        left_out_.resize(input.hyper_nodes.size());
    }

    void resolve_all() {
        for (std::size_t i = 0; i < input_.hyper_nodes.size(); ++i)
            resolve(i);
    }

    void write(DomainTable& table) const {
        std::vector<DomainId> ids(members_.size());
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (left_out_[i]) continue;
            const HyperNode& h = *input_.hyper_nodes[i];
            ids[i] = table.domains.push_back(
                {h.name, {}, h.tier, h.tier_name, {}, {members_[i].begin(), members_[i].end()}});
        }
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (ids[i] && parent_[i] != kNone) table.domains[ids[i]].parent = ids[parent_[i]];
        }
    }

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    enum State : std::uint8_t { kNew, kOpen, kDone };

    void resolve(std::size_t i) {
        if (state_[i] == kDone) return;
        if (state_[i] == kOpen) return leave_out_circle(i);
        state_[i] = kOpen;
        open_.push_back(i);
        for (const HyperNodeMember& m : input_.hyper_nodes[i]->members)
            m.is_node ? add_nodes(i, m) : add_hyper_nodes(i, m);
        open_.pop_back();
        state_[i] = kDone;
    }

    // Those that contain each other; the others that lead to them keep the rest of their members.
    void leave_out_circle(std::size_t first) {
        for (auto at = std::ranges::find(open_, first); at != open_.end(); ++at)
            leave_out(*at, "contains itself");
    }

    void leave_out(std::size_t i, const std::string& why) {
        if (left_out_[i]) return;
        left_out_[i] = true;
        warnings_.push_back(fmt::format(
            "HyperNode {}: spec.members: {}; it is left out", words_.text(input_.hyper_nodes[i]->name), why));
    }

    // Calls `take(index)` for each of `names` that the member selects.
    template <class Table, class Take>
    void select(std::size_t i, const HyperNodeMember& m, const Table& table, Take take) {
        const HyperNode& h = *input_.hyper_nodes[i];
        if (m.match == HyperNodeMember::Match::kExact) {
            const auto it = table.find(words_.find_string(m.text));
            if (it == table.end()) {
                warnings_.push_back(fmt::format("HyperNode {}: member {} does not exist", words_.text(h.name), m.text));
                return;
            }
            return take(it->second);
        }
        const auto pattern = Pattern::parse(m.text);
        if (!pattern) return leave_out(i, fmt::format("\"{}\" {}", m.text, pattern.error().message));
        std::map<std::string_view, typename Table::mapped_type> ordered;
        for (const auto& [name, index] : table)
            ordered.emplace(words_.text(name), index);
        for (const auto& [name, index] : ordered) {
            if (pattern->occurs_in(name)) take(index);
        }
    }

    void add_nodes(std::size_t i, const HyperNodeMember& m) {
        if (m.match == HyperNodeMember::Match::kLabels) {
            for (const auto& [name, id] : nodes_) {
                if (m.selector.matches(input_.nodes[id.index()]->labels, words_)) members_[i].insert(id);
            }
            return;
        }
        select(i, m, nodes_, [&](NodeId id) { members_[i].insert(id); });
    }

    void add_hyper_nodes(std::size_t i, const HyperNodeMember& m) {
        select(i, m, by_name_, [&](std::size_t child) {
            if (child == i && m.match != HyperNodeMember::Match::kExact) return;  // a pattern may match its owner
            resolve(child);
            if (left_out_[child]) return;
            members_[i].insert(members_[child].begin(), members_[child].end());
            parent_[child] = i;
        });
    }

    const DomainInput& input_;
    Vocabulary& words_;
    std::vector<std::string>& warnings_;
    std::unordered_map<StringId, std::size_t> by_name_;
    std::unordered_map<StringId, NodeId> nodes_;
    std::vector<State> state_;
    std::vector<NodeSet> members_;
    std::vector<std::size_t> parent_;
    std::vector<bool> left_out_;
    std::vector<std::size_t> open_;  // being resolved, each a member of the one before
};

// One domain per value of `key` (and, inside configured levels, per value of the levels above it).
void add_label_domains(const DomainInput& input,
                       const std::vector<StringId>& levels,
                       bool configured,
                       Vocabulary& words,
                       DomainTable& table) {
    std::map<std::vector<std::string_view>, DomainId> known;
    std::vector<DomainId> above(input.nodes.size());
    // By name, so that no tie is broken by who came first.
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < input.nodes.size(); ++n) {
        if (input.nodes[n] != nullptr) order.push_back(n);
    }
    std::ranges::sort(order, {}, [&](std::size_t n) { return words.text(input.nodes[n]->name); });
    for (std::size_t level = 0; level < levels.size(); ++level) {
        for (std::size_t n : order) {
            const StringId value = input.nodes[n]->labels.get(levels[level]);
            if (!value) {
                above[n] = {};
                continue;
            }
            std::vector<std::string_view> path{words.text(levels[level]), words.text(value)};
            for (DomainId up = above[n]; up; up = table.domains[up].parent)
                path.push_back(words.text(table.domains[up].name));
            auto [it, fresh] = known.try_emplace(path);
            if (fresh) {
                it->second = table.domains.push_back({value,
                                                      levels[level],
                                                      static_cast<std::int32_t>(levels.size() - level),
                                                      levels[level],
                                                      above[n],
                                                      {},
                                                      configured});
            }
            table.domains[it->second].nodes.push_back(NodeId(n));
            above[n] = it->second;
        }
    }
}

}  // namespace

std::int32_t DomainTable::tallest_tier(bool levels) const {
    std::int32_t tallest = 0;
    for (const Domain& d : domains) {
        if (levels ? d.is_level : !d.label_key) tallest = std::max(tallest, d.tier);
    }
    return tallest;
}

DomainTable build_domains(const DomainInput& input, Vocabulary& words, std::vector<std::string>& warnings) {
    DomainTable table;
    HyperNodes hyper(input, words, warnings);
    hyper.resolve_all();
    hyper.write(table);
    if (!input.label_levels.empty()) add_label_domains(input, input.label_levels, true, words, table);
    for (StringId key : input.label_keys) {
        if (std::ranges::find(input.label_levels, key) == input.label_levels.end())
            add_label_domains(input, {key}, false, words, table);
    }
    table.of_node.resize(input.nodes.size());
    for (DomainId id : IdRange<DomainId>(table.domains.size())) {
        for (NodeId node : table.domains[id].nodes)
            table.of_node[node].push_back(id);
    }
    return table;
}

}  // namespace reprieve
