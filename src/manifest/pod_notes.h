// What labels and annotations say about a pod: its gang, its queue, its devices, and the settings of reprieve.dev.
#pragma once

#include "manifest/metadata.h"
#include "model/pod.h"
#include "model/pod_spec.h"

namespace reprieve {

// `pod.group` may already be set by the spec: another name for it is an error.
void read_pod_notes(Reading& reading, const Metadata& metadata, Pod& pod, DeviceAsk& devices);

// The devices that a running pod holds: "0,1", "0:4Gi,1:4Gi" or "0:500m".
void read_held_devices(Reading& reading, const Note& note, std::vector<DeviceHold>& out);
// Koordinator's record of the same: {"gpu":[{"minor":0,"resources":{...}}]}.
void read_koordinator_devices(Reading& reading, const Note& note, std::vector<DeviceHold>& out);
// Those of HAMi and Volcano. Words of theirs that cannot be read are a warning, and as if they were not there: the pod
// is taken to hold what it asks for.
void read_vgpu_devices(Reading& reading, const Note& note, Pod& pod);
void read_card_indexes(Reading& reading, const Note& note, Pod& pod);

}  // namespace reprieve
