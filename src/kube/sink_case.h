// SinkCase: a KubeSink that talks to a scripted server, for its tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kube/fake_api.h"
#include "kube/sink.h"
#include "manifest/decode.h"

namespace reprieve {

using Asked = FakeApi::Asked;
using Reply = FakeApi::Reply;
constexpr Time kNow{1'767'268'800'000'000};

// The first answer is lost in the server, the second one is about something else.
inline Reply refuse_after_trouble(int asked, const std::string& then) {
    if (asked == 1) return {.status = 500, .body = status_json(500, "InternalError", "going down")};
    if (asked == 2) return {.status = 403, .body = status_json(403, "Forbidden", "coming up")};
    return {.body = then};
}

class SinkCase : public ::testing::Test {
protected:
    void start(std::function<Reply(const Asked&)> script = [](const Asked&) { return Reply{}; }) {
        api_ = std::make_unique<FakeApi>(std::move(script));
        HttpClientOptions line = api_->client_options();
        if (in_flight_ > 0) line.in_flight = in_flight_;
        if (idle_in_flight_ > 0) line.idle_in_flight = idle_in_flight_;
        client_ = std::make_unique<HttpClient>(api_->access(), line);
        KubeSinkOptions options;
        options.may_act = [this] { return may_act_.load(); };
        options.scaling = {.settle = {1'000}, .look_every = {1'000}, .give_up = {5'000'000}};
        options.on_failure = [this] { ++failures_; };
        options.look_again = {1'000};
        options.look_back = {1'000};
        options.nominate_after = nominate_after_;
        options.claims.looks_twice = looks_twice_;
        options.resource_quotas = resource_quotas_;
        sink_ = std::make_unique<KubeSink>(*client_, known_, addresses_, options);
    }
    static Plan preemption() {
        Plan plan{.id = "sha256:1", .now = kNow};
        plan.placements = {
            {.pod = "ns/high", .node = "n1", .uid = "uid-high", .after_evictions = true, .action = "preempt"}};
        for (const char* name : {"a", "b"}) {
            plan.evictions.push_back({.pod = std::string("ns/") + name,
                                      .node = "n1",
                                      .uid = std::string("uid-") + name,
                                      .owner = "ns/high",
                                      .action = "preempt",
                                      .reason = "lower priority"});
        }
        plan.intents = {
            {.pod = "ns/high", .uid = "uid-high", .node = "n1", .victims = {"uid-a", "uid-b"}, .deadline = kNow}};
        return plan;
    }
    // Carries out and waits until everybody has been told; gives the reports as "step pod" or "step pod: what".
    std::vector<std::string> carry_out(const Plan& plan) {
        sink_->carry_out(plan);
        return settle();
    }
    std::vector<std::string> settle() {
        while (!sink_->settled())
            std::this_thread::yield();
        std::vector<SinkReport> reports;
        sink_->collect(reports);
        std::vector<std::string> texts;
        for (const SinkReport& report : reports) {
            if (report.ok && !report.tried) continue;  // it was so already
            constexpr const char* kSteps[] = {
                "record", "mark", "evict", "nominate", "clear", "bind", "scale", "force", "annotate", "status"};
            texts.push_back(std::string(kSteps[static_cast<std::size_t>(report.step)]) + " " + report.pod +
                            (report.ok ? "" : ": " + report.what));
        }
        return texts;
    }
    // What was asked, without Events: "PATCH /ns/a/status".
    std::vector<std::string> calls() const {
        std::vector<std::string> out;
        for (const Asked& asked : api_->asked()) {
            if (asked.path.find("/events") != std::string::npos) continue;
            std::string path = asked.path;
            if (const std::size_t at = path.find("/namespaces/ns/pods"); at != std::string::npos)
                path = path.substr(at + 19);
            out.push_back(asked.method + " " + path);
        }
        return out;
    }
    std::string body_of(const std::string& method, const std::string& path_end) const {
        for (const Asked& asked : api_->asked()) {
            if (asked.method == method && asked.path.ends_with(path_end)) return asked.body;
        }
        return "nothing was asked";
    }
    // Also from the server's thread: the words are its own.
    void see(const std::string& json) {
        Vocabulary words;
        Decoder decoder(words);
        auto decoded = decoder.decode(json);
        ASSERT_TRUE(decoded && *decoded);
        if (const auto* pod = std::get_if<Pod>(&**decoded))
            known_.see(*pod, words, {[] { return std::string("1000"); }, [&] { return has_our_mark(json); }});
        else
            addresses_.see(**decoded, words, "apps/v1", json);
    }

    Vocabulary words_;
    KnownPods known_;
    AddressBook addresses_;
    Duration nominate_after_{1'000};
    std::size_t in_flight_ = 0;  // 0: as usual
    std::size_t idle_in_flight_ = 0;
    bool resource_quotas_ = false;
    bool looks_twice_ = false;
    std::atomic<bool> may_act_ = true;
    std::atomic<int> failures_ = 0;
    std::atomic<int> counter_ = 0;  // for scripts: the fake outlives the body of a test
    std::unique_ptr<FakeApi> api_;
    std::unique_ptr<HttpClient> client_;
    std::unique_ptr<KubeSink> sink_;
};

}  // namespace reprieve
