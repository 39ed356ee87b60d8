#!/usr/bin/env python3
"""The program as a person at a shell meets it: what is refused, in which words, with which exit code.

    command_line_test.py PROGRAM
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NOW = ["--now", "2026-01-01T12:00:00Z"]

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
"""


def pod(name, rest="", spec=""):
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}{rest}}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]{spec}}}
"""


def run(*arguments, text=""):
    done = subprocess.run([PROGRAM, *arguments], input=text.encode(), capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def plan(text, *arguments):
    return run("plan", "-f", "-", *NOW, *arguments, text=text)


class HostileText(unittest.TestCase):
    def test_errors_are_spelled_out(self):
        code, out, err = plan(NODE + pod('"a\\e[31mred\\e]0;x\\a\\u009bb"'))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("a\\x1b[31mred\\x1b]0;x\\x07\\u009bb", err)
        self.assertNotRegex(err, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")

    def test_names_of_files_too(self):
        code, _, err = run("plan", "-f", "no\x1b[31m\udcff")
        self.assertEqual(code, 1)
        self.assertIn("no\\x1b[31m\\xff", err)
        code, _, err = run("plan", "--nosuch\x1b[31m")
        self.assertEqual(code, 2)
        self.assertNotIn("\x1b", err)


class Cycles(unittest.TestCase):
    def refused(self, text):
        code, out, err = plan(text)
        self.assertEqual((code, out), (1, ""))
        return err

    def test_queues(self):
        queue = "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s}\nspec: {parent: %s}\n"
        err = self.refused(queue % ("a", "b") + queue % ("b", "a"))
        self.assertEqual(err, "reprieve: -:2: Queue a: spec.parent: the chain of parents is a circle: a, b, a\n")

    def test_quotas(self):
        quota = (
            "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: ElasticQuota\n"
            'metadata: {name: %s, namespace: x, labels: {quota.scheduling.koordinator.sh/parent: %s}}\nspec: {min: {}, max: {}}\n'
        )
        err = self.refused(NODE + quota % ("a", "b") + quota % ("b", "c") + quota % ("c", "b"))
        self.assertRegex(err, r"^reprieve: -:12: ElasticQuota x/b: metadata.labels\[quota.scheduling.koordinator.sh/parent\]: ")
        self.assertIn("is a circle: b, c, b\n", err)

    def test_composite_groups(self):
        group = (
            "---\napiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\nmetadata: {name: %s}\n"
            "spec: {schedulingPolicy: {basic: {}}, parentCompositePodGroupName: %s}\n"
        )
        err = self.refused(group % ("a", "b") + group % ("b", "a"))
        self.assertEqual(
            err,
            "reprieve: -:2: CompositePodGroup default/a: spec.parentCompositePodGroupName: "
            "the chain of parents is a circle: a, b, a\n",
        )

    def test_hyper_nodes(self):
        hyper = (
            "---\napiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: %s}\n"
            "spec: {tier: 1, members: [{type: HyperNode, selector: {%s}}]}\n"
        )
        err = self.refused(hyper % ("a", "exactMatch: {name: b}") + hyper % ("b", "regexMatch: {pattern: '^[ab]$'}"))
        self.assertEqual(err, "reprieve: -:2: HyperNode a: spec.members: a HyperNode cannot contain itself: a, b, a\n")


class For(unittest.TestCase):
    WORLD = NODE + pod("training-0") + pod("training-1") + pod("runs", spec=", nodeName: n1") + pod("gated", spec=", schedulingGates: [{name: g}]")

    def test_waiting_names(self):
        for name in ("training-0", "default/training-1"):
            code, out, _ = plan(self.WORLD, "--for", name)
            self.assertEqual(code, 0)
            self.assertIn("1 placed now", out)

    def test_unknown_name(self):
        code, out, err = plan(self.WORLD, "--for", "trainign-0")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(
            err, "reprieve: --for trainign-0: no such pod, gang, workload or serving deployment; nearest that wait: default/training-0, default/training-1\n"
        )
        code, out, err = plan(self.WORLD, "--for", "training-0", "--for", "nosuch")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "reprieve: --for nosuch: no such pod, gang, workload or serving deployment; waiting: default/training-0, default/training-1\n")

    def test_known_but_not_waiting(self):
        code, out, err = plan(self.WORLD, "--for", "runs")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("reprieve: --for runs: pod default/runs does not wait: it is bound to n1; waiting: ", err)
        self.assertIn("it has scheduling gates", plan(self.WORLD, "--for", "gated")[2])
        self.assertIn("nothing waits", plan(NODE, "--for", "x")[2])


class Warnings(unittest.TestCase):
    def test_missing_priority_class(self):
        named = ", priorityClassName: gone"
        _, out, _ = plan(NODE + pod("a", spec=named) + pod("b", spec=named) + pod("c", spec=named + ", priority: 5"))
        self.assertIn("PriorityClass gone does not exist; pods that name it have priority 0 (2 times)", out)

    def test_devices_that_are_not_there(self):
        node = (
            "apiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: {reprieve.dev/devices: "
            "'[{\"index\": 0, \"memory\": \"8Gi\"}, {\"index\": 1, \"memory\": \"8Gi\"}]'}}\n"
            "status: {allocatable: {cpu: 4, pods: 10, nvidia.com/gpu: 2}}\n"
        )

        def holder(name, held):
            return pod(name, f", annotations: {{reprieve.dev/devices: '{held}'}}", ", nodeName: n1")

        def warnings(*held):
            text = node + "".join(holder(f"p{i}", devices) for i, devices in enumerate(held))
            return re.findall("^  (.*evice.*)$", plan(text)[1], re.M)

        self.assertEqual(warnings("0:4Gi", "0:4Gi", "1"), [])
        self.assertEqual(warnings("7:4Gi"), ["Node n1 has no device 7, which a pod says it holds"])
        self.assertEqual(warnings("7", "7"), ["Node n1 has no device 7, which a pod says it holds (2 times)"])
        self.assertEqual(warnings("0:9Gi"), ["device 0 of Node n1 is held more than once or beyond its size"])
        self.assertEqual(warnings("1", "1:4Gi"), ["device 1 of Node n1 is held more than once or beyond its size"])


class Workloads(unittest.TestCase):
    """The pods that workloads in the input would make, and what is said of a workload that is a slip."""

    TEMPLATE = "template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"

    def test_tasks_without_a_name(self):
        job = f"---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {{name: ring}}\nspec: {{minAvailable: 2, tasks: [{{{self.TEMPLATE}}}, {{{self.TEMPLATE}}}]}}\n"
        code, out, err = plan(NODE + job, "-o", "json")
        self.assertEqual(code, 0, err)
        self.assertEqual([p["pod"] for p in json.loads(out)["placements"]], ["default/ring-default0-0", "default/ring-default1-0"])

    def test_more_pods_than_any_cluster_has(self):
        many = f"---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: web}}\nspec: {{replicas: 2000000000, selector: {{matchLabels: {{a: b}}}}, {self.TEMPLATE}}}\n"
        code, out, err = plan(NODE + many)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("ReplicaSet default/web: spec: asks for 2000000000 pods, more than the 1000000 that are made", err)

    def test_slips_in_workloads_that_others_serve(self):
        sets = (
            f"---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {{name: llm}}\nspec: {{replicas: 1, leaderWorkerTemplate: {{siz: 2, worker{self.TEMPLATE.replace('t', 'T', 1)}}}}}\n"
            "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: sweep}\nspec: {replicatedJob: []}\n"
        )
        _, out, _ = plan(NODE + sets)
        self.assertIn("LeaderWorkerSet default/llm: spec.leaderWorkerTemplate.siz: unknown field, did you mean size?", out)
        self.assertIn("JobSet default/sweep: spec.replicatedJob: unknown field, did you mean replicatedJobs?", out)
        code, out, err = plan(NODE + sets, "--strict")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("leaderWorkerTemplate.siz", err)


class Explaining(unittest.TestCase):
    def test_what_is_proven_of_whoever_may_have_nobody_evicted(self):
        full = NODE + pod("low", spec=", nodeName: n1").replace("cpu: 1", "cpu: 4")
        want = pod("want", spec=", priority: 9, preemptionPolicy: Never")
        code, out, err = run("explain", "want", "-f", "-", *NOW, text=full + want)
        self.assertEqual(code, 0, err)
        self.assertIn("no set of evictions that may be made for it lets it in", " ".join(out.split()))


class Run(unittest.TestCase):
    def test_ends_when_nothing_moves_any_more(self):
        # No Deployment is there to be scaled: the replicas that have to make room never leave.
        code, out, err = run("run", "-f", str(EXAMPLES / "serving-fleet"), "--speed", "fast", *NOW)
        self.assertEqual(code, 3, err)
        self.assertIn("no workload in plane near", out)
        self.assertIn("waiting   1 replica\n", out)
        self.assertIn("evicted   0 pods\n", out)
        self.assertLess(len(out.splitlines()), 1000)


class Commands(unittest.TestCase):
    def test_unknown_command(self):
        code, out, err = run("paln", "-f", "x")
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "reprieve: unknown command 'paln', did you mean plan?\nRun `reprieve --help` for the commands.\n")
        self.assertIn("unknown command 'foo' (known: plan, explain, run, ui, simulate, history, replay, export, referee, check, version, schema, completion)", run("foo")[2])

    def test_version(self):
        self.assertEqual(run("--version"), run("version"))

    def test_completion_offers_what_help_lists(self):
        commands = re.findall(r"^  ([a-z]+) ", run("--help")[1].split("Subcommands:")[1], re.M)
        self.assertIn("plan", commands)
        for shell in ("bash", "zsh", "fish"):
            script = run("completion", shell)[1]
            for command in commands:
                self.assertIn(command, script, shell)
                for long in re.findall(r"--([a-z-]+)", run(command, "--help")[1].split("Options:")[1].split("\n\n")[0]):
                    self.assertRegex(script, rf"(--|-l |,--){long}\b", f"{shell}: {command}")


class Plugin(unittest.TestCase):
    """The program under the name by which kubectl finds it."""

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program = folder / "kubectl-reprieve"
        self.program.symlink_to(pathlib.Path(PROGRAM).resolve())

    def ask(self, *arguments):
        command = [self.program, *arguments, "-f", EXAMPLES / "mixed-cluster"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_why_pending(self):
        code, out, err = self.ask("why-pending", "debug-h200", "-n", "research")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("research/debug-h200 stays unplaced, and no eviction could change that.", out)
        self.assertIn("it has its place on gpu-2", self.ask("why-pending", "serving/embeddings-1")[1])
        code, out, err = self.ask("why-pending", "debug-h200")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("default/debug-h200", err)

    def test_queues(self):
        code, out, _ = self.ask("queues")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"research +nvidia.com/gpu +17 +8")
        self.assertIn('"name": "research"', self.ask("queues", "-o", "json")[1])

    def test_history(self):
        with tempfile.TemporaryDirectory() as folder:
            run("run", "-f", EXAMPLES / "run", "--now", "2026-03-02T09:00:00Z", "--speed", "fast", "--record", folder)
            done = subprocess.run(
                [self.program, "history", "pretrain", "-n", "research", "--record", folder, "-o", "json"],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
        decisions = json.loads(done.stdout)["decisions"]
        self.assertIn("research/pretrain", {one["for"] for one in decisions if one["evictions"]})

    def test_usage(self):
        self.assertEqual(self.ask("evict", "everybody")[0], 2)
        self.assertEqual(self.ask("why-pending")[0], 2)
        self.assertIn("why-pending", self.ask("--help")[1])


class Stopping(unittest.TestCase):
    def test_a_server_that_does_not_answer_keeps_nobody(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        config = folder / "kubeconfig"
        config.write_text(
            "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}],"
            " clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: u, user: {token: t}}]}"
        )
        command = [PROGRAM, "run", "--kubeconfig", config, "--dry-run"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            self.assertIn("Failed to connect", process.stderr.readline())
            process.terminate()
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
