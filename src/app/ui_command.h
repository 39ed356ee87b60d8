// `reprieve ui`: a web page on what lies in files: manifests, or a report.
#pragma once

#include <string>

#include "app/planning.h"

namespace reprieve {

struct UiOptions {
    PlanningOptions planning;
    std::string record;  // a record: its folder or one of its files
    std::string report;  // an HTML report, its JSON, or the folder that it is in
    std::string listen = "127.0.0.1:8900";
    bool open = false;        // also off this machine, without asking for a token
    std::string page_folder;  // for development
};

[[nodiscard]] int ui_command(const UiOptions& options);

}  // namespace reprieve
