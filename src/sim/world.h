// World: the embedded cluster: objects from manifests, a clock of its own, kubelets, controllers, a scheduler for the
// replicas of serving deployments, and what happens from outside. The same manifests, the same seed and the same
// requests give the same history.
//
// Time stands still but for `advance`; whoever wants it to pass as on the wall calls that at the right moments.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "manifest/load.h"
#include "sim/api.h"
#include "sim/budgets.h"
#include "sim/claim_controller.h"
#include "sim/controllers.h"
#include "sim/deeds.h"
#include "sim/event_queue.h"
#include "sim/kubelets.h"
#include "sim/plane_scheduler.h"
#include "sim/store.h"
#include "sim/timeline.h"

namespace reprieve {

struct WorldOptions {
    Time start;
    std::uint64_t seed = 1;
    Duration latency;   // from a request to its effect
    Duration jitter{};  // up to so much more, by the seed; requests about one object stay in order
};

class World {
public:
    explicit World(WorldOptions options);
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // A file, a directory, or "-". The error is `file:line: object: field: what`.
    [[nodiscard]] Result<void> load(const std::string& path);
    [[nodiscard]] Result<void> load_text(const std::string& name, std::string_view text);
    // After the last load: reads what the timeline applies. The error names file, line and event.
    [[nodiscard]] Result<void> check_timeline();
    // What was passed over while loading, a sentence each.
    [[nodiscard]] std::vector<std::string> warnings() const;
    // After the last load: from here on things happen.
    void begin();

    [[nodiscard]] Time now() const { return now_; }
    [[nodiscard]] std::optional<Time> next_event() const { return events_.next(); }
    // Lets everything happen that is due up to then, in order. REQUIRES: not before now.
    void advance(Time until);

    // Asks for something to be done; it is done after the latency, and the report comes then.
    void request(Deed deed);
    [[nodiscard]] std::size_t requests_open() const { return requests_.size(); }
    void collect(std::vector<SinkReport>& out);

    // For those who act at once, as people with kubectl do. Follow with `settle`.
    [[nodiscard]] Api& api() { return api_; }
    [[nodiscard]] const Store& store() const { return store_; }
    // Lets kubelets and controllers see what was written and react, until nobody has anything to add.
    void settle();
    // What did not work of what the timeline says.
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

private:
    void take_document(const SourceRef& source);
    void take_timeline(std::string_view json, const SourceRef& source);
    void take_derived(std::string_view json, const SourceRef& source);
    [[nodiscard]] Result<void> check(const Json& body) const;
    [[nodiscard]] Result<void> finish_load(std::expected<void, LoadError> loaded);
    void fire(const Event& event);
    [[nodiscard]] Time due(const Deed& deed);
    void happen(const TimelineEvent& event);

    WorldOptions options_;
    Time now_;
    Store store_;
    EventQueue events_;
    Api api_;
    Kubelets kubelets_;
    Controllers controllers_;
    Budgets budgets_;
    PlaneScheduler planes_;
    ClaimController claims_;
    std::vector<TimelineEvent> timeline_;
    std::unique_ptr<Loader> loader_;
    std::optional<LoadError> fault_;
    std::map<SlotId, Json> given_;  // while loading: as written
    std::size_t seen_ = 0;          // of the store's log
    std::map<std::uint64_t, Deed> requests_;
    std::map<std::string, Time> last_due_;  // of the requests about an object
    std::uint64_t next_request_ = 0;
    std::vector<SinkReport> reports_;
    std::vector<std::string> complaints_;
    std::vector<std::string> timeline_warnings_;
};

}  // namespace reprieve
