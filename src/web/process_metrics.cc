#include "web/process_metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace reprieve {
namespace {

std::string sample(const char* name, const char* type, const char* help, double value) {
    return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
}

// The fields of /proc/self/stat after the name of the program, which may hold anything.
std::vector<std::string> stat_fields() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    std::vector<std::string> out;
    std::istringstream rest(line.substr(std::min(line.size(), line.rfind(')') + 2)));
    for (std::string field; rest >> field;)
        out.push_back(field);
    return out;
}

double boot_time() {
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
    }
    return 0;
}

}  // namespace

std::string process_metrics() {
    const std::vector<std::string> stat = stat_fields();
    constexpr std::size_t kUser = 11;  // utime; stime follows
    constexpr std::size_t kStart = 19;
    constexpr std::size_t kVirtual = 20;
    constexpr std::size_t kResident = 21;
    if (stat.size() <= kResident) return {};
    const auto number = [&](std::size_t at) { return std::strtod(stat[at].c_str(), nullptr); };
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    std::string out = sample("process_cpu_seconds_total",
                             "counter",
                             "Processor time used, in seconds.",
                             (number(kUser) + number(kUser + 1)) / ticks);
    out += sample("process_resident_memory_bytes",
                  "gauge",
                  "Memory in use.",
                  number(kResident) * static_cast<double>(sysconf(_SC_PAGESIZE)));
    out += sample("process_virtual_memory_bytes", "gauge", "Memory mapped.", number(kVirtual));
    if (const double boot = boot_time(); boot > 0) {
        out += sample("process_start_time_seconds",
                      "gauge",
                      "When the process began, in seconds since 1970.",
                      boot + number(kStart) / ticks);
    }
    std::error_code wrong;
    std::size_t open = 0;
    for (auto at = std::filesystem::directory_iterator("/proc/self/fd", wrong);
         !wrong && at != std::filesystem::directory_iterator();
         at.increment(wrong))
        ++open;
    out += sample("process_open_fds", "gauge", "Files that are open.", static_cast<double>(open));
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        out += sample("process_max_fds", "gauge", "Files that may be open.", static_cast<double>(limit.rlim_cur));
    return out;
}

}  // namespace reprieve
