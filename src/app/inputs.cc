#include "app/inputs.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <expected>
#include <fstream>
#include <iterator>
#include <optional>

#include "app/references.h"
#include "app/version.h"
#include "app/workload_pods.h"
#include "manifest/config.h"
#include "manifest/family_tree.h"
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

// Objects on their way from files into a cluster.
class ClusterInput {
public:
    // `digested`: how the objects are spelled counts for the digest of the cluster.
    ClusterInput(Cluster& cluster, bool digested)
        : cluster_(cluster),
          digested_(digested),
          loader_(cluster.words(),
                  [this](Object&& object, const SourceRef& source) { take(std::move(object), source); }) {
        for (const char* kind : WorkloadPods::kForeignKinds) {
            loader_.on_document(kind, [this](std::string_view, std::string_view json, const SourceRef& source) {
                workloads_.note(source.text().kind, source.text().api_version, json, source);
            });
        }
        // What happens to an embedded cluster is no part of a plan.
        loader_.on_document("Timeline", [](std::string_view, std::string_view, const SourceRef&) {});
    }

    [[nodiscard]] Loader& loader() { return loader_; }

    // How a load ended, and whether the cluster took all of it.
    [[nodiscard]] Result<void> taken(const std::expected<void, LoadError>& load) const {
        if (!load) return fail(load.error().text());
        if (conflict_) return fail(conflict_->text());
        return {};
    }

    Result<std::vector<std::string>> finish(Time now) {
        if (const auto circle = tree_.find_circle()) return fail(circle->text());
        if (auto done = cluster_.refresh(now); !done) return std::unexpected(done.error());
        if (auto made = workloads_.add_missing(cluster_); !made) return std::unexpected(made.error());
        if (auto done = cluster_.refresh(now); !done) return std::unexpected(done.error());
        std::vector<std::string> warnings = broken_references(cluster_);
        const LoadReport report = loader_.report();
        for (const auto& [kind, count] : report.ignored)
            warnings.push_back(fmt::format("ignored {} object{} of kind {}", count, count == 1 ? "" : "s", kind));
        for (const auto& [what, count] : report.warnings)
            warnings.push_back(count == 1 ? what : fmt::format("{} ({} times)", what, count));
        return warnings;
    }

private:
    void take(Object&& object, const SourceRef& source) {
        if (conflict_) return;
        tree_.note(object, source, cluster_.words());
        if (std::holds_alternative<Workload>(object))
            workloads_.note(source.text().kind, source.text().api_version, source.text().json, source);
        const Digest digest = digested_ ? digest_bytes(source.text().json) : Digest{};
        if (auto added = cluster_.add(std::move(object), digest); !added) {
            conflict_ = LoadError{
                .file = source.file(), .line = source.line(), .object = "", .field = "", .what = added.error().message};
        }
    }

    Cluster& cluster_;
    bool digested_;
    FamilyTree tree_;
    WorkloadPods workloads_;
    std::optional<LoadError> conflict_;
    Loader loader_;
};

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

Result<std::vector<std::string>> load_cluster(Cluster& cluster,
                                              const std::vector<std::string>& files,
                                              Time now,
                                              bool strict) {
    ClusterInput input(cluster, true);
    input.loader().set_field_check(strict ? FieldCheck::kStrict : FieldCheck::kWarn);
    for (const std::string& file : files) {
        if (auto done = input.taken(input.loader().load(file)); !done) return std::unexpected(done.error());
    }
    return input.finish(now);
}

Result<std::vector<std::string>> load_cluster_text(Cluster& cluster,
                                                   const std::string& name,
                                                   std::string_view text,
                                                   Time now) {
    ClusterInput input(cluster, false);
    input.loader().set_field_check(FieldCheck::kWarn);
    input.loader().on_document("Expect", [](std::string_view, std::string_view, const SourceRef&) {});
    if (auto done = input.taken(input.loader().load_text(name, text)); !done) return std::unexpected(done.error());
    return input.finish(now);
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
