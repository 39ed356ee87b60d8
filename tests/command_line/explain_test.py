#!/usr/bin/env python3
"""`reprieve explain`, `plan --alternatives`, `plan --verify` and `run --log`, as a person at a shell meets them.

    explain_test.py PROGRAM
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop()
NOW = ["--now", "2026-01-01T12:00:00Z"]


def node(name, cpu):
    return f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nstatus: {{allocatable: {{cpu: {cpu}, pods: 20}}}}\n"


def pod(name, on="", priority=0, started="2026-01-01T11:00:00Z", phase="", meta="", spec="", ns="default", cpu=1):
    where = f", nodeName: {on}" if on else ""
    state = phase or ("Running" if on else "Pending")
    start = f', startTime: "{started}"' if on else ""
    return (
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: {ns}{meta}}}\n"
        f"spec: {{priority: {priority}, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]{where}{spec}}}\n"
        f"status: {{phase: {state}{start}}}\n"
    )


# The new one takes the younger of two.
WORLD = (
    node("n1", 2)
    + pod("old", "n1", 10, "2026-01-01T08:00:00Z")
    + pod("young", "n1", 10)
    + pod("new", priority=100)
)


def run(*arguments, text=""):
    done = subprocess.run([PROGRAM, *arguments], input=text.encode(), capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def explain(name, *arguments, text=WORLD):
    return run("explain", name, "-f", "-", *NOW, *arguments, text=text)


class Explain(unittest.TestCase):
    def test_a_pod_that_its_group_cannot_spare(self):
        group = (
            "---\napiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: pair}\n"
            "spec: {schedulingPolicy: {gang: {minCount: 2}}, disruptionMode: {single: {}}}\n"
        )
        member = ", schedulingGroup: {podGroupName: pair}"
        older = pod("a", "n1", started="2026-01-01T08:00:00Z", spec=member)
        _, out, _ = explain("b", text=node("n1", 2) + group + older + pod("b", "n1", spec=member) + pod("new", priority=9))
        self.assertIn("Goes alone: pods of gang default/pair go one by one, even below its minimum.", out)

    def test_a_victim(self):
        code, out, err = explain("young")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("default/young is evicted from n1 to make room for default/new.\n"))
        for words in (
            "takes running pods of strictly lower priority; 10 is below the 100 of default/new",
            "Place 1 of 2 in the order in which they could go on n1; default/old stays.",
            "No cheaper set of victims exists.",
            "If nobody could take it, default/old would go instead.",
            "its priority were 11 or more (it is 10); then default/old would go instead.",
            "its minimum run time were 1h1s or more (it has none)",
        ):
            self.assertIn(words, out)

    def test_the_smallest_change_is_the_smallest(self):
        remedies = json.loads(explain("young", "-o", "json")[1])["evictions"][0]["margin"]["sparedIf"]
        self.assertEqual([r["change"] for r in remedies], ["priority", "minRuntime"])
        outcome = lambda text: json.loads(explain("young", "-o", "json", text=text)[1])["outcome"]
        for priority, expected in ((remedies[0]["to"], "spared"), (remedies[0]["to"] - 1, "evicted")):
            self.assertEqual(outcome(WORLD.replace(pod("young", "n1", 10), pod("young", "n1", priority))), expected)
        for seconds, expected in ((remedies[1]["toSeconds"], "spared"), (remedies[1]["toSeconds"] - 1, "evicted")):
            meta = f", annotations: {{reprieve.dev/min-runtime: {seconds}s}}"
            self.assertEqual(outcome(WORLD.replace(pod("young", "n1", 10), pod("young", "n1", 10, meta=meta))), expected)

    def test_the_others(self):
        self.assertIn("default/old stays on n1, where room is made for others.", explain("old")[1])
        self.assertIn("Were default/young protected, default/old would go.", explain("old")[1])
        self.assertIn("default/new is promised room on n1", explain("new")[1])
        self.assertIn("default/young is evicted for it.", explain("new")[1])

    def test_unplaced(self):
        text = node("n1", 1) + pod("there", "n1", 7) + pod("new", priority=7)
        out = explain("new", text=text)[1]
        self.assertIn("default/new stays unplaced for now.", out)
        self.assertIn("the priority of default/new were 8 or more (it is 7); then default/there would go for it.", out)

    def test_odd_ones(self):
        text = (
            node("n1", 8)
            + pod("done", "n1", phase="Succeeded")
            + pod("gated", spec=", schedulingGates: [{name: g}]")
            + pod("leaves", "n1", meta=', deletionTimestamp: "2026-01-01T12:00:30Z"')
            + pod("twice", "n1", ns="a")
            + pod("twice", "n1", ns="b")
            + "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: hollow}\nspec: {minMember: 2}\n"
        )
        for name, words in (
            ("done", "default/done has ended"),
            ("gated", "default/gated waits for its scheduling gates"),
            ("leaves", "default/leaves is leaving already"),
            ("a/twice", "a/twice runs on n1, and the plan does not touch it."),
            ("hollow", "Gang default/hollow has no pods"),
        ):
            code, out, err = explain(name, text=text)
            self.assertEqual((code, err), (0, ""), name)
            self.assertIn(words, out)
        code, out, err = explain("twice", text=text)
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "reprieve: twice is a name in several namespaces; which one: a/twice, b/twice?\n")

    def test_unknown_name(self):
        code, out, err = explain("yuong")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "reprieve: yuong: there is no such pod or gang; did you mean default/young?\n")

    def test_usage(self):
        self.assertEqual(run("explain")[0], 2)
        code, out, err = run("explain", "x")
        self.assertEqual((code, out, err), (2, "", "reprieve: -f FILE is missing (or --plan FILE, or --record DIR)\n"))
        self.assertEqual(explain("young", "--now", "soon")[0], 2)

    def test_a_big_world_is_answered(self):
        text = "".join(node(f"n{i}", 4) + "".join(pod(f"p{i}-{j}", f"n{i}", j) for j in range(4)) for i in range(300))
        code, out, _ = explain("new", "-o", "json", text=text + pod("new", priority=9))
        self.assertEqual((code, json.loads(out)["outcome"]), (0, "nominated"))
        victim = json.loads(out)["placement"]["evicts"][0]
        self.assertEqual(json.loads(explain(victim, "-o", "json", text=text + pod("new", priority=9))[1])["outcome"], "evicted")


class PlanFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.state = Path(self.folder.name, "state.yaml")
        self.state.write_text(WORLD)
        self.plan = Path(self.folder.name, "plan.json")
        self.plan.write_text(run("plan", "-f", str(self.state), *NOW, "-o", "json")[1])

    def test_the_plan_alone(self):
        code, out, _ = run("explain", "young", "--plan", str(self.plan))
        self.assertEqual(code, 0)
        self.assertIn("is evicted from n1 to make room for default/new", out)
        self.assertNotIn("Spared if", out)
        self.assertIn("the plan knows no such pod or gang", run("explain", "old", "--plan", str(self.plan))[2])

    def test_the_plan_with_its_state(self):
        code, out, _ = run("explain", "young", "--plan", str(self.plan), "-f", str(self.state))
        self.assertEqual(code, 0)
        self.assertIn("Spared if", out)

    def test_a_plan_of_something_else(self):
        self.state.write_text(WORLD + node("n2", 1))
        code, out, err = run("explain", "young", "--plan", str(self.plan), "-f", str(self.state))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("was not made from these manifests", err)

    def test_no_plan(self):
        self.plan.write_text("")
        code, out, err = run("explain", "young", "--plan", str(self.plan))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("plan.json: ", err)

    def test_the_log_of_a_run(self):
        log = Path(self.folder.name, "plans.jsonl")
        ours = WORLD.replace("spec: {priority", "spec: {schedulerName: reprieve, priority")
        self.state.write_text(ours)
        run("run", "-f", str(self.state), *NOW, "--speed", "fast", "--cycles", "5", "--log", str(log))
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual({line["kind"] for line in lines}, {"Plan"})
        code, out, _ = run("explain", "young", "--plan", str(log))
        self.assertEqual(code, 0)
        self.assertIn("default/young is evicted from n1 to make room for default/new.", out)
        self.assertEqual(run("run", "-f", str(self.state), *NOW, "--log", "/nosuch/folder/x")[0], 1)


class Alternatives(unittest.TestCase):
    def test_table_and_json(self):
        code, out, _ = run("plan", "-f", "-", *NOW, "--alternatives", text=WORLD)
        self.assertEqual(code, 0)
        for words in ("cheapest (the plan)", "no budget broken", "fewest jobs", "least work lost", "soonest free"):
            self.assertIn(words, out)
        plain = json.loads(run("plan", "-f", "-", *NOW, "-o", "json", text=WORLD)[1])
        both = json.loads(run("plan", "-f", "-", *NOW, "-o", "json", "--alternatives", text=WORLD)[1])
        self.assertEqual(both["kind"], "PlanAlternatives")
        self.assertEqual(both["plan"], plain)
        self.assertEqual(
            [a["name"] for a in both["alternatives"]], ["cheapest", "pdbClean", "fewestJobs", "leastWorkLost", "soonestFree"]
        )

    def test_not_for_some(self):
        self.assertEqual(run("plan", "-f", "-", *NOW, "--for", "new", "--alternatives", text=WORLD)[0], 2)


class Verify(unittest.TestCase):
    def test_stable(self):
        code, out, err = run("plan", "-f", "-", *NOW, "--verify", text=WORLD)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("Verified\n  while its victims leave, nobody else goes for the same demands\n", out)

    def test_scripts_get_the_plan_alone(self):
        code, out, err = run("plan", "-f", "-", *NOW, "--verify", "-o", "json", text=WORLD)
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["kind"], "Plan")
        self.assertIn("Verified", err)

    def test_not_stable(self):
        # Priority may cross queues, and shares are taken back: what one action takes, the other returns.
        queue = "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s}\nspec: {weight: %d}\n"
        in_queue = ", annotations: {scheduling.volcano.sh/queue-name: %s}"
        text = node("n1", 4) + queue % ("rich", 1) + queue % ("poor", 3)
        text += "".join(pod(f"rich-{i}", "n1", 10, meta=in_queue % "rich") for i in range(4))
        text += "".join(pod(f"poor-{i}", "", 1, meta=in_queue % "poor") for i in range(4))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write(
                "apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\nactions: [{name: allocate}, "
                "{name: preempt, args: {crossQueue: true}}, {name: gangPreempt, args: {crossQueue: true}}, {name: gangReclaim}]\n"
            )
            config.flush()
            code, out, err = run("plan", "-f", "-", *NOW, "--config", config.name, "--verify", text=text)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("reprieve: not stable: ", err)


if __name__ == "__main__":
    unittest.main()
