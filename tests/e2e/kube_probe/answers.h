// What a test may ask a probe for, over HTTP on loopback.
#pragma once

#include "probe.h"
#include "web/server.h"

namespace reprieve {

void answer_questions(WebServer& server, Probe& probe);

}  // namespace reprieve
