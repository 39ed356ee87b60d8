#include "foreign.h"

#include <fmt/format.h>

#include <string>

namespace reprieve::worlds {
namespace {

using Object = nlohmann::json;

constexpr const char* kDisk = "disk.example.com";

class Writer {
public:
    Writer(const World& world, std::vector<Object>& documents) : world_(world), documents_(documents) {}

    void run() {
        // Objects are added while those that were there are gone through.
        const std::size_t count = documents_.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (documents_[i]["kind"] == "Pod") write_pod(i);
            if (documents_[i]["kind"] == "Node" && drawn(kAttachments))
                add_attachments(documents_[i]["metadata"]["name"]);
        }
        if (drawn(kNamespaces)) add_namespaces();
        if (drawn(kWaitingVolumes)) add_volumes();
    }

private:
    [[nodiscard]] bool drawn(unsigned kind) const { return (world_.foreign & kind) != 0; }

    // A number from 0 to most that depends on the world, the name and what is asked.
    [[nodiscard]] unsigned pick(const std::string& name, unsigned what, unsigned most) const {
        std::uint64_t h = world_.number * 0x9E3779B97F4A7C15U + what;
        for (char c : name)
            h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
        h ^= h >> 29U;
        h *= 0xBF58476D1CE4E5B9U;
        return static_cast<unsigned>((h >> 33U) % (most + 1));
    }

    // Members of a gang that waits are alike.
    [[nodiscard]] static std::string kin(const std::string& name) { return name.substr(0, name.find('-')); }

    void write_pod(std::size_t i) {
        const std::string name = documents_[i]["metadata"]["name"];
        // Told by the name, so that it is the same at every moment of a pod's past.
        const bool wants = name.starts_with("want");
        if (drawn(kNamespaces)) write_namespaces(documents_[i], name, wants);
        if (drawn(kPortAddresses)) write_addresses(documents_[i], name);
        if (drawn(kLabelKeys)) write_label_keys(documents_[i], name);
        if (drawn(kNodeExpressions) && wants) write_expressions(documents_[i], name);
        if (drawn(kAttachments) && (wants || pick(name, 1, 1) == 0)) add_disk(i, name);
        if (drawn(kWaitingVolumes) && wants) add_claim(i, name);
    }

    template <class F>
    static void each_term(Object& pod, F&& f) {
        if (!pod["spec"].contains("affinity")) return;
        for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
            if (!pod["spec"]["affinity"].contains(kind)) continue;
            for (Object& term : pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"])
                f(term);
        }
    }

    void write_namespaces(Object& pod, const std::string& name, bool wants) {
        const bool in_group = pod["spec"].contains("schedulingGroup") ||
                              (pod["metadata"].contains("annotations") &&
                               pod["metadata"]["annotations"].contains("scheduling.k8s.io/group-name"));
        const bool has_objects = pod["spec"].contains("volumes") || pod["spec"].contains("resourceClaims");
        if (!wants && !in_group && !has_objects && world_.budgets.empty() && pick(name, 2, 1) == 0)
            pod["metadata"]["namespace"] = "other";
        each_term(pod, [&](Object& term) {
            switch (pick(kin(name), 3, 4)) {
                case 0:
                    term["namespaces"] = {"other"};
                    break;
                case 1:
                    term["namespaces"] = {"other", "default"};
                    break;
                case 2:
                    term["namespaceSelector"] = Object::object();
                    break;
                case 3:
                    term["namespaceSelector"]["matchLabels"]["team"] = "x";
                    break;
                default:
                    break;
            }
        });
    }

    void write_addresses(Object& pod, const std::string& name) {
        for (Object& container : pod["spec"]["containers"]) {
            if (!container.contains("ports")) continue;
            for (Object& port : container["ports"]) {
                const unsigned address = pick(name, 4, 3);
                if (address > 1) port["hostIP"] = fmt::format("10.0.0.{}", address);
                if (address == 1) port["hostIP"] = "0.0.0.0";
                if (pick(name, 5, 3) == 0) port["protocol"] = "UDP";
            }
        }
    }

    void write_label_keys(Object& pod, const std::string& name) {
        pod["metadata"]["labels"]["rev"] = std::to_string(pick(kin(name), 6, 1));
        each_term(pod, [&](Object& term) {
            const unsigned how = pick(kin(name), 7, 2);
            if (how < 2) term[how == 0 ? "matchLabelKeys" : "mismatchLabelKeys"] = {"rev"};
        });
        if (!pod["spec"].contains("topologySpreadConstraints")) return;
        for (Object& constraint : pod["spec"]["topologySpreadConstraints"])
            constraint["matchLabelKeys"] = {"rev"};
    }

    void write_expressions(Object& pod, const std::string& name) {
        const std::string like = kin(name);
        const auto host = [&](unsigned what) { return fmt::format("n{}", pick(like, what, 3)); };
        const Object hosts{
            {"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {host(8), host(9), host(10)}}};
        const Object zone{{"key", "topology.kubernetes.io/zone"}, {"operator", "NotIn"}, {"values", {"z0"}}};
        Object terms = Object::array();
        terms.push_back({{"matchExpressions", Object::array({hosts})}});
        if (pick(like, 11, 1) == 0) terms.push_back({{"matchExpressions", Object::array({zone})}});
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
            terms;
    }

    static Object made(const char* version, const char* kind, const std::string& name) {
        return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}};
    }

    void use_claim(std::size_t pod, const std::string& claim) {
        documents_[pod]["spec"]["volumes"] =
            Object::array({{{"name", "disk"}, {"persistentVolumeClaim", {{"claimName", claim}}}}});
    }

    Object claim_named(const std::string& claim, const std::string& ns) {
        Object out = made("v1", "PersistentVolumeClaim", claim);
        out["metadata"]["namespace"] = ns;
        out["spec"] = {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
        return out;
    }

    // A disk that is attached to the node of its pod.
    void add_disk(std::size_t pod, const std::string& name) {
        const std::string ns = documents_[pod]["metadata"]["namespace"];
        use_claim(pod, "disk-" + name);
        Object volume = made("v1", "PersistentVolume", "disk-" + name);
        volume["spec"] = {{"accessModes", {"ReadWriteOnce"}},
                          {"capacity", {{"storage", "1Gi"}}},
                          {"csi", {{"driver", kDisk}, {"volumeHandle", name}}},
                          {"claimRef", {{"namespace", ns}, {"name", "disk-" + name}}}};
        volume["status"]["phase"] = "Bound";
        Object claim = claim_named("disk-" + name, ns);
        claim["spec"]["volumeName"] = "disk-" + name;
        claim["status"]["phase"] = "Bound";
        documents_.push_back(std::move(volume));
        documents_.push_back(std::move(claim));
    }

    void add_attachments(const std::string& node) {
        Object out = made("storage.k8s.io/v1", "CSINode", node);
        out["spec"]["drivers"] =
            Object::array({{{"name", kDisk}, {"nodeID", node}, {"allocatable", {{"count", 1 + pick(node, 12, 2)}}}}});
        documents_.push_back(std::move(out));
    }

    void add_claim(std::size_t pod, const std::string& name) {
        use_claim(pod, "wants-" + name);
        Object claim = claim_named("wants-" + name, "default");
        claim["spec"]["storageClassName"] = "local";
        documents_.push_back(std::move(claim));
    }

    // On most nodes one volume that waits, on some two.
    void add_volumes() {
        Object storage = made("storage.k8s.io/v1", "StorageClass", "local");
        storage["provisioner"] = "kubernetes.io/no-provisioner";
        storage["volumeBindingMode"] = "WaitForFirstConsumer";
        documents_.push_back(std::move(storage));
        for (const WorldNode& node : world_.nodes) {
            for (unsigned v = pick(node.name, 13, 3); v < 3; v += 2) {
                Object volume = made("v1", "PersistentVolume", fmt::format("local-{}-{}", node.name, v));
                const Object here{
                    {"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", Object::array({node.name})}};
                volume["spec"] = {{"accessModes", {"ReadWriteOnce"}},
                                  {"capacity", {{"storage", "1Gi"}}},
                                  {"storageClassName", "local"}};
                volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] =
                    Object::array({{{"matchExpressions", Object::array({here})}}});
                volume["status"]["phase"] = "Available";
                documents_.push_back(std::move(volume));
            }
        }
    }

    void add_namespaces() {
        for (const char* name : {"default", "other"}) {
            Object out = made("v1", "Namespace", name);
            if (name == std::string("other")) out["metadata"]["labels"]["team"] = "x";
            documents_.push_back(std::move(out));
        }
    }

    const World& world_;
    std::vector<Object>& documents_;
};

}  // namespace

void add_foreign_rules(const World& world, std::vector<Object>& documents) {
    if (world.foreign != 0) Writer(world, documents).run();
}

}  // namespace reprieve::worlds
