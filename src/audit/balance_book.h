// BalanceBook: what each weighted queue asks for, uses and deserves, worked out again from the facts.
//
// Only queues that hold pods are in it: Queue objects without children. Amounts of resources that nobody asks for are
// not in it either.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "audit/case.h"

namespace reprieve {

class BalanceBook {
public:
    explicit BalanceBook(const Case& judged);

    struct Entry {
        Resources asked;
        Resources used;  // terminating pods included
        Resources live;
        Resources deserved;
    };

    [[nodiscard]] const std::map<QueueId, Entry>& queues() const { return entries_; }
    [[nodiscard]] const std::set<Dim>& dims() const { return dims_; }
    // What a bound pod holds.
    [[nodiscard]] std::int64_t held(PodId pod, Dim dim) const;

private:
    [[nodiscard]] bool is_weighted(QueueId queue) const;
    [[nodiscard]] std::vector<QueueId> children(QueueId parent) const;
    void read_pods();
    [[nodiscard]] std::int64_t request(QueueId queue, Dim dim) const;
    void share_out(QueueId parent, Dim dim, std::int64_t amount);
    [[nodiscard]] std::int64_t capacity(Dim dim) const;

    const Case& judged_;
    std::map<QueueId, Entry> entries_;
    std::set<Dim> dims_;
};

}  // namespace reprieve
