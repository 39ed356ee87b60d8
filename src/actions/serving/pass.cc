#include "actions/serving/pass.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace reprieve::serving {
namespace {

// Waiting for what is overdue has not helped, and what is bound nowhere frees nothing.
bool is_live_claim(const Replica& replica) { return !replica.claimed_by.empty() && !replica.overdue && replica.node; }

}  // namespace

Pass::Pass(const World& world)
    : world_(world),
      categories_(categorize(world)),
      rooms_(world),
      claims_(world, categories_) {
    for (const Deployment& deployment : world.deployments) {
        Account& account = accounts_.emplace_back();
        for (const Branch& branch : deployment.branches)
            account.commits.push_back(branch.commit);
        account.roomless.resize(deployment.branches.size());
        const std::int64_t committed = std::accumulate(account.commits.begin(), account.commits.end(), std::int64_t{0});
        account.wanted = std::max<std::int64_t>(0, deployment.desired - committed);
    }
}

std::vector<DeploymentIndex> Pass::order(const World& world) {
    std::vector<DeploymentIndex> out;
    for (std::size_t i = 0; i < world.deployments.size(); ++i)
        out.emplace_back(i);
    std::ranges::stable_sort(
        out, [&](DeploymentIndex a, DeploymentIndex b) { return world.at(a).priority > world.at(b).priority; });
    return out;
}

bool Pass::fits_better(DeploymentIndex d, NodeIndex a, NodeIndex b) const {
    for (const std::size_t dim : world_.at(d).fit_by) {
        const std::int64_t x = rooms_.free(a)[dim];
        const std::int64_t y = rooms_.free(b)[dim];
        if (x != y) return x < y;
    }
    return world_.at(a).name < world_.at(b).name;
}

// The node of the plane that has the least to spare; none: there is no room.
NodeIndex Pass::best_fit(DeploymentIndex d, std::size_t branch) const {
    NodeIndex best;
    for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
        const NodeIndex node(i);
        const bool candidate = world_.nodes[i].usable && world_.nodes[i].plane == world_.at(d).branches[branch].plane;
        if (!candidate || !rooms_.fits(node, world_.at(d).need)) continue;
        if (!best || fits_better(d, node, best)) best = node;
    }
    return best;
}

// Branches where replicas may be added, the favourite first.
std::vector<std::size_t> Pass::by_score(DeploymentIndex d) const {
    const std::vector<Branch>& branches = world_.at(d).branches;
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < branches.size(); ++i) {
        if (branches[i].allowed) out.push_back(i);
    }
    std::ranges::sort(out, {}, [&](std::size_t i) { return std::tie(branches[i].score, branches[i].plane); });
    return out;
}

// Replicas that were promised and have no pod yet keep their room.
void Pass::reserve(DeploymentIndex d) {
    Account& account = accounts_[d.index()];
    for (std::size_t b = 0; b < account.commits.size(); ++b) {
        for (std::int64_t i = claims_.active(d, b); i < account.commits[b]; ++i) {
            if (const NodeIndex node = best_fit(d, b))
                rooms_.take(node, world_.at(d).need);
            else
                ++account.roomless[b];
        }
    }
}

// Active replicas beyond the commit that nobody waits for are committed again: that costs nothing.
void Pass::readopt(DeploymentIndex d) {
    Account& account = accounts_[d.index()];
    for (const std::size_t b : by_score(d)) {
        const std::int64_t surplus = std::max<std::int64_t>(0, claims_.active(d, b) - account.commits[b]);
        const std::int64_t back = std::min(account.wanted, surplus);
        account.commits[b] += back;
        account.wanted -= back;
    }
}

void Pass::scale_up(DeploymentIndex d) {
    Account& account = accounts_[d.index()];
    if (account.wanted == 0) return;
    const std::vector<Aside> asides = set_aside(d);
    const std::vector<std::size_t> branches = by_score(d);
    for (auto first = branches.begin(); first != branches.end() && account.wanted > 0;) {
        // Planes of one score are one choice.
        const std::int64_t score = world_.at(d).branches[*first].score;
        NodeIndex node;
        std::size_t chosen = *first;
        auto last = first;
        for (; last != branches.end() && world_.at(d).branches[*last].score == score; ++last) {
            const NodeIndex found = best_fit(d, *last);
            if (!found || (node && !fits_better(d, found, node))) continue;
            node = found;
            chosen = *last;
        }
        if (!node) {
            first = last;
            continue;
        }
        rooms_.take(node, world_.at(d).need);
        ++account.commits[chosen];
        --account.wanted;
    }
    put_back(asides);
}

std::optional<std::int64_t> Pass::hold(Rooms& rooms, DeploymentIndex d, const Offer& offer) const {
    const Amounts& need = world_.at(d).need;
    Amounts freed(need.size());
    Amounts staying(need.size());
    for (ReplicaIndex victim : offer.victims) {
        add(freed, world_.at(victim).holds);
        if (is_active(world_.at(victim))) add(staying, world_.at(victim).holds);
    }
    if (!rooms.suffices(offer.node, need, freed, staying)) return std::nullopt;
    const Amounts from_free = rooms.hold(offer.node, need, freed, staying);
    const int device = world_.at(offer.node).device;
    return device < 0 ? 0 : std::max<std::int64_t>(0, from_free[static_cast<std::size_t>(device)]);
}

bool Pass::match_one(VictimSearch& search, DeploymentIndex d, const std::string& plane, std::vector<Made>& made) {
    const Offer* best = search.best(plane);
    if (best == nullptr) return false;
    const Offer offer = *best;
    for (ReplicaIndex victim : offer.victims)
        claims_.take(victim);
    static_cast<void>(hold(rooms_, d, offer));
    search.forget(offer);
    made.push_back({offer, plane});
    return true;
}

// The favourite of the nodes that need nobody to go; none: there is none.
NodeIndex Pass::left_over_for(DeploymentIndex d, const Rooms& rooms, const std::string& plane) const {
    const Amounts nothing(world_.at(d).need.size());
    for (const std::size_t b : by_score(d)) {
        const Branch& branch = world_.at(d).branches[b];
        if (!plane.empty() && branch.plane != plane) continue;
        for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
            const Node& node = world_.nodes[i];
            if (node.usable && node.plane == branch.plane &&
                rooms.suffices(NodeIndex(i), world_.at(d).need, nothing, nothing))
                return NodeIndex(i);
        }
    }
    return {};
}

// The dearest first. What a victim leaves over is known only once it is chosen, and without this the next cycle would
// find it.
void Pass::let_off(DeploymentIndex d, const Rooms& before, std::vector<Made>& made) {
    // Nothing: others rest on what its victims leave.
    const auto without = [&](std::size_t left_out) -> std::optional<Rooms> {
        Rooms rooms = before;
        for (std::size_t i = 0; i < made.size(); ++i) {
            if (i != left_out && !hold(rooms, d, made[i].offer)) return std::nullopt;
        }
        return rooms;
    };
    for (bool again = made.size() > 1; again;) {
        again = false;
        std::vector<std::size_t> dearest_first;
        for (std::size_t i = 0; i < made.size(); ++i) {
            if (!made[i].offer.victims.empty()) dearest_first.push_back(i);
        }
        std::ranges::stable_sort(
            dearest_first, std::greater(), [&](std::size_t i) -> const auto& { return made[i].offer.ranks; });
        for (const std::size_t i : dearest_first) {
            const std::optional<Rooms> rooms = without(i);
            const NodeIndex node = rooms ? left_over_for(d, *rooms, made[i].plane) : NodeIndex();
            if (!node) continue;
            for (ReplicaIndex victim : made[i].offer.victims)
                claims_.give_back(victim);
            Made moved{.offer = {.node = node, .score = 0, .victims = {}, .ranks = {}}, .plane = made[i].plane};
            made.erase(made.begin() + static_cast<std::ptrdiff_t>(i));
            made.push_back(std::move(moved));
            again = true;
            break;
        }
    }
}

// Promised replicas first, each in its own plane, then those that may go anywhere.
void Pass::match(DeploymentIndex d) {
    Account& account = accounts_[d.index()];
    const bool waits = account.wanted > 0 || std::ranges::any_of(account.roomless, [](auto n) { return n > 0; });
    if (!waits) return;
    const std::vector<Aside> asides = set_aside(d);
    const std::vector<ReplicaIndex> others = claimed_by_equals(d);
    const Rooms before = rooms_;
    std::vector<Made> made;
    VictimSearch search(world_, d, rooms_, claims_);
    for (const std::size_t b : by_score(d)) {
        while (account.roomless[b] > 0 && match_one(search, d, world_.at(d).branches[b].plane, made))
            --account.roomless[b];
    }
    while (account.wanted > 0 && match_one(search, d, "", made))
        --account.wanted;
    let_off(d, before, made);
    rooms_ = before;
    for (const Made& match : made) {
        const std::optional<std::int64_t> devices = hold(rooms_, d, match.offer);
        REPRIEVE_CHECK(devices, "a match of {} without room", world_.at(d).name);
        matches_.push_back({d, match.offer.node, match.offer.victims, *devices});
    }
    for (ReplicaIndex replica : others)
        claims_.give_back(replica);
    put_back(asides);
}

bool Pass::is_equal_to_come(DeploymentIndex other, DeploymentIndex d) const {
    return other.index() > d.index() && world_.at(other).priority == world_.at(d).priority && world_.at(other).asked &&
           missing(other) > 0;
}

// A replica that waits has room when its victims and the free room beside them cover it: what the claims of one node
// free is used up by the smallest number of replicas that need all of it.
Amounts Pass::room_beside_claims(DeploymentIndex d, NodeIndex node) const {
    const Amounts& need = world_.at(d).need;
    Amounts freed(need.size());
    for (std::size_t i = 0; i < world_.replicas.size(); ++i) {
        const Replica& replica = world_.replicas[i];
        if (replica.node == node && is_live_claim(replica) && replica.claimed_by == world_.at(d).name &&
            claims_.may_take(ReplicaIndex(i)))
            add(freed, replica.holds);
    }
    Amounts beside(need.size());
    const std::int64_t most = missing(d);
    for (std::int64_t i = 0; i < most; ++i) {
        const bool used_up =
            std::ranges::equal(freed, need, [](auto left, auto asked) { return left <= 0 || asked == 0; });
        if (used_up) break;
        Amounts more = beside;
        for (std::size_t dim = 0; dim < need.size(); ++dim) {
            more[dim] += std::max<std::int64_t>(0, need[dim] - std::max<std::int64_t>(0, freed[dim]));
            freed[dim] -= need[dim];
        }
        // Another one would not have room there: its share of what is freed is left over.
        if (!covers(rooms_.free(node), more)) break;
        beside = std::move(more);
    }
    return beside;
}

std::vector<Pass::Aside> Pass::set_aside(DeploymentIndex d) {
    std::set<std::pair<DeploymentIndex, NodeIndex>> counted_on;
    std::map<std::string_view, DeploymentIndex> equals;
    for (std::size_t i = 0; i < world_.deployments.size(); ++i) {
        if (is_equal_to_come(DeploymentIndex(i), d)) equals.emplace(world_.deployments[i].name, i);
    }
    if (equals.empty()) return {};
    for (const Replica& replica : world_.replicas) {
        const auto claimant = is_live_claim(replica) ? equals.find(replica.claimed_by) : equals.end();
        if (claimant != equals.end() && world_.at(replica.node).usable)
            counted_on.emplace(claimant->second, replica.node);
    }
    std::vector<Aside> out;
    for (const auto& [claimant, node] : counted_on) {
        Amounts room = room_beside_claims(claimant, node);
        if (std::ranges::all_of(room, [](auto amount) { return amount == 0; })) continue;
        rooms_.take(node, room);
        out.push_back({node, std::move(room)});
    }
    return out;
}

void Pass::put_back(const std::vector<Aside>& asides) {
    for (const Aside& aside : asides)
        rooms_.give_back(aside.node, aside.room);
}

// What deployments of the same priority wait for, whose turn is still to come: a newcomer does not take it, whatever
// their names. Set aside it also counts for who is the last replica.
std::vector<ReplicaIndex> Pass::claimed_by_equals(DeploymentIndex d) {
    std::vector<ReplicaIndex> out;
    // What it claimed itself counts first: of two that hold claims the one whose turn it is loses nothing to the other.
    std::vector<ReplicaIndex> own;
    for (std::size_t i = 0; i < world_.replicas.size(); ++i) {
        const Replica& replica = world_.replicas[i];
        if (replica.overdue || replica.claimed_by != world_.at(d).name || !claims_.may_take(ReplicaIndex(i))) continue;
        claims_.take(ReplicaIndex(i));
        own.emplace_back(i);
    }
    for (std::size_t i = 0; i < world_.replicas.size(); ++i) {
        const Replica& replica = world_.replicas[i];
        if (!is_live_claim(replica) || claims_.taken(ReplicaIndex(i))) continue;
        for (std::size_t other = 0; other < world_.deployments.size(); ++other) {
            if (world_.deployments[other].name != replica.claimed_by || !is_equal_to_come(DeploymentIndex(other), d))
                continue;
            if (!claims_.may_take(ReplicaIndex(i))) continue;
            claims_.take(ReplicaIndex(i));
            out.emplace_back(i);
        }
    }
    for (ReplicaIndex replica : own)
        claims_.give_back(replica);
    return out;
}

std::int64_t Pass::missing(DeploymentIndex d) const {
    const Account& account = accounts_[d.index()];
    std::int64_t out = account.wanted;
    for (std::size_t b = 0; b < account.commits.size(); ++b)
        out += std::max<std::int64_t>(0, account.commits[b] - claims_.active(d, b));
    return out;
}

Outcome Pass::outcome() const {
    Outcome out{.categories = categories_, .matches = matches_, .decisions = {}, .held_now = {}, .held_later = {}};
    for (std::size_t i = 0; i < accounts_.size(); ++i) {
        const Account& account = accounts_[i];
        const DeploymentIndex d(i);
        Decision decision{.commits = account.commits,
                          .unmet = std::accumulate(account.roomless.begin(), account.roomless.end(), account.wanted),
                          .preemptee = claims_.is_preemptee(d)};
        for (std::size_t b = 0; b < decision.commits.size(); ++b) {
            const std::int64_t taken = claims_.normal_taken(d, b);
            // Pods without a node are deleted first: the target must be below those that have one.
            if (taken > 0) decision.commits[b] = std::min(decision.commits[b], claims_.active(d, b)) - taken;
        }
        out.decisions.push_back(std::move(decision));
    }
    for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
        subtract(out.held_now.emplace_back(world_.nodes[i].free), rooms_.free(NodeIndex(i)));
        subtract(out.held_later.emplace_back(world_.nodes[i].later), rooms_.later(NodeIndex(i)));
    }
    return out;
}

Outcome run_pass(const World& world) {
    Pass pass(world);
    for (const DeploymentIndex d : Pass::order(world)) {
        pass.reserve(d);
        if (!world.at(d).asked || pass.is_preemptee(d)) continue;
        pass.readopt(d);
        pass.scale_up(d);
        pass.match(d);
    }
    return pass.outcome();
}

}  // namespace reprieve::serving
