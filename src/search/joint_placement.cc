#include "search/joint_placement.h"

#include <algorithm>
#include <functional>

#include "state/claim_questions.h"
#include "state/device_choice.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMostSteps = 200'000;    // devices looked at
constexpr std::int64_t kMostQuestions = 4'000;  // about one node and some members
constexpr std::size_t kMostStates = 512;
constexpr std::size_t kMostKinds = 4;
constexpr std::size_t kMostNodes = 128;  // a walk asks again after every unit that it takes

bool dominates(const std::vector<std::uint32_t>& fewer, const std::vector<std::uint32_t>& more) {
    return std::ranges::equal(fewer, more, std::less_equal());
}

}  // namespace

JointPlacement::JointPlacement(
    Session& session, Placer& placer, View view, std::span<const NodeId> nodes, std::uint32_t note)
    : session_(session),
      placer_(placer),
      view_(view),
      nodes_(nodes),
      note_(note) {}

// Exchanging one for the other makes no difference to Q.
bool JointPlacement::asks_alike(PodId a, PodId b) const {
    const Snapshot& s = session_.snapshot;
    const ClaimTable& table = s.device_claims;
    const auto say_the_same = [&](DeviceClaimId x, DeviceClaimId y) {
        if (x == y) return true;
        const auto plain = [&](DeviceClaimId id) {
            return !table.row(id).given && s.now.claim_book().users(id) == 0 && s.later.claim_book().users(id) == 0;
        };
        return plain(x) && plain(y) &&
               (table.row(x).spec == table.row(y).spec || *table.row(x).spec == *table.row(y).spec);
    };
    return s.class_of(a).spec == s.class_of(b).spec && s.class_of(a).ns == s.class_of(b).ns &&
           table.of(a).trouble.empty() == table.of(b).trouble.empty() &&
           std::ranges::equal(table.of(a).wants, table.of(b).wants, say_the_same);
}

void JointPlacement::sort_into_kinds(std::span<const PodId> pods) {
    for (PodId pod : pods) {
        const auto kind = std::ranges::find_if(kinds_, [&](const auto& k) { return asks_alike(k.front(), pod); });
        if (kind == kinds_.end())
            kinds_.push_back({pod});
        else
            kind->push_back(pod);
    }
    for (const std::vector<PodId>& kind : kinds_)
        all_.push_back(static_cast<std::uint32_t>(kind.size()));
}

// Whether admin access is given depends on who comes before, not on who holds what in the end.
bool JointPlacement::any_admin_access(std::span<const PodId> pods) const {
    const ClaimTable& table = session_.snapshot.device_claims;
    return std::ranges::any_of(pods, [&](PodId pod) {
        return std::ranges::any_of(table.of(pod).wants, [&](DeviceClaimId id) {
            return std::ranges::any_of(table.row(id).spec->requests, [](const DeviceRequest& request) {
                return std::ranges::any_of(request.wishes, &DeviceWish::admin);
            });
        });
    });
}

std::vector<const ClaimBook*> JointPlacement::books() const {
    const Snapshot& s = session_.snapshot;
    if (view_ == View::kLater) return {&s.later.claim_book()};
    return {&s.now.claim_book(), &s.later.claim_book()};
}

std::vector<PodId> JointPlacement::some_of(const Counts& counts) const {
    std::vector<PodId> out;
    for (std::size_t k = 0; k < kinds_.size(); ++k)
        out.insert(out.end(), kinds_[k].begin(), kinds_[k].begin() + counts[k]);
    return out;
}

bool JointPlacement::has_room(NodeId node, const Counts& counts) const {
    const Snapshot& s = session_.snapshot;
    if (!session_.filters.on(FilterId::kNodeResourcesFit)) return true;
    Resources sum;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        for (const auto& [dim, value] : s.class_of(kinds_[k].front()).requests)
            sum.add(dim, value * counts[k]);
    }
    return std::ranges::all_of(sum, [&](const Resources::Amount& ask) {
        if (ask.value <= 0 || served_by_claim(s, node, ask.dim)) return true;
        return s.later.free(node, ask.dim) >= ask.value &&
               (view_ == View::kLater || s.now.free(node, ask.dim) >= ask.value);
    });
}

JointPlacement::Holds JointPlacement::holds(NodeId node, const Counts& counts) {
    if (++questions_ > kMostQuestions) return Holds::kUnknown;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        if (counts[k] > 0 && !placer_.facts(kinds_[k].front())[node.index()].fits()) return Holds::kNo;
    }
    if (!has_room(node, counts)) return Holds::kNo;
    if (steps_ > kMostSteps) return Holds::kUnknown;
    switch (choose_for_all(session_.snapshot, some_of(counts), node, books(), nullptr, steps_)) {
        case DeviceChoice::kFound:
            return Holds::kYes;
        case DeviceChoice::kGaveUp:
            return Holds::kUnknown;
        default:
            return Holds::kNo;
    }
}

// Only the largest ones; what is below one of them fits, too.
bool JointPlacement::list_fits(NodeId node, std::vector<Counts>& out) {
    std::vector<Counts> open = {Counts(kinds_.size(), 0)};
    std::vector<Counts> fitting = open;
    while (!open.empty()) {
        const Counts from = open.back();
        open.pop_back();
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
            Counts more = from;
            if (++more[k] > all_[k] || std::ranges::find(fitting, more) != fitting.end()) continue;
            const Holds answer = holds(node, more);
            if (answer == Holds::kUnknown) return false;
            if (answer == Holds::kNo) continue;
            if (fitting.size() == kMostStates) return false;
            fitting.push_back(more);
            open.push_back(std::move(more));
        }
    }
    for (const Counts& counts : fitting) {
        const auto above = [&](const Counts& other) { return other != counts && dominates(counts, other); };
        if (std::ranges::none_of(fitting, above)) out.push_back(counts);
    }
    return true;
}

JointPlacement::Answer JointPlacement::place(std::span<const PodId> pods) {
    if (pods.empty() || nodes_.size() > kMostNodes || any_admin_access(pods)) return Answer::kGaveUp;
    sort_into_kinds(pods);
    if (kinds_.size() > kMostKinds) return Answer::kGaveUp;
    std::vector<std::vector<State>> after = {{State{.left = all_, .taken = Counts(kinds_.size(), 0)}}};
    for (NodeId node : nodes_) {
        std::vector<Counts> fits;
        if (!list_fits(node, fits)) return Answer::kGaveUp;
        std::vector<State> next;
        for (std::size_t i = 0; i < after.back().size(); ++i) {
            for (const Counts& most : fits) {
                State made{.left = after.back()[i].left, .taken = most, .before = i};
                for (std::size_t k = 0; k < kinds_.size(); ++k) {
                    made.taken[k] = std::min(made.taken[k], made.left[k]);
                    made.left[k] -= made.taken[k];
                }
                if (std::ranges::any_of(next, [&](const State& s) { return dominates(s.left, made.left); })) continue;
                std::erase_if(next, [&](const State& s) { return dominates(made.left, s.left); });
                next.push_back(std::move(made));
            }
        }
        if (next.size() > kMostStates) return Answer::kGaveUp;
        after.push_back(std::move(next));
        const auto all_placed = [](const State& s) {
            return std::ranges::all_of(s.left, [](auto n) { return n == 0; });
        };
        const auto done = std::ranges::find_if(after.back(), all_placed);
        if (done == after.back().end()) continue;
        if (std::ranges::any_of(pods, [&](PodId p) { return free_devices_can_harm(session_.snapshot, p); }))
            return Answer::kGaveUp;
        return put_all(after, static_cast<std::size_t>(done - after.back().begin())) ? Answer::kPlaced
                                                                                     : Answer::kGaveUp;
    }
    return Answer::kNowhere;
}

// From the last node to the first.
bool JointPlacement::put_all(const std::vector<std::vector<State>>& after, std::size_t state) {
    const auto mark = session_.tx.checkpoint();
    std::vector<std::size_t> next(kinds_.size(), 0);  // of each kind, the first one without a place
    for (std::size_t at = after.size() - 1; at > 0; --at) {
        const State& here = after[at][state];
        const NodeId node = nodes_[at - 1];
        std::vector<PodId> members;
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
            for (std::uint32_t i = 0; i < here.taken[k]; ++i)
                members.push_back(kinds_[k][next[k]++]);
        }
        std::vector<std::vector<DeviceId>> devices;
        const DeviceChoice choice = choose_for_all(session_.snapshot, members, node, books(), &devices, steps_);
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (choice != DeviceChoice::kFound || !placer_.fits(members[i], node, view_)) {
                session_.tx.rollback(mark);
                return false;
            }
            placer_.put(members[i], node, view_, note_, devices[i]);
        }
        state = here.before;
    }
    return true;
}

}  // namespace reprieve
