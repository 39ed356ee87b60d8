// KubeSource: the facts of a real cluster, by list and watch.
//
// The network is read on the client's thread and stops when the decoder falls behind; objects are decoded on the
// caller's thread, in `poll`. An object that cannot be decoded is counted, said once and left as it was. Kinds that not
// every cluster has are followed as soon as they are served; the first `poll` waits until it is known which those are.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/address_book.h"
#include "kube/discovery.h"
#include "kube/frames.h"
#include "kube/gang_census.h"
#include "kube/http_client.h"
#include "kube/inbox.h"
#include "kube/kind_health.h"
#include "kube/kinds.h"
#include "kube/known_pods.h"
#include "kube/watcher.h"
#include "manifest/decode.h"
#include "model/world.h"

namespace reprieve {

struct KubeSourceOptions {
    WatcherOptions watcher;
    std::size_t inbox_bytes = 64U << 20U;
    Duration rediscover{30'000'000};
    // So many refusals in a row are taken for the last word: of a required kind (401, 403) at the start, of an optional
    // one (403, 404) after it has been read.
    int refusals = 12;
    std::function<Time()> clock;
    std::function<bool()> stopped;  // asked while everything is waited for at the start; none: never
    GangCensus* census = nullptr;   // told of the members of gangs; none: nobody counts them
};

struct KubeSourceCounts {
    std::uint64_t objects = 0;    // decoded
    std::uint64_t malformed = 0;  // left out
    std::uint64_t bytes = 0;      // of what was decoded
};

class KubeSource final : public Source {
public:
    // All of them must outlive the source. The client carries nothing else: it stops reading when the decoder is
    // behind.
    KubeSource(
        HttpClient& client, Vocabulary& words, KnownPods& pods, AddressBook& addresses, KubeSourceOptions options);
    ~KubeSource() override;

    [[nodiscard]] bool poll(std::vector<Change>& out, Duration wait) override;
    [[nodiscard]] Time now() const override { return options_.clock(); }
    void keep_texts() override { keeps_texts_ = true; }
    // Called by `poll` when a watch could not go on: what changed between these moments is known only by its result.
    void on_missed(std::function<void(const std::string& kind, Time from, Time to)> call) {
        missed_call_ = std::move(call);
    }
    // Called by `poll` when pods are heard of again after their watch broke off: changes that happened between these
    // moments come only now, all of them. Of pods alone, because their order in time is what decisions are read from.
    void on_late(std::function<void(Time from, Time to)> call) { late_call_ = std::move(call); }

    // From any thread: `poll` returns at once; for the first, without having changed anything.
    void wake();
    // From any thread: the world ends.
    void stop();
    // The same, and why.
    void fail(std::string why);
    // Why the world ended; empty: it was asked to.
    [[nodiscard]] std::string fault() const;
    // Whether everything that was there at the start has been delivered. From any thread.
    [[nodiscard]] bool synced() const { return unsynced_ == 0; }
    // From any thread. Whether pods and nodes, which every plan rests on, are being heard of, and have been since then.
    // When they are again, `poll` returns.
    [[nodiscard]] bool is_current(std::chrono::steady_clock::time_point since) const;
    // From any thread: kinds that wait after trouble are asked for now, and the watches of pods and nodes show that
    // they are alive.
    void look_now(std::chrono::steady_clock::time_point since);

    [[nodiscard]] const KubeSourceCounts& counts() const { return counts_; }
    // On the caller's thread of `poll`.
    [[nodiscard]] std::vector<KindHealth> health() const;
    [[nodiscard]] const WatcherCounts& watcher_counts() const { return watcher_counts_; }

private:
    struct Followed {
        std::unique_ptr<Watcher> watcher;
        bool synced = false;
        std::uint32_t generation = 0;                          // of the latest list
        std::unordered_map<std::string, std::uint32_t> names;  // "ns/name" -> generation in which it was last seen
    };

    // On the client's thread.
    void recovered();
    void discover();
    void found(std::size_t kind, const KindFinding& finding);
    void refused(std::size_t kind, const HttpAnswer& answer);
    void refused_optional(std::size_t kind, const HttpAnswer& answer);

    // On the caller's thread.
    void unpack(Parcel& parcel, std::vector<Change>& out);
    void unpack_page(const Parcel& parcel, std::vector<Change>& out);
    void unpack_events(const Parcel& parcel, std::vector<Change>& out);
    void put(
        std::size_t kind, const std::string& version, std::string_view json, bool removed, std::vector<Change>& out);
    void note_version(std::size_t kind, std::string_view json);
    void remove(std::size_t kind, const std::string& name, std::vector<Change>& out);
    void remove_unseen(std::size_t kind, std::vector<Change>& out);
    // Counts it, and says once of each object what is wrong with it and what follows.
    FrameReader::Name complain(std::size_t kind,
                               std::string_view json,
                               const DecodeError& error,
                               const char* consequence);
    void note_malformed(
        std::size_t kind, std::string_view json, const DecodeError& error, bool removed, std::vector<Change>& out);
    void observe(const std::string& version, const Change& change, std::string_view json);
    [[nodiscard]] std::shared_ptr<const FactText> text_of(std::size_t kind,
                                                          const std::string& version,
                                                          std::string_view json) const;
    [[nodiscard]] bool serves(const Pod& pod) const;
    void tell_census(const Change& change);
    [[nodiscard]] std::string key_of(const Object& object) const;
    void mark_synced(std::size_t kind);

    HttpClient* client_;
    Vocabulary* words_;
    KnownPods* pods_;
    AddressBook* addresses_;
    KubeSourceOptions options_;
    Inbox inbox_;
    std::vector<Followed> followed_;
    Decoder decoder_;
    FrameReader frames_;   // of pages and events
    FrameReader objects_;  // of single objects, while `frames_` stands in a page
    bool keeps_texts_ = false;
    std::function<void(const std::string& kind, Time from, Time to)> missed_call_;
    std::function<void(Time from, Time to)> late_call_;
    KubeSourceCounts counts_;
    WatcherCounts watcher_counts_;
    // By kind: objects that are there and cannot be read as they are, each with the list that it was last seen in.
    std::vector<std::unordered_map<std::string, std::uint32_t>> faulty_;
    std::atomic<std::size_t> unsynced_;
    mutable std::atomic<bool> awaited_{false};  // facts that are current

    // The client thread's own.
    Discovery discovery_;
    std::chrono::steady_clock::time_point recovered_;  // last
    std::vector<int> refusals_;
    std::vector<bool> absent_;   // and the inbox has been told
    std::vector<bool> refused_;  // and people have been told
    std::vector<int> missed_;    // discoveries in a row that did not find it

    mutable std::mutex mutex_;
    std::string fault_;
};

}  // namespace reprieve
