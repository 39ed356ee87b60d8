// EventBook: which Events are worth sending. The same news about the same pod is sent once and then only counted; other
// news for the same reason waits a little. Pure memory: what is sent is the caller's business. It follows the cluster:
// of many entries, those that nobody has spoken of for a while are forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace reprieve {

struct EventAdvice {
    enum class What : unsigned char { kSkip, kCreate, kCountUp } what = What::kSkip;
    std::string name;        // of the Event object
    std::int64_t count = 1;  // how often the same was said
};

class EventBook {
public:
    // `about` names object and reason; `object` is what the Event's name begins with.
    [[nodiscard]] EventAdvice advise(const std::string& about,
                                     const std::string& object,
                                     const std::string& note,
                                     Time now);
    // The server has forgotten the Event.
    void forget(const std::string& about) { entries_.erase(about); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        std::string note;
        std::string name;
        Time sent;
        Time seen;
        std::int64_t count = 1;
    };
    [[nodiscard]] std::string fresh_name(const std::string& object, Time now);
    void clean_up(Time now);
    void forget_older_half();

    std::map<std::string, Entry> entries_;
    std::uint64_t names_ = 0;
    std::size_t clean_up_at_ = 0;  // at so many entries the next clean-up is due
};

}  // namespace reprieve
