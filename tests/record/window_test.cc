// What the window shows of a record.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recorded_story.h"
#include "window/record_source.h"

namespace reprieve {
namespace {

using Json = nlohmann::json;

class RecordInTheWindow : public testing::Test {
protected:
    void SetUp() override {
        tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder_.path()}});
        auto reader = RecordReader::open(folder_.path());
        ASSERT_TRUE(reader.has_value()) << reader.error().message;
        source_ = std::make_unique<window::RecordSource>(
            std::move(*reader), window::Origin{.kind = "record", .arguments = "--record R"}, folder_.path());
    }
    [[nodiscard]] std::shared_ptr<const window::Moment> newest() {
        auto moment = source_->moment({});
        EXPECT_TRUE(moment.has_value());
        return *moment;
    }
    [[nodiscard]] Json lines(const std::string& queue) {
        const auto text = source_->lifelines({}, queue);
        EXPECT_TRUE(text.has_value());
        return Json::parse(*text).at("lines");
    }

    Folder folder_;
    std::unique_ptr<window::RecordSource> source_;
};

TEST_F(RecordInTheWindow, ADecisionKnowsItsPriorityAndWhatWasLost) {
    const auto moment = newest();
    EXPECT_GT(moment->decisions.size(), 3U);
    for (const auto& entry : moment->decisions) {
        EXPECT_TRUE(entry->priority.has_value()) << entry->owner << ": it can be filtered by";
        const Json row = Json::parse(entry->row);
        EXPECT_EQ(row.at("priority"), *entry->priority);
        EXPECT_EQ(row.contains("lost"), entry->evicts) << entry->owner;
    }
}

TEST_F(RecordInTheWindow, CommandsNameTheCycleBecauseSeveralShareAnInstant) {
    const auto moment = newest();
    EXPECT_GT(std::ranges::count_if(moment->decisions, [](const auto& entry) { return entry->evicts; }), 1);
    for (const auto& entry : moment->decisions) {
        if (!entry->evicts) continue;
        const auto receipt = source_->receipt(*entry);
        ASSERT_TRUE(receipt.has_value());
        const std::string plan = Json::parse(*receipt).at("commands").at(1);
        EXPECT_EQ(plan, "reprieve plan --record R --cycle " + std::to_string(entry->cycle));
    }
}

TEST_F(RecordInTheWindow, QueuesAreShownOverTimeAndWhoTookFromWhom) {
    const Json queues = Json::parse(newest()->queues);
    EXPECT_GT(queues.at("samples").size(), 3U);
    std::size_t victims = 0;
    for (const auto& entry : newest()->decisions)
        victims += Json::parse(entry->row).at("evictions").size();
    EXPECT_EQ(queues.at("taken"),
              Json::parse(R"([{"by": "default", "from": "default", "pods": )" + std::to_string(victims) + "}]"));
}

TEST_F(RecordInTheWindow, LifelinesAreOfAQueueAndKnowControllersAndPromises) {
    EXPECT_EQ(lines("default").size(), lines("").size()) << "the only queue";
    EXPECT_TRUE(lines("another").empty());
    std::set<std::string> states;
    for (const Json& line : lines("")) {
        EXPECT_EQ(line.at("queue"), "default");
        EXPECT_GT(line.at("priority"), 0);
        if (line.at("pod").get<std::string>().starts_with("research/embed-")) {
            EXPECT_EQ(line.at("controller"), "research/embed");
        }
        for (const Json& span : line.at("spans"))
            states.insert(span.at("state"));
    }
    EXPECT_THAT(states, testing::ElementsAre("leaving", "promised", "ran", "waited"));
}

}  // namespace
}  // namespace reprieve
