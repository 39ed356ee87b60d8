// Selectors: any text is read or refused, and what is read evaluates on any device within its steps, twice alike.
#include "base/check.h"
#include "base/quantity.h"
#include "cel/expression.h"

using namespace reprieve;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto expression = cel::Expression::parse(text);
    if (!expression) return 0;
    static const Semver kVersion = *Semver::parse("1.2.3");
    const cel::Device device{.driver = "d.example",
                             .attributes = {{"d.example", "a", std::int64_t{1}},
                                            {"d.example", "b", true},
                                            {"d.example", "s", std::string_view("text")},
                                            {"d.example", "v", &kVersion}},
                             .capacity = {{"d.example", "c", Wide{1} << 40U}}};
    for (const cel::Device& d : {device, cel::Device{}}) {
        const auto first = expression->matches(d);
        const auto second = expression->matches(d);
        REPRIEVE_CHECK(first.has_value() == second.has_value());
        REPRIEVE_CHECK(first ? *first == *second : first.error().message == second.error().message);
    }
    return 0;
}
