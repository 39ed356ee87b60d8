// Source and Sink: where facts come from and where plans go.
//
// A real API server (kube) and the embedded cluster (sim) offer the same two interfaces, so the loop that runs in
// production is the loop that is simulated. Both are used from one thread; whatever runs beside it is their own affair.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "model/objects.h"
#include "model/plan.h"

namespace reprieve {

// How an object was written, for those who keep a record of it.
struct FactText {
    std::string api_version;
    std::string kind;
    std::string json;  // empty: it is gone
};

// One fact: an object as it is now, or (removed) that it is gone; then only kind, namespace and name count.
struct Change {
    Object object;
    bool removed = false;
    Digest digest;
    std::shared_ptr<const FactText> text;  // only where the source was asked to keep it
};

inline constexpr Duration kForever{std::numeric_limits<std::int64_t>::max()};

class Source {
public:
    virtual ~Source() = default;

    // Appends what changed since the last call, waiting up to `wait` for the first change; it may return sooner with
    // nothing, so that its caller gets a word in. False: the world has ended.
    // The first call that returns true has delivered everything that was there at the start.
    [[nodiscard]] virtual bool poll(std::vector<Change>& out, Duration wait) = 0;
    [[nodiscard]] virtual Time now() const = 0;
    // From now on changes carry the text that they were read from.
    virtual void keep_texts() {}
};

enum class SinkStep : std::uint8_t {
    kRecord,
    kMark,
    kEvict,
    kNominate,
    kClearNomination,
    kBind,
    kScale,
    kForceDelete,
    kAnnotate,
    kStatus
};

// As logs and metrics name it.
[[nodiscard]] inline const char* to_text(SinkStep step) {
    switch (step) {
        case SinkStep::kRecord:
            return "record";
        case SinkStep::kMark:
            return "mark";
        case SinkStep::kEvict:
            return "evict";
        case SinkStep::kNominate:
            return "nominate";
        case SinkStep::kClearNomination:
            return "clearNomination";
        case SinkStep::kBind:
            return "bind";
        case SinkStep::kScale:
            return "scale";
        case SinkStep::kForceDelete:
            return "forceDelete";
        case SinkStep::kAnnotate:
            return "annotate";
        case SinkStep::kStatus:
            return "status";
    }
    return "";
}

// How one step of carrying out a plan ended.
struct SinkReport {
    SinkStep step = SinkStep::kBind;
    std::string pod;  // "ns/name"
    std::string uid;
    bool ok = true;
    std::string what;     // of a failure
    bool tried = true;    // false: it was so already; of a failure: something else failed before, or we may not act
    bool unsure = false;  // of a failure: the step may have been carried out all the same, or still be
};

class Sink {
public:
    virtual ~Sink() = default;

    // Starts carrying out a plan: intents first, then victims, nominations, bindings, and what people are told.
    // Idempotent. How each recorded nomination, cleared nomination, eviction and binding of it ended is reported in the
    // end, however long that takes: until then it is assumed.
    virtual void carry_out(const Plan& plan) = 0;
    // Appends how steps ended since the last call.
    virtual void collect(std::vector<SinkReport>& out) = 0;
    // Whether nothing is under way.
    [[nodiscard]] virtual bool idle() const = 0;
};

}  // namespace reprieve
