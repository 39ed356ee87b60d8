// Runtimes: whether the plan tells them right, keeps to them where they limit, and takes back no more than is above
// them.
#pragma once

#include "audit/rules.h"

namespace reprieve {

void judge_runtimes(const Scene& later, Report& report);

}  // namespace reprieve
