#include "answers.h"

namespace reprieve {
namespace {

WebAnswer json_answer(const nlohmann::json& json) {
    return {.status = json.contains("error") ? 500 : 200, .body = json.dump(), .content_type = "application/json"};
}

}  // namespace

void answer_questions(WebServer& server, Probe& probe) {
    server.get("/state", [&](const WebRequest&) { return json_answer(probe.ask([&] { return probe.state(); })); });
    server.get("/counts", [&](const WebRequest&) { return json_answer(probe.ask([&] { return probe.counts(); })); });
    server.get("/reports", [&](const WebRequest&) {
        return json_answer({{"reports", probe.ask([&] { return probe.reports(); })}});
    });
    server.post("/plan", [&](const WebRequest& request) {
        return json_answer(probe.ask([&] { return probe.carry_out(request.body); }));
    });
    server.probe("/healthz", [] { return Result<void>{}; });
}

}  // namespace reprieve
