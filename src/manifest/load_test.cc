#include "manifest/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "manifest/loaded.h"

namespace reprieve {
namespace {

const std::string kPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

std::string pod_json(const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"("}})";
}

TEST(Load, ManyDocumentsInOrder) {
    const Loaded in = load_text("# first\n---\n" + kPod +
                                "---\n# nothing here\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n...\n");
    EXPECT_EQ(in.error, "");
    ASSERT_EQ(in.objects.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<Pod>(in.objects[0]));
    EXPECT_TRUE(std::holds_alternative<Node>(in.objects[1]));
    EXPECT_EQ(in.lines, (std::vector<std::size_t>{3, 9}));
    EXPECT_EQ(in.report.objects, 2U);
}

TEST(Load, NothingIsNoError) {
    for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "---\n---\n", "\xEF\xBB\xBF", "~\n", "null"}) {
        const Loaded in = load_text(text);
        EXPECT_EQ(in.error, "") << text;
        EXPECT_TRUE(in.objects.empty());
    }
    EXPECT_EQ(load_text("", "empty.json").error, "");
    EXPECT_EQ(load_text(" \n ", "spaces.json").error, "");
}

TEST(Load, ByteOrderMarkAndLineEndsOfOtherSystems) {
    EXPECT_EQ(load_text("\xEF\xBB\xBF" + kPod).objects.size(), 1U);
    EXPECT_EQ(load_text("\xEF\xBB\xBF" + pod_json("p"), "bom.json").objects.size(), 1U);
    const Loaded in = load_text("apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: p\r\nspec:\r\n  priority: x\r\n");
    EXPECT_EQ(in.error, "in.yaml:6: Pod default/p: spec.priority: must be a whole number, not a string");
}

TEST(Load, ListsOfKubectl) {
    const Loaded in = load_text(R"({
    "apiVersion": "v1",
    "items": [
        )" + pod_json("a") + ",\n        " +
                                pod_json("b") + R"(
    ],
    "kind": "List",
    "metadata": {"resourceVersion": ""}
})");
    EXPECT_EQ(in.error, "");
    EXPECT_EQ(in.objects.size(), 2U);
    EXPECT_EQ(in.lines, (std::vector<std::size_t>{4, 5}));
    EXPECT_TRUE(load_text(R"({"apiVersion":"v1","items":[],"kind":"List"})").objects.empty());
    for (const char* empty : {R"({"apiVersion":"v1","items":null,"kind":"List"})",
                              R"({"kind":"PodList","apiVersion":"v1","items":null})",
                              R"({"apiVersion":"v1","kind":"List"})"}) {
        EXPECT_EQ(load_text(empty).error, "");
        EXPECT_TRUE(load_text(empty).report.ignored.empty());
    }
    EXPECT_EQ(load_text(R"({"apiVersion":"v1","kind":"List","items":{}})").error, "in.yaml:1: items: must be a list");
    EXPECT_EQ(load_text(R"({"apiVersion":"x.io/v1","kind":"AllowList","metadata":{"name":"a"}})").report.ignored,
              (Counts{{"AllowList.x.io", 1}}));
}

TEST(Load, ItemsOfTypedListsNeedNotNameTheirKind) {
    const Loaded in =
        load_text(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"77","continue":"abc"},
        "items":[{"metadata":{"name":"a"},"spec":{"priority":1}},{"spec":{"priority":2},"metadata":{"name":"b"}}]})");
    ASSERT_EQ(in.error, "");
    ASSERT_EQ(in.objects.size(), 2U);
    EXPECT_EQ(std::get<Pod>(in.objects[1]).priority, 2);
    EXPECT_EQ(in.report.list_version, "77");
    EXPECT_EQ(in.report.list_continue, "abc");
    EXPECT_EQ(load_text("kind: PodDisruptionBudgetList\napiVersion: policy/v1\nitems:\n- metadata: {name: x}\n")
                  .objects.size(),
              1U);
    EXPECT_EQ(load_text(R"({"items":[{"metadata":{"name":"a"}}]})").error, "in.yaml:1: default/a: kind: is missing");
}

TEST(Load, SeveralJsonDocumentsInARow) {
    EXPECT_EQ(load_text(pod_json("a") + "\n" + pod_json("b") + pod_json("c"), "x.json").objects.size(), 3U);
    EXPECT_EQ(load_text(pod_json("a") + "\n---\n" + pod_json("b") + "\n", "x.json").objects.size(), 2U);
    const Loaded in =
        load_text(pod_json("a") + "\n\n" + R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":5}})", "x.json");
    EXPECT_EQ(in.error, "x.json:3: Pod: metadata.name: must be a string, not a number");
}

TEST(Load, FlowStyleYamlIsNoJson) {
    EXPECT_EQ(load_text("{apiVersion: v1, kind: Pod, metadata: {name: p}}").objects.size(), 1U);
    EXPECT_EQ(load_text("{}").error, "in.yaml:1: kind: is missing");
}

TEST(Load, UnknownKindsAreCounted) {
    const Loaded in = load_text(
        "apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Service\nmetadata: {name: 5}\n---\napiVersion: "
        "argoproj.io/v1\nkind: Workflow\n");
    EXPECT_NE(in.error, "");  // metadata is read before the kind is looked at
    const Loaded good = load_text(
        "apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: Service\nspec: [whatever]\n---\napiVersion: "
        "argoproj.io/v1\nkind: Workflow\n");
    EXPECT_EQ(good.error, "");
    EXPECT_EQ(good.report.ignored, (Counts{{"Service", 2}, {"Workflow.argoproj.io", 1}}));
    // A known kind of an unknown group is another kind.
    EXPECT_EQ(load_text("apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: x}\n").report.ignored,
              (Counts{{"Pod.example.com", 1}}));
}

TEST(Load, DocumentsForSomebodyElse) {
    const Loaded in = load_text(kPod + "---\nkind: Expect\nplan: {evict: [a]}\n");
    EXPECT_EQ(in.error, "");
    ASSERT_EQ(in.own.size(), 1U);
    EXPECT_EQ(in.own[0], R"(Expect: {"kind":"Expect","plan":{"evict":["a"]}})");
    EXPECT_EQ(load_text("{\"kind\": \"Expect\"} ").own, std::vector<std::string>{"Expect: {\"kind\": \"Expect\"}"});
}

TEST(Load, ObjectsThatAreNone) {
    EXPECT_EQ(load_text("just words\n").error, "in.yaml:1: must be an object with apiVersion and kind");
    EXPECT_EQ(load_text("- a\n- b\n").error, "in.yaml:1: must be an object with apiVersion and kind");
    EXPECT_EQ(load_text("[1, 2]", "x.json").error, "x.json:1: must be an object with apiVersion and kind");
    EXPECT_EQ(load_text("kind: Pod\n").error, "in.yaml:1: Pod: apiVersion: is missing");
    EXPECT_EQ(load_text("apiVersion: v1\n").error, "in.yaml:1: kind: is missing");
    EXPECT_EQ(load_text("apiVersion: v1\nkind: Pod\n").error, "in.yaml:1: Pod: metadata.name: is missing");
    EXPECT_EQ(load_text("apiVersion: v1\nkind: Pod\nmetadata: {name: \"\"}\n").error,
              "in.yaml:3: Pod: metadata.name: is empty");
    EXPECT_EQ(load_text(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a\u0001b"}})").error,
              "in.yaml:1: Pod default/a\001b: metadata.name: has a slash, a space or a control character");
    EXPECT_NE(load_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a/b}\n").error, "");
    EXPECT_NE(load_text("apiVersion: v1\nkind: Pod\nmetadata: {name: " + std::string(300, 'a') + "}\n").error, "");
    EXPECT_EQ(load_text("apiVersion: v1\nkind: List\nitems: [5]\n").error,
              "in.yaml:3: must be an object with apiVersion and kind");
    EXPECT_EQ(load_text("apiVersion: [v1]\nkind: Pod\n").error, "in.yaml:1: apiVersion: must be a string, not a list");
}

TEST(Load, OneBadDocumentAmongGoodOnes) {
    const Loaded in = load_text(kPod + "---\n" +
                                "apiVersion: v1\nkind: Pod\nmetadata:\n  name: q\nspec:\n  containers:\n  - name: c\n  "
                                "  resources:\n      requests:\n        cpu: 1x\n---\n" +
                                kPod);
    EXPECT_EQ(in.error.substr(0, in.error.find('"')),
              "in.yaml:14: Pod default/q: spec.containers[0].resources.requests.cpu: ");
}

TEST(Load, KeysWrittenTwice) {
    EXPECT_EQ(load_text("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n").error,
              "in.yaml:5: the key \"name\" is written twice");
    EXPECT_EQ(
        load_text("{\"apiVersion\":\"v1\",\n\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\n\"name\":\"b\"}}").error,
        "in.yaml:3: Pod default/a: metadata.name: is written twice");
    EXPECT_EQ(load_text(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{},"spec":{}})").error,
              "in.yaml:1: Pod default/a: spec: is written twice");
}

TEST(Load, BrokenJsonIsFoundWhereItBreaks) {
    EXPECT_EQ(load_text("{\"apiVersion\":\"v1\",\n\"kind\" \"Pod\"}", "x.json").error,
              "x.json:2: not valid JSON: expected : after the key");
    EXPECT_EQ(load_text("{\"apiVersion\":\"v1\",\n\"kind\":\"Pod\",}", "x.json").error,
              "x.json:2: not valid JSON: expected a key in quotes");
    EXPECT_EQ(load_text("{\"kind\":\"Pod\",\n\n\"metadata\":{\"name\":\"a\" \"b\"}}", "x.json").error,
              "x.json:3: not valid JSON: expected , or }");
    EXPECT_EQ(load_text("{\"items\":[\n" + pod_json("a") + "\n" + pod_json("b") + "]}", "x.json").error,
              "x.json:3: not valid JSON: expected , or ]");
    EXPECT_EQ(load_text("{\"items\":[\n" + pod_json("a") + ",\n{\"kind\":\"Pod\"", "x.json").error,
              "x.json:3: not valid JSON: the text ends too early");
    EXPECT_EQ(load_text("{\"items\":[\n" + pod_json("a") + "]", "x.json").error,
              "x.json:2: not valid JSON: the text ends too early");
    EXPECT_EQ(load_text("{\"kind\":\"Pod\n\"}", "x.json").error,
              "x.json:1: not valid JSON: a control character or line break in a string");
    EXPECT_EQ(load_text("nonsense", "x.json").error, "x.json:1: expected a value");
    EXPECT_EQ(load_text("{", "x.json").error, "x.json:1: not valid JSON: the text ends too early");
    EXPECT_EQ(load_text("{\"kind", "x.json").error, "x.json:1: not valid JSON: the text ends in a string");
    EXPECT_EQ(load_text(pod_json("a") + "}", "x.json").error, "x.json:1: expected a value");
    EXPECT_EQ(load_text("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"\\x\"}}", "x.json").error,
              "x.json:1: not valid JSON: a bad escape sequence");
    EXPECT_NE(load_text("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"\xFF\"}}", "x.json").error,
              "");
}

TEST(Load, BrokenYamlIsFoundWhereItBreaks) {
    EXPECT_EQ(load_text("a: b\nc: [1, 2\n").error.substr(0, 25), "in.yaml:3: not valid YAML");
    EXPECT_EQ(load_text(kPod + "spec:\n\tpriority: 1\n").error.substr(0, 10), "in.yaml:5:");
    EXPECT_EQ(load_text("a: b\n\x04\n").error, "in.yaml:2: control character 0x04: this is no text");
    EXPECT_EQ(load_text(std::string("a\0b", 3)).error, "in.yaml:1: control character 0x00: this is no text");
    EXPECT_EQ(load_text("a: b\nc: \xFF\xFE\n").error, "in.yaml:2: not UTF-8: this is no text");
    EXPECT_EQ(load_text("{[a]: b}").error, "in.yaml:1: a key must be a string");
}

TEST(Load, DepthIsLimitedWithoutRecursion) {
    const std::string deep(100'000, '[');
    EXPECT_NE(load_text(deep).error, "");
    EXPECT_NE(load_text("a: " + deep).error, "");
    EXPECT_NE(load_text("{\"a\":" + deep, "x.json").error, "");
    std::string block;
    for (int i = 0; i < 300; ++i)
        block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    EXPECT_EQ(load_text(block).error, "in.yaml:101: nested deeper than 100 levels");
    // Depth in what nobody reads is no matter to JSON.
    std::string nested = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"unknown":)" +
                         std::string(5000, '[') + std::string(5000, ']') + "}";
    EXPECT_EQ(load_text(nested, "x.json").error, "");
}

TEST(Load, AliasesAreFollowedButNotWithoutEnd) {
    const Loaded in =
        load_text("x: &m {name: p, labels: {a: b}}\napiVersion: v1\nkind: Pod\nmetadata:\n  <<: *m\n  namespace: ns\n");
    EXPECT_EQ(in.one<Pod>().name, "p");
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string last = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
        for (int k = 0; k < 9; ++k)
            bomb += "," + last;
        bomb += "]\n";
    }
    EXPECT_NE(load_text(bomb).error.find("aliases make the document too large"), std::string::npos);
}

TEST(Load, FilesAndDirectories) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(testing::TempDir()) / "reprieve-load-test";
    fs::remove_all(root);
    fs::create_directories(root / "b");
    fs::create_directories(root / ".hidden");
    const auto write = [&](const char* name, const std::string& text) { std::ofstream(root / name) << text; };
    write("c.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: last}\n");
    write("a.json", pod_json("first"));
    write("b/x.yml", "apiVersion: v1\nkind: Pod\nmetadata: {name: middle}\n");
    write("b/notes.txt", "not a manifest {");
    write(".hidden/x.yaml", "not a manifest {");

    Vocabulary words;
    std::vector<std::string> names;
    Loader loader(words, [&](Object&& object, const SourceRef& source) {
        names.push_back(std::get<Pod>(object).name + "@" + fs::path(source.file()).filename().string());
    });
    ASSERT_TRUE(loader.load(root));
    EXPECT_EQ(names, (std::vector<std::string>{"first@a.json", "middle@x.yml", "last@c.yaml"}));
    EXPECT_EQ(loader.report().files, 3U);

    const auto missing = loader.load(root / "nowhere.yaml");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().text(), (root / "nowhere.yaml").string() + ": cannot open: No such file or directory");
    write("d.yaml", "a: [\n");
    const auto broken = loader.load(root);
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().file, (root / "d.yaml").string());
    fs::remove_all(root);
}

// A file larger than the window it is read through, with items that lie across its edges.
TEST(Load, LongListsAreReadPieceByPiece) {
    namespace fs = std::filesystem;
    const fs::path path = fs::path(testing::TempDir()) / "reprieve-long-list.json";
    constexpr int kItems = 3000;
    {
        std::ofstream out(path);
        out << "{\"apiVersion\":\"v1\",\"items\":[";
        for (int i = 0; i < kItems; ++i) {
            out << (i > 0 ? ",\n" : "\n") << R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p)" << i
                << R"(","annotations":{"note":")"
                << std::string(static_cast<std::size_t>(i % 1500), i % 7 == 0 ? ']' : 'x')
                << R"(\"\\"}},"spec":{"priority":)" << i << "}}";
        }
        out << "],\"kind\":\"List\"}\n";
    }
    Vocabulary words;
    int count = 0;
    Loader loader(words, [&](Object&& object, const SourceRef& source) {
        EXPECT_EQ(std::get<Pod>(object).priority, count);
        ++count;
        EXPECT_EQ(source.line(), static_cast<std::size_t>(count) + 1);
    });
    const auto done = loader.load(path);
    EXPECT_TRUE(done) << done.error().text();
    EXPECT_EQ(count, kItems);
    EXPECT_EQ(loader.report().bytes, fs::file_size(path));
    fs::remove(path);
}

TEST(Load, TheErrorAsALine) {
    EXPECT_EQ((LoadError{.file = "f", .line = 3, .object = "Pod a/b", .field = "spec.x", .what = "is bad"}.text()),
              "f:3: Pod a/b: spec.x: is bad");
    EXPECT_EQ((LoadError{.file = "-", .line = 0, .object = "", .field = "", .what = "cannot read"}.text()),
              "-: cannot read");
}

}  // namespace
}  // namespace reprieve
