// A cluster that was changed fact by fact knows the same as one that was built from the facts as they are in the end.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "laboratory.h"

namespace reprieve::property {
namespace {

class Changes {
public:
    Changes(Laboratory& lab, std::vector<Json> documents) : lab_(lab), documents_(std::move(documents)) {}

    void change() {
        switch (draw(0, 11)) {
            case 7:
            case 8:
            case 9:
            case 10:
                put(random_rarity());
                break;
            case 11:
                put_pod_of_rarities();
                break;
            case 0:
                remove();
                break;
            case 1:
                put(random_pod(fmt::format("x{}", next_++), "", {}));
                break;
            case 2:
                put(random_pod(fmt::format("x{}", next_++), some_node(), {}));
                break;
            case 3:
                put(random_node(fmt::format("n{}", draw(0, 6)), {}));
                break;
            default:
                alter();
        }
    }

    [[nodiscard]] const std::vector<Json>& documents() const { return documents_; }

private:
    // A pod that names what comes and goes: a class, a namespace's labels, a controller, a serving deployment.
    void put_pod_of_rarities() {
        Json pod = random_pod(fmt::format("x{}", next_++), draw(0, 1) == 0 ? some_node() : "", {});
        switch (draw(0, 4)) {
            case 0:
                pod["spec"].erase("priority");
                if (draw(0, 1) == 0) pod["spec"]["priorityClassName"] = draw(0, 1) == 0 ? "class-a" : "class-b";
                break;
            case 1: {
                const Json term{{"labelSelector", {{"matchLabels", {{"app", "a"}}}}},
                                {"namespaceSelector", {{"matchLabels", {{"team", "a"}}}}},
                                {"topologyKey", "zone"}};
                pod["spec"]["affinity"]["podAntiAffinity"] = {
                    {"requiredDuringSchedulingIgnoredDuringExecution", Json::array({term})}};
                break;
            }
            case 2:
                pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                                   {"kind", "ReplicaSet"},
                                                                   {"name", "a"},
                                                                   {"uid", "a"},
                                                                   {"controller", true}}});
                break;
            case 3:
                pod["metadata"]["labels"]["reprieve.dev/serving"] = "serves";
                break;
            default:
                pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = fmt::format("g{}", draw(0, 2));
                pod["metadata"]["annotations"].erase("scheduling.volcano.sh/queue-name");
        }
        put(pod);
    }

    std::string some_node() { return fmt::format("n{}", draw(0, 5)); }

    Json* some(const std::string& kind) {
        std::vector<Json*> found;
        for (Json& document : documents_) {
            if (document["kind"] == kind) found.push_back(&document);
        }
        return found.empty() ? nullptr : found[static_cast<std::size_t>(draw(0, static_cast<int>(found.size()) - 1))];
    }

    void put(const Json& document) {
        for (Json& known : documents_) {
            if (known["kind"] == document["kind"] && known["metadata"]["name"] == document["metadata"]["name"] &&
                known["metadata"].value("namespace", "default") == document["metadata"].value("namespace", "default")) {
                known = document;
                lab_.apply(document);
                return;
            }
        }
        documents_.push_back(document);
        lab_.apply(document);
    }

    void remove() {
        if (documents_.empty()) return;
        const int at = draw(0, static_cast<int>(documents_.size()) - 1);
        lab_.remove(documents_[static_cast<std::size_t>(at)]);
        documents_.erase(documents_.begin() + at);
    }

    // A pod's way through life, and what others do to it.
    void alter() {
        Json* pod = some("Pod");
        if (pod == nullptr) return;
        Json changed = *pod;
        switch (draw(0, 7)) {
            case 7:
                changed["spec"]["nodeName"] = some_node();
                changed["status"] = {{"phase", "Pending"}};
                break;
            case 0:
                changed["spec"]["nodeName"] = some_node();
                changed["status"] = {{"phase", "Running"}, {"startTime", "2026-01-01T12:00:00Z"}};
                break;
            case 1:
                changed["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:20Z";
                break;
            case 2:
                changed["status"]["phase"] = "Succeeded";
                break;
            case 3:
                changed["spec"]["priority"] = draw(0, 4) * 10;
                break;
            case 4:
                changed["metadata"]["labels"]["app"] = draw(0, 1) == 0 ? "a" : "b";
                break;
            case 5:
                changed["status"]["nominatedNodeName"] = some_node();
                break;
            default:
                changed["metadata"]["annotations"].erase("scheduling.k8s.io/group-name");
        }
        put(changed);
    }

    Laboratory& lab_;
    std::vector<Json> documents_;
    int next_ = 0;
};

RC_GTEST_PROP(Cluster, ChangedStepByStepEqualsBuiltFromNothing, ()) {
    const std::vector<Json> world = random_world();
    const auto lab = build(world);
    Changes changes(*lab, world);
    const SchedulerConfig config = read_config(random_config());
    const int rounds = draw(1, 4);
    Time now = kNow;
    for (int round = 0; round < rounds; ++round) {
        const int count = draw(1, 5);
        for (int i = 0; i < count; ++i)
            changes.change();
        now = now + Duration{draw(0, 3) * std::int64_t{3'600'000'000}};
        lab->refresh(now);
        if (draw(0, 1) == 0) lab->sweep();
        const auto fresh = build(changes.documents(), now);
        RC_LOG() << as_text(changes.documents());
        RC_ASSERT(difference(numbers(lab->cluster()), numbers(fresh->cluster())) == "");
        RC_ASSERT(difference(lab->plan(config), fresh->plan(config)) == "");
        RC_ASSERT(lab->cluster().rebuilds() == 1);
    }
}

}  // namespace
}  // namespace reprieve::property
