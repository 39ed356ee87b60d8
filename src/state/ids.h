// Ids of the dense tables of a Snapshot that are not facts by themselves.
#pragma once

#include "base/id.h"

namespace reprieve {

using GangId = Id<struct GangTag>;
using CompositeId = Id<struct CompositeTag>;
using QueueId = Id<struct QueueTag>;
using BudgetId = Id<struct BudgetTag>;
using ClassId = Id<struct ClassTag>;  // pods alike in namespace, labels and spec
using TermId = Id<struct TermTag>;    // a set of pods that somebody's affinity or spread speaks of, per topology key
using TopologyKeyId = Id<struct TopologyKeyTag>;
using DomainId = Id<struct DomainTag>;  // a HyperNode, or the nodes with one value of a topology label
using ClaimId = Id<struct ClaimTag>;
using VolumeId = Id<struct VolumeTag>;
using DeviceClaimId = Id<struct DeviceClaimTag>;  // a ResourceClaim, or one that a pod would get
using DeviceId = Id<struct PooledDeviceTag>;      // (driver, pool, name)
using OfferId = Id<struct OfferTag>;              // a device as one ResourceSlice describes it
using SelectorId = Id<struct SelectorTag>;        // a CEL expression

}  // namespace reprieve
