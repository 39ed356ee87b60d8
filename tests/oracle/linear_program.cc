#include "linear_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"

namespace reprieve::oracle {
namespace {

namespace fs = std::filesystem;

// Lines of an LP file must stay short.
constexpr std::size_t kTermsPerLine = 8;

void write_sum(std::string& out, const Sum& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
        if (i > 0 && i % kTermsPerLine == 0) out += "\n  ";
        out += fmt::format(" {} {} v{}", sum[i].weight < 0 ? '-' : '+', std::abs(sum[i].weight), sum[i].variable);
    }
}

class Folder {
public:
    Folder() {
        std::string pattern = (fs::temp_directory_path() / "oracle-XXXXXX").string();
        REPRIEVE_CHECK(::mkdtemp(pattern.data()) != nullptr, "no folder for {}", pattern);
        path_ = pattern;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

void run_solver(const std::string& problem, const std::string& solution, int seconds) {
    std::vector<std::string> words{"cbc",
                                   problem,
                                   "-ratioGap",
                                   "0",
                                   "-allowableGap",
                                   "0",
                                   "-sec",
                                   std::to_string(seconds),
                                   "-solve",
                                   "-solution",
                                   solution,
                                   "-quit"};
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::pid_t child = 0;
    const int failed = ::posix_spawnp(&child, "cbc", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    REPRIEVE_CHECK(failed == 0, "cbc cannot be started; scripts/setup installs it (Debian: coinor-cbc)");
    int status = 0;
    REPRIEVE_CHECK(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
                   "cbc ended with {} on {}",
                   status,
                   problem);
}

}  // namespace

std::int64_t value_of(const Sum& sum, const std::vector<std::int64_t>& values) {
    std::int64_t out = 0;
    for (const auto& [weight, variable] : sum)
        out += weight * values[static_cast<std::size_t>(variable)];
    return out;
}

int LinearProgram::add_binary() {
    variables_.push_back({.binary = true});
    return static_cast<int>(variables_.size()) - 1;
}

int LinearProgram::add_integer(std::int64_t most) {
    variables_.push_back({.most = most});
    return static_cast<int>(variables_.size()) - 1;
}

std::string LinearProgram::text(const Sum& objective) const {
    std::string out = "Minimize\n obj:";
    write_sum(out, objective.empty() ? Sum{{0, 0}} : objective);
    out += "\nSubject To\n";
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
        const auto& [sum, sign, limit] = constraints_[i];
        out += fmt::format(" c{}:", i);
        write_sum(out, sum);
        out += fmt::format(" {} {}\n", sign, limit);
    }
    std::string bounds;
    std::string binaries;
    std::string integers;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        if (variables_[i].binary) {
            binaries += fmt::format(" v{}\n", i);
        } else {
            bounds += fmt::format(" 0 <= v{} <= {}\n", i, variables_[i].most);
            integers += fmt::format(" v{}\n", i);
        }
    }
    if (!bounds.empty()) out += "Bounds\n" + bounds;
    if (!binaries.empty()) out += "Binaries\n" + binaries;
    if (!integers.empty()) out += "Generals\n" + integers;
    return out + "End\n";
}

LinearProgram::Answer LinearProgram::minimise(const Sum& objective, int seconds) const {
    const Folder folder;
    const std::string problem = folder.file("problem.lp");
    const std::string solution = folder.file("solution.txt");
    std::ofstream(problem) << text(objective);
    run_solver(problem, solution, seconds);
    std::ifstream in(solution);
    std::string line;
    Answer answer;
    if (!std::getline(in, line)) return answer;
    if (line.find("nfeasible") != std::string::npos) {
        answer.status = Status::kInfeasible;
        return answer;
    }
    if (!line.starts_with("Optimal")) return answer;
    answer.status = Status::kOptimal;
    answer.values.assign(variables_.size(), 0);
    while (std::getline(in, line)) {
        // Place, name, value, reduced cost.
        std::istringstream words(line);
        std::string place;
        std::string name;
        double value = 0;
        if (words >> place >> name >> value && name.starts_with("v"))
            answer.values[std::stoul(name.substr(1))] = std::llround(value);
    }
    return answer;
}

}  // namespace reprieve::oracle
