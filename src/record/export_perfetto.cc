#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "record/export.h"

namespace reprieve {
namespace {

// Protocol buffers by hand: a trace needs a dozen fields of three messages (perfetto/protos: Trace, TracePacket,
// TrackDescriptor, TrackEvent). Numbers of fields are Perfetto's.
class Message {
public:
    void number(std::uint32_t field, std::uint64_t value) {
        varint(field << 3U);
        varint(value);
    }
    void fixed(std::uint32_t field, std::uint64_t value) {
        varint((field << 3U) | 1U);
        for (unsigned i = 0; i < 8; ++i)
            bytes_ += static_cast<char>((value >> (8U * i)) & 0xFFU);
    }
    void text(std::uint32_t field, std::string_view value) {
        varint((field << 3U) | 2U);
        varint(value.size());
        bytes_ += value;
    }
    void message(std::uint32_t field, const Message& inner) { text(field, inner.bytes_); }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80U; value >>= 7U)
            bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
        bytes_ += static_cast<char>(value);
    }
    std::string bytes_;
};

enum class SliceEvent : std::uint8_t { kBegin = 1, kEnd = 2, kInstant = 3 };

class PerfettoTrace {
public:
    std::uint64_t track(const std::string& name, std::uint64_t parent) {
        const std::uint64_t id = ++tracks_;
        Message descriptor;
        descriptor.number(1, id);
        descriptor.text(2, name);
        if (parent != 0) descriptor.number(5, parent);
        Message packet;
        packet.number(10, 1);
        packet.message(60, descriptor);
        packets_.emplace_back(Time(), packet);
        return id;
    }

    void event(Time at,
               SliceEvent type,
               std::uint64_t on,
               const std::string& name,
               const std::vector<std::uint64_t>& flows = {},
               bool ends_flows = false) {
        Message event;
        event.number(9, static_cast<std::uint64_t>(type));
        event.number(11, on);
        if (!name.empty()) event.text(23, name);
        for (const std::uint64_t flow : flows)
            event.fixed(ends_flows ? 48 : 47, flow);
        Message packet;
        packet.number(8, static_cast<std::uint64_t>(at.us) * 1000);
        packet.number(10, 1);
        packet.message(11, event);
        packets_.emplace_back(at, packet);
    }

    [[nodiscard]] std::string bytes() {
        // Tracks first, as they have no time; events of one moment in the order in which they were made.
        std::ranges::stable_sort(packets_, {}, [](const auto& packet) { return packet.first; });
        Message trace;
        for (const auto& [at, packet] : packets_)
            trace.message(1, packet);
        return trace.bytes();
    }

private:
    std::uint64_t tracks_ = 0;
    std::vector<std::pair<Time, Message>> packets_;
};

}  // namespace

Result<std::string> export_perfetto(RecordReader& reader, Time from, Time to) {
    const Time end = to.is_set() ? to : reader.to();
    const Time start = from.is_set() ? from : reader.from();
    const DecisionQuery query{.name = {}, .action = {}, .since = from, .until = to};
    PerfettoTrace trace;
    const std::vector<RecordedDecision> decisions = reader.decisions(query);
    std::map<std::string, std::vector<std::uint64_t>> flows_to;  // by victim
    std::uint64_t flows = 0;
    const std::uint64_t demands = trace.track("decisions", 0);
    std::map<std::string, std::uint64_t> demand_tracks;
    for (const RecordedDecision& one : decisions) {
        std::vector<std::uint64_t> leaving;
        for (const std::string& victim : one.victims) {
            leaving.push_back(++flows);
            flows_to[victim].push_back(flows);
        }
        const auto [track, fresh] = demand_tracks.try_emplace(one.owner, 0);
        if (fresh) track->second = trace.track(one.owner, demands);
        trace.event(one.at, SliceEvent::kInstant, track->second, fmt::format("{} {}", one.action, one.owner), leaving);
    }
    std::map<std::string, std::uint64_t> nodes;
    std::vector<PodLife> lives = reader.lives(query);
    std::ranges::stable_sort(lives, {}, [](const PodLife& life) { return std::pair(life.node, life.pod); });
    for (const PodLife& life : lives) {
        const Time since = life.bound.is_set() ? life.bound : life.started;
        if (life.node.empty() || !since.is_set()) continue;
        const auto [node, fresh] = nodes.try_emplace(life.node, 0);
        if (fresh) node->second = trace.track("node " + life.node, 0);
        const std::uint64_t track = trace.track(life.pod, node->second);
        const Time until = life.ended.is_set() ? std::min(life.ended, end) : end;
        trace.event(std::max(since, start), SliceEvent::kBegin, track, life.pod);
        if (const auto ends = flows_to.find(life.pod);
            ends != flows_to.end() && (life.leaving.is_set() || life.ended.is_set()))
            trace.event(life.leaving.is_set() ? life.leaving : until,
                        SliceEvent::kInstant,
                        track,
                        "evicted",
                        ends->second,
                        true);
        trace.event(std::max(until, std::max(since, start)), SliceEvent::kEnd, track, {});
    }
    return trace.bytes();
}

}  // namespace reprieve
