#include "actions/serving_preempt.h"

#include <algorithm>

#include "actions/serving/pass.h"
#include "actions/serving/report.h"
#include "actions/serving/view.h"
#include "state/serving.h"

namespace reprieve {
namespace {

Resources amounts_of(const std::vector<Dim>& dims, const serving::Amounts& amounts) {
    Resources out;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (amounts[i] > 0) out.set(dims[i], amounts[i]);
    }
    return out;
}

}  // namespace

void ServingPreempt::run(const std::vector<std::string>& only, const std::set<std::string>& overdue) {
    const ServingRoster roster = read_servings(*desk_.snapshot().facts, desk_.session.config.plugins.plane_label);
    for (const std::string& warning : roster.warnings)
        desk_.plan.warning(warning);
    if (roster.rows.empty() && desk_.snapshot().facts->marked().empty()) return;  // most clusters
    const serving::View view = serving::look_at(desk_.session, roster, action_, only, overdue);
    const serving::Outcome outcome = serving::run_pass(view.world);
    desk_.plan.add(serving::report(desk_.snapshot(), view, outcome));
    for (std::size_t i = 0; i < view.nodes.size(); ++i) {
        Held held{.node = view.nodes[i],
                  .now = amounts_of(view.dims, outcome.held_now[i]),
                  .later = amounts_of(view.dims, outcome.held_later[i])};
        if (held.now.empty() && held.later.empty()) continue;
        hold(held, +1);
        held_.push_back(std::move(held));
    }
}

void ServingPreempt::hold(const Held& held, int sign) {
    Snapshot& snapshot = desk_.snapshot();
    snapshot.now.offer(snapshot.geometry(), held.node, held.now, -sign);
    snapshot.later.offer(snapshot.geometry(), held.node, held.later, -sign);
    desk_.session.tx.touches().note(held.node);
}

void ServingPreempt::let_go() {
    for (const Held& held : held_)
        hold(held, -1);
    held_.clear();
}

}  // namespace reprieve
