#include "kube/volume_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kube/bodies.h"

namespace reprieve {
namespace {

constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";

std::string claim_path(const std::string& claim) {
    const std::size_t slash = claim.find('/');
    return fmt::format(
        "/api/v1/namespaces/{}/persistentvolumeclaims/{}", claim.substr(0, slash), claim.substr(slash + 1));
}

std::string volume_path(const std::string& volume) { return "/api/v1/persistentvolumes/" + volume; }

nlohmann::json parsed(const std::string& body) {
    nlohmann::json object = nlohmann::json::parse(body, nullptr, false);
    return object.is_object() ? object : nlohmann::json::object();
}

std::string text_under(const nlohmann::json& object, const char* path) {
    const nlohmann::json::json_pointer pointer(path);
    return object.contains(pointer) && object.at(pointer).is_string() ? object.at(pointer).get<std::string>() : "";
}

HttpRequest patch(std::string path, const nlohmann::json& body) {
    HttpRequest request;
    request.method = "PATCH";
    request.path = std::move(path);
    request.content_type = kMergePatch;
    request.body = body.dump();
    return request;
}

}  // namespace

void VolumeRun::look() {
    if (at_ == volumes_.size()) return end(true, {});
    HttpRequest request;
    request.path = claim_path(current().claim);
    outbox_->call(current().claim, std::move(request), [self = shared_from_this()](const HttpAnswer& answer) {
        if (!answer.ok()) return self->end(false, answer.text());
        self->judge(answer.body);
    });
}

void VolumeRun::look_again() {
    if (waited_ >= options_.give_up) return end(false, fmt::format("claim {} is not bound", current().claim));
    waited_.us += options_.look_every.us;
    outbox_->run_after(options_.look_every, [self = shared_from_this()] { self->look(); });
}

void VolumeRun::judge(const std::string& body) {
    const nlohmann::json claim = parsed(body);
    const std::string selected = text_under(claim, "/metadata/annotations/volume.kubernetes.io~1selected-node");
    if (!text_under(claim, "/metadata/deletionTimestamp").empty())
        return end(false, fmt::format("claim {} is being deleted", current().claim));
    if (text_under(claim, "/status/phase") == "Bound" && !text_under(claim, "/spec/volumeName").empty()) {
        ++at_;
        told_ = false;
        return look();
    }
    if (!current().volume.empty()) return told_ ? look_again() : promise(text_under(claim, "/metadata/uid"));
    ask_for_disk(selected);
}

// The volume is this claim's, unless somebody else was faster.
void VolumeRun::promise(const std::string& uid) {
    HttpRequest request;
    request.path = volume_path(current().volume);
    outbox_->call(current().volume, std::move(request), [self = shared_from_this(), uid](const HttpAnswer& answer) {
        if (!answer.ok()) return self->end(false, answer.text());
        const nlohmann::json volume = parsed(answer.body);
        const std::string owner = text_under(volume, "/spec/claimRef/uid");
        const std::string& claim = self->current().claim;
        const std::size_t slash = claim.find('/');
        const std::string named =
            text_under(volume, "/spec/claimRef/namespace") + "/" + text_under(volume, "/spec/claimRef/name");
        if (owner == uid) {
            self->told_ = true;
            return self->look_again();
        }
        if (!owner.empty() || (named != "/" && named != claim))
            return self->end(false, fmt::format("volume {} belongs to claim {}", self->current().volume, named));
        // The version makes sure that nobody promises it to two claims.
        const nlohmann::json body{{"metadata", {{"resourceVersion", text_under(volume, "/metadata/resourceVersion")}}},
                                  {"spec",
                                   {{"claimRef",
                                     {{"apiVersion", "v1"},
                                      {"kind", "PersistentVolumeClaim"},
                                      {"namespace", claim.substr(0, slash)},
                                      {"name", claim.substr(slash + 1)},
                                      {"uid", uid}}}}}};
        self->outbox_->call(self->current().volume,
                            patch(volume_path(self->current().volume), body),
                            [self](const HttpAnswer& written) {
                                if (!written.ok()) return self->end(false, written.text());
                                self->told_ = true;
                                self->look_again();
                            });
    });
}

void VolumeRun::ask_for_disk(const std::string& selected) {
    if (selected == node_) {
        told_ = true;
        return look_again();
    }
    // Taken back by whoever makes the disks: not on this node.
    if (told_) return end(false, fmt::format("claim {} cannot be provisioned for node {}", current().claim, node_));
    if (!selected.empty())
        return end(false, fmt::format("claim {} is being provisioned for node {}", current().claim, selected));
    outbox_->call(current().claim,
                  patch(claim_path(current().claim), {{"metadata", {{"annotations", {{kSelectedNode, node_}}}}}}),
                  [self = shared_from_this()](const HttpAnswer& answer) {
                      if (!answer.ok()) return self->end(false, answer.text());
                      self->told_ = true;
                      self->look_again();
                  });
}

}  // namespace reprieve
