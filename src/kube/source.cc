#include "kube/source.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/check.h"
#include "kube/bodies.h"

namespace reprieve {
namespace {

// What hangs on such an object must not look free because the object cannot be read.
bool must_not_be_overlooked(std::size_t kind) {
    const std::string_view name = followed_kinds()[kind].kind;
    return name == "Pod" || name == "PodGroup" || name == "PodDisruptionBudget" || name == "PersistentVolumeClaim" ||
           name == "ResourceClaim";
}

bool is_vital(std::size_t kind) {
    const FollowedKind& what = followed_kinds()[kind];
    return what.group.empty() && (what.kind == "Pod" || what.kind == "Node");
}

constexpr std::chrono::seconds kRecoversEvery{1};

bool is_claims(std::size_t kind) { return followed_kinds()[kind].kind == "ResourceClaim"; }

constexpr int kMissedToBelieve = 2;  // discoveries that do not find a kind that has been read

Duration until(std::chrono::steady_clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - std::chrono::steady_clock::now());
    return {std::max<std::int64_t>(left.count(), 0)};
}

std::string collection_path(const FollowedKind& kind, std::string_view api_version) {
    return object_path(api_version, {}, kind.plural, {});
}

// metadata.resourceVersion of a pod, without parsing it: an API server writes it before labels and annotations, and
// quotes inside of texts are escaped. 0: there is none.
std::uint64_t version_in(std::string_view json) {
    constexpr std::string_view kField = "\"resourceVersion\":\"";
    const std::size_t at = json.find(kField);
    std::uint64_t version = 0;
    if (at != std::string_view::npos)
        std::from_chars(json.data() + at + kField.size(), json.data() + json.size(), version);
    return version;
}

}  // namespace

KubeSource::KubeSource(
    HttpClient& client, Vocabulary& words, KnownPods& pods, AddressBook& addresses, KubeSourceOptions options)
    : client_(&client),
      words_(&words),
      pods_(&pods),
      addresses_(&addresses),
      options_(std::move(options)),
      inbox_(options_.inbox_bytes),
      followed_(followed_kinds().size()),
      decoder_(words),
      faulty_(followed_.size()),
      unsynced_(followed_.size()),
      discovery_(client),
      refusals_(followed_.size()),
      absent_(followed_.size()),
      refused_(followed_.size()),
      missed_(followed_.size()) {
    REPRIEVE_CHECK(options_.clock != nullptr, "a source needs a clock");
    for (std::size_t kind = 0; kind < followed_.size(); ++kind) {
        followed_[kind].watcher = std::make_unique<Watcher>(client, inbox_, kind, options_.watcher, watcher_counts_);
        followed_[kind].watcher->on_refused([this, kind](const HttpAnswer& answer) { refused(kind, answer); });
        followed_[kind].watcher->on_recovered([this] { recovered(); });
        followed_[kind].watcher->on_open([this] {
            if (awaited_.exchange(false)) wake();
        });
    }
    inbox_.on_room([this] {
        client_->run(this, [this] {
            client_->resume_streams();
            for (Followed& one : followed_)
                one.watcher->on_room();
        });
    });
    client_->run(this, [this] {
        for (std::size_t kind = 0; kind < followed_.size(); ++kind) {
            const FollowedKind& what = followed_kinds()[kind];
            if (!what.required) continue;
            const std::string version = api_version(what, what.versions.front());
            followed_[kind].watcher->start(version, collection_path(what, version));
        }
        discover();
    });
}

KubeSource::~KubeSource() {
    inbox_.close();
    client_->forget(this);
    client_->forget(&discovery_);
    for (Followed& one : followed_)
        client_->forget(one.watcher.get());
}

void KubeSource::discover() {
    discovery_.ask([this](std::size_t kind, const KindFinding& finding) { found(kind, finding); });
    client_->run_after(this, options_.rediscover, [this] { discover(); });
}

void KubeSource::found(std::size_t kind, const KindFinding& finding) {
    const FollowedKind& what = followed_kinds()[kind];
    Watcher& watcher = *followed_[kind].watcher;
    switch (finding.served) {
        case KindServed::kYes:
            refusals_[kind] = 0;
            absent_[kind] = false;
            missed_[kind] = 0;
            watcher.start(finding.api_version, collection_path(what, finding.api_version));
            break;
        case KindServed::kNo:
            if (watcher.has_listed() && ++missed_[kind] < kMissedToBelieve) break;
            if (watcher.running())
                watcher.stop();
            else if (!absent_[kind])
                inbox_.put({.content = Parcel::Content::kAbsent, .kind = kind});
            absent_[kind] = true;
            break;
        case KindServed::kUnknown:
            spdlog::warn("whether {}.{} is served cannot be found out now", what.plural, what.group);
            break;
    }
}

void KubeSource::refused(std::size_t kind, const HttpAnswer& answer) {
    const FollowedKind& what = followed_kinds()[kind];
    if (!what.required) return refused_optional(kind, answer);
    if (synced() || ++refusals_[kind] < options_.refusals) return;
    fail(fmt::format("{} cannot be read: {}", what.plural, answer.text()));
}

// Not served any more, or not for us; a later discovery tries again. A server that has just started says so for a
// moment of everything: what was read before stays until the answer is always the same.
void KubeSource::refused_optional(std::size_t kind, const HttpAnswer& answer) {
    const FollowedKind& what = followed_kinds()[kind];
    Watcher& watcher = *followed_[kind].watcher;
    if (answer.status != 404 && answer.status != 403) return;
    if (watcher.has_listed() && watcher.refusals() < options_.refusals) return;
    // Said once, and again only after it could be read.
    if (!refused_[kind] || watcher.has_listed())
        spdlog::warn("{}.{} is not followed: {}", what.plural, what.group, answer.text());
    refused_[kind] = true;
    watcher.stop();
}

bool KubeSource::is_current(std::chrono::steady_clock::time_point since) const {
    // Noted first: a watch that opens meanwhile is either seen here or sees this.
    awaited_ = true;
    for (std::size_t kind = 0; kind < followed_.size(); ++kind) {
        if (is_vital(kind) && !followed_[kind].watcher->is_current(since)) return false;
    }
    awaited_ = false;
    return true;
}

void KubeSource::look_now(std::chrono::steady_clock::time_point since) {
    client_->run(this, [this, since] {
        for (std::size_t kind = 0; kind < followed_.size(); ++kind) {
            followed_[kind].watcher->try_now();
            if (is_vital(kind)) followed_[kind].watcher->prove(since);
        }
    });
}

// The server answers again, so waiting for as long as it did not is over. One kind that comes and goes does not have
// the others asked for without a pause.
void KubeSource::recovered() {
    const auto now = std::chrono::steady_clock::now();
    if (now - recovered_ < kRecoversEvery) return;
    recovered_ = now;
    for (Followed& one : followed_)
        one.watcher->try_now();
}

void KubeSource::wake() { inbox_.put({.content = Parcel::Content::kNudge}); }

void KubeSource::stop() { inbox_.close(); }

void KubeSource::fail(std::string why) {
    {
        const std::lock_guard lock(mutex_);
        fault_ = std::move(why);
    }
    inbox_.close();
}

std::string KubeSource::fault() const {
    const std::lock_guard lock(mutex_);
    return fault_;
}

bool KubeSource::poll(std::vector<Change>& out, Duration wait) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(wait.us);
    const std::size_t before = out.size();
    constexpr Duration kTick{1'000'000};
    Parcel parcel;
    // The first call ends when everything is there, however long that takes and even if that is nothing.
    bool over = !synced();
    while (!synced() && !inbox_.closed()) {
        // A server that does not answer must not keep anybody who wants to go.
        if (options_.stopped && options_.stopped()) return false;
        if (inbox_.take(parcel, kTick)) unpack(parcel, out);
    }
    while (out.size() == before && !over && inbox_.take(parcel, until(end))) {
        over = parcel.content == Parcel::Content::kNudge;
        unpack(parcel, out);
    }
    while (inbox_.take(parcel, {}))
        unpack(parcel, out);
    return !inbox_.closed();
}

void KubeSource::unpack(Parcel& parcel, std::vector<Change>& out) {
    counts_.bytes += parcel.bytes.size();
    switch (parcel.content) {
        case Parcel::Content::kPage:
            return unpack_page(parcel, out);
        case Parcel::Content::kEvents:
            return unpack_events(parcel, out);
        case Parcel::Content::kAbsent:
            ++followed_[parcel.kind].generation;
            remove_unseen(parcel.kind, out);
            return mark_synced(parcel.kind);
        case Parcel::Content::kNudge:
            return;
    }
}

void KubeSource::unpack_page(const Parcel& parcel, std::vector<Change>& out) {
    if (parcel.first) ++followed_[parcel.kind].generation;
    if (parcel.first && parcel.missed.us > 0 && followed_[parcel.kind].synced && missed_call_)
        missed_call_(std::string(followed_kinds()[parcel.kind].plural), now() + Duration{-parcel.missed.us}, now());
    auto done = frames_.each_item(parcel.bytes,
                                  [&](std::string_view item) { put(parcel.kind, parcel.version, item, false, out); });
    if (!done) {
        // Half a list must not make the other half look deleted.
        ++counts_.malformed;
        spdlog::error("list of {}: {}", followed_kinds()[parcel.kind].plural, done.error().message);
        for (auto& [name, generation] : followed_[parcel.kind].names)
            generation = followed_[parcel.kind].generation;
    }
    if (!parcel.last) return;
    remove_unseen(parcel.kind, out);
    if (done && is_claims(parcel.kind)) addresses_->claims().see_version(parcel.list_version);
    mark_synced(parcel.kind);
}

void KubeSource::unpack_events(const Parcel& parcel, std::vector<Change>& out) {
    if (parcel.late.us > 0 && late_call_ && followed_kinds()[parcel.kind].kind == "Pod")
        late_call_(now() + Duration{-parcel.late.us}, now());
    std::string_view rest = parcel.bytes;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const WatchFrame frame = frames_.frame(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        switch (frame.event) {
            case WatchEvent::kAdded:
            case WatchEvent::kModified:
                put(parcel.kind, parcel.version, frame.object, false, out);
                note_version(parcel.kind, frame.object);
                break;
            case WatchEvent::kDeleted:
                put(parcel.kind, parcel.version, frame.object, true, out);
                note_version(parcel.kind, frame.object);
                break;
            case WatchEvent::kBookmark:
            case WatchEvent::kError:
            case WatchEvent::kUnknown:
                break;  // for the watcher
        }
    }
}

// How far the watch has come, for those who look twice.
void KubeSource::note_version(std::size_t kind, std::string_view json) {
    if (is_claims(kind)) addresses_->claims().see_version(objects_.version_of(json));
}

void KubeSource::put(
    std::size_t kind, const std::string& version, std::string_view json, bool removed, std::vector<Change>& out) {
    auto decoded = decoder_.decode(json, version, followed_kinds()[kind].kind);
    const bool is_faulty = !decoded;
    if (!decoded && !removed && must_not_be_overlooked(kind)) {
        Decoder::Lenient lenient = decoder_.decode_leniently(json, version, followed_kinds()[kind].kind);
        if (lenient.object) {
            complain(kind, json, decoded.error(), "is read with care");
            decoded = std::move(lenient.object);
        }
    }
    if (!decoded) return note_malformed(kind, json, decoded.error(), removed, out);
    if (!*decoded) return;
    ++counts_.objects;
    Followed& followed = followed_[kind];
    const std::string key = key_of(**decoded);
    if (removed || !is_faulty) faulty_[kind].erase(key);
    if (removed)
        followed.names.erase(key);
    else
        followed.names[key] = followed.generation;
    out.push_back({.object = std::move(**decoded),
                   .removed = removed,
                   .digest = removed ? Digest{} : digest_bytes(json),
                   .text = text_of(kind, version, removed ? std::string_view() : json)});
    observe(version, out.back(), json);
}

std::shared_ptr<const FactText> KubeSource::text_of(std::size_t kind,
                                                    const std::string& version,
                                                    std::string_view json) const {
    if (!keeps_texts_) return nullptr;
    return std::make_shared<const FactText>(
        FactText{.api_version = version, .kind = std::string(followed_kinds()[kind].kind), .json = std::string(json)});
}

void KubeSource::observe(const std::string& version, const Change& change, std::string_view json) {
    if (const auto* pod = std::get_if<Pod>(&change.object)) {
        pods_->note_newest(version_in(json));
        if (change.removed)
            pods_->see_gone(key_of(change.object));
        else
            pods_->see(*pod,
                       *words_,
                       {.version = [&] { return objects_.version_of(json); },
                        .has_our_mark = [&] { return serves(*pod) && has_our_mark(json); }});
    } else if (const auto* claim = std::get_if<ResourceClaim>(&change.object)) {
        if (change.removed)
            addresses_->claims().see_gone(*claim, *words_);
        else
            addresses_->claims().see(*claim, *words_, version, objects_.version_of(json), json);
    } else if (change.removed) {
        addresses_->see_gone(change.object, *words_);
    } else {
        addresses_->see(change.object, *words_, version, json);
    }
    if (options_.census) tell_census(change);
}

bool KubeSource::serves(const Pod& pod) const {
    return !options_.census || options_.census->serves(words_->text(words_->spec(pod.spec).scheduler));
}

void KubeSource::tell_census(const Change& change) {
    const auto* pod = std::get_if<Pod>(&change.object);
    if (pod && change.removed) options_.census->see_gone(key_of(change.object));
    if (pod && !change.removed) options_.census->see(*pod, *words_);
    if (std::holds_alternative<Gang>(change.object)) options_.census->see_group(key_of(change.object), change.removed);
    const auto* workload = std::get_if<Workload>(&change.object);
    const bool is_job = workload && workload->kind == WorkloadKind::kVolcanoJob;
    if (is_job || std::holds_alternative<Queue>(change.object)) options_.census->see_more();
}

FrameReader::Name KubeSource::complain(std::size_t kind,
                                       std::string_view json,
                                       const DecodeError& error,
                                       const char* consequence) {
    ++counts_.malformed;
    FrameReader::Name name = objects_.name_of(json);
    std::string key = followed_kinds()[kind].namespaced ? fmt::format("{}/{}", name.ns, name.name) : name.name;
    // One complaint for each object, for as long as it is there.
    const std::uint32_t generation = followed_[kind].generation;
    if (faulty_[kind].insert_or_assign(key, generation).second)
        spdlog::warn("{} {}: {}", error.object.empty() ? key : error.object, consequence, error.text());
    return name;
}

void KubeSource::note_malformed(
    std::size_t kind, std::string_view json, const DecodeError& error, bool removed, std::vector<Change>& out) {
    const FrameReader::Name name = removed ? objects_.name_of(json) : complain(kind, json, error, "is left out");
    const std::string key = followed_kinds()[kind].namespaced ? fmt::format("{}/{}", name.ns, name.name) : name.name;
    if (name.name.empty()) return;
    if (removed) faulty_[kind].erase(key);
    // It is there all the same: what was known of it stays, until it is really gone.
    Followed& followed = followed_[kind];
    const auto known = followed.names.find(key);
    if (known == followed.names.end()) return;
    if (removed)
        remove(kind, key, out);
    else
        known->second = followed.generation;
}

std::string KubeSource::key_of(const Object& object) const {
    return std::visit(
        [&](const auto& one) -> std::string {
            using T = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<T, Pod>)
                return fmt::format("{}/{}", words_->text(one.ns), one.name);
            else if constexpr (std::is_same_v<T, Queue>)
                return one.is_quota ? fmt::format("{}/{}", words_->text(one.ns), words_->text(one.name))
                                    : words_->str(one.name);
            else if constexpr (requires { one.ns; })
                return fmt::format("{}/{}", words_->text(one.ns), words_->text(one.name));
            else
                return words_->str(one.name);
        },
        object);
}

void KubeSource::remove(std::size_t kind, const std::string& name, std::vector<Change>& out) {
    const FollowedKind& what = followed_kinds()[kind];
    const std::size_t slash = what.namespaced ? name.find('/') : std::string::npos;
    const StringId ns = slash == std::string::npos ? StringId() : words_->string(name.substr(0, slash));
    out.push_back({.object = what.named(ns, name.substr(slash == std::string::npos ? 0 : slash + 1), *words_),
                   .removed = true,
                   .digest = {},
                   .text = text_of(kind, api_version(what, what.versions.front()), {})});
    observe({}, out.back(), {});
    followed_[kind].names.erase(name);
    faulty_[kind].erase(name);
}

void KubeSource::remove_unseen(std::size_t kind, std::vector<Change>& out) {
    const Followed& followed = followed_[kind];
    std::vector<std::string> gone;
    for (const auto& [name, generation] : followed.names) {
        if (generation != followed.generation) gone.push_back(name);
    }
    std::ranges::sort(gone);  // not in the order of a hash table
    for (const std::string& name : gone)
        remove(kind, name, out);
    // Those that could never be read have no name among the others.
    std::erase_if(faulty_[kind], [&](const auto& one) { return one.second != followed.generation; });
}

std::vector<KindHealth> KubeSource::health() const {
    std::vector<KindHealth> out;
    for (std::size_t kind = 0; kind < followed_.size(); ++kind) {
        const Watcher& watcher = *followed_[kind].watcher;
        const auto silent = watcher.silent_for();
        if (!silent && faulty_[kind].empty()) continue;
        const FollowedKind& what = followed_kinds()[kind];
        out.push_back(
            {.kind = what.group.empty() ? std::string(what.plural) : fmt::format("{}.{}", what.plural, what.group),
             .silent = silent.value_or(Duration{}),
             .restarts = watcher.restarts(),
             .left_out = faulty_[kind].size()});
    }
    return out;
}

void KubeSource::mark_synced(std::size_t kind) {
    if (followed_[kind].synced) return;
    followed_[kind].synced = true;
    --unsynced_;
}

}  // namespace reprieve
