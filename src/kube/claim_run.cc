#include "kube/claim_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

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

}  // namespace

std::string prepared_claim(const std::string& text) {
    const std::optional<ClaimStanding> claim = read_claim_standing(text);
    if (!claim || claim->deleting || claim->allocated || claim->has_finalizer) return {};
    return with_claim_finalizer(text);
}

ClaimRun::ClaimRun(
    Outbox& outbox, ClaimIndex& index, ClaimRunOptions options, const Placement& of, PlacedClaim claim, Time now)
    : outbox_(&outbox),
      index_(&index),
      options_(options),
      api_version_(index.api_version()),
      pod_(of.pod),
      uid_(of.uid),
      claim_(std::move(claim)),
      now_(now) {}

std::string ClaimRun::path(std::string_view sub) const {
    const std::size_t slash = claim_.claim.find('/');
    return object_path(
        api_version_, claim_.claim.substr(0, slash), "resourceclaims", claim_.claim.substr(slash + 1), sub);
}

void ClaimRun::start(Done done) {
    done_ = std::move(done);
    look();
}

// What the watch has told will do for a claim that waits for its devices; everything else is looked at by itself.
void ClaimRun::look() {
    if (options_.looks_twice && claim_.extended && !index_->knows(claim_.claim)) return create();
    const bool waits = claim_.is_new && !claim_.extended;
    const std::string known = waits ? index_->text(claim_.claim) : std::string();
    if (known.empty()) return ask();
    judge(known);
}

void ClaimRun::ask() {
    HttpRequest request;
    request.path = path();
    outbox_->call(claim_.claim, std::move(request), [self = shared_from_this()](const HttpAnswer& answer) {
        if (answer.status == 404 && self->claim_.extended) return self->create();
        if (!answer.ok()) return self->fail(answer.text());
        self->judge(answer.body);
    });
}

void ClaimRun::judge(const std::string& body) {
    const std::optional<ClaimStanding> claim = read_claim_standing(body);
    const std::string& name = claim_.claim;
    if (!claim) return fail(fmt::format("claim {} cannot be read", name));
    index_->note_answer(name, claim->version, !claim->allocated && !claim->deleting, body);
    if (claim->deleting) return fail(fmt::format("claim {} is being deleted", name));
    if (claim_.extended && claim->owner != uid_)
        return fail(fmt::format("claim {} belongs to an earlier pod of this name", name));
    if (!claim->allocated) {
        if (!claim_.is_new) return fail(fmt::format("claim {} has lost its devices", name));
        allocated_ = true;
        return claim->has_finalizer ? fetch_classes(body) : add_finalizer(body);
    }
    if (claim->devices != devices_of(claim_))
        return fail(fmt::format("claim {} was given other devices meanwhile", name));
    if (!claim->is_reserved_for(uid_)) return reserve(body);
    // By an earlier life of ours, or by a write whose answer got lost: it is looked at like one of our own.
    if (!entered_) allocated_ = true;
    entered_ = true;
    wait_for_watch(claim->version);
}

void ClaimRun::create() {
    const std::size_t slash = pod_.find('/');
    write("POST",
          object_path(api_version_, pod_.substr(0, slash), "resourceclaims", {}),
          extended_claim_body(claim_, api_version_, pod_.substr(slash + 1), uid_));
}

void ClaimRun::add_finalizer(const std::string& body) { write("PUT", path(), with_claim_finalizer(body)); }

// Their configuration goes to the drivers together with the devices.
void ClaimRun::fetch_classes(const std::string& body) {
    for (const ClaimedDevice& device : claim_.results) {
        if (device.cls.empty() || classes_.contains(device.cls)) continue;
        if (std::string known = index_->class_text(device.cls); !known.empty()) {
            classes_[device.cls] = std::move(known);
            continue;
        }
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
    entered_ = true;  // from here on the pod may be in the claim, whatever the answer says
    write("PUT", path("status"), with_claim_consumer(body, claim_, classes_, name, uid_, now_));
}

void ClaimRun::write(const char* method, std::string path, std::string body) {
    outbox_->call(claim_.claim,
                  write_request(method, std::move(path), std::move(body)),
                  [self = shared_from_this()](const HttpAnswer& answer) { self->after_write(answer); });
}

void ClaimRun::after_write(const HttpAnswer& answer) {
    if (answer.ok()) return judge(answer.body);
    // 404: what the watch told last was of a claim that is gone, and another may have its name.
    const bool is_open = answer.status == 409 || answer.status == 404 || answer.unsure;
    if (!is_open || ++conflicts_ > options_.conflicts) return fail(answer.text());
    ask();
}

void ClaimRun::wait_for_watch(const std::string& version) {
    if (!options_.looks_twice) return wait_for_devices({});
    waits_for_watch_ = true;
    const bool seen = index_->has_seen(
        version, outbox_, [self = shared_from_this()] { self->outbox_->run([self] { self->look_twice(); }); });
    if (seen) return look_twice();
    outbox_->run_after(options_.look_patience, [self = shared_from_this()] {
        if (!self->waits_for_watch_) return;
        self->waits_for_watch_ = false;
        self->fail(fmt::format("claim {} was written, but the watch does not show it", self->claim_.claim));
    });
}

void ClaimRun::look_twice() {
    if (!waits_for_watch_) return;
    waits_for_watch_ = false;
    const std::string other = index_->shared_device(claim_.claim);
    if (!other.empty()) return fail(other);
    wait_for_devices({});
}

void ClaimRun::wait_for_devices(Duration waited) {
    const bool waits = std::ranges::any_of(claim_.results, [](const ClaimedDevice& device) {
        return !device.binding_conditions.empty() || !device.failure_conditions.empty();
    });
    if (!waits) return tell_pod();
    HttpRequest request;
    request.path = path();
    outbox_->call(claim_.claim, std::move(request), [self = shared_from_this(), waited](const HttpAnswer& answer) {
        if (!answer.ok()) return self->fail(answer.text());
        const std::string& name = self->claim_.claim;
        switch (binding_state(answer.body, self->claim_)) {
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
    if (!claim_.extended) return done_(true, {});
    HttpRequest request;
    request.path = pod_path(pod_);
    outbox_->call(pod_, std::move(request), [self = shared_from_this()](const HttpAnswer& answer) {
        if (!answer.ok()) return self->fail(answer.text());
        HttpRequest patch =
            write_request("PATCH", pod_path(self->pod_, "status"), extended_claim_status(self->claim_, answer.body));
        patch.content_type = kStrategicPatch;
        self->outbox_->call(self->pod_, std::move(patch), [self](const HttpAnswer& told) {
            if (!told.ok()) return self->fail(told.text());
            self->done_(true, {});
        });
    });
}

void ClaimRun::take_back(std::function<void()> done) {
    conflicts_ = 0;
    entered_ ? leave(std::move(done)) : done();
}

void ClaimRun::release(std::function<void()> done) {
    allocated_ = true;
    leave(std::move(done));
}

void ClaimRun::leave(std::function<void()> done) {
    HttpRequest request;
    request.path = path();
    outbox_->call(claim_.claim, std::move(request), [self = shared_from_this(), done](const HttpAnswer& answer) {
        const std::optional<ClaimStanding> claim =
            answer.ok() ? read_claim_standing(answer.body) : std::optional<ClaimStanding>();
        if (!claim || !claim->is_reserved_for(self->uid_)) return done();
        self->outbox_->call(
            self->claim_.claim,
            write_request(
                "PUT", self->path("status"), without_claim_consumer(answer.body, self->uid_, self->allocated_)),
            [self, done](const HttpAnswer& written) {
                if (written.status == 409 && ++self->conflicts_ <= self->options_.conflicts) return self->leave(done);
                if (!written.ok())
                    spdlog::warn("claim {} keeps {}: {}", self->claim_.claim, self->pod_, written.text());
                done();
            });
    });
}

}  // namespace reprieve
