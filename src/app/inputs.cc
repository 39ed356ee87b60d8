#include "app/inputs.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <iterator>
#include <optional>

#include "app/version.h"
#include "manifest/config.h"
#include "manifest/load.h"

namespace reprieve {
namespace {

std::string sha256(const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha256(), nullptr);
    std::string out;
    for (unsigned i = 0; i < size; ++i)
        out += fmt::format("{:02x}", bytes[i]);
    return out;
}

}  // namespace

Result<std::string> read_file(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return fail(fmt::format("{}: cannot be read", file));
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in.bad()) return fail(fmt::format("{}: cannot be read", file));
    return text;
}

Result<SchedulerConfig> load_config(const std::string& file) {
    const auto text = read_file(file);
    if (!text) return std::unexpected(text.error());
    return parse_config(*text, file);
}

Result<std::vector<std::string>> load_cluster(Cluster& cluster, const std::vector<std::string>& files, Time now) {
    std::optional<LoadError> conflict;
    Loader loader(cluster.words(), [&](Object&& object, const SourceRef& source) {
        if (conflict) return;
        if (auto added = cluster.add(std::move(object), digest_bytes(source.text().json)); !added) {
            conflict = LoadError{
                .file = source.file(), .line = source.line(), .object = "", .field = "", .what = added.error().message};
        }
    });
    for (const std::string& file : files) {
        if (const auto done = loader.load(file); !done) return fail(done.error().text());
        if (conflict) return fail(conflict->text());
    }
    if (auto done = cluster.refresh(now); !done) return std::unexpected(done.error());
    std::vector<std::string> warnings;
    const LoadReport report = loader.report();
    for (const auto& [kind, count] : report.ignored)
        warnings.push_back(fmt::format("ignored {} object{} of kind {}", count, count == 1 ? "" : "s", kind));
    for (const auto& [what, count] : report.warnings)
        warnings.push_back(count == 1 ? what : fmt::format("{} ({} times)", what, count));
    return warnings;
}

std::string plan_id(const Cluster& cluster,
                    const std::string& config_text,
                    const std::vector<std::string>& only,
                    Time now) {
    const Digest facts = cluster.digest();
    std::string all = fmt::format("{}\n{:016x}{:016x}\n{}\n{}\n", kVersion, facts.high, facts.low, now.us, config_text);
    for (const std::string& name : only)
        all += name + "\n";
    return "sha256:" + sha256(all);
}

}  // namespace reprieve
