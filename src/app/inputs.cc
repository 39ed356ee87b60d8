#include "app/inputs.h"

#include <fmt/format.h>

#include <expected>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/references.h"
#include "app/workload_pods.h"
#include "manifest/config.h"
#include "manifest/family_tree.h"
#include "manifest/load.h"

namespace reprieve {
namespace {

// The value of `$patch` in an object, empty if it has none.
std::string patch_word(std::string_view json) {
    if (json.find("\"$patch\"") == std::string_view::npos) return {};
    const auto object = nlohmann::json::parse(json, nullptr, false);
    const auto patch = object.is_object() ? object.find("$patch") : object.end();
    return patch != object.end() && patch->is_string() ? patch->get<std::string>() : std::string();
}

constexpr const char* kOnlyItsPods = "of this kind only the pods are known; take those away";

// "Pod default/web-0", as it is written.
std::string title_of(const SourceRef::Text& text) {
    const auto object = nlohmann::json::parse(text.json, nullptr, false);
    const auto word = [&](const char* field) {
        const nlohmann::json::json_pointer path(std::string("/metadata/") + field);
        return object.contains(path) && object[path].is_string() ? object[path].get<std::string>() : std::string();
    };
    const std::string ns = word("namespace");
    return fmt::format("{} {}{}", text.kind, ns.empty() ? "" : ns + "/", word("name"));
}

// Objects on their way from files into a cluster.
class ClusterInput {
public:
    // `digested`: how the objects are spelled counts for the digest of the cluster. `replacing`: what is there gives
    // way.
    ClusterInput(Cluster& cluster, bool digested, bool replacing = false)
        : cluster_(cluster),
          digested_(digested),
          replacing_(replacing),
          loader_(cluster.words(),
                  [this](Object&& object, const SourceRef& source) { take(std::move(object), source); }) {
        for (const char* kind : WorkloadPods::kForeignKinds) {
            loader_.on_document(kind, [this](std::string_view, std::string_view json, const SourceRef& source) {
                if (replacing_ && patch_word(json) == "delete") return reject(source, kOnlyItsPods);
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
        std::ranges::copy(workloads_.warnings(), std::back_inserter(warnings));
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
        const std::string patch = replacing_ ? patch_word(source.text().json) : std::string();
        if (patch == "delete") return take_away(object, source);
        tree_.note(object, source, cluster_.words());
        if (std::holds_alternative<Workload>(object))
            workloads_.note(source.text().kind, source.text().api_version, source.text().json, source);
        if (replacing_) return replace(std::move(object), patch, source);
        const Digest digest = digested_ ? digest_bytes(source.text().json) : Digest{};
        if (auto added = cluster_.add(std::move(object), digest); !added) {
            conflict_ = LoadError{
                .file = source.file(), .line = source.line(), .object = "", .field = "", .what = added.error().message};
        }
    }

    void take_away(const Object& object, const SourceRef& source) {
        if (cluster_.has(object)) return static_cast<void>(cluster_.remove(object));
        // Of some workloads the cluster knows only the pods: whether there is one cannot be said.
        const auto* workload = std::get_if<Workload>(&object);
        const bool kept = workload == nullptr || Cluster::keeps(workload->kind);
        reject(source, kept ? "there is no such object, so it cannot be taken away" : kOnlyItsPods);
    }

    void reject(const SourceRef& source, const std::string& what) {
        if (conflict_) return;
        conflict_ = LoadError{.file = source.file(),
                              .line = source.line(),
                              .object = title_of(source.text()),
                              .field = "$patch",
                              .what = what};
    }

    void replace(Object&& object, const std::string& patch, const SourceRef& source) {
        if (patch.empty()) return static_cast<void>(cluster_.apply(std::move(object)));
        const Pod* written = std::get_if<Pod>(&object);
        const PodId known = written != nullptr ? cluster_.find_pod(written->ns, written->name) : PodId();
        if (patch == "merge" && known && written->priority) {
            Pod changed = cluster_.pod(known);
            changed.priority = written->priority;
            return static_cast<void>(cluster_.apply(std::move(changed)));
        }
        reject(source,
               patch == "merge" ? "merge goes with spec.priority of a pod that exists; else write the whole object"
                                : "delete and merge are known");
    }

    Cluster& cluster_;
    bool digested_;
    bool replacing_;
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

Result<std::vector<std::string>> load_changes_text(Cluster& cluster, std::string_view text, Time now) {
    ClusterInput input(cluster, false, true);
    input.loader().set_field_check(FieldCheck::kWarn);
    if (auto done = input.taken(input.loader().load_text("what-if", text)); !done) return std::unexpected(done.error());
    auto warnings = input.finish(now);
    if (warnings) std::erase_if(*warnings, [](const std::string& w) { return w.find("$patch") != std::string::npos; });
    return warnings;
}

}  // namespace reprieve
