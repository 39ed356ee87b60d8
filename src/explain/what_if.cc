#include "explain/what_if.h"

#include <ranges>

#include "actions/cycle.h"
#include "base/check.h"

namespace reprieve {

WhatIf::~WhatIf() {
    for (Undo& step : undo_ | std::views::reverse) {
        if (step.put_back)
            cluster_.apply(std::move(step.object));
        else
            cluster_.remove(step.object);
    }
    if (!undo_.empty()) refresh();
}

void WhatIf::change(Object before, Object after) {
    undo_.push_back({.object = std::move(before), .put_back = true});
    cluster_.apply(std::move(after));
    stale_ = true;
}

void WhatIf::add(Object object) {
    undo_.push_back({.object = object, .put_back = false});
    cluster_.apply(std::move(object));
    stale_ = true;
}

void WhatIf::remove(Object object) {
    cluster_.remove(object);
    undo_.push_back({.object = std::move(object), .put_back = true});
    stale_ = true;
}

void WhatIf::refresh() {
    const auto done = cluster_.refresh(cluster_.snapshot().now_time);
    REPRIEVE_CHECK(done, "facts that differ in a value: {}", done.error().message);
    stale_ = false;
}

Snapshot& WhatIf::snapshot() {
    if (stale_) refresh();
    return cluster_.snapshot();
}

Plan WhatIf::plan(const SchedulerConfig& config) {
    if (stale_) refresh();
    return run_cycle(cluster_, config);
}

}  // namespace reprieve
