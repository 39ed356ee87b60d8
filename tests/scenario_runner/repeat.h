// Repeat: many documents alike, written once.
//
//   kind: Repeat
//   count: 60            # from 0; or `from: 1`, or `over: [a, b]`
//   as: i                # the name between the braces; i if not written
//   template: {...}      # one document or a list of them; may be a Repeat itself, with another name
//
// In every text and key of the template `{i}` stands for the number (or the entry of `over`). Whole numbers also take
// `+ - * / %` with a number, from left to right, and a width: `{i%4}`, `{i/8*2}`, `{i:03}`. A text that is nothing but
// `{i:int}` becomes a number.
#pragma once

#include "strict.h"

namespace reprieve::scenario {

// Appends the document to `out`, or what it repeats.
void expand(const Json& document, std::vector<Json>& out, Faults& faults);

}  // namespace reprieve::scenario
