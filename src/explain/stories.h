// Stories: one for each kind of outcome, from the plan and, where they are at hand, the facts it was made from.
//
// `trials` is null where only the plan is known; then a story says what the plan says.
#pragma once

#include <string>
#include <vector>

#include "explain/retrials.h"
#include "explain/subject.h"

namespace reprieve {

// Claims that the victim uses with others, where that is why they go as one unit: "ns/c with ns/b".
[[nodiscard]] std::vector<std::string> shared_claims(const Eviction& eviction);
// For each owner that takes pods of the subject, and each way in which they go.
[[nodiscard]] std::vector<EvictionStory> eviction_stories(const Plan& plan, Retrials* trials, const Subject& subject);
[[nodiscard]] std::optional<PlacementStory> placement_story(const Plan& plan, Retrials* trials, const Subject& subject);
// One for each reason.
[[nodiscard]] std::vector<UnplacedStory> unplaced_stories(const Plan& plan, Retrials* trials, const Subject& subject);
// For each owner for whom room was made on a node where the pod runs and stays.
[[nodiscard]] std::vector<SparedStory> spared_stories(Retrials& trials, const Subject& subject);

// About a serving deployment or a replica; empty: it is neither. Without a cluster, what the plan says of it.
[[nodiscard]] std::vector<std::string> serving_sentences(const Plan& plan,
                                                         const Retrials* trials,
                                                         const Subject& subject);
// Whether the subject is a serving deployment.
[[nodiscard]] bool is_deployment(const Plan& plan, const Cluster* cluster, const Subject& subject);

}  // namespace reprieve
