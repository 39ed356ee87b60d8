// PodMaker: new pods, as controllers make them: from a template, or after the likeness of a pod that was lost.
#pragma once

#include <string>

#include "sim/store.h"

namespace reprieve {

class PodMaker {
public:
    explicit PodMaker(Store& store) : store_(store) {}

    // "web-7d4b9-x2k4f", as generateName does it; not in use.
    [[nodiscard]] std::string fresh_name(const std::string& ns, const std::string& prefix);
    // A pod of the owner; the caller may still add to it.
    [[nodiscard]] Json from_template(const Json* pod_template,
                                     const Store::Entry& owner,
                                     const std::string& name) const;
    // The same pod once more, with nothing of what happened to the first one.
    [[nodiscard]] Json again(const Json& lost, const std::string& name) const;
    // A pod that cannot be decoded is a controller that makes no progress: nothing is created.
    void create(Json pod);

private:
    Store& store_;
};

// An object's owner reference to `owner`, as its controller.
[[nodiscard]] Json reference_to(const Store::Entry& owner);

}  // namespace reprieve
