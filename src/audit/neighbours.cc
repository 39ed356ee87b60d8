#include "audit/neighbours.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "audit/rules.h"
#include "audit/scene.h"

namespace reprieve {
namespace {

StringId label_at(const Case& judged, StringId key, NodeId node) {
    return node ? judged.cluster.node(node)->labels.get(key) : StringId();
}

// Counts that fell to nothing are forgotten: a scene that changes much stays as small as it is.
template <class Map, class Key>
void add_to(Map& counts, const Key& key, std::int64_t amount) {
    const auto at = counts.try_emplace(key, 0).first;
    at->second += amount;
    if (at->second == 0) counts.erase(at);
}

bool counts_node(const Case& judged, const PodSpec& spec, const SpreadConstraint& rule, const Node& node) {
    const bool has_keys = std::ranges::all_of(
        spec.spread, [&](const SpreadConstraint& each) { return !each.hard || node.labels.has(each.topology_key); });
    return has_keys && (!rule.honor_node_affinity || node_matches(spec, node, judged.words)) &&
           (!rule.honor_taints || tolerates_all(spec, node, judged.words));
}

}  // namespace

bool MateBook::matches(StringId ns, const Labels& labels) const {
    return std::ranges::all_of(terms_,
                               [&](const PodAffinityTerm& term) { return speaks_of(judged_, term, ns, labels); });
}

MateBook::Where MateBook::where(NodeId node) const {
    Where found;
    for (const PodAffinityTerm& term : terms_)
        found.push_back(label_at(judged_, term.topology_key, node));
    return found;
}

// Near means: in the same domain of every term. Without one of the labels a node is near nobody, not even itself.
std::int64_t MateBook::lonely(const Where& where, const Group& group) {
    const bool complete = std::ranges::all_of(where, [](StringId domain) { return domain.valid(); });
    return complete && group.pods > 1 ? 0 : group.alike;
}

void MateBook::count(const Seat& seat, int sign) {
    const Where place = where(seat.node);
    if (std::ranges::none_of(place, [](StringId domain) { return domain.valid(); })) return;
    all_ += sign;
    if (seat.placed == nullptr) settled_ += sign;
    Group& group = groups_[place];
    lonely_ -= lonely(place, group);
    group.pods += sign;
    if (seat.placed != nullptr && judged_.spec(seat.pod).affinity == terms_) group.alike += sign;
    lonely_ += lonely(place, group);
    if (group.pods == 0) groups_.erase(place);
    for (std::size_t term = 0; term < place.size(); ++term) {
        if (!place[term]) continue;
        Company& company = company_[{term, place[term]}];
        if (seat.placed == nullptr) {
            company.settled += sign;
        } else {
            company.placed += sign;
            if (judged_.spec(seat.pod).affinity.empty())
                add_to(company.steady_for, std::string_view(seat.placed->owner()), sign);
        }
    }
}

const MateBook::Company* MateBook::company(std::size_t term, StringId domain) const {
    const auto at = company_.find({term, domain});
    return at == company_.end() ? nullptr : &at->second;
}

std::int64_t MateBook::lonely_elsewhere(NodeId node) const {
    const Where here = where(node);
    const auto group = groups_.find(here);
    return lonely_ - (group == groups_.end() ? 0 : lonely(here, group->second));
}

bool StrangerBook::matches(StringId ns, const Labels& labels) const { return speaks_of(judged_, term_, ns, labels); }

void StrangerBook::count(const Seat& seat, int sign) {
    const StringId domain = label_at(judged_, term_.topology_key, seat.node);
    if (!domain) return;
    std::set<PodId>& pods = by_domain_[domain];
    if (sign > 0)
        pods.insert(seat.pod);
    else
        pods.erase(seat.pod);
}

const std::set<PodId>& StrangerBook::in(StringId domain) const {
    static const std::set<PodId> kNobody;
    const auto at = by_domain_.find(domain);
    return at == by_domain_.end() ? kNobody : at->second;
}

SpreadLedger::SpreadLedger(const Scene& scene, PodId asks, std::size_t constraint)
    : judged_(scene.judged()),
      rule_(judged_.spec(asks).spread[constraint]),
      ns_(judged_.fact(asks).ns),
      takes_part_(judged_.snapshot.nodes.size(), false) {
    for (const NodeId id : IdRange<NodeId>(judged_.snapshot.nodes.size())) {
        const Node* node = judged_.cluster.node(id);
        if (node == nullptr || !counts_node(judged_, judged_.spec(asks), rule_, *node)) continue;
        takes_part_[id.index()] = true;
        // A domain without a pod stands, too.
        domains_[node->labels.get(rule_.topology_key)];
    }
    for (const auto& [value, domain] : domains_) {
        by_most_.emplace(0, value);
        by_settled_.emplace(0, value);
    }
    for (const EvictedPod& victim : judged_.evicted) {
        const StringId at = domain_of(judged_.cluster.find_node(judged_.fact(victim.pod).node));
        if (!at || !matches(judged_.fact(victim.pod).ns, judged_.labels(victim.pod))) continue;
        // Those who are in the scene are taken off again when they are counted there.
        change(at, [](Domain& domain) { ++domain.evicted; });
        add_to(evicted_for_[victim.entry->owner], at, 1);
    }
}

bool SpreadLedger::matches(StringId ns, const Labels& labels) const {
    return ns == ns_ && rule_.selector.matches(labels, judged_.words);
}

StringId SpreadLedger::domain_of(NodeId node) const {
    return node && takes_part_[node.index()] ? label_at(judged_, rule_.topology_key, node) : StringId();
}

template <class Change>
void SpreadLedger::change(StringId value, Change change) {
    Domain& domain = domains_.at(value);
    by_most_.erase({domain.all() + domain.evicted, value});
    by_settled_.erase({domain.settled, value});
    change(domain);
    by_most_.emplace(domain.all() + domain.evicted, value);
    by_settled_.emplace(domain.settled, value);
}

void SpreadLedger::count(const Seat& seat, int sign) {
    const StringId at = domain_of(seat.node);
    if (!at) return;
    const EvictedPod* eviction = judged_.eviction_of(seat.pod);
    if (eviction != nullptr) add_to(evicted_for_[eviction->entry->owner], at, -sign);
    // Who terminates does not count.
    const bool counts = !judged_.leaves(seat.pod);
    if (counts && seat.placed != nullptr) add_to(placed_for_[seat.placed->owner()], at, sign);
    change(at, [&](Domain& domain) {
        if (eviction != nullptr) domain.evicted -= sign;
        if (!counts) return;
        const auto& rules = judged_.spec(seat.pod).spread;
        if (seat.placed == nullptr)
            domain.settled += sign;
        else if (std::ranges::find(rules, rule_) != rules.end())
            domain.placed_alike += sign;
        else
            domain.placed_otherwise += sign;
    });
}

// The plan does not say in which order it was made. To prove a fault, everybody whom other owners evict elsewhere was
// still there; to prove a fit, nobody whom other owners place there had come.
std::optional<std::int64_t> SpreadLedger::fewest_elsewhere(StringId here, std::string_view owner, bool at_fault) const {
    const ByOwner& of_owners = at_fault ? evicted_for_ : placed_for_;
    const Ranking& ranking = at_fault ? by_most_ : by_settled_;
    std::optional<std::int64_t> fewest;
    const auto consider = [&](std::int64_t count) { fewest = fewest ? std::min(*fewest, count) : count; };
    static const std::map<StringId, std::int64_t> kNone;
    const auto own = of_owners.find(owner);
    const auto& mine = own == of_owners.end() ? kNone : own->second;
    for (const auto& [value, count] : mine) {
        if (value == here) continue;
        const Domain& domain = domains_.at(value);
        consider(at_fault ? domain.all() + domain.evicted - count : domain.settled + count);
    }
    // The first domain in which the owner has no hand decides about all of those.
    for (const auto& [count, value] : ranking) {
        if (value == here || mine.contains(value)) continue;
        consider(count);
        break;
    }
    return fewest;
}

std::int64_t SpreadLedger::skew(StringId value, std::string_view owner, bool at_fault) const {
    std::optional<std::int64_t> least = fewest_elsewhere(value, owner, at_fault);
    std::int64_t here = 0;
    if (const auto own = domains_.find(value); own != domains_.end()) {
        const Domain& domain = own->second;
        here = at_fault ? domain.all() - domain.placed_otherwise : domain.all();
        least = least ? std::min(*least, here) : here;
    }
    if (!least || std::cmp_less(domains_.size(), rule_.min_domains)) least = 0;
    return here - *least;
}

StringId Neighbours::domain_of(StringId key, NodeId node) const { return label_at(judged_, key, node); }

bool Neighbours::speaks_of(TermKey term, PodId pod) const {
    const Pod& fact = judged_.fact(pod);
    const auto [at, fresh] = speaks_.try_emplace({term, fact.ns, fact.labels}, false);
    if (fresh) {
        const PodAffinityTerm& rule = judged_.words.spec(term.first).anti_affinity[term.second];
        at->second = reprieve::speaks_of(judged_, rule, fact.ns, judged_.labels(pod));
    }
    return at->second;
}

const std::vector<NeighbourBook*>& Neighbours::relevant(PodId pod) {
    const Pod& fact = judged_.fact(pod);
    Relevant& found = relevant_[{fact.ns, fact.labels}];
    for (; found.checked < books_.size(); ++found.checked) {
        NeighbourBook& book = *books_[found.checked];
        if (book.matches(fact.ns, judged_.labels(pod))) found.books.push_back(&book);
    }
    return found.books;
}

void Neighbours::count_repelling(const Seat& seat, int sign) {
    const std::vector<PodAffinityTerm>& terms = judged_.spec(seat.pod).anti_affinity;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const StringId domain = domain_of(terms[i].topology_key, seat.node);
        if (!domain) continue;
        std::set<PodId>& pods = repelling_[terms[i].topology_key][domain][{judged_.fact(seat.pod).spec, i}];
        if (sign > 0)
            pods.insert(seat.pod);
        else
            pods.erase(seat.pod);
    }
}

void Neighbours::count(const Seat& seat, int sign) {
    count_repelling(seat, sign);
    if (books_.empty()) return;
    for (NeighbourBook* book : relevant(seat.pod))
        book->count(seat, sign);
}

template <class Book>
Book& Neighbours::open(const Scene& scene, std::unique_ptr<Book> book) {
    Book& opened = *book;
    books_.push_back(std::move(book));
    std::map<Kind, bool> known;
    scene.each([&](const Seat& seat) {
        const Pod& fact = judged_.fact(seat.pod);
        const auto [at, fresh] = known.try_emplace({fact.ns, fact.labels}, false);
        if (fresh) at->second = opened.matches(fact.ns, judged_.labels(seat.pod));
        if (at->second) opened.count(seat, +1);
    });
    return opened;
}

const MateBook& Neighbours::mates(const Scene& scene, SpecId shape) {
    const auto [at, fresh] = mates_.try_emplace(shape, nullptr);
    if (fresh) at->second = &open(scene, std::make_unique<MateBook>(judged_, shape));
    return *at->second;
}

const StrangerBook& Neighbours::strangers(const Scene& scene, TermKey term) {
    const auto [at, fresh] = strangers_.try_emplace(term, nullptr);
    if (fresh) {
        const PodAffinityTerm& rule = judged_.words.spec(term.first).anti_affinity[term.second];
        at->second = &open(scene, std::make_unique<StrangerBook>(judged_, rule));
    }
    return *at->second;
}

const SpreadLedger& Neighbours::spread(const Scene& scene, PodId asks, std::size_t constraint) {
    const Pod& fact = judged_.fact(asks);
    const auto [at, fresh] = spreads_.try_emplace({fact.ns, fact.spec, constraint}, nullptr);
    if (fresh) at->second = &open(scene, std::make_unique<SpreadLedger>(scene, asks, constraint));
    return *at->second;
}

}  // namespace reprieve
