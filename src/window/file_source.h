// FileSource: the one moment that lies in files. Nothing changes here, so every question may copy the cluster at once.
#pragma once

#include <memory>
#include <string>

#include "window/moment.h"
#include "window/receipt.h"

namespace reprieve::window {

class FileSource final : public MomentSource {
public:
    // All of them must outlive this and stay as they are.
    FileSource(Cluster& cluster, const Plan& plan, const SchedulerConfig& config, const Origin& origin);

    Result<std::shared_ptr<const Moment>> moment(std::optional<Time> at) override;
    Result<std::string> ask(std::optional<Time> at, const Question& question) override;
    Result<std::string> room(std::optional<Time> at) override;
    Result<std::string> lifelines(std::optional<Time> at, const std::string& queue) override;
    std::int64_t newest(std::int64_t seen, std::chrono::milliseconds wait) override;
    [[nodiscard]] std::string kind() const override { return "files"; }

private:
    Cluster& cluster_;
    const Plan& plan_;
    const SchedulerConfig& config_;
    std::shared_ptr<const Moment> moment_;
    std::string room_;
};

}  // namespace reprieve::window
