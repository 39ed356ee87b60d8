#include "kube/event_feed.h"

#include <fmt/format.h>

#include <algorithm>

namespace reprieve {
namespace {

struct FedKind {
    const char* key;
    const char* version;
    const char* path;
};

constexpr FedKind kFedKinds[] = {
    {"Event.events.k8s.io", "events.k8s.io/v1", "/apis/events.k8s.io/v1/events"},
    {"Workload.kueue.x-k8s.io", "kueue.x-k8s.io/v1beta1", "/apis/kueue.x-k8s.io/v1beta1/workloads"},
};
constexpr std::size_t kFeedBytes = 32U << 20U;

}  // namespace

EventFeed::EventFeed(HttpClient& client) : client_(&client), inbox_(kFeedBytes) {
    for (std::size_t kind = 0; kind < std::size(kFedKinds); ++kind) {
        watchers_.push_back(std::make_unique<Watcher>(client, inbox_, kind, WatcherOptions{}, counts_));
        watchers_.back()->on_refused([this, kind](const HttpAnswer& answer) {
            // A server that has just started may refuse what it granted before: only who was never served gives up.
            const bool refused = answer.status == 404 || answer.status == 403;
            if (refused && !watchers_[kind]->has_listed()) watchers_[kind]->stop();
        });
    }
    inbox_.on_room([this] {
        client_->run(this, [this] {
            client_->resume_streams();
            for (const auto& watcher : watchers_)
                watcher->on_room();
        });
    });
    client_->run(this, [this] {
        for (std::size_t kind = 0; kind < std::size(kFedKinds); ++kind)
            watchers_[kind]->start(kFedKinds[kind].version, kFedKinds[kind].path);
    });
}

EventFeed::~EventFeed() {
    inbox_.close();
    client_->forget(this);
    for (const auto& watcher : watchers_)
        client_->forget(watcher.get());
}

void EventFeed::poll(std::vector<FedObject>& out) {
    Parcel parcel;
    late_ = {};
    const auto put = [&](std::string_view json, bool gone) {
        const FrameReader::Name name = names_.name_of(json);
        out.push_back({.key = fmt::format("{} {}/{}", kFedKinds[parcel.kind].key, name.ns, name.name),
                       .json = gone ? std::string() : std::string(json)});
    };
    while (inbox_.take(parcel, {})) {
        late_ = std::max({late_, parcel.late, parcel.missed});
        if (parcel.content == Parcel::Content::kPage)
            static_cast<void>(frames_.each_item(parcel.bytes, [&](std::string_view item) { put(item, false); }));
        if (parcel.content != Parcel::Content::kEvents) continue;
        std::string_view rest = parcel.bytes;
        while (!rest.empty()) {
            const std::size_t end = rest.find('\n');
            const WatchFrame frame = frames_.frame(rest.substr(0, end));
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
            if (frame.event == WatchEvent::kAdded || frame.event == WatchEvent::kModified) put(frame.object, false);
            if (frame.event == WatchEvent::kDeleted) put(frame.object, true);
        }
    }
}

Duration EventFeed::broken_for() const {
    Duration out;
    for (const auto& watcher : watchers_)
        out = std::max(out, watcher->broken_for());
    return out;
}

}  // namespace reprieve
