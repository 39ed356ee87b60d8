#include "text/cost_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/quantity.h"
#include "base/time.h"

namespace reprieve {
namespace {

constexpr std::int64_t kPriorityBase = std::int64_t{1} << 31;  // prioritySum and ownPriority add it for each pod
constexpr std::size_t kMostListed = 4;

std::optional<std::int64_t> find(const CostVector& cost, const std::string& term) {
    const auto at = std::ranges::find(cost, term, &CostVector::value_type::first);
    return at == cost.end() ? std::nullopt : std::optional(at->second);
}

// The sum of the priorities themselves. Where the number of pods is not part of the cost it follows from the sum: no
// priority is as large as what is added for each pod.
std::int64_t plain_value(const CostVector& cost, const std::string& term, std::int64_t value) {
    if (term != "prioritySum" && term != "ownPriority") return value;
    if (value == 0) return 0;  // of a bound that says how many pods go and nothing of their priorities
    const std::int64_t pods = find(cost, "pods").value_or((value + kPriorityBase / 2) / kPriorityBase);
    return value - pods * kPriorityBase;
}

// The places of the victims' queues, 0: most over its share. In the cost they are digits of one number, highest first.
std::vector<std::int64_t> queue_places(std::int64_t value) {
    constexpr std::int64_t kBase = 4096;
    std::vector<std::int64_t> places;
    for (; value > 0; value /= kBase) {
        if (value % kBase > 0) places.push_back(value % kBase - 1);
    }
    std::ranges::reverse(places);
    return places;
}

// "most", "second most", "12th most".
std::string how_much_above(std::int64_t place) {
    static constexpr std::array<const char*, 5> kFirst{
        "most", "second most", "third most", "fourth most", "fifth most"};
    const auto at = static_cast<std::size_t>(place);
    return at < kFirst.size() ? kFirst[at] : fmt::format("{}th most", place + 1);
}

// "the most", "the second most and most": of the queues that give, how far above their shares they are.
std::string queue_ranks(std::int64_t value) {
    std::vector<std::string> parts;
    for (const std::int64_t place : queue_places(value))
        parts.push_back(how_much_above(place));
    return parts.empty() ? "none" : fmt::format("the {}", fmt::join(parts, " and "));
}

std::string queue_words(std::int64_t value) {
    const std::vector<std::int64_t> places = queue_places(value);
    if (places.empty()) return "no queue that gives";
    if (places.size() == 1) return fmt::format("the queue {} above its share giving", how_much_above(places.front()));
    std::string ranks = queue_ranks(value);
    return fmt::format("the queues {} above their shares giving", ranks.substr(ranks.find(' ') + 1));
}

std::string zero_or(std::int64_t value, const char* none, const std::string& some) { return value == 0 ? none : some; }

std::string words(const std::string& term, std::int64_t value) {
    if (term == "pdbViolations")
        return zero_or(
            value, "no disruption budget broken", count_words(value, "pod", "pods") + " over a disruption budget");
    if (term == "breaksGangs") return zero_or(value, "no job broken", "a job broken");
    if (term == "maxPriority") return value == INT64_MIN ? "nobody goes" : fmt::format("highest priority {}", value);
    if (term == "gangsBroken") return zero_or(value, "no job broken", count_words(value, "job", "jobs") + " broken");
    if (term == "prioritySum") return fmt::format("priorities {} in sum", value);
    if (term == "queueOrder") return queue_words(value);
    if (term == "lostWork")
        return value == INT64_MAX ? "more work lost than can be counted"
                                  : zero_or(value, "no work lost", work_text(value) + " resource-seconds lost");
    if (term == "resources")
        return fmt::format("{:.2f} times the need taken away (summed over its resources)",
                           static_cast<double>(value) / 1000.0);
    if (term == "pods") return count_words(value, "pod", "pods");
    if (term == "units") return count_words(value, "unit", "units");
    if (term == "ownPriority") return fmt::format("the pods' own priorities {} in sum", value);
    if (term == "latestStart") return fmt::format("the most important one since {}", cost_value(term, value));
    return fmt::format("{} {}", term, value);
}

// What follows "instead of".
std::string bare_value(const std::string& term, std::int64_t value) {
    if (term == "resources") return fmt::format("{:.2f}", static_cast<double>(value) / 1000.0);
    const bool counts = term == "pdbViolations" || term == "breaksGangs" || term == "gangsBroken";
    if (counts && value == 0) return "none";
    if (term == "breaksGangs") return "some";
    if (term == "queueOrder") return queue_ranks(value);
    return cost_value(term, value);
}

}  // namespace

// Three centuries of a device: more than that is memory, which is told as it was written.
std::string work_text(std::int64_t resource_seconds) {
    if (resource_seconds == INT64_MAX) return "beyond count";
    static constexpr std::int64_t kMostOfDevices = 10'000'000'000;
    return resource_seconds < kMostOfDevices ? fmt::format("{}", resource_seconds) : format_bytes(resource_seconds);
}

std::string cost_value(const std::string& term, std::int64_t value) {
    static constexpr std::int64_t kYear10000 = 253'402'300'800;
    // `latestStart` is a negated time in seconds: nobody can read that.
    if (term == "latestStart" && value < 0)
        return value <= -kYear10000 ? "none" : format_time(Time{-value * 1'000'000});
    if (term == "maxPriority" && value == INT64_MIN) return "none";
    if (term == "queueOrder") return value == 0 ? "none" : fmt::format("{}", fmt::join(queue_places(value), ","));
    if (term == "lostWork") return work_text(value);
    return fmt::format("{}", value);
}

std::string cost_text(const CostVector& cost, const std::string& term, std::int64_t value) {
    return cost_value(term, plain_value(cost, term, value));
}

std::string term_words(const CostVector& cost, const std::string& term) {
    const auto value = find(cost, term);
    return value ? words(term, plain_value(cost, term, *value)) : "";
}

std::string cost_words(const CostVector& cost) {
    std::vector<std::string> parts;
    for (const auto& [term, value] : cost) {
        // How many jobs are broken says whether any is.
        if (term == "breaksGangs" && find(cost, "gangsBroken")) continue;
        parts.push_back(words(term, plain_value(cost, term, value)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string difference_words(const CostVector& cost, const CostVector& other, const std::string& term) {
    const auto value = find(cost, term);
    if (!value || !find(other, term)) return "";
    return fmt::format("{} instead of {}", term_words(other, term), bare_value(term, plain_value(cost, term, *value)));
}

std::string unproven_words(const CostVector& bound, const std::string& term) {
    const auto value = find(bound, term);
    if (!value) return "";
    if (term == "queueOrder" && *value == 0) return "which queues have to give";
    if (term == "maxPriority" && *value == INT64_MIN) return "how important those who have to go are";
    return term == "latestStart" && cost_value(term, *value) == "none" ? "how long those who have to go have run" : "";
}

std::string first_difference(const CostVector& a, const CostVector& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i] != b[i]) return a[i].first;
    }
    return "";
}

std::string duration_words(std::int64_t seconds) {
    if (seconds < 60) return fmt::format("{}s", seconds);
    const std::int64_t minutes = seconds / 60;
    std::string out;
    if (minutes >= 1440) out += fmt::format("{}d", minutes / 1440);
    if (minutes % 1440 >= 60) out += fmt::format("{}h", minutes % 1440 / 60);
    if (minutes % 60 > 0) out += fmt::format("{}m", minutes % 60);
    if (seconds % 60 > 0) out += fmt::format("{}s", seconds % 60);
    return out;
}

std::string list_words(const std::vector<std::string>& names) {
    if (names.empty()) return "nobody";
    if (names.size() == 1) return names.front();
    if (names.size() <= kMostListed)
        return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
    const auto shown = static_cast<std::ptrdiff_t>(kMostListed) - 1;
    return fmt::format("{} and {} more",
                       fmt::join(names.begin(), names.begin() + shown, ", "),
                       names.size() - static_cast<std::size_t>(shown));
}

std::string count_words(std::int64_t count, const std::string& one, const std::string& many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace reprieve
