// A frame of the live view: nodes as bars, who waits, and what happened last; as lines that fit a screen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprieve {

struct NodeBar {
    std::string name;
    std::string
        resource;         // "gpu", "cpu", "memory": of which the node has least left, in proportion; devices always win
    std::string amounts;  // "6/8"
    std::int64_t total = 0;
    std::int64_t used = 0;     // stays
    std::int64_t leaving = 0;  // is used by pods that terminate
    bool open = true;          // ready and not cordoned
    friend bool operator==(const NodeBar&, const NodeBar&) = default;
};

struct WaitLine {
    std::string pod;
    std::string since;
    std::string why;
    bool promised = false;  // has a node, and waits for its room
    friend bool operator==(const WaitLine&, const WaitLine&) = default;
};

struct EventLine {
    std::string when;
    std::string text;
    std::string why;
    bool eviction = false;
    friend bool operator==(const EventLine&, const EventLine&) = default;
};

struct ViewFrame {
    std::string title;
    std::vector<NodeBar> nodes;
    std::vector<WaitLine> waiting;
    std::vector<EventLine> events;  // oldest first
};

struct ScreenSize {
    int width = 80;
    int height = 24;
    bool colour = false;
};

// At most `height` lines of at most `width` cells. Nodes first, in as many columns as fit, but never more than half of
// the screen; then who waits; the last events get what is left.
[[nodiscard]] std::vector<std::string> render(const ViewFrame& frame, const ScreenSize& size);

}  // namespace reprieve
