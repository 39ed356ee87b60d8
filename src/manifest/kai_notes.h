// What KAI's annotations and labels say of a pod: a share of a device, and whom it shares the device with.
#pragma once

#include "manifest/metadata.h"
#include "model/pod.h"
#include "model/pod_spec.h"

namespace reprieve {

// False: none of KAI's. The names have no domain, so a value that makes no sense is a warning; the pod then waits, and
// if it runs, it has all of a device.
bool read_kai_note(Reading& reading, const Note& note, Pod& pod, DeviceAsk& devices);

// After all notes: annotations that say nothing together, or two things, are such a value too.
void settle_kai_ask(Reading& reading, Pod& pod, DeviceAsk& devices);

// A pod that has a whole device and shares it with its group only keeps it for the others: without it they would lose
// their device.
void protect_keeper(const DeviceAsk& devices, Pod& pod);

}  // namespace reprieve
