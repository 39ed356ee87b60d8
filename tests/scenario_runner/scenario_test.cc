// Every file below tests/scenarios is a test of its own: tests/scenarios/pdb/two-budgets.yaml runs as pdb.two_budgets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "run.h"

namespace reprieve::scenario {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
public:
    FileTest(fs::path file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

    void TestBody() override {
        auto text = read_text(file_);
        ASSERT_TRUE(text) << text.error().message;
        const auto scenario = read_scenario(name_, std::move(*text));
        ASSERT_TRUE(scenario) << scenario.error().message;
        fs::path golden = file_;
        golden.replace_extension(".plan.json");
        const std::string wrong = run_scenario(*scenario, golden, std::getenv("REPRIEVE_UPDATE_GOLDEN") != nullptr);
        if (!wrong.empty()) ADD_FAILURE() << name_ << ": " << wrong;
    }

private:
    fs::path file_;
    std::string name_;
};

// A dash in a name would cut a test filter in two.
std::string without_dashes(std::string name) {
    std::ranges::replace_if(name, [](char c) { return c == '-' || c == '/' || c == '.'; }, '_');
    return name;
}

void register_all(const fs::path& root) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        const fs::path relative = file.lexically_relative(root);
        const std::string suite = without_dashes(relative.parent_path().string());
        const std::string name = without_dashes(relative.stem().string());
        testing::RegisterTest(suite.c_str(),
                              name.c_str(),
                              nullptr,
                              nullptr,
                              file.c_str(),
                              1,
                              [file, full = relative.string()]() -> FileTest* { return new FileTest(file, full); });
    }
}

}  // namespace
}  // namespace reprieve::scenario

int main(int argc, char** argv) {
    reprieve::scenario::register_all(REPRIEVE_SCENARIOS);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
