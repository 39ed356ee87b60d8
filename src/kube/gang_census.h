// GangCensus: how many members of each gang have a place, run, or are done, as the watch shows it.
//
// Only pods of the schedulers named at the start are counted: the gangs of others are theirs to speak of. The Source
// tells what it sees, the Sink asks which gangs have changed. Used from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/pod.h"
#include "model/vocabulary.h"

namespace reprieve {

struct GangCount {
    std::int32_t members = 0;
    std::int32_t placed = 0;  // bound and not leaving, or done with success
    std::int32_t running = 0;
    std::int32_t succeeded = 0;
    std::int32_t failed = 0;
    friend bool operator==(const GangCount&, const GangCount&) = default;
};

class GangCensus {
public:
    explicit GangCensus(std::vector<std::string> scheduler_names) : scheduler_names_(std::move(scheduler_names)) {}

    void see(const Pod& pod, const Vocabulary& words);
    void see_gone(const std::string& pod);
    // The gang's own object is new or changed.
    void see_group(const std::string& gang, bool gone = false);
    // So is something else that the words about gangs depend on.
    void see_more();

    // Whether a pod that names this scheduler is ours.
    [[nodiscard]] bool serves(std::string_view scheduler) const;
    // The gangs that have changed since this was last asked, by "ns/name".
    [[nodiscard]] std::map<std::string, GangCount> take_changes();
    // Called, on whatever thread sees it, with the first news after `take_changes`; it may not ask back. Empty: nobody.
    void on_change(std::function<void()> listener);

private:
    struct Member {
        std::string gang;  // "ns/name"
        GangCount part;    // what it adds to its gang's count
        friend bool operator==(const Member&, const Member&) = default;
    };
    [[nodiscard]] Member member_of(const Pod& pod, const Vocabulary& words) const;
    void put(const std::string& pod, Member member);
    void add(const Member& member, std::int32_t sign);
    void tell();

    const std::vector<std::string> scheduler_names_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Member> members_;  // by "ns/name"
    std::unordered_map<std::string, GangCount> gangs_;
    std::map<std::string, GangCount> changed_;
    bool told_ = false;  // since `take_changes`
    std::function<void()> on_change_;
};

}  // namespace reprieve
