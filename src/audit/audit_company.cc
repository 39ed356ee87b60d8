// Company: pods that must be near each other need somebody who is there first.
//
// Each pod of the plan may have its affinity satisfied by others of the plan, but not all of them only by each other:
// whoever comes first would have been refused, and so would the next plan, which binds them one after another. So a pod
// has ground under its feet if mates in its domain have, one per term, or if it may be the first of its kind. Those who
// were there before the plan, those who need nobody and those promised by earlier plans have it from the start.
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "audit/rules.h"

namespace reprieve {
namespace {

class CompanyJudge {
public:
    explicit CompanyJudge(const Scene& scene) : scene_(scene), judged_(scene.judged()) {
        for (const PlacedPod& item : judged_.placed) {
            const Moment bound_in = item.entry->after_evictions ? Moment::kLater : Moment::kNow;
            if (item.in_flight || bound_in != scene.view() || judged_.spec(item.pod).affinity.empty()) continue;
            if (!has_labels(item)) continue;  // said elsewhere
            open_.emplace(&item, true);
            shapes_.emplace(judged_.fact(item.pod).spec, std::vector<const PlacedPod*>());
        }
        for (auto& [shape, askers] : shapes_) {
            const MateBook& mates = scene_.neighbours().mates(scene_, shape);
            for (const auto& [item, open] : open_) {
                const Pod& fact = judged_.fact(item->pod);
                if (fact.spec == shape) askers.push_back(item);
                if (is_mate(mates, shape, fact.ns, fact.labels)) count(shape, *item, +1);
            }
            for (const PlacedPod* item : askers) {
                each_term(shape, item->node, [&](const Place& place) { waiting_[place].push_back(item); });
            }
        }
    }

    void judge(Report& report) {
        std::deque<const PlacedPod*> queue;
        for (const auto& [item, open] : open_)
            queue.push_back(item);
        while (!queue.empty()) {
            const PlacedPod* item = queue.front();
            queue.pop_front();
            if (!open_.at(item) || !has_ground(*item)) continue;
            open_.at(item) = false;
            settle(*item, queue);
        }
        for (const auto& [item, open] : open_) {
            if (open)
                report.add("InterPodAffinity",
                           item->entry->pod,
                           "is near pods of the plan alone that must be near each other, and none may come first");
        }
    }

private:
    using Place = std::tuple<SpecId, std::size_t, StringId>;  // of one term of one shape

    bool has_labels(const PlacedPod& item) const {
        const Labels& labels = judged_.cluster.node(item.node)->labels;
        for (const PodAffinityTerm& term : judged_.spec(item.pod).affinity) {
            if (!labels.has(term.topology_key)) return false;
        }
        return true;
    }

    template <class Visit>
    void each_term(SpecId shape, NodeId node, Visit visit) const {
        const std::vector<PodAffinityTerm>& terms = judged_.words.spec(shape).affinity;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            if (const StringId domain = judged_.cluster.node(node)->labels.get(terms[i].topology_key))
                visit(Place{shape, i, domain});
        }
    }

    bool is_mate(const MateBook& mates, SpecId shape, StringId ns, LabelsId labels) {
        const auto [at, fresh] = mate_of_.try_emplace({shape, ns, labels}, false);
        if (fresh) at->second = mates.matches(ns, judged_.words.labels(labels));
        return at->second;
    }

    void count(SpecId shape, const PlacedPod& item, int sign) {
        each_term(shape, item.node, [&](const Place& place) { open_mates_[place] += sign; });
    }

    // How many mates with ground under their feet are there.
    std::int64_t grounded(const Place& place) {
        const auto& [shape, term, domain] = place;
        const MateBook::Company* there = scene_.neighbours().mates(scene_, shape).company(term, domain);
        const auto open = open_mates_.find(place);
        return there == nullptr ? 0 : there->settled + there->placed - (open == open_mates_.end() ? 0 : open->second);
    }

    bool has_ground(const PlacedPod& item) {
        const Pod& fact = judged_.fact(item.pod);
        const MateBook& mates = scene_.neighbours().mates(scene_, fact.spec);
        const bool first = mates.settled() == 0 && mates.lonely_elsewhere(item.node) == 0 &&
                           is_mate(mates, fact.spec, fact.ns, fact.labels);
        bool company = true;
        each_term(fact.spec, item.node, [&](const Place& place) { company = company && grounded(place) > 0; });
        // A pod without any company in its domain was told so already.
        return first || company || !has_any_company(item);
    }

    bool has_any_company(const PlacedPod& item) {
        const Pod& fact = judged_.fact(item.pod);
        const MateBook& mates = scene_.neighbours().mates(scene_, fact.spec);
        const std::int64_t itself = is_mate(mates, fact.spec, fact.ns, fact.labels) ? 1 : 0;
        bool any = true;
        each_term(fact.spec, item.node, [&](const Place& place) {
            const MateBook::Company* there = mates.company(std::get<1>(place), std::get<2>(place));
            any = any && there != nullptr && there->settled + there->placed > itself;
        });
        return any;
    }

    // It is there for others now: the first one in a domain may be what somebody waits for.
    void settle(const PlacedPod& item, std::deque<const PlacedPod*>& queue) {
        const Pod& fact = judged_.fact(item.pod);
        for (const auto& [shape, askers] : shapes_) {
            if (!is_mate(scene_.neighbours().mates(scene_, shape), shape, fact.ns, fact.labels)) continue;
            each_term(shape, item.node, [&](const Place& place) {
                const bool none_yet = grounded(place) == 0;
                --open_mates_[place];
                if (!none_yet) return;
                for (const PlacedPod* waits : waiting_[place]) {
                    if (open_.at(waits)) queue.push_back(waits);
                }
            });
        }
    }

    const Scene& scene_;
    const Case& judged_;
    std::map<const PlacedPod*, bool> open_;  // in the order of the plan: they stand in one vector
    std::map<SpecId, std::vector<const PlacedPod*>> shapes_;
    std::map<Place, std::int64_t> open_mates_;
    std::map<Place, std::vector<const PlacedPod*>> waiting_;
    std::map<std::tuple<SpecId, StringId, LabelsId>, bool> mate_of_;
};

}  // namespace

void judge_company(const Scene& scene, Report& report) {
    if (!scene.judged().filters_by("InterPodAffinity")) return;
    CompanyJudge(scene).judge(report);
}

}  // namespace reprieve
