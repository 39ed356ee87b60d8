// What is written on a Queue about what it was granted, and on an ElasticQuota about what it holds too much of. The
// next cycle reads it from there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/plan.h"

namespace reprieve {

struct QueueNotes {
    std::map<std::string, std::string> set;
    std::vector<std::string> remove;
    [[nodiscard]] bool empty() const { return set.empty() && remove.empty(); }
};

// Annotations of a queue that a plan balanced, or of a quota that went above its runtime or came back; else none.
[[nodiscard]] QueueNotes queue_notes(const QueueReport& report);

// Amounts in the units of the model, as quantities: "1500m" of cpu, "1024" of all else.
[[nodiscard]] std::map<std::string, std::string> quantities_of(const NamedAmounts& amounts);

}  // namespace reprieve
