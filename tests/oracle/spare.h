// Spare: how many pods a gang can lose, in all and of each role, and keep its minimums.
#pragma once

#include <map>

#include "instance.h"

namespace reprieve::oracle {

class Spare {
public:
    Spare(const Instance& instance, int gang);

    // Takes the pod out of what can be lost, if it is in it. A gang that is short already can lose everything.
    [[nodiscard]] bool take(const RunningPod& pod);
    [[nodiscard]] bool everything() const { return broken_; }
    [[nodiscard]] int left() const { return left_; }
    [[nodiscard]] const std::map<int, int>& by_role() const { return by_role_; }

private:
    int left_ = 0;
    bool broken_ = false;
    std::map<int, int> by_role_;
};

}  // namespace reprieve::oracle
