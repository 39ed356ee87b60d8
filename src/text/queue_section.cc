// The section about queues: a row for each queue and resource, a column for each share that says something.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "text/amounts.h"
#include "text/plan_sections.h"

namespace reprieve {
namespace {

constexpr const char* kBorrowed = "borrowed";

// The well-known shares, in this order; others follow by name.
constexpr std::array kFirst{"deserved", "allocated", "used", "usedLive", "preempting", "runtime", kBorrowed};

const NamedAmounts* find_share(const QueueReport& queue, const std::string& share) {
    const auto at = queue.shares.find(share);
    return at == queue.shares.end() ? nullptr : &at->second;
}

// Use beyond what is the queue's own: its minimum, or else what it deserves.
NamedAmounts borrowed_by(const QueueReport& queue) {
    NamedAmounts borrowed;
    const NamedAmounts* used = find_share(queue, "used");
    const NamedAmounts* own = find_share(queue, "min");
    if (own == nullptr) own = find_share(queue, "deserved");
    if (used == nullptr || own == nullptr) return borrowed;
    for (const auto& [resource, amount] : *used) {
        if (const auto at = own->find(resource); at != own->end())
            borrowed[resource] = std::max<std::int64_t>(0, amount - at->second);
    }
    return borrowed;
}

std::vector<QueueReport> with_borrowed(std::vector<QueueReport> queues) {
    for (QueueReport& queue : queues) {
        if (NamedAmounts borrowed = borrowed_by(queue); !borrowed.empty())
            queue.shares[kBorrowed] = std::move(borrowed);
    }
    return queues;
}

// Shares that mostly repeat another one, or zero, stand only where they do not.
bool says_something(const QueueReport& queue, const std::string& share) {
    const NamedAmounts* amounts = find_share(queue, share);
    if (amounts == nullptr) return false;
    if (const NamedAmounts* used = find_share(queue, "used"); share == "usedLive" && used != nullptr)
        return *amounts != *used;
    if (share != "preempting" && share != kBorrowed) return true;
    return std::ranges::any_of(*amounts, [](const auto& item) { return item.second != 0; });
}

std::vector<std::string> shares_of(const std::vector<QueueReport>& queues) {
    std::set<std::string> present;
    for (const QueueReport& queue : queues) {
        for (const auto& [share, amounts] : queue.shares) {
            if (says_something(queue, share)) present.insert(share);
        }
    }
    std::vector<std::string> shares;
    for (const char* share : kFirst) {
        if (present.erase(share) > 0) shares.emplace_back(share);
    }
    shares.insert(shares.end(), present.begin(), present.end());
    return shares;
}

// "usedLive" -> "USED LIVE".
std::string share_title(const std::string& share) {
    std::string title;
    for (const char c : share) {
        if (c >= 'A' && c <= 'Z') title += ' ';
        title += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return title;
}

std::set<std::string> resources_of(const QueueReport& queue) {
    std::set<std::string> resources;
    for (const auto& [share, amounts] : queue.shares) {
        for (const auto& [resource, amount] : amounts)
            resources.insert(resource);
    }
    return resources;
}

// A share that does not speak of the resource says nothing, which is not the same as zero.
Cell amount_cell(const QueueReport& queue, const std::string& share, const std::string& resource) {
    const NamedAmounts* amounts = find_share(queue, share);
    if (amounts == nullptr || !amounts->contains(resource)) return {"-", Paint::kDim};
    const std::int64_t amount = amounts->at(resource);
    const bool notable = amount != 0 && (share == "preempting" || share == kBorrowed);
    return {human_amount(resource, amount), notable ? Paint::kYellow : Paint::kPlain};
}

bool queues_matter(const std::vector<QueueReport>& queues) {
    if (queues.size() != 1 || queues.front().name != "default") return true;
    const auto& shares = queues.front().shares;
    return std::ranges::any_of(shares, [](const auto& share) { return share.first != "used"; });
}

}  // namespace

Table queues_section(const Plan& plan) {
    const std::vector<QueueReport> queues = with_borrowed(plan.queues);
    const std::vector<std::string> shares = shares_of(queues);
    std::vector<Column> columns{{"QUEUE"}, {"RESOURCE"}};
    for (const std::string& share : shares)
        columns.push_back({share_title(share), ColumnKind::kNumber});
    Table table("Queues", std::move(columns));
    if (!queues_matter(queues)) return table;
    for (const QueueReport& queue : queues) {
        // The name stands in every row, for whoever searches the lines.
        Paint name_paint = Paint::kPlain;
        bool continues = false;
        for (const std::string& resource : resources_of(queue)) {
            Row row{.cells = {{queue.name, name_paint}, {resource}}, .notes = {}, .continues = continues};
            for (const std::string& share : shares)
                row.cells.push_back(amount_cell(queue, share, resource));
            table.add(std::move(row));
            name_paint = Paint::kDim;
            continues = true;
        }
    }
    return table;
}

}  // namespace reprieve
