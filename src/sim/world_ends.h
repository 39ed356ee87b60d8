// The two ends of the embedded cluster that a control loop holds: facts out of it, plans into it.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "manifest/decode.h"
#include "model/world.h"
#include "sim/world.h"

namespace reprieve {

// How time passes for those who watch: asked before the clock moves, it may take its time and says how far the clock
// moves now, not beyond `to`. Without one, time jumps.
using Pace = std::function<Time(Time from, Time to)>;

// Tells everything that is there from the start, and then what changes. Several may watch one world, each in words of
// its own; time moves for all of them. The world has ended when nothing is going to happen in it any more.
class WorldSource : public Source {
public:
    WorldSource(World& world, Vocabulary& words, Pace pace = {});

    bool poll(std::vector<Change>& out, Duration wait) override;
    [[nodiscard]] Time now() const override { return world_.now(); }
    void keep_texts() override { keeps_texts_ = true; }

private:
    void read_log(std::vector<Change>& out);
    [[nodiscard]] std::shared_ptr<const FactText> text_of(SlotId slot, const Json& body, std::string json);

    World& world_;
    Decoder decoder_;
    Pace pace_;
    bool keeps_texts_ = false;
    std::map<SlotId, std::pair<std::string, std::string>> kinds_;  // apiVersion and kind of what texts are kept of
    std::size_t read_ = 0;                                         // of the store's log
    std::map<SlotId, Object> known_;                               // who was told of: kind, namespace and name
};

class WorldSink : public Sink {
public:
    explicit WorldSink(World& world) : world_(world) {}

    void carry_out(const Plan& plan) override;
    void collect(std::vector<SinkReport>& out) override { world_.collect(out); }
    [[nodiscard]] bool idle() const override { return world_.requests_open() == 0; }

private:
    World& world_;
};

}  // namespace reprieve
