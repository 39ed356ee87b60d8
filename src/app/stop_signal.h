// StopSignal: SIGINT and SIGTERM as a wish that is asked for, while this object lives. A second one ends the program at
// once.
#pragma once

namespace reprieve {

class StopSignal {
public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    [[nodiscard]] static bool received();
};

}  // namespace reprieve
