// SecondLook: an eviction of which nobody knows whether it was carried out (its answer got lost, and then the server
// said something else): the pod itself is asked, until it says so one way or the other.
//
// Without it a victim that is leaving would count as one that stays, and another would be evicted in its place. Lives
// on the client's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/http_client.h"

namespace reprieve {

enum class WriteEnd : unsigned char {
    kDone,
    kGone,  // the object is not there any more, or another has its name
    kFailed
};

class SecondLook : public std::enable_shared_from_this<SecondLook> {
public:
    // None: it could not be learned.
    using Seen = std::function<void(std::optional<WriteEnd>)>;

    SecondLook(HttpClient& client, const void* owner, std::string path, std::string uid, Seen seen)
        : client_(&client),
          owner_(owner),
          path_(std::move(path)),
          uid_(std::move(uid)),
          seen_(std::move(seen)) {}

    void start();

private:
    // None: the answer says nothing about the pod.
    [[nodiscard]] std::optional<WriteEnd> read(const HttpAnswer& answer) const;

    HttpClient* client_;
    const void* owner_;
    std::string path_;  // of the pod
    std::string uid_;
    Seen seen_;
    int looks_ = 0;
};

}  // namespace reprieve
