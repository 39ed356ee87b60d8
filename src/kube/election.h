// Election: who of several replicas acts, decided by a Lease object that all of them read and only one renews.
//
// Safe whatever the clocks of other machines show: times written in the Lease are never compared with ours. A lease is
// over when it has not changed for its own duration, measured by our own clock from the moment we saw it change; we
// lead until the deadline counted from when our last successful renewal was *sent*, which is earlier than that. Pure
// state: time and answers come in, the next request comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace reprieve {

struct ElectionOptions {
    std::string ns = "reprieve-system";
    std::string name = "reprieve";
    std::string identity;           // of this replica; unique
    Duration duration{15'000'000};  // after which others may take over
    Duration deadline{10'000'000};  // after which we stop, if we could not renew
    Duration retry{2'000'000};
};

// The Lease as last seen.
struct LeaseRecord {
    std::string holder;
    std::int64_t duration_seconds = 0;
    std::string acquire_time;
    std::string renew_time;
    std::int64_t transitions = 0;
    std::string version;
    friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// Nothing: not a Lease.
[[nodiscard]] std::optional<LeaseRecord> read_lease(const std::string& body);
[[nodiscard]] std::string lease_body(const ElectionOptions& options, const LeaseRecord& record);

class Election {
public:
    enum class Step : unsigned char { kRead, kCreate, kWrite, kWait };
    struct Todo {
        Step step = Step::kRead;
        LeaseRecord record;  // what to create or write
    };

    explicit Election(ElectionOptions options) : options_(std::move(options)) {}

    // What to do now. `now` never goes back; `wall` is only written down for people to read.
    [[nodiscard]] Todo next(Duration now, Time wall);
    // How it ended. `sent` is when the request left. Gives whether to go on at once, without waiting.
    void read(const std::optional<LeaseRecord>& found, Duration now);
    void written(const LeaseRecord& stored, Duration sent, Duration now);
    void refused();  // somebody was faster

    // We may act until this moment, and no longer.
    [[nodiscard]] Duration leads_until() const { return leads_until_; }
    [[nodiscard]] bool leads(Duration now) const { return now < leads_until_; }
    [[nodiscard]] const LeaseRecord& seen() const { return seen_; }
    // What to write to let others take over at once; nothing: it is not ours.
    [[nodiscard]] std::optional<LeaseRecord> resignation(Time wall);

private:
    [[nodiscard]] LeaseRecord our_record(Time wall) const;
    void note(const LeaseRecord& record, Duration now);

    ElectionOptions options_;
    LeaseRecord seen_;
    bool exists_ = false;
    bool fresh_ = false;  // `seen_` was read since somebody was faster
    Duration changed_;    // when we saw it change, by our clock
    Duration leads_until_;
};

}  // namespace reprieve
