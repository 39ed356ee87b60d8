#include "kube/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "kube/bodies.h"

namespace reprieve {
namespace {

// The number of replicas in a Scale or in the annotation of a Revision; -1: none.
std::int64_t replicas_in(const std::string& body, bool is_revision) {
    const nlohmann::json object = nlohmann::json::parse(body, nullptr, false);
    if (!object.is_object()) return -1;
    if (!is_revision) return object.value(nlohmann::json::json_pointer("/spec/replicas"), std::int64_t{0});
    const std::string text = object.value(
        nlohmann::json::json_pointer("/metadata/annotations/autoscaling.knative.dev~1max-scale"), std::string());
    std::int64_t number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::vector<Eviction> replicas_of(const ScaleChange& change, const Plan& plan) {
    std::vector<Eviction> found;
    std::ranges::copy_if(plan.evictions, std::back_inserter(found), [&](const Eviction& e) {
        return e.mode == EvictionMode::kScaleDown && std::ranges::find(change.hints, e.pod) != change.hints.end();
    });
    return found;
}

}  // namespace

void Scaling::take(const Plan& plan) {
    std::map<Target, Pending> wanted;
    for (const ScaleChange& change : plan.scale) {
        const Target target{change.deployment, change.plane};
        const auto before = pending_.find(target);
        const bool same = before != pending_.end() && before->second.order.change == change;
        if (same)
            wanted.emplace(target, std::move(before->second));
        else
            wanted.emplace(target, Pending{.order = {.change = change, .replicas = replicas_of(change, plan)}});
    }
    const bool had_work = !pending_.empty();
    pending_ = std::move(wanted);
    if (had_work != !pending_.empty()) had_work ? outbox_->close() : outbox_->open();
    look();
}

void Scaling::look() {
    std::vector<Target> targets;
    for (const auto& [target, pending] : pending_)
        targets.push_back(target);
    for (const Target& target : targets)
        advance(pending_.at(target));
    const bool waiting = std::ranges::any_of(pending_, [](const auto& entry) { return !entry.second.sent; });
    if (!waiting || looking_) return;
    looking_ = true;
    outbox_->run_after(options_.look_every, [this] {
        looking_ = false;
        for (auto& [target, pending] : pending_)
            pending.waited.us += options_.look_every.us;
        look();
    });
}

bool Scaling::hints_seen(const ScaleChange& change) const {
    return std::ranges::all_of(change.hints, [this](const std::string& hint) {
        const KnownPod known = outbox_->pods().find(hint);
        // One that is leaving needs no hint any more.
        return known.deleting.is_set() || (known.certain && known.confirmed && known.deletion_cost.has_value());
    });
}

void Scaling::advance(Pending& pending) {
    if (pending.sent) return;
    if (pending.order.change.hints.empty()) return send(pending);
    if (!hints_seen(pending.order.change)) {
        pending.settled = {};
        // Scaling without the hint would stop the wrong pod: not done is better.
        if (pending.waited > options_.give_up) {
            pending.sent = true;
            end(pending.order, false, "not scaled: the hints on its pods did not come back");
        }
        return;
    }
    if (pending.settled.us == 0) pending.settled = {std::max<std::int64_t>(pending.waited.us, 1)};
    if (pending.waited.us - pending.settled.us >= options_.settle.us) send(pending);
}

void Scaling::send(Pending& pending) {
    pending.sent = true;
    const Order order = pending.order;
    const ScaleChange& change = order.change;
    const auto address = addresses_->commit(change.deployment, change.plane.empty() ? "default" : change.plane);
    if (!address) return end(order, false, "no Deployment or Revision is its commit in this plane");
    if (address->is_revision && change.to < 1)
        return end(order, false, "a Revision cannot be limited to 0: that means no limit");
    HttpRequest request;
    request.method = "PATCH";
    request.path = address->is_revision ? address->path : address->path + "/scale";
    request.content_type = kJsonPatch;
    request.body = address->is_revision ? max_scale_body(change.from, change.to) : scale_body(change.from, change.to);
    outbox_->call(address->path, std::move(request), [this, order, address = *address](const HttpAnswer& answer) {
        if (answer.ok())
            end(order, true, {});
        else if (answer.status == 422 || answer.status == 409)
            read_back(order, address, answer.text());
        else
            end(order, false, answer.text(), !answer.withheld);
    });
}

void Scaling::read_back(const Order& order, const CommitAddress& address, const std::string& refusal) {
    HttpRequest request;
    request.path = address.is_revision ? address.path : address.path + "/scale";
    outbox_->call(address.path,
                  std::move(request),
                  [this, order, refusal, is_revision = address.is_revision](const HttpAnswer& answer) {
                      const std::int64_t now = answer.ok() ? replicas_in(answer.body, is_revision) : -1;
                      if (now == order.change.to) return end(order, true, {});
                      if (now >= 0 && now != order.change.from)
                          return end(order, false, fmt::format("somebody else scaled it to {}", now));
                      end(order, false, refusal);
                  });
}

void Scaling::end(const Order& order, bool ok, std::string what, bool tried) {
    const ScaleChange& change = order.change;
    if (ok) done_(order.replicas);
    outbox_->report({.step = SinkStep::kScale,
                     .pod = change.deployment,
                     .uid = {},
                     .ok = ok,
                     .what = std::move(what),
                     .tried = tried});
    const auto found = pending_.find({change.deployment, change.plane});
    if (found == pending_.end() || !(found->second.order.change == change)) return;
    pending_.erase(found);
    if (pending_.empty()) outbox_->close();
}

}  // namespace reprieve
