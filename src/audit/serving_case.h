// ServingCase: the serving deployments of a plan under judgement, with the names it uses looked up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "audit/case.h"
#include "audit/rules.h"
#include "state/serving.h"

namespace reprieve {

struct ServingMember {
    const ServingRow* row = nullptr;
    const ServingBranch* branch = nullptr;
};

class ServingCase {
public:
    explicit ServingCase(const Case& judged);
    ServingCase(const ServingCase&) = delete;
    ServingCase& operator=(const ServingCase&) = delete;

    const ServingRoster roster;

    // Null: there is none of that name.
    [[nodiscard]] const ServingRow* row(const std::string& name) const;
    // Null: the pod is no replica.
    [[nodiscard]] const ServingMember* member(PodId pod) const;
    // Replicas that run and are not leaving.
    [[nodiscard]] std::int64_t active(const ServingBranch& branch) const;

private:
    const Case& judged_;
    std::map<PodId, ServingMember> members_;
    std::map<std::string_view, const ServingRow*> by_name_;
};

// Matches, numbers of replicas and marks; `now` is the scene before anybody goes.
void judge_serving(const Scene& now, Report& report);
// audit_scale.cc: numbers of replicas, and the marks that claims leave on pods.
void judge_scale(const ServingCase& serving, const Scene& now, Report& report);
void judge_marks(const Case& judged, Report& report);

}  // namespace reprieve
