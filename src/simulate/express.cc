#include "simulate/express.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/wide.h"
#include "simulate/fit.h"

namespace reprieve {
namespace {

constexpr std::int64_t kMostDevices = 64;  // their places are bits
constexpr std::int64_t kExpressTop = 100;
constexpr std::int64_t kExpressMillion = 1'000'000;
constexpr std::int64_t kPackingWeight = 10;
constexpr std::int64_t kScoredCpu = 100;  // of a pod that asks for none
constexpr std::int64_t kScoredMemory = std::int64_t{200} * 1024 * 1024;

std::int64_t left_percent(std::int64_t total, std::int64_t after) {
    return after <= total ? multiply_divide(total - after, kExpressTop, total) : 0;
}

std::int64_t unbalanced(std::int64_t cpu, std::int64_t cpu_total, std::int64_t memory, std::int64_t memory_total) {
    const auto fraction = [](std::int64_t used, std::int64_t total) {
        return std::min<std::int64_t>(kExpressMillion, multiply_divide(used, kExpressMillion, total));
    };
    return std::abs(fraction(cpu, cpu_total) - fraction(memory, memory_total)) / 2;
}

}  // namespace

Express::Express(const std::vector<TraceNode>& nodes, const JobTrace& trace) : trace_(trace), nodes_(nodes) {
    for (const TraceJob& job : trace.jobs) {
        if (job.gpu_milli % kMilliGpu != 0) usable_ = false;
    }
    for (const TraceNode& node : nodes) {
        if (node.gpus > kMostDevices) usable_ = false;
        seats_.push_back({.total = {node.cpu_milli, node.memory, node.gpus}, .used = {}, .ready = true});
    }
    by_rank_.resize(nodes.size());
    std::iota(by_rank_.begin(), by_rank_.end(), 0U);
    std::ranges::sort(by_rank_, {}, [&](std::uint32_t node) -> const std::string& { return nodes[node].name; });
    rank_of_.resize(nodes.size());
    for (std::uint32_t rank = 0; rank < by_rank_.size(); ++rank)
        rank_of_[by_rank_[rank]] = rank;
    while (leaves_ < nodes.size())
        leaves_ *= 2;
}

std::int64_t Express::score(const Shape& shape, const Board& board, std::uint32_t rank) const {
    const Seat& seat = seats_[by_rank_[rank]];
    const Room& total = seat.total;
    const Room& used = seat.used;
    if (!seat.ready || !board.selected[rank] || used.cpu + shape.cpu > total.cpu ||
        used.memory + shape.memory > total.memory || used.gpus + shape.gpus > total.gpus)
        return -1;
    const std::int64_t cpu = used.cpu + (shape.cpu > 0 ? shape.cpu : kScoredCpu);
    const std::int64_t memory = used.memory + (shape.memory > 0 ? shape.memory : kScoredMemory);
    std::int64_t sum = 0;
    std::int64_t dims = 0;
    if (total.cpu > 0) sum += left_percent(total.cpu, cpu), ++dims;
    if (total.memory > 0) sum += left_percent(total.memory, memory), ++dims;
    std::int64_t score = dims == 0 ? 0 : sum / dims;
    if (total.cpu == 0 || total.memory == 0) {
        score += kExpressTop / 2;
    } else {
        const std::int64_t before = unbalanced(used.cpu, total.cpu, used.memory, total.memory);
        const std::int64_t after = unbalanced(cpu, total.cpu, memory, total.memory);
        score += kExpressTop / 2 + (before - after) * kExpressTop / 2 / kExpressMillion;
    }
    if (shape.gpus > 0)
        score += kPackingWeight *
                 std::clamp<std::int64_t>((used.gpus + shape.gpus) * kExpressTop / total.gpus, 0, kExpressTop);
    return score;
}

void Express::play(Board& board, std::size_t at) const {
    const std::uint32_t a = board.winner[2 * at];
    const std::uint32_t b = board.winner[2 * at + 1];
    const auto of = [&](std::uint32_t rank) { return rank < board.score.size() ? board.score[rank] : -2; };
    board.winner[at] = of(b) > of(a) ? b : a;
}

Express::Board& Express::board(const Shape& shape) {
    const auto known = boards_.find(shape);
    if (known != boards_.end()) return known->second;
    if (boards_.size() >= kMostBoards) boards_.clear();
    Board& board = boards_[shape];
    board.selected.resize(nodes_.size());
    for (std::uint32_t rank = 0; rank < nodes_.size(); ++rank)
        board.selected[rank] = selects(trace_.selectors[shape.selector], nodes_[by_rank_[rank]]);
    board.score.resize(nodes_.size());
    board.winner.resize(2 * leaves_);
    for (std::uint32_t rank = 0; rank < leaves_; ++rank) {
        board.winner[leaves_ + rank] = rank;
        if (rank < nodes_.size()) board.score[rank] = score(shape, board, rank);
    }
    for (std::size_t at = leaves_ - 1; at >= 1; --at)
        play(board, at);
    return board;
}

std::optional<std::uint32_t> Express::best(const TraceJob& job) {
    const Shape shape{job.cpu_milli, job.memory, job.gpu_milli / kMilliGpu, job.selector};
    const Board& found = board(shape);
    const std::uint32_t rank = leaves_ == 1 ? 0 : found.winner[1];
    if (rank >= found.score.size() || found.score[rank] < 0) return std::nullopt;
    return by_rank_[rank];
}

void Express::occupy(std::uint32_t node, const TraceJob& job, int sign) {
    if (!usable_) return;
    Room& used = seats_[node].used;
    used.cpu += sign * job.cpu_milli;
    used.memory += sign * job.memory;
    used.gpus += sign * (job.gpu_milli / kMilliGpu);
    touch(node);
}

void Express::set_ready(std::uint32_t node, bool ready) {
    seats_[node].ready = ready;
    if (usable_) touch(node);
}

void Express::touch(std::uint32_t node) {
    const std::uint32_t rank = rank_of_[node];
    for (auto& [shape, found] : boards_) {
        const std::int64_t fresh = score(shape, found, rank);
        if (fresh == found.score[rank]) continue;
        found.score[rank] = fresh;
        for (std::size_t at = (leaves_ + rank) / 2; at >= 1; at /= 2)
            play(found, at);
    }
}

}  // namespace reprieve
