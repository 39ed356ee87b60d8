#include "kube/address_book.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "manifest/decode.h"

namespace reprieve {
namespace {

class AddressBookTest : public ::testing::Test {
protected:
    void see(const std::string& json, const std::string& version) {
        auto decoded = decoder_.decode(json);
        ASSERT_TRUE(decoded.has_value() && decoded->has_value()) << (decoded ? "" : decoded.error().text());
        book_.see(**decoded, words_, version, json);
        last_ = std::move(**decoded);
    }
    void forget_last() { book_.see_gone(last_, words_); }
    void see_deployment(const std::string& metadata) {
        see(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"ns",)" + metadata +
                R"(},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{}}})",
            "apps/v1");
    }

    Vocabulary words_;
    Decoder decoder_{words_};
    AddressBook book_;
    Object last_;
};

TEST_F(AddressBookTest, GangsInTheirDialect) {
    see(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"ns"},"spec":{"minMember":2},"status":{"phase":"Inqueue"}})",
        "scheduling.volcano.sh/v1beta1");
    const auto volcano = book_.gang("ns/g");
    ASSERT_TRUE(volcano.has_value());
    EXPECT_EQ(volcano->dialect, GangDialect::kVolcano);
    EXPECT_EQ(volcano->path, "/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/g");
    EXPECT_EQ(volcano->phase, "Inqueue");
    forget_last();
    EXPECT_FALSE(book_.gang("ns/g").has_value());

    see(R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"ns"},"spec":{"schedulingPolicy":{"gang":{"minCount":3}}},)"
        R"("status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"True"}]}})",
        "scheduling.k8s.io/v1beta1");
    ASSERT_TRUE(book_.gang("ns/g").has_value());
    EXPECT_TRUE(book_.gang("ns/g")->initially_scheduled);
    EXPECT_EQ(book_.gang("ns/g")->min_members, 3);
}

TEST_F(AddressBookTest, QueuesByBareName) {
    see(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":1}})",
        "scheduling.volcano.sh/v1beta1");
    EXPECT_EQ(book_.queue("q"), "/apis/scheduling.volcano.sh/v1beta1/queues/q");
    see(R"({"apiVersion":"scheduling.sigs.k8s.io/v1alpha1","kind":"ElasticQuota","metadata":{"name":"e","namespace":"ns"},"spec":{"min":{"cpu":1},"max":{"cpu":2}}})",
        "scheduling.sigs.k8s.io/v1alpha1");
    EXPECT_EQ(book_.queue("e"), "/apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/ns/elasticquotas/e");
}

class VolcanoJobTest : public AddressBookTest {
protected:
    void see_job(const std::string& scheduler) {
        see(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j","namespace":"ns"},)"
            R"("spec":{"schedulerName":")" +
                scheduler + R"(","tasks":[]}})",
            "batch.volcano.sh/v1alpha1");
    }
    void see_group(const std::string& phase) {
        see(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"ns",)"
            R"("ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":"u"}]},)"
            R"("spec":{"minMember":2,"queue":"q"},"status":{"phase":")" +
                phase + R"("}})",
            "scheduling.volcano.sh/v1beta1");
    }
    void see_queue(const std::string& name, const std::string& state) {
        see(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")" + name +
                R"("},"spec":{"weight":1},"status":{"state":")" + state + R"("}})",
            "scheduling.volcano.sh/v1beta1");
    }
    [[nodiscard]] std::vector<std::string> outside() const {
        return book_.gangs_to_let_in([](std::string_view scheduler) { return scheduler == "reprieve"; });
    }
    const std::vector<std::string> nobody_;
    const std::vector<std::string> the_group_{"ns/g"};
};

TEST_F(VolcanoJobTest, TheGroupOfAJobThatNamesUsIsOursToLetIn) {
    see_group("Pending");
    EXPECT_EQ(outside(), nobody_) << "its job has not been seen";
    see_job("volcano");
    EXPECT_EQ(outside(), nobody_);
    see_job("reprieve");
    EXPECT_EQ(outside(), the_group_);
    forget_last();
    EXPECT_EQ(outside(), nobody_);
}

TEST_F(VolcanoJobTest, WhoIsInStaysIn) {
    see_job("reprieve");
    see_group("");
    EXPECT_EQ(outside(), the_group_);
    for (const char* phase : {"Inqueue", "Running", "Unknown", "Completed"}) {
        see_group(phase);
        EXPECT_EQ(outside(), nobody_) << phase;
    }
}

TEST_F(VolcanoJobTest, AQueueThatIsClosedOrMissingLetsNobodyIn) {
    see_job("reprieve");
    see_group("Pending");
    see_queue("other", "Open");
    EXPECT_EQ(outside(), nobody_) << "there is no such queue";
    see_queue("q", "Closed");
    EXPECT_EQ(outside(), nobody_);
    see_queue("q", "Open");
    EXPECT_EQ(outside(), the_group_);
}

TEST_F(AddressBookTest, CommitsByServingDeploymentAndPlane) {
    see_deployment(R"("labels":{"reprieve.dev/serving":"h","reprieve.dev/plane":"w1"})");
    ASSERT_TRUE(book_.commit("ns/h", "w1").has_value());
    EXPECT_EQ(book_.commit("ns/h", "w1")->path, "/apis/apps/v1/namespaces/ns/deployments/d");
    EXPECT_FALSE(book_.commit("ns/h", "w2").has_value());

    see_deployment(R"("labels":{"reprieve.dev/serving":"h","reprieve.dev/plane":"w2"})");
    EXPECT_FALSE(book_.commit("ns/h", "w1").has_value()) << "it moved to another plane";
    EXPECT_TRUE(book_.commit("ns/h", "w2").has_value());
    forget_last();
    EXPECT_FALSE(book_.commit("ns/h", "w2").has_value());
}

TEST_F(AddressBookTest, OfTwoRevisionsTheOneWithTraffic) {
    const auto revision = [&](const char* name, const char* routing) {
        see(fmt::format(
                R"({{"apiVersion":"serving.knative.dev/v1","kind":"Revision","metadata":{{"namespace":"ns","name":"{}","labels":{{"reprieve.dev/serving":"h","serving.knative.dev/routingState":"{}"}},"annotations":{{"autoscaling.knative.dev/max-scale":"3"}}}},"spec":{{}}}})",
                name,
                routing),
            "serving.knative.dev/v1");
    };
    const auto path = [&] { return book_.commit("ns/h", "default").value_or(CommitAddress{}).path; };
    revision("h-1", "active");
    revision("h-2", "pending");
    EXPECT_TRUE(path().ends_with("/revisions/h-1")) << path();
    revision("h-2", "active");
    revision("h-1", "reserve");
    EXPECT_TRUE(path().ends_with("/revisions/h-2")) << path();
}

TEST_F(AddressBookTest, ADeploymentThatServesByItself) {
    see_deployment(R"("annotations":{"reprieve.dev/desired-replicas":"3"})");
    EXPECT_TRUE(book_.commit("ns/d", "default").has_value());
    see_deployment(R"("annotations":{})");
    EXPECT_FALSE(book_.commit("ns/d", "default").has_value());
}

}  // namespace
}  // namespace reprieve
