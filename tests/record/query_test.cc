// What people ask of a record: by name, by queue, by time, in SQL.
#include <nlohmann/json.hpp>

#include "record/export.h"
#include "record/history.h"
#include "record/sqlite.h"
#include "recorded_story.h"
#include "simulate/read_trace.h"

namespace reprieve {
namespace {

using Json = nlohmann::json;

class Questions : public testing::Test {
protected:
    void SetUp() override {
        tell_story({.files = {REPRIEVE_EXAMPLES "/run"}, .record = {.folder = folder_.path()}});
        auto opened = RecordReader::open(folder_.path());
        ASSERT_TRUE(opened.has_value()) << opened.error().message;
        reader_ = std::move(*opened);
    }
    RecordReader& reader() { return *reader_; }
    [[nodiscard]] std::string file() const { return record_files(folder_.path()).front().path; }
    // The first decision that evicts somebody.
    RecordedDecision an_eviction() {
        for (const RecordedDecision& one : reader().decisions({})) {
            if (!one.victims.empty()) return one;
        }
        ADD_FAILURE() << "nobody is evicted";
        return {};
    }

    Folder folder_;
    std::unique_ptr<RecordReader> reader_;
};

TEST_F(Questions, AVictimIsFoundByItsNameWithOrWithoutNamespace) {
    const RecordedDecision made = an_eviction();
    const std::string victim = made.victims.front();
    for (const std::string& name : {victim, victim.substr(victim.find('/') + 1)}) {
        const auto found = reader().decisions({.name = name});
        ASSERT_EQ(found.size(), 2U) << "placed, then evicted: " << name;
        EXPECT_EQ(found.front().placed.front(), victim);
        EXPECT_EQ(found.back().id, made.id);
    }
    EXPECT_TRUE(reader().decisions({.name = "nobody/at-all"}).empty());
}

TEST_F(Questions, AGangAQueueAndAnActionNarrowTheHistory) {
    const auto gang = reader().decisions({.name = "research/pretrain"});
    ASSERT_FALSE(gang.empty());
    for (const RecordedDecision& one : gang)
        EXPECT_EQ(one.owner, "research/pretrain");
    const auto all = reader().decisions({});
    EXPECT_EQ(reader().decisions({.name = "default"}).size(), all.size()) << "the only queue";
    const auto preempted = reader().decisions({.action = "preempt"});
    EXPECT_FALSE(preempted.empty());
    EXPECT_LT(preempted.size(), all.size());
    EXPECT_EQ(reader().decisions({.most = 3}).size(), 3U);
    EXPECT_EQ(reader().decisions({.most = 3}).back().id, all.back().id) << "the newest";
}

TEST_F(Questions, WhatBecameOfItIsKnown) {
    const RecordedDecision made = an_eviction();
    EXPECT_EQ(made.outcome, "carriedOut");
    EXPECT_TRUE(made.started.is_set());
    EXPECT_GT(made.started, made.at);
    bool evicted = false;
    for (const RecordedWrite& write : reader().writes(made.id)) {
        EXPECT_TRUE(write.ok);
        evicted = evicted || write.step == "evict";
    }
    EXPECT_TRUE(evicted);
    const auto lives = reader().lives({.name = made.victims.front()});
    ASSERT_EQ(lives.size(), 1U);
    EXPECT_TRUE(lives.front().bound.is_set() && lives.front().leaving.is_set() && lives.front().ended.is_set());
}

TEST_F(Questions, HistoryAsJsonHasTheFieldsOfTheContract) {
    const auto waits = reader().waits({.name = "research/embed"});
    const Json json = Json::parse(history_to_json(reader().decisions({}), &waits, {}));
    for (const Json& one : json.at("decisions")) {
        for (const char* key :
             {"at", "cycle", "for", "action", "evictions", "placements", "certificate", "outcome", "started"})
            EXPECT_TRUE(one.contains(key)) << key;
        for (const Json& eviction : one.at("evictions")) {
            for (const char* key : {"pod", "node", "unit", "for", "action", "mode", "pdbViolation", "reason"})
                EXPECT_TRUE(eviction.contains(key)) << key;
        }
        EXPECT_TRUE(one.contains("priority")) << one.at("for");
        EXPECT_EQ(one.contains("lost"), !one.at("evictions").empty()) << one.at("for");
    }
}

TEST_F(Questions, ViewsAnswerInSqlAndKeepTheirColumns) {
    auto db = Database::open(file(), Database::Mode::kRead);
    ASSERT_TRUE(db.has_value());
    const std::pair<const char*, const char*> views[] = {
        {"decisions",
         "at cycle decision for action queue priority evictions placements status cost lost outcome started"},
        {"evictions",
         "at cycle decision pod node queue unit group for action mode pdbViolation stage reason started ended"},
        {"placements", "at cycle decision pod node when for domain action bound started"},
        {"waits", "pod for since until cycle verdict reason"},
        {"writes", "at decision pod step ok tried what"},
    };
    for (const auto& [view, columns] : views) {
        const auto found =
            db->text(std::string("SELECT group_concat(name, ' ') FROM pragma_table_info('") + view + "')");
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(*found, columns) << view;
        EXPECT_GT(*db->number(std::string("SELECT count(*) FROM ") + view), 0) << view;
    }
    EXPECT_EQ(*db->number("SELECT count(*) FROM evictions"), *db->number("SELECT sum(evictions) FROM decisions"));
    EXPECT_EQ(*db->text("SELECT min(at) FROM decisions"), "2026-03-02T09:00:00Z");
}

TEST_F(Questions, ManifestsOfAMomentGiveTheSameWorldAgain) {
    const auto cycle = reader().cycle(4);
    ASSERT_TRUE(cycle.has_value());
    const auto text = export_manifests(reader(), *cycle);
    ASSERT_TRUE(text.has_value());
    const Json list = Json::parse(*text);
    const auto world = reader().world(*cycle);
    EXPECT_EQ(list.at("items").size(), world->size());
}

// KWOK writes past the API server: what that gives to every pod has to be there, and nothing that a scheduler gave it.
void expect_new_pod(const Json& pod) {
    EXPECT_FALSE(pod.at("spec").contains("nodeName"));
    EXPECT_FALSE(pod.at("metadata").contains("ownerReferences"));
    EXPECT_FALSE(pod.at("metadata").at("uid").get<std::string>().empty());
    EXPECT_THAT(pod.at("metadata").at("creationTimestamp").get<std::string>(),
                testing::StartsWith("$(time-offset-nanosecond "));
    EXPECT_EQ(pod.at("status"), Json({{"phase", "Pending"}}));
    for (const Json& container : pod.at("spec").at("containers"))
        EXPECT_TRUE(container.contains("image"));
}

TEST_F(Questions, KwokGetsWhatPeopleDidAndNoDecision) {
    const auto text = export_kwok(reader(), {}, {});
    ASSERT_TRUE(text.has_value()) << text.error().message;
    std::size_t steps = 0;
    std::size_t from = 0;
    std::int64_t last = -1;
    while (from < text->size()) {
        const std::size_t end = text->find("\n---\n", from);
        const Json one = Json::parse(text->substr(from, end - from));
        from = end + 5;
        if (one.at("kind") == "Pod") expect_new_pod(one);
        if (one.at("kind") != "ResourcePatch") continue;
        ++steps;
        EXPECT_EQ(one.at("apiVersion"), "action.kwok.x-k8s.io/v1alpha1");
        EXPECT_GT(one.at("durationNanosecond").get<std::int64_t>(), last) << "KWOK sorts by it";
        last = one.at("durationNanosecond").get<std::int64_t>();
        EXPECT_EQ(one.contains("template"), one.at("method") != "delete");
        const Json body = one.value("template", Json::object());
        if (one.at("resource").at("resource") == "pods" && body.contains("spec")) {
            EXPECT_FALSE(body.at("spec").contains("nodeName"));
        }
        if (one.at("resource").at("resource") == "pods" && one.at("method") == "create") expect_new_pod(body);
    }
    EXPECT_GT(steps, 5U);
}

// In a replay nobody was evicted: who was made in place of an evicted pod is not there either.
TEST_F(Questions, KwokGetsNobodyTwice) {
    const auto text = export_kwok(reader(), {}, {});
    ASSERT_TRUE(text.has_value()) << text.error().message;
    const auto is_embed = [](const std::string& pod) { return pod.starts_with("research/embed-"); };
    std::size_t evicted = 0;
    for (const RecordedDecision& one : reader().decisions({}))
        evicted += static_cast<std::size_t>(std::ranges::count_if(one.victims, is_embed));
    std::size_t lived = 0;
    std::size_t replayed = 0;
    for (const PodLife& one : reader().lives({})) {
        if (!is_embed(one.pod)) continue;
        ++lived;
        if (text->find("\"name\":\"" + one.pod.substr(one.pod.find('/') + 1) + "\"") != std::string::npos) ++replayed;
    }
    EXPECT_GT(evicted, 3U);
    EXPECT_EQ(replayed, lived - evicted);
}

// The wire format of protocol buffers, as far as a trace has it.
struct Wire {
    std::string_view rest;
    std::uint64_t varint() {
        std::uint64_t out = 0;
        for (unsigned shift = 0; !rest.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(rest.front());
            rest.remove_prefix(1);
            out |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) break;
        }
        return out;
    }
    // The next field; false at the end.
    bool next(std::uint64_t& field, std::uint64_t& number, std::string_view& bytes) {
        if (rest.empty()) return false;
        const std::uint64_t tag = varint();
        field = tag >> 3U;
        if ((tag & 7U) == 0) {
            number = varint();
        } else {
            const std::uint64_t size = (tag & 7U) == 1 ? 8 : varint();
            EXPECT_LE(size, rest.size());
            bytes = rest.substr(0, size);
            rest.remove_prefix(std::min<std::size_t>(size, rest.size()));
        }
        return true;
    }
};

TEST_F(Questions, PerfettoTracesHaveAnArrowForEachVictim) {
    const auto text = export_perfetto(reader(), {}, {});
    ASSERT_TRUE(text.has_value());
    std::size_t begins = 0;
    std::size_t ends = 0;
    std::multiset<std::string> from;
    std::multiset<std::string> to;
    std::uint64_t field = 0;
    std::uint64_t number = 0;
    std::string_view bytes;
    for (Wire trace{*text}; trace.next(field, number, bytes);) {
        ASSERT_EQ(field, 1U);
        for (Wire packet{bytes}; packet.next(field, number, bytes);) {
            if (field != 11) continue;
            for (Wire event{bytes}; event.next(field, number, bytes);) {
                if (field == 9) ++(number == 1 ? begins : number == 2 ? ends : number);
                if (field == 47) from.emplace(bytes);
                if (field == 48) to.emplace(bytes);
            }
        }
    }
    EXPECT_GT(begins, 10U);
    EXPECT_EQ(begins, ends);
    EXPECT_EQ(from, to);
    std::size_t victims = 0;
    for (const RecordedDecision& one : reader().decisions({}))
        victims += one.victims.size();
    EXPECT_EQ(from.size(), victims);
}

TEST_F(Questions, SwfHasEighteenFieldsALine) {
    const auto text = export_swf(reader(), {}, {});
    ASSERT_TRUE(text.has_value());
    std::istringstream lines(*text);
    std::size_t jobs = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(';')) continue;
        ++jobs;
        EXPECT_EQ(std::ranges::count(line, ' '), 17) << line;
    }
    EXPECT_GT(jobs, 10U);
}

// In SWF memory is of a processor; a job of several pods is read back with what all of them ask for.
TEST(SwfMemory, IsPerProcessorAndComesBack) {
    const Folder folder;
    auto recorder = Recorder::open({.folder = folder.path(), .version = "test"});
    ASSERT_TRUE(recorder.has_value());
    const auto tell = [&](const std::string& name, const char* phase, const std::string& requests) {
        auto text = std::make_shared<FactText>();
        *text = {.api_version = "v1",
                 .kind = "Pod",
                 .json = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                         R"(","namespace":"a","uid":")" + name +
                         R"("},"spec":{"nodeName":"n","containers":[{"name":"c","resources":{"requests":{)" + requests +
                         R"(}}}]},"status":{"phase":")" + phase + R"("}})"};
        (*recorder)->put(FactItem{.at = kLoopStart + Duration::of_seconds(phase[0] == 'R' ? 10 : 70),
                                  .key = "Pod a/" + name,
                                  .text = text,
                                  .pod = PodSight{.uid = name}});
    };
    (*recorder)->put(ReadyItem{.at = kLoopStart});
    for (const char* phase : {"Running", "Succeeded"}) {
        tell("gpus", phase, R"("cpu":"8","memory":"64Gi","nvidia.com/gpu":"4")");
        tell("cpus", phase, R"("cpu":"2500m","memory":"3Gi")");
        tell("none", phase, "");
    }
    (*recorder)->put(CycleItem{.at = kLoopStart + Duration::of_seconds(80)});
    (*recorder)->close();
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto text = export_swf(**reader, {}, {});
    ASSERT_TRUE(text.has_value());
    const auto read = read_swf("jobs.swf", *text, true);
    ASSERT_TRUE(read.has_value()) << read.error().message << *text;
    std::multiset<std::pair<std::int32_t, std::int64_t>> sizes;
    for (const TraceJob& job : read->jobs)
        sizes.emplace(job.pods, job.memory >> 20U);
    const std::multiset<std::pair<std::int32_t, std::int64_t>> expected{{4, 16 * 1024}, {3, 1024}, {1, 0}};
    EXPECT_EQ(sizes, expected) << *text;
}

TEST(HostileTexts, StayInTheirLineAndTheirField) {
    const Folder folder;
    auto opened = Recorder::open({.folder = folder.path(), .version = "test"});
    ASSERT_TRUE(opened.has_value());
    auto text = std::make_shared<FactText>();
    *text = {.api_version = "v1",
             .kind = "Pod",
             .json =
                 "{\"metadata\": {\"name\": \"p\", \"namespace\": \"ns\", \"labels\": "
                 "{\n\"x\":\n\"<script>\\u001b[2J\\\"\\n\"}},\n"
                 "\"spec\": {\"containers\": []}}"};
    (*opened)->put(FactItem{.at = kLoopStart,
                            .key = "Pod ns/\"}\n{\"at\":1",
                            .text = text,
                            .pod = PodSight{.uid = "'; DROP TABLE pod; --"}});
    (*opened)->put(ReadyItem{.at = kLoopStart});
    (*opened)->put(StepItem{.at = kLoopStart,
                            .report = {.step = SinkStep::kBind, .pod = "ns/p'", .what = "\x1b]0;gone\x07 '\"<b>"}});
    (*opened)->put(CycleItem{.at = kLoopStart});
    (*opened)->close();
    auto reader = RecordReader::open(folder.path());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    const auto cycle = (*reader)->cycle_at({INT64_MAX});
    ASSERT_TRUE(cycle.has_value());
    const auto world = (*reader)->world(*cycle);
    ASSERT_TRUE(world.has_value()) << world.error().message;
    ASSERT_EQ(world->size(), 1U);
    EXPECT_EQ(world->begin()->first, "Pod ns/\"}\n{\"at\":1");
    EXPECT_EQ(Json::parse(world->begin()->second.json).at("metadata").at("labels").at("x"), "<script>\x1b[2J\"\n");
    auto db = Database::open(record_files(folder.path()).front().path, Database::Mode::kRead);
    EXPECT_EQ(*db->text("SELECT what FROM writes"), "\x1b]0;gone\x07 '\"<b>");
}

}  // namespace
}  // namespace reprieve
