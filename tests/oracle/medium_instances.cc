#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "draw.h"
#include "generate.h"

namespace reprieve::oracle {
namespace {

constexpr std::int64_t kGpus = 8;
constexpr int kRack = 16;
constexpr int kRow = 64;

class MediumMaker {
public:
    MediumMaker(const MediumShape& shape, std::uint64_t number) : shape_(shape), draw_(number) {}

    Instance make() {
        for (int n = 0; n < shape_.hosts; ++n) {
            out_.nodes.push_back(
                {.name = fmt::format("host-{:04}", n), .size = {96, 768, kGpus}, .rack = n / kRack, .row = n / kRow});
        }
        room_.assign(static_cast<std::size_t>(shape_.hosts), kGpus);
        if (shape_.quotas) add_quotas();
        fill();
        if (shape_.budgets) {
            for (int app = 0; app < 4; ++app)
                out_.budgets.push_back({.app = app, .allowed = draw_.number(0, 40)});
        }
        out_.demand = {.way = Way::kGangPreempt,
                       .is_gang = true,
                       .members = std::vector<Amounts>(static_cast<std::size_t>(shape_.members), ask(shape_.gpus_each)),
                       .surplus = shape_.surplus,
                       .priority = 100,
                       .tier = shape_.tier};
        if (shape_.one_pod) out_.demand = {.is_gang = false, .members = {ask(shape_.gpus_each)}, .priority = 100};
        if (shape_.quotas) join_quotas();
        return std::move(out_);
    }

private:
    static Amounts ask(std::int64_t gpus) { return {12 * gpus, 96 * gpus, gpus}; }

    // Sizes as in a production trace of training jobs: most hold one GPU, few hold most of the GPUs.
    int job_gpus() {
        const int drawn = draw_.number(0, 99);
        if (drawn < 41) return 1;
        if (drawn < 44) return 2;
        if (drawn < 60) return 4;
        if (drawn < 91) return 8;
        if (drawn < 98) return 16;
        return drawn < 99 ? 32 : 64;
    }

    // How many minutes ago a job started: a trace's run times at its deciles, from seconds to weeks.
    std::int64_t job_age() {
        constexpr std::array<std::int64_t, 11> kDeciles{0, 1, 4, 15, 50, 144, 420, 900, 1800, 4000, 24'000};
        const int decile = draw_.number(0, 9);
        const auto at = static_cast<std::size_t>(decile);
        return draw_.between(kDeciles[at], kDeciles[at + 1]);
    }

    // No two pods start in the same minute.
    std::int64_t start_before(std::int64_t age) {
        constexpr std::int64_t kNow = 308'880;
        std::int64_t start = kNow - age;
        while (!starts_.insert(start).second)
            --start;
        return start;
    }

    static constexpr int kOrganisations = 2;
    static constexpr int kTeams = 3;  // of each organisation
    static constexpr int kFirstTeam = kOrganisations;

    void add_quotas() {
        for (int o = 0; o < kOrganisations; ++o)
            out_.quotas.push_back({.name = fmt::format("org-{}", o), .managed = {false, false, true}});
        for (int t = 0; t < kOrganisations * kTeams; ++t)
            out_.quotas.push_back(
                {.name = fmt::format("team-{}", t), .parent = t / kTeams, .managed = {false, false, true}});
    }

    [[nodiscard]] std::int64_t gpus_in(int quota, bool fixed_only) const {
        std::int64_t sum = 0;
        for (const RunningPod& pod : out_.pods) {
            const bool inside = pod.quota == quota ||
                                (pod.quota >= 0 && out_.quotas[static_cast<std::size_t>(pod.quota)].parent == quota);
            if (inside && (pod.is_fixed || !fixed_only)) sum += pod.ask[2];
        }
        return sum;
    }

    // The job is within its minimum, and its team or its organisation near the maximum; others hold more or less than
    // theirs. Mostly its own quotas have room in their minimums, so that others give back to it.
    void join_quotas() {
        out_.demand.way = Way::kJobPreempt;
        out_.demand.quota = kFirstTeam;
        out_.demand.is_fixed = true;
        const std::int64_t need = static_cast<std::int64_t>(shape_.members) * shape_.gpus_each;
        for (int q = 0; q < static_cast<int>(out_.quotas.size()); ++q) {
            Quota& quota = out_.quotas[static_cast<std::size_t>(q)];
            const std::int64_t used = gpus_in(q, false);
            quota.least[2] = used * draw_.number(40, 105) / 100;
            const bool own = q == kFirstTeam || q == 0;
            if (own && draw_.chance(75)) quota.least[2] = std::max(quota.least[2], used + need);
            if (own) quota.least[2] = std::max(quota.least[2], gpus_in(q, true) + need + draw_.between(0, need));
            quota.most[2] = std::max(quota.least[2], used + draw_.between(0, 2 * need));
        }
    }

    struct Job {
        int gang = -1;
        std::int64_t priority = 0;
        std::int64_t age = 0;  // minutes
        bool is_protected = false;
        int quota = -1;
        bool is_fixed = false;
        int role = -1;
    };

    bool seat(std::int64_t gpus, std::size_t from, const Job& job) {
        for (std::size_t i = 0; i < room_.size(); ++i) {
            const std::size_t n = (from + i) % room_.size();
            if (room_[n] < gpus) continue;
            room_[n] -= gpus;
            const auto count = static_cast<std::int64_t>(out_.pods.size());
            out_.pods.push_back({.name = fmt::format("p{:05}", count),
                                 .node = static_cast<int>(n),
                                 .gang = job.gang,
                                 .priority = job.priority,
                                 .ask = ask(gpus),
                                 .start = start_before(job.age),
                                 .app = shape_.budgets && draw_.chance(40) ? draw_.number(0, 3) : -1,
                                 .role = job.role,
                                 .quota = job.quota,
                                 .is_fixed = job.is_fixed,
                                 .is_protected = job.is_protected});
            return true;
        }
        return false;
    }

    void add_job() {
        const int gpus = job_gpus();
        const std::int64_t each = shape_.scattered ? std::min(gpus, draw_.one_of({1, 2})) : std::min<int>(gpus, kGpus);
        const std::int64_t pods = gpus / each;
        Job job{.age = job_age()};
        job.is_protected = draw_.chance(shape_.scattered ? 8 : 30);
        job.priority = draw_.one_of<std::int64_t>({10, 10, 10, 20});
        const auto from = static_cast<std::size_t>(draw_.between(0, shape_.hosts - 1));
        if (shape_.quotas) {
            job.quota = draw_.number(kFirstTeam, kFirstTeam + kOrganisations * kTeams - 1);
            job.is_fixed = draw_.chance(15);
        }
        if (pods == 1) {
            seat(each, from, job);
            return;
        }
        job.gang = static_cast<int>(out_.gangs.size());
        const bool roles = shape_.roles && draw_.chance(33);
        std::vector<int> of_role(roles ? 2 : 0);
        int placed = 0;
        for (std::int64_t i = 0; i < pods; ++i) {
            if (roles) job.role = static_cast<int>(i % 2);
            const std::size_t at =
                shape_.scattered ? static_cast<std::size_t>(draw_.between(0, shape_.hosts - 1)) : from;
            if (!seat(each, at, job)) continue;
            ++placed;
            if (roles) ++of_role[static_cast<std::size_t>(job.role)];
        }
        if (placed == 0) return;
        // A quarter of the gangs could run with fewer.
        const int spare = draw_.chance(25) ? draw_.number(1, std::max(1, placed / 2)) : 0;
        for (int& least : of_role)
            least = std::max(0, least - draw_.number(0, spare));
        out_.gangs.push_back({.name = fmt::format("g{:04}", out_.gangs.size()),
                              .min = std::max(1, placed - spare),
                              .role_minimums = of_role});
    }

    void fill() {
        const std::int64_t all = static_cast<std::int64_t>(shape_.hosts) * kGpus;
        for (int tries = 0; tries < 4 * shape_.hosts; ++tries) {
            std::int64_t left = 0;
            for (std::int64_t r : room_)
                left += r;
            if (left * 100 <= all * 3) return;
            add_job();
        }
    }

    const MediumShape& shape_;
    Draw draw_;
    Instance out_;
    std::vector<std::int64_t> room_;
    std::set<std::int64_t> starts_;
};

}  // namespace

Instance medium_instance(const MediumShape& shape, std::uint64_t number) { return MediumMaker(shape, number).make(); }

namespace {

MediumShape medium_shape(std::uint64_t number, int most_hosts) {
    Draw draw(number ^ 0xABCDEFU);
    MediumShape shape;
    shape.hosts = std::min(most_hosts, draw.one_of({64, 128, 256, 512, 800}));
    const auto [members, gpus] = draw.one_of<std::pair<int, int>>({{4, 8}, {8, 8}, {16, 8}, {32, 4}, {16, 2}, {64, 8}});
    shape.members = members;
    shape.gpus_each = gpus;
    shape.tier = members == 64 ? draw.one_of({0, 2}) : draw.number(0, 2);
    shape.scattered = draw.chance(40);
    shape.budgets = draw.chance(40);
    shape.roles = draw.chance(50);
    shape.surplus = draw.chance(30) ? draw.number(1, 3) : 0;
    return shape;
}

}  // namespace

Instance medium_instance(std::uint64_t number, int most_hosts) {
    return medium_instance(medium_shape(number, most_hosts), number);
}

Instance medium_pod_instance(std::uint64_t number, int most_hosts) {
    MediumShape shape = medium_shape(number, most_hosts);
    shape.one_pod = true;
    return medium_instance(shape, number);
}

Instance medium_quota_instance(std::uint64_t number, int most_hosts) {
    MediumShape shape = medium_shape(number, most_hosts);
    shape.quotas = true;
    return medium_instance(shape, number);
}

}  // namespace reprieve::oracle
