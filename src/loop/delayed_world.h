// DelayedSource and DelayedSink: the ends of an embedded cluster whose news and answers are late, as on a busy API
// server. Each watch (pods; everything else) tells in order what happened, but how late differs from event to event, so
// that the two watches and the answers to requests overtake each other. For tests.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "sim/world_ends.h"

namespace reprieve {

struct Delays {
    std::uint32_t seed = 1;
    Duration news;     // at most, from an event to its being told
    Duration answers;  // at most, from a request's effect to its answer
};

class DelayedSink : public Sink {
public:
    DelayedSink(World& world, Delays delays) : world_(world), inner_(world), delays_(delays), dice_(delays.seed + 1) {}

    void carry_out(const Plan& plan) override { inner_.carry_out(plan); }
    void collect(std::vector<SinkReport>& out) override {
        std::vector<SinkReport> fresh;
        inner_.collect(fresh);
        for (SinkReport& report : fresh)
            held_.emplace_back(world_.now() + late(), std::move(report));
        std::ranges::stable_sort(held_, {}, &std::pair<Time, SinkReport>::first);
        while (!held_.empty() && held_.front().first <= world_.now()) {
            out.push_back(std::move(held_.front().second));
            held_.pop_front();
        }
    }
    [[nodiscard]] bool idle() const override { return inner_.idle() && held_.empty(); }
    // When the next answer comes; not set: none is on its way.
    [[nodiscard]] Time due() const { return held_.empty() ? Time() : held_.front().first; }

private:
    Duration late() { return {std::uniform_int_distribution<std::int64_t>(0, delays_.answers.us)(dice_)}; }

    World& world_;
    WorldSink inner_;
    Delays delays_;
    std::mt19937 dice_;
    std::deque<std::pair<Time, SinkReport>> held_;
};

class DelayedSource : public Source {
public:
    DelayedSource(World& world, Vocabulary& words, Delays delays, const DelayedSink& sink)
        : inner_(world, words),
          sink_(sink),
          delays_(delays),
          dice_(delays.seed) {}

    bool poll(std::vector<Change>& out, Duration wait) override {
        if (!std::exchange(synced_, true)) return inner_.poll(out, Duration{0});
        const Time end = wait == kForever ? Time() : now() + wait;
        while (true) {
            if (deliver(out) || (end.is_set() && now() >= end)) return true;
            Time until = end;
            for (const Time due : {held_[0].empty() ? Time() : held_[0].front().first,
                                   held_[1].empty() ? Time() : held_[1].front().first,
                                   sink_.due()}) {
                if (due.is_set() && (!until.is_set() || due < until)) until = due;
            }
            std::vector<Change> fresh;
            const Duration step = until.is_set() ? std::max(until - now(), Duration{0}) : kForever;
            const bool alive = inner_.poll(fresh, step);
            hold(std::move(fresh));
            if (sink_.due().is_set() && sink_.due() <= now()) return deliver(out), true;
            if (!alive && held_[0].empty() && held_[1].empty()) return false;
        }
    }
    [[nodiscard]] Time now() const override { return inner_.now(); }
    void keep_texts() override { inner_.keep_texts(); }

private:
    void hold(std::vector<Change> fresh) {
        for (Change& change : fresh) {
            auto& watch = held_[std::holds_alternative<Pod>(change.object) ? 0 : 1];
            const Time due = now() + Duration{std::uniform_int_distribution<std::int64_t>(0, delays_.news.us)(dice_)};
            watch.emplace_back(watch.empty() ? due : std::max(due, watch.back().first), std::move(change));
        }
    }
    bool deliver(std::vector<Change>& out) {
        const std::size_t before = out.size();
        for (auto& watch : held_) {
            while (!watch.empty() && watch.front().first <= now()) {
                out.push_back(std::move(watch.front().second));
                watch.pop_front();
            }
        }
        return out.size() > before;
    }

    WorldSource inner_;
    const DelayedSink& sink_;
    Delays delays_;
    std::mt19937 dice_;
    bool synced_ = false;
    std::array<std::deque<std::pair<Time, Change>>, 2> held_;
};

}  // namespace reprieve
