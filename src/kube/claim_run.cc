#include "kube/claim_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/bodies.h"
#include "kube/kinds.h"

namespace reprieve {
namespace {

HttpRequest write_request(const char* method, std::string path, std::string body) {
    HttpRequest request;
    request.method = method;
    request.path = std::move(path);
    request.body = std::move(body);
    return request;
}

bool is_unbound_pod(const std::string& body, const std::string& uid) {
    const nlohmann::json pod = nlohmann::json::parse(body, nullptr, false);
    if (!pod.is_object()) return false;
    return pod.value(nlohmann::json::json_pointer("/metadata/uid"), std::string()) == uid &&
           pod.value(nlohmann::json::json_pointer("/spec/nodeName"), std::string()).empty();
}

}  // namespace

ClaimRun::ClaimRun(
    Outbox& outbox, const ClaimIndex* index, ClaimRunOptions options, const Placement& placement, Time now, Done done)
    : outbox_(&outbox),
      index_(index),
      options_(options),
      api_version_(index ? index->api_version() : "resource.k8s.io/v1"),
      pod_(placement.pod),
      uid_(placement.uid),
      claims_(placement.claims),
      now_(now),
      done_(std::move(done)) {}

std::string ClaimRun::claim_path(const std::string& claim, std::string_view sub) const {
    const std::size_t slash = claim.find('/');
    return object_path(api_version_, claim.substr(0, slash), "resourceclaims", claim.substr(slash + 1), sub);
}

void ClaimRun::fail(std::string what) { done_(false, std::move(what)); }

void ClaimRun::look() {
    if (at_ == claims_.size()) return done_(true, {});
    HttpRequest request;
    request.path = claim_path(current().claim);
    outbox_->call(current().claim, std::move(request), [self = shared_from_this()](const HttpAnswer& answer) {
        if (answer.status == 404 && self->current().extended) return self->create();
        if (!answer.ok()) return self->fail(answer.text());
        self->judge(answer.body);
    });
}

void ClaimRun::judge(const std::string& body) {
    const std::optional<ClaimStanding> claim = read_claim_standing(body);
    const std::string& name = current().claim;
    if (!claim) return fail(fmt::format("claim {} cannot be read", name));
    if (claim->deleting) return fail(fmt::format("claim {} is being deleted", name));
    if (current().extended && claim->owner != uid_)
        return fail(fmt::format("claim {} belongs to an earlier pod of this name", name));
    if (!claim->allocated) {
        if (!current().is_new) return fail(fmt::format("claim {} has lost its devices", name));
        allocated_.insert(name);
        return claim->has_finalizer ? fetch_classes(body) : add_finalizer(body);
    }
    if (claim->devices != devices_of(current()))
        return fail(fmt::format("claim {} was given other devices meanwhile", name));
    if (!claim->is_reserved_for(uid_)) return reserve(body);
    // By an earlier life of ours, or by a write whose answer got lost: it is looked at like one of our own.
    if (std::ranges::find(entered_, name) == entered_.end()) {
        entered_.push_back(name);
        allocated_.insert(name);
    }
    wait_for_watch(claim->version, {});
}

void ClaimRun::create() {
    const std::size_t slash = pod_.find('/');
    const std::string collection = object_path(api_version_, pod_.substr(0, slash), "resourceclaims", {});
    outbox_->call(
        current().claim,
        write_request("POST", collection, extended_claim_body(current(), api_version_, pod_.substr(slash + 1), uid_)),
        [self = shared_from_this()](const HttpAnswer& answer) {
            self->after_write(answer, [self](const std::string& made) { self->judge(made); });
        });
}

void ClaimRun::add_finalizer(const std::string& body) {
    outbox_->call(current().claim,
                  write_request("PUT", claim_path(current().claim), with_claim_finalizer(body)),
                  [self = shared_from_this()](const HttpAnswer& answer) {
                      self->after_write(answer, [self](const std::string& made) { self->judge(made); });
                  });
}

// Their configuration goes to the drivers together with the devices.
void ClaimRun::fetch_classes(const std::string& body) {
    for (const ClaimedDevice& device : current().results) {
        if (device.cls.empty() || classes_.contains(device.cls)) continue;
        HttpRequest request;
        request.path = object_path(api_version_, {}, "deviceclasses", device.cls);
        return outbox_->call("class " + device.cls,
                             std::move(request),
                             [self = shared_from_this(), body, name = device.cls](const HttpAnswer& answer) {
                                 if (!answer.ok()) return self->fail(answer.text());
                                 self->classes_[name] = answer.body;
                                 self->fetch_classes(body);
                             });
    }
    reserve(body);
}

void ClaimRun::reserve(const std::string& body) {
    const std::string name = pod_.substr(pod_.find('/') + 1);
    // From here on the pod may be in the claim, whatever the answer says.
    if (std::ranges::find(entered_, current().claim) == entered_.end()) entered_.push_back(current().claim);
    outbox_->call(current().claim,
                  write_request("PUT",
                                claim_path(current().claim, "status"),
                                with_claim_consumer(body, current(), classes_, name, uid_, now_)),
                  [self = shared_from_this()](const HttpAnswer& answer) {
                      self->after_write(answer, [self](const std::string& made) { self->judge(made); });
                  });
}

void ClaimRun::after_write(const HttpAnswer& answer, const std::function<void(const std::string&)>& done) {
    if (answer.ok()) return done(answer.body);
    const bool is_open = answer.status == 409 || answer.unsure;
    if (!is_open || ++conflicts_ > options_.conflicts) return fail(answer.text());
    look();
}

void ClaimRun::wait_for_watch(const std::string& version, Duration waited) {
    if (index_ == nullptr) return wait_for_devices({});
    const std::string& name = current().claim;
    if (index_->has_seen(name, version)) {
        const std::string other = index_->shared_device(name);
        return other.empty() ? wait_for_devices({}) : fail(other);
    }
    if (waited >= options_.look_patience)
        return fail(fmt::format("claim {} was written, but the watch does not show it", name));
    outbox_->run_after(options_.look_every, [self = shared_from_this(), version, waited] {
        self->wait_for_watch(version, {waited.us + self->options_.look_every.us});
    });
}

void ClaimRun::wait_for_devices(Duration waited) {
    const bool waits = std::ranges::any_of(current().results, [](const ClaimedDevice& device) {
        return !device.binding_conditions.empty() || !device.failure_conditions.empty();
    });
    if (!waits) return tell_pod();
    HttpRequest request;
    request.path = claim_path(current().claim);
    outbox_->call(current().claim, std::move(request), [self = shared_from_this(), waited](const HttpAnswer& answer) {
        if (!answer.ok()) return self->fail(answer.text());
        const std::string& name = self->current().claim;
        switch (binding_state(answer.body, self->current())) {
            case BindingState::kReady:
                return self->tell_pod();
            case BindingState::kFailed:
                return self->fail(fmt::format("a device of claim {} cannot be made ready", name));
            case BindingState::kPending:
                break;
        }
        if (waited >= self->options_.device_patience)
            return self->fail(fmt::format("the devices of claim {} are not ready", name));
        self->outbox_->run_after(self->options_.device_every, [self, waited] {
            self->wait_for_devices({waited.us + self->options_.device_every.us});
        });
    });
}

// The pod's status says which claim stands for its extended resources.
void ClaimRun::tell_pod() {
    if (!current().extended) return next();
    HttpRequest request;
    request.path = pod_path(pod_);
    outbox_->call(pod_, std::move(request), [self = shared_from_this()](const HttpAnswer& answer) {
        if (!answer.ok()) return self->fail(answer.text());
        HttpRequest patch =
            write_request("PATCH", pod_path(self->pod_, "status"), extended_claim_status(self->current(), answer.body));
        patch.content_type = kStrategicPatch;
        self->outbox_->call(self->pod_, std::move(patch), [self](const HttpAnswer& told) {
            if (!told.ok()) return self->fail(told.text());
            self->next();
        });
    });
}

void ClaimRun::next() {
    ++at_;
    conflicts_ = 0;
    look();
}

void ClaimRun::take_back(std::function<void()> done) {
    left_ = std::move(done);
    conflicts_ = 0;
    take_back_from(0);
}

void ClaimRun::release(std::function<void()> done) {
    left_ = std::move(done);
    for (const PlacedClaim& claim : claims_) {
        entered_.push_back(claim.claim);
        allocated_.insert(claim.claim);
    }
    HttpRequest request;
    request.path = pod_path(pod_);
    outbox_->call(pod_, std::move(request), [self = shared_from_this()](const HttpAnswer& answer) {
        if (!answer.ok() || !is_unbound_pod(answer.body, self->uid_)) return self->left_();
        self->take_back_from(0);
    });
}

void ClaimRun::take_back_from(std::size_t at) {
    if (at == entered_.size()) return left_();
    const std::string name = entered_[at];
    HttpRequest request;
    request.path = claim_path(name);
    outbox_->call(name, std::move(request), [self = shared_from_this(), at, name](const HttpAnswer& answer) {
        const std::optional<ClaimStanding> claim =
            answer.ok() ? read_claim_standing(answer.body) : std::optional<ClaimStanding>();
        if (!claim || !claim->is_reserved_for(self->uid_)) return self->take_back_from(at + 1);
        self->outbox_->call(
            name,
            write_request("PUT",
                          self->claim_path(name, "status"),
                          without_claim_consumer(answer.body, self->uid_, self->allocated_.contains(name))),
            [self, at, name](const HttpAnswer& written) {
                if (written.status == 409 && ++self->conflicts_ <= self->options_.conflicts)
                    return self->take_back_from(at);
                if (!written.ok()) spdlog::warn("claim {} keeps {}: {}", name, self->pod_, written.text());
                self->take_back_from(at + 1);
            });
    });
}

}  // namespace reprieve
