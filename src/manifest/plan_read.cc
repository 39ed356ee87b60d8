#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "manifest/plan_json.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

// Keeps the first complaint; a read that fails leaves its target as it was.
class PlanReader {
public:
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

    void complain(const std::string& key, std::string_view what) {
        if (!error_) error_ = Error{fmt::format("{}: {}", key.empty() ? "plan" : key, what)};
    }

    void read(const Json& value, const std::string& key, std::string& out) {
        if (value.is_string()) {
            out = value.get<std::string>();
        } else {
            complain(key, "must be a string");
        }
    }
    void read(const Json& value, const std::string& key, bool& out) {
        if (value.is_boolean()) {
            out = value.get<bool>();
        } else {
            complain(key, "must be true or false");
        }
    }
    void read(const Json& value, const std::string& key, std::int64_t& out) {
        const bool too_large =
            value.is_number_unsigned() &&
            value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        if (value.is_number_integer() && !too_large) {
            out = value.get<std::int64_t>();
        } else {
            complain(key, "must be a whole number of 64 bits");
        }
    }
    void read(const Json& value, const std::string& key, Time& out) {
        std::string text;
        read(value, key, text);
        const Result<Time> time = parse_time(text);
        if (time) {
            out = *time;
        } else {
            complain(key, time.error().message);
        }
    }
    void read(const Json& value, const std::string& key, std::pair<std::string, std::int64_t>& out) {
        if (!value.is_array() || value.size() != 2) {
            complain(key, "must be [term, value]");
            return;
        }
        read(value[0], key, out.first);
        read(value[1], key, out.second);
    }
    template <class T>
    void read(const Json& value, const std::string& key, std::vector<T>& out) {
        if (!value.is_array()) {
            complain(key, "must be a list");
            return;
        }
        out.clear();
        for (const Json& item : value) {
            const std::string path = fmt::format("{}[{}]", key, out.size());
            read(item, path, out.emplace_back());
        }
    }
    template <class T>
    void read(const Json& value, const std::string& key, std::map<std::string, T>& out) {
        each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
            read(item, path, out[name]);
            return true;
        });
    }
    // One of the texts that `to_text` gives the kinds of Enum up to `last`.
    template <class Enum>
    void read_enum(const Json& value, const std::string& key, Enum last, Enum& out) {
        std::string text;
        read(value, key, text);
        for (int i = 0; i <= static_cast<int>(last); ++i) {
            if (text != to_text(static_cast<Enum>(i))) continue;
            out = static_cast<Enum>(i);
            return;
        }
        complain(key, fmt::format("\"{}\" is not known here", text));
    }
    // True for the second of two texts.
    void read_choice(const Json& value, const std::string& key, std::string_view no, std::string_view yes, bool& out) {
        std::string text;
        read(value, key, text);
        if (text != no && text != yes) complain(key, fmt::format("must be {} or {}", no, yes));
        out = text == yes;
    }

    void read(const Json& value, const std::string& key, ClaimedDevice& out);
    void read(const Json& value, const std::string& key, PlacedClaim& out);
    void read(const Json& value, const std::string& key, Placement& out);
    void read(const Json& value, const std::string& key, Eviction& out);
    void read(const Json& value, const std::string& key, ScaleChange& out);
    void read(const Json& value, const std::string& key, AnnotationChange& out);
    void read(const Json& value, const std::string& key, MatchVictim& out);
    void read(const Json& value, const std::string& key, Match& out);
    void read(const Json& value, const std::string& key, QueueReport& out);
    void read(const Json& value, const std::string& key, Unplaced& out);
    void read(const Json& value, const std::string& key, Certificate& out);
    void read(const Json& value, const std::string& key, Plan& out);

private:
    // Calls take(name, path, value) for each member; one that it does not know is a complaint.
    template <class Take>
    void each(const Json& value, const std::string& key, Take take) {
        if (!value.is_object()) {
            complain(key, "must be an object");
            return;
        }
        for (const auto& [name, item] : value.items()) {
            const std::string path = key.empty() ? name : key + "." + name;
            if (!take(name, path, item)) complain(path, "is not known here");
        }
    }
    template <class T>
    bool take(const Json& value, const std::string& key, T& out) {
        read(value, key, out);
        return true;
    }

    std::optional<Error> error_;
};

void PlanReader::read(const Json& value, const std::string& key, ClaimedDevice& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "request") return take(item, path, out.request);
        if (name == "driver") return take(item, path, out.driver);
        if (name == "pool") return take(item, path, out.pool);
        if (name == "device") return take(item, path, out.device);
        if (name == "adminAccess") return take(item, path, out.admin);
        return name == "share" && take(item, path, out.share);
    });
}

void PlanReader::read(const Json& value, const std::string& key, PlacedClaim& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "claim") return take(item, path, out.claim);
        return name == "results" && take(item, path, out.results);
    });
}

void PlanReader::read(const Json& value, const std::string& key, Placement& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "pod") return take(item, path, out.pod);
        if (name == "node") return take(item, path, out.node);
        if (name == "devices") return take(item, path, out.devices);
        if (name == "claims") return take(item, path, out.claims);
        if (name == "for") return take(item, path, out.owner);
        if (name == "domain") return take(item, path, out.domain);
        if (name == "action") return take(item, path, out.action);
        if (name != "when") return false;
        read_choice(item, path, "now", "afterEvictions", out.after_evictions);
        return true;
    });
}

void PlanReader::read(const Json& value, const std::string& key, Eviction& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "pod") return take(item, path, out.pod);
        if (name == "node") return take(item, path, out.node);
        if (name == "group") return take(item, path, out.group);
        if (name == "for") return take(item, path, out.owner);
        if (name == "action") return take(item, path, out.action);
        if (name == "pdbViolation") return take(item, path, out.pdb_violation);
        if (name == "stage") return take(item, path, out.stage);
        if (name == "reason") return take(item, path, out.reason);
        if (name == "frees") return take(item, path, out.frees);
        if (name == "unit") {
            read_enum(item, path, UnitKind::kReplica, out.unit);
            return true;
        }
        if (name != "mode") return false;
        read_enum(item, path, EvictionMode::kForceDelete, out.mode);
        return true;
    });
}

void PlanReader::read(const Json& value, const std::string& key, ScaleChange& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "deployment") return take(item, path, out.deployment);
        if (name == "plane") return take(item, path, out.plane);
        if (name == "from") return take(item, path, out.from);
        if (name == "to") return take(item, path, out.to);
        return name == "hints" && take(item, path, out.hints);
    });
}

void PlanReader::read(const Json& value, const std::string& key, AnnotationChange& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "pod") return take(item, path, out.pod);
        if (name == "set") return take(item, path, out.set);
        return name == "remove" && take(item, path, out.remove);
    });
}

void PlanReader::read(const Json& value, const std::string& key, MatchVictim& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "pod") return take(item, path, out.pod);
        return name == "as" && take(item, path, out.as);
    });
}

void PlanReader::read(const Json& value, const std::string& key, Match& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "for") return take(item, path, out.owner);
        if (name == "node") return take(item, path, out.node);
        if (name == "victims") return take(item, path, out.victims);
        return name == "usesFree" && take(item, path, out.uses_free);
    });
}

void PlanReader::read(const Json& value, const std::string& key, QueueReport& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "name") return take(item, path, out.name);
        return take(item, path, out.shares[name]);
    });
}

void PlanReader::read(const Json& value, const std::string& key, Unplaced& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "pod") return take(item, path, out.pod);
        if (name == "for") return take(item, path, out.owner);
        if (name == "replicas") return take(item, path, out.replicas);
        if (name == "reason") return take(item, path, out.reason);
        if (name == "nodes") return take(item, path, out.nodes);
        if (name != "verdict") return false;
        read_choice(item, path, "notNow", "never", out.never);
        return true;
    });
}

void PlanReader::read(const Json& value, const std::string& key, Certificate& out) {
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "for") return take(item, path, out.owner);
        if (name == "action") return take(item, path, out.action);
        if (name == "cost") return take(item, path, out.cost);
        if (name == "bound") return take(item, path, out.bound);
        if (name == "runnerUp") return take(item, path, out.runner_up);
        if (name == "binding") return take(item, path, out.binding);
        if (name != "status") return false;
        read_enum(item, path, CertificateStatus::kUnknown, out.status);
        return true;
    });
}

void PlanReader::read(const Json& value, const std::string& key, Plan& out) {
    std::string api_version;
    std::string kind;
    each(value, key, [&](const std::string& name, const std::string& path, const Json& item) {
        if (name == "apiVersion") return take(item, path, api_version);
        if (name == "kind") return take(item, path, kind);
        if (name == "id") return take(item, path, out.id);
        if (name == "now") return take(item, path, out.now);
        if (name == "placements") return take(item, path, out.placements);
        if (name == "evictions") return take(item, path, out.evictions);
        if (name == "nominationsCleared") return take(item, path, out.nominations_cleared);
        if (name == "scale") return take(item, path, out.scale);
        if (name == "forceDeletes") return take(item, path, out.force_deletes);
        if (name == "annotations") return take(item, path, out.annotations);
        if (name == "matches") return take(item, path, out.matches);
        if (name == "queues") return take(item, path, out.queues);
        if (name == "unplaced") return take(item, path, out.unplaced);
        if (name == "certificates") return take(item, path, out.certificates);
        return name == "warnings" && take(item, path, out.warnings);
    });
    if (api_version != "reprieve.dev/v1") complain("apiVersion", "must be reprieve.dev/v1");
    if (kind != "Plan") complain("kind", "must be Plan");
}

}  // namespace

Result<Plan> plan_from_json(std::string_view text) {
    Json document;
    try {
        document = Json::parse(text);
    } catch (const Json::parse_error& wrong) {
        const std::string_view before = text.substr(0, std::min(wrong.byte, text.size()));
        return fail(fmt::format("plan: not valid JSON at line {}", 1 + std::ranges::count(before, '\n')));
    } catch (const Json::exception&) {
        return fail("plan: not valid JSON");
    }
    PlanReader reader;
    Plan plan;
    reader.read(document, {}, plan);
    if (reader.error()) return std::unexpected(*reader.error());
    return plan;
}

}  // namespace reprieve
