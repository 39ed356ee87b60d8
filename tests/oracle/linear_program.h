// LinearProgram: variables, constraints and an objective, written as an LP file and solved by CBC in a process of its
// own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprieve::oracle {

struct Weighted {
    std::int64_t weight = 0;
    int variable = 0;
};
using Sum = std::vector<Weighted>;

[[nodiscard]] std::int64_t value_of(const Sum& sum, const std::vector<std::int64_t>& values);

class LinearProgram {
public:
    // All variables are integers from 0 up.
    int add_binary();
    int add_integer(std::int64_t most);

    void at_most(Sum sum, std::int64_t limit) { constraints_.push_back({std::move(sum), "<=", limit}); }
    void at_least(Sum sum, std::int64_t limit) { constraints_.push_back({std::move(sum), ">=", limit}); }
    void equal(Sum sum, std::int64_t value) { constraints_.push_back({std::move(sum), "=", value}); }

    enum class Status { kOptimal, kInfeasible, kStopped };
    struct Answer {
        Status status = Status::kStopped;
        std::vector<std::int64_t> values;
    };
    // Stopped: the solver found no proof in time.
    [[nodiscard]] Answer minimise(const Sum& objective, int seconds) const;

    [[nodiscard]] std::string text(const Sum& objective) const;

private:
    struct Constraint {
        Sum sum;
        const char* sign;
        std::int64_t limit;
    };
    struct Variable {
        bool binary = false;
        std::int64_t most = 1;
    };
    std::vector<Variable> variables_;
    std::vector<Constraint> constraints_;
};

}  // namespace reprieve::oracle
