// Projection: an object without what no decision depends on, as it is kept in a record.
//
// A field stays if some decoder of `manifest` reads a field of that name; the list is made from the decoders' sources
// when the program is built, so that it cannot fall behind them. Labels, selectors and amounts stay whole; of
// annotations only those that decoders read; of conditions the message only where it says who was evicted for whom.
// Environments, arguments, commands, managed fields, probes and whatever else may hold a secret are never read by a
// decoder and so never kept. What holds, and is tested on every scenario: the decoder makes the same of the projected
// object as of the whole one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace reprieve {

class Projection {
public:
    Projection();
    ~Projection();
    Projection(const Projection&) = delete;
    Projection& operator=(const Projection&) = delete;

    // Writes the projected object, on one line, with its apiVersion and kind first. False: this is no JSON object.
    [[nodiscard]] bool project(std::string_view api_version,
                               std::string_view kind,
                               std::string_view json,
                               std::string& out);

private:
    struct Walk;
    std::unique_ptr<Walk> walk_;
};

}  // namespace reprieve
