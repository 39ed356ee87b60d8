#include "loop/plan_id.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/version.h"

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
