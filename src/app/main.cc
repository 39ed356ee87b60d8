#include <csignal>

#include "app/program.h"

int main(int argc, char** argv) {
    // A file that may not grow any more is an error of the write, as on a full disk, and no reason to end.
    std::signal(SIGXFSZ, SIG_IGN);
    return reprieve::program(argc, argv);
}
