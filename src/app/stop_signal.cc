#include "app/stop_signal.h"

#include <csignal>

namespace reprieve {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void note_signal(int number) {
    received_signal = number;
    std::signal(number, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
    received_signal = 0;
    std::signal(SIGINT, note_signal);
    std::signal(SIGTERM, note_signal);
}

StopSignal::~StopSignal() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool StopSignal::received() { return received_signal != 0; }

}  // namespace reprieve
