#include "kube/event_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace reprieve {
namespace {

constexpr Duration kCountUpEvery{300'000'000};  // the same again
constexpr Duration kOtherNewsAfter{15'000'000};
constexpr Duration kForgottenAfter{1'800'000'000};  // less than the hour that the server keeps Events
constexpr std::size_t kFewEntries = 1'000;          // fewer are not worth a clean-up
constexpr std::size_t kMostEntries = 50'000;
// Every plan repeats the news of pods that wait. News that nobody has repeated for so long happened once, and is over.
constexpr Duration kRestsAfter{120'000'000};
constexpr std::size_t kLongestName = 200;

}  // namespace

std::string EventBook::fresh_name(const std::string& object, Time now) {
    return fmt::format("{}.{:x}{:04x}", object.substr(0, kLongestName), now.us, names_++ & 0xFFFFU);
}

void EventBook::clean_up(Time now) {
    std::erase_if(entries_, [&](const auto& entry) { return now - entry.second.seen > kRestsAfter; });
    if (entries_.size() > kMostEntries) forget_older_half();
    clean_up_at_ = std::max(kFewEntries, 2 * entries_.size());
}

// What is forgotten is told once more: better some of it, of those who were not spoken of for longest, than all of it.
void EventBook::forget_older_half() {
    std::vector<Time> seen;
    for (const auto& [about, entry] : entries_)
        seen.push_back(entry.seen);
    const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
    std::ranges::nth_element(seen, middle);
    std::erase_if(entries_, [limit = *middle](const auto& entry) { return entry.second.seen < limit; });
    if (entries_.size() > kMostEntries) entries_.clear();  // all of one moment
}

EventAdvice EventBook::advise(const std::string& about, const std::string& object, const std::string& note, Time now) {
    if (entries_.size() >= std::max(kFewEntries, clean_up_at_)) clean_up(now);
    const auto found = entries_.find(about);
    if (found == entries_.end() || now - found->second.seen > kForgottenAfter) {
        Entry entry{.note = note, .name = fresh_name(object, now), .sent = now, .seen = now};
        EventAdvice advice{EventAdvice::What::kCreate, entry.name, 1};
        entries_.insert_or_assign(about, std::move(entry));
        return advice;
    }
    Entry& entry = found->second;
    entry.seen = now;
    if (entry.note == note) {
        ++entry.count;
        if (now - entry.sent < kCountUpEvery) return {};
        entry.sent = now;
        return {EventAdvice::What::kCountUp, entry.name, entry.count};
    }
    if (now - entry.sent < kOtherNewsAfter) return {};
    entry = {.note = note, .name = fresh_name(object, now), .sent = now, .seen = now};
    return {EventAdvice::What::kCreate, entry.name, 1};
}

}  // namespace reprieve
