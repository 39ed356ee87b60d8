// Who is a replica of which serving deployment: by label, by controllers, or by the selector of a Deployment that is a
// serving deployment by itself.
#pragma once

#include "model/objects.h"
#include "state/cluster.h"

namespace reprieve {

// The name, in the pod's namespace, of the serving deployment that it is a replica of. None: it is nobody's.
[[nodiscard]] StringId serving_of(const Cluster& cluster, const Pod& pod);
// The same of a workload whose number of replicas is the commit in one plane.
[[nodiscard]] StringId serving_of(const Cluster& cluster, const Workload& workload);
// The serving deployment named by these labels, there or not.
[[nodiscard]] StringId serving_label(const Cluster& cluster, const Labels& labels);

}  // namespace reprieve
