// What the objects of resource.k8s.io have in common. Values that make no sense are no error: the object is the
// cluster's, not the user's file, so the fault is kept as a sentence and whoever needs the object waits with it.
#pragma once

#include <string>
#include <string_view>

#include "base/wide.h"
#include "manifest/cursor.h"
#include "model/device_claims.h"

namespace reprieve {

// Leaves `out` as it was, and says so in `trouble`, where the text is no quantity.
void read_amount(Cursor& at, Wide& out, std::string& trouble);
void note_trouble(std::string& trouble, std::string sentence);

// "domain/id", or "id" in the domain of the driver.
[[nodiscard]] QualifiedName qualified(Vocabulary& words, std::string_view text, std::string_view driver);

void decode_device_selectors(Cursor& at, std::vector<DeviceSelector>& out);
void decode_device_taint(Cursor& at, DeviceTaint& out);
void decode_claim_spec(Cursor& at, ClaimSpec& out);

}  // namespace reprieve
