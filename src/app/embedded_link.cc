#include "app/embedded_link.h"

#include "app/complaint.h"

namespace reprieve {
namespace {

class EmbeddedLink : public ClusterLink {
public:
    EmbeddedLink(const EmbeddedOptions& options, Vocabulary& words)
        : world_(options.world),
          source_(world_, words, options.pace),
          sink_(world_) {}
    ~EmbeddedLink() override {
        for (const std::string& complaint : world_.complaints())
            print_complaint(complaint);
    }

    [[nodiscard]] World& world() { return world_; }
    [[nodiscard]] Source& source() override { return source_; }
    [[nodiscard]] Sink& sink() override { return sink_; }
    [[nodiscard]] bool failed_events() const override { return !world_.complaints().empty(); }

private:
    World world_;
    WorldSource source_;
    WorldSink sink_;
};

}  // namespace

Result<std::unique_ptr<ClusterLink>> open_embedded(const EmbeddedOptions& options, Vocabulary& words) {
    auto link = std::make_unique<EmbeddedLink>(options, words);
    for (const std::string& file : options.files) {
        if (auto loaded = link->world().load(file); !loaded) return std::unexpected(loaded.error());
    }
    if (auto checked = link->world().check_timeline(); !checked) return std::unexpected(checked.error());
    for (const std::string& warning : link->world().warnings())
        print_complaint(warning);
    link->world().begin();
    return link;
}

}  // namespace reprieve
