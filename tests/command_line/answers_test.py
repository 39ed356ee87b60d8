#!/usr/bin/env python3
"""What the program says is true of the world it was asked about, and reads as English.

    answers_test.py PROGRAM
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop()
ROOT = Path(__file__).resolve().parents[2]
NOW = "2026-01-01T12:00:00Z"
MIDNIGHT = "2026-01-01T00:00:00Z"
PREEMPTIBLE = "quota.scheduling.koordinator.sh/preemptible"


def node(name, cpu=1, **spec):
    size = {"cpu": str(cpu), "pods": "20"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec, "status": {"allocatable": size}}


def pod(name, cpu=1, priority=0, on=None, group=None, queue=None, labels=None, notes=None, **spec):
    annotations = dict(notes or {})
    if group:
        annotations["scheduling.k8s.io/group-name"] = group
    if queue:
        annotations["scheduling.volcano.sh/queue-name"] = queue
    where = {"nodeName": on} if on else {}
    container = {"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}, "annotations": annotations},
        "spec": {"schedulerName": "reprieve", "priority": priority, "containers": [container], **where, **spec},
        "status": {"phase": "Running", "startTime": MIDNIGHT} if on else {"phase": "Pending"},
    }


def group(name, least, **spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": name, "namespace": "default"}, "spec": {"minMember": least, **spec}}


def queue(name, **spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def quota(name, least, most):
    return {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": {"name": name, "namespace": "quotas"}, "spec": {"min": {"cpu": str(least)}, "max": {"cpu": str(most)}}}


def gpu_node(name, gpus=1):
    return {**node(name), "status": {"allocatable": {"nvidia.com/gpu": str(gpus), "pods": "9"}}}


def serving(name, priority, replicas, committed, gpus=1):
    spec = {"priority": priority, "replicas": replicas, "resources": {"nvidia.com/gpu": str(gpus)}, "planes": [{"name": "default", "committed": committed}]}
    return {"apiVersion": "reprieve.dev/v1", "kind": "ServingDeployment", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def replica(name, of, on, notes=None, **metadata):
    out = pod(name, on=on, labels={"reprieve.dev/serving": of, "reprieve.dev/plane": "default"}, notes=notes)
    out["metadata"].update(metadata)
    out["spec"]["containers"][0]["resources"]["requests"] = {"nvidia.com/gpu": "1"}
    return out


LEAVING = {"deletionTimestamp": "2026-01-01T12:04:30Z", "deletionGracePeriodSeconds": 300}


def said(command, objects, actions=None, plugins=None, exit_code=0, **config_keys):
    """What the program prints about these objects, on one line."""
    with tempfile.TemporaryDirectory() as folder:
        state, config = Path(folder, "state.json"), Path(folder, "config.json")
        state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        config.write_text(json.dumps({"apiVersion": "reprieve.dev/v1", "kind": "SchedulerConfig", **({"actions": actions} if actions else {}), **({"plugins": plugins} if plugins else {}), **config_keys}))
        arguments = [PROGRAM, *command, "-f", state, "--now", NOW, "--config", config]
        if command[0] == "run":
            arguments += ["--speed", "fast", "--cycles", "100"]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != exit_code:
            raise AssertionError(f"{command}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return re.sub(r"\s+", " ", done.stdout)


def actions(*names):
    return [{"name": name} for name in ("allocate", *names)]


class Evicted(unittest.TestCase):
    def test_what_is_left_of_a_broken_gang_is_no_surplus(self):
        world = [node("n1", 3), group("b", 3), pod("b-0", priority=3, on="n1", group="b"), pod("s1", on="n1"), pod("s2", on="n1"), pod("want", priority=9)]
        for name in ("b-0", "b"):
            out = said(["explain", name], world, actions("gangPreempt"))
            self.assertIn("Gang default/b is broken already: it is short of its minimum.", out)
            self.assertNotIn("keeps its minimum", out)
            self.assertNotIn("surplus", out.lower())
            self.assertIn("Place 1 of 3 in the order in which they could go on n1", out)
            self.assertIn("The next best way has a job broken instead of none.", out)

    def test_the_order_of_those_who_may_give_is_that_of_the_action(self):
        world = [node("n1", 4), queue("a", weight=3), queue("b", weight=1), *(pod(f"b{i}", on="n1", queue="b", priority=1) for i in range(4)), pod("a0", queue="a", priority=1)]
        out = said(["explain", "b0"], world, actions("gangReclaim"))
        self.assertIn("Place 1 of 4 in the order in which they could go on n1; default/b1, default/b2 and default/b3 stay.", out)

    def test_a_quota_takes_its_own_whatever_their_priority(self):
        world = [
            node("n1", 2),
            quota("q", 4, 4),
            pod("v", 2, 50, on="n1", labels={"quota.scheduling.koordinator.sh/name": "q", PREEMPTIBLE: "true"}),
            pod("j", 2, 10, labels={"quota.scheduling.koordinator.sh/name": "q", PREEMPTIBLE: "false"}),
        ]
        out = said(["explain", "v"], world, actions("jobPreempt"))
        self.assertNotIn("lower priority", out)
        self.assertIn("takes preemptible pods of the same quota, whatever their priority, for what its minimum covers. Preemptible in queue q,", out)

    def test_sentences_begin_with_a_capital(self):
        world = [node("n1", 1), queue("a", deserved={"cpu": "0"}), queue("b", deserved={"cpu": "1"}), pod("v", on="n1", queue="a"), pod("want", queue="b")]
        out = said(["explain", "v"], world, actions("gangReclaim"))
        self.assertIn("takes back what a queue holds above its share. Queue a is above its share and gives back", out)

    def test_which_queue_gives(self):
        world = [node("n1", 2), node("n2", 3)]
        world += [queue("a", deserved={"cpu": "0"}), queue("b", deserved={"cpu": "0"}), queue("c", deserved={"cpu": "1"})]
        world += [pod("a1", on="n1", queue="a"), pod("a2", on="n1", queue="a"), pod("b1", 3, on="n2", queue="b"), pod("want", queue="c")]
        out = said(["explain", "want"], world, actions("gangReclaim"))
        self.assertNotIn("of those above their share", out)
        self.assertRegex(out, "the queue (second )?most above its share giving")

    def test_which_queues_give(self):
        world = [node("n1"), node("n2"), queue("a", deserved={"cpu": "0"}), queue("b", deserved={"cpu": "0"}), queue("c", deserved={"cpu": "2"})]
        world += [pod("a1", on="n1", queue="a"), pod("b1", on="n2", queue="b"), group("want", 2, queue="c"), pod("want-0", group="want"), pod("want-1", group="want")]
        out = said(["explain", "want"], world, actions("gangReclaim"))
        self.assertIn("the queues second most and most above their shares giving", out)

    def test_nobody_else_goes_and_the_bill_is_no_other(self):
        # Each of two takes one; without the first victim the second preemptor has no place.
        world = [node("n1"), node("n2"), pod("a", on="n1"), pod("b", on="n2"), pod("x", priority=9), pod("y", priority=8)]
        out = said(["explain", "a"], world, actions("preempt"))
        self.assertNotIn("nobody would go instead", out)
        self.assertNotRegex(out, r"would find no place\. That costs")

    def test_a_replica_has_the_priority_of_its_deployment(self):
        world = [gpu_node("n1"), gpu_node("n2"), serving("chat", 100, 1, 0), serving("low", 10, 2, 2), replica("low-1", "low", "n1"), replica("low-2", "low", "n2")]
        out = said(["explain", "low-2"], world, [{"name": "servingPreempt"}])
        self.assertIn("It has run for 12h with priority 10", out)
        self.assertIn("Its deployment is scaled down, and it is marked to be the one that goes.", out)

    def test_who_has_not_started_has_not_run_for_nothing(self):
        bound = pod("v", on="n1", priority=3)
        bound["status"] = {"phase": "Pending"}
        out = said(["explain", "v"], [node("n1"), bound, pod("want", priority=9)], actions("preempt"))
        self.assertIn("It has not started, as far as its status says, and has priority 3; it has 30s to end.", out)

    def test_each_queue_gives_for_itself(self):
        world = [node("n1", 8), queue("a", weight=1), queue("b", weight=1), queue("c", weight=2)]
        world += [pod(f"{q}{i}", on="n1", queue=q) for q in "ab" for i in range(3)]
        out = said(["explain", "a0"], world, [{"name": "queueBalance"}])
        self.assertNotIn("default/b", out)

    def test_a_resize_is_not_told_of_as_a_stranger(self):
        grown = pod("g", 3, 100, on="n1")
        grown["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]
        grown["status"]["containerStatuses"] = [{"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}]
        grown["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
        world = [node("n1", 2), pod("v", on="n1"), grown]
        self.assertIn("default/g grows on n1 once those who leave are gone. Expense default/v is evicted for it.", said(["explain", "g"], world))
        self.assertIn("If nobody could take it, default/g would stay without more room.", said(["explain", "v"], world))


class Serving(unittest.TestCase):
    def test_it_is_the_priority_of_the_deployment_that_counts(self):
        world = [gpu_node("n1"), gpu_node("n2"), gpu_node("n3"), serving("new", 10, 2, 1), serving("old", 10, 2, 2), replica("new-1", "new", "n1"), replica("old-1", "old", "n2"), replica("old-2", "old", "n3")]
        out = said(["explain", "new"], world, [{"name": "servingPreempt"}])
        self.assertIn("1 replica of default/new stays without room for now.", out)
        self.assertIn("the priority of default/new were 11 or more (it is 10); then default/old-2 would go for it.", out)
        alone = [gpu_node("n1"), gpu_node("n2"), serving("new", 10, 2, 1), serving("old", 10, 1, 1), replica("new-1", "new", "n1"), replica("old-1", "old", "n2")]
        self.assertIn("No priority would help.", said(["explain", "new"], alone, [{"name": "servingPreempt"}]))

    def test_why_a_replica_stays(self):
        world = [gpu_node("n1", 2), serving("chat", 100, 1, 0), serving("low", 10, 2, 2), serving("one", 10, 1, 1), replica("low-1", "low", "n1"), replica("one-1", "one", "n1"), gpu_node("n2"), replica("low-2", "low", "n2")]
        world[6]["metadata"]["labels"] = {"reprieve.dev/plane": "elsewhere"}
        world[7]["metadata"]["labels"]["reprieve.dev/plane"] = "default"
        out = said(["explain", "one-1"], world, [{"name": "servingPreempt"}])
        self.assertIn("it is the last replica of default/one in its plane that could stay (rule lastReplica)", out)

    def test_those_who_leave_anyway_are_told_apart(self):
        world = [gpu_node("n1", 2), gpu_node("n2"), serving("chat", 100, 1, 0, gpus=2), serving("low", 10, 2, 2)]
        world += [replica("low-1", "low", "n1"), replica("low-2", "low", "n1", **LEAVING), replica("low-3", "low", "n2")]
        out = said(["explain", "low"], world, [{"name": "servingPreempt"}])
        self.assertIn("1 replica of default/low is scaled away from n1 to make room for default/chat; 1 replica that is leaving n1 is deleted at once for default/chat.", out)

    def test_from_a_plan_alone(self):
        world = [gpu_node("n1"), gpu_node("n2"), serving("chat", 100, 1, 0), serving("low", 10, 2, 2), replica("low-1", "low", "n1"), replica("low-2", "low", "n2")]
        with tempfile.TemporaryDirectory() as folder:
            state, plan = Path(folder, "state.json"), Path(folder, "plan.json")
            state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": world}))
            plan.write_text(subprocess.run([PROGRAM, "plan", "-f", state, "--now", NOW, "-o", "json"], capture_output=True, text=True, timeout=60, check=True).stdout)
            tell = lambda name: subprocess.run([PROGRAM, "explain", name, "--plan", plan], capture_output=True, text=True, timeout=60, check=True).stdout
            self.assertIn("Deployment default/chat is promised room", tell("chat"))
            self.assertIn("1 replica of default/low is scaled away from n2", tell("low"))

    def test_a_node_with_room_is_not_called_full(self):
        world = [gpu_node("n1", 2), gpu_node("n2"), gpu_node("n3"), serving("high", 50, 1, 0, gpus=2), serving("v", 10, 4, 3), replica("v-1", "v", "n1"), replica("v-2", "v", "n1"), replica("v-3", "v", "n2")]
        out = said(["plan"], world, [{"name": "servingPreempt"}], exit_code=3)
        self.assertIn("1 room that it does not take while it makes room for others", out)

    def test_alternatives_measure_replicas_as_such(self):
        world = [gpu_node("n1"), gpu_node("n2"), serving("chat", 100, 1, 0), serving("low", 10, 1, 1), replica("low-1", "low", "n1", **LEAVING), replica("low-2", "low", "n2")]
        out = said(["plan", "--alternatives"], world, [{"name": "servingPreempt"}])
        self.assertIn("cheapest (the plan) 1 0 0 10 0s 1s 0", out)

    def test_replicas_that_wait_are_waited_for(self):
        world = [gpu_node("n1"), serving("chat", 100, 1, 0), serving("low", 10, 1, 1), replica("low-1", "low", "n1")]
        out = said(["run"], world, [{"name": "servingPreempt"}], exit_code=3)
        self.assertIn("waiting 1 replica 1 replica of default/chat: servingPreempt: there is no room", out)

    def test_tables_count_what_they_are_about(self):
        world = [gpu_node("n1"), gpu_node("n2"), serving("chat", 100, 1, 0), serving("low", 10, 2, 2), replica("low-1", "low", "n1"), replica("low-2", "low", "n2")]
        self.assertIn("Annotations (1)", said(["plan"], world, [{"name": "servingPreempt"}]))


class Placed(unittest.TestCase):
    def test_one_node_is_the_only_node(self):
        world = [node("n1"), pod("v", on="n1"), pod("want", priority=9)]
        self.assertIn("The only node has no free room for it: Insufficient cpu.", said(["explain", "want"], world, actions("preempt")))

    def test_a_limit_is_named_where_every_node_has_room(self):
        world = [node("n1", 8), queue("q", capability={"cpu": "1"}), pod("v", on="n1", queue="q"), pod("want", priority=9, queue="q")]
        out = said(["explain", "want"], world, actions("preempt"))
        self.assertIn("The only node has no free room for it: queue q is limited to 1 of cpu; with this it would hold 2.", out)

    def test_room_that_was_promised_before(self):
        going = pod("v", on="n1")
        going["metadata"].update(deletionTimestamp="2026-01-01T12:00:20Z", deletionGracePeriodSeconds=30)
        going["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
        want = pod("want", priority=9)
        want["status"]["nominatedNodeName"] = "n1"
        out = said(["explain", "want"], [node("n1"), node("n2"), going, want], actions("preempt"))
        self.assertIn("It keeps the room that it was promised before.", out)
        self.assertNotIn("others came first", out.lower())


class Waiting(unittest.TestCase):
    def test_one_node_was_unschedulable(self):
        out = said(["explain", "want"], [node("n1", unschedulable=True), pod("want")], exit_code=0)
        self.assertIn("1 node was unschedulable", out)

    def test_a_limit_is_told_once(self):
        labels = {"quota.scheduling.koordinator.sh/name": "q"}
        world = [node("n1", 4), quota("q", 1, 2), pod("v", 2, on="n1", labels=labels), pod("want", 1, 9, labels=labels)]
        out = said(["plan"], world, actions("jobPreempt"), exit_code=3)
        self.assertEqual(out.count("queue q is limited to 2 of cpu"), 1, out)
        self.assertIn("jobPreempt: it may not preempt beyond that", out)

    def test_the_runtime_is_called_so(self):
        labels = lambda name: {"quota.scheduling.koordinator.sh/name": name}
        world = [node("n1", 8), quota("a", 4, 8), quota("b", 4, 8), pod("a1", 4, on="n1", labels=labels("a")), pod("b1", 4, on="n1", labels=labels("b")), pod("more", 1, labels=labels("a"))]
        out = said(["plan"], world, actions("jobPreempt"), plugins={"args": {"quota": {"limit": "runtime"}}}, exit_code=3)
        self.assertIn("queue a is limited to its runtime, 4 of cpu", out)

    def test_one_member(self):
        world = [node("n1"), group("g", 2), pod("g-0", group="g")]
        self.assertIn("the gang needs 2 members and lacks 1", said(["plan"], world, exit_code=3))

    def test_who_overstays_is_not_called_marked(self):
        stuck = pod("v", on="n1", notes={"reprieve.dev/sim-terminate": "6000s"}, terminationGracePeriodSeconds=30)
        out = said(["run"], [node("n1"), stuck, pod("want", priority=9)], actions("preempt"))
        self.assertIn("its termination is overdue", out)
        self.assertNotIn("marked not preemptible", out)

    def test_the_last_table_tells_a_reason_once(self):
        out = said(["run"], [node("n1"), pod("v", on="n1", priority=9), pod("x"), pod("y"), pod("z")], actions("preempt"), exit_code=3)
        self.assertIn("default/x, default/y and default/z: 0 of 1 nodes fit", out)

    def test_evictions_that_fail_are_not_counted(self):
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "z", "namespace": "default"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "z"}}}}
        world = [node("n1"), pod("v", on="n1", labels={"app": "z"}), budget, pod("want", priority=9)]
        out = said(["run"], world, [{"name": "allocate"}, {"name": "preempt", "args": {"mode": "evict"}}], exit_code=3)
        self.assertIn("evicted 0 pods", out)

    def test_who_stays_says_nothing_of_domains_that_are_too_small(self):
        racks = [{**node(f"n{i}"), "metadata": {"name": f"n{i}", "labels": {"rack": f"r{i // 2}"}}} for i in range(4)]
        world = [*racks, pod("v", on="n0", priority=99), group("want", 3, networkTopology={"mode": "hard", "highestTierAllowed": 1}), *(pod(f"want-{i}", priority=9, group="want") for i in range(3))]
        out = said(["plan"], world, actions("gangPreempt"), topology={"levels": ["rack"]}, exit_code=3)
        self.assertIn("2 of 3 members even when empty", out)
        self.assertNotIn("even when empty (stay", out)

    def test_a_queue_that_is_not_there(self):
        out = said(["explain", "x"], [node("n1"), pod("v", on="n1"), queue("a"), pod("x", priority=9, queue="none")], actions("preempt"))
        self.assertNotIn("no node is what it asks for", out)

    def test_allocate_alone_evicts_nobody(self):
        out = said(["explain", "want"], [node("n1"), pod("v", on="n1"), pod("want", priority=9)], actions())
        self.assertNotIn("allocate cannot help", out)


class Input(unittest.TestCase):
    def complaint(self, text, *command):
        done = subprocess.run([PROGRAM, *(command or ("plan", "-f", "-"))], input=text, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("reprieve: "), 1)
        return done.stderr

    def test_errors_of_yaml_are_told_in_plain_words(self):
        self.assertIn("a { is not closed", self.complaint("kind: Pod\nmetadata: {name: a\n"))
        self.assertIn("a [ is not closed", self.complaint("kind: Pod\nspec: [a\n"))

    def test_usage_is_complained_of_by_name(self):
        self.assertTrue(self.complaint("", "plan", "-f", "-", "-o", "xml").startswith("reprieve: --output: xml not in"))

    def test_a_queue_is_no_pod(self):
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder, "state.json")
            state.write_text(json.dumps(queue("research")))
            self.assertIn("research is a queue: `plan` lists what it deserves", self.complaint("", "explain", "research", "-f", str(state)))

    def test_slips_in_what_a_timeline_applies(self):
        event = lambda body: f"apiVersion: v1\nkind: Node\nmetadata: {{name: n1}}\nstatus: {{allocatable: {{cpu: 1, pods: 9}}}}\n---\nkind: Timeline\nevents: [{{at: 1s, {body}}}]\n"
        self.assertIn("-:6: Timeline: events[0].apply: Pod default/p: spec.priority", self.complaint(event("apply: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priority: high, containers: []}}"), "run", "-f", "-"))
        run = lambda body: subprocess.run([PROGRAM, "run", "-f", "-", "--speed", "fast"], input=event(body), capture_output=True, text=True, timeout=60, check=False)
        misspelt = run("apply: {apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulabel: true}}")
        self.assertIn("unschedulabel", misspelt.stderr)
        self.assertEqual(misspelt.returncode, 0)
        failed = run("delete: {apiVersion: v1, kind: Node, metadata: {name: n2}}")
        self.assertIn('-:6: Timeline: events[0].delete at 1s: Node "n2" not found', failed.stderr)
        self.assertEqual(failed.returncode, 1)

    def test_numbers_that_are_none(self):
        service = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: x}\nspec: {template: {metadata: {annotations: {autoscaling.knative.dev/min-scale: '-3'}}}}\n"
        self.assertIn("spec.template.metadata.annotations[autoscaling.knative.dev/min-scale]: -3 is less than 0", self.complaint(service))
        job = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: x}\nspec: {minAvailable: -2, tasks: [{replicas: 2}]}\n"
        self.assertIn("spec.minAvailable", self.complaint(job))

    def test_a_misspelt_field_of_a_timeline(self):
        self.assertIn("evnts: is not one of", self.complaint("apiVersion: reprieve.dev/v1\nkind: Timeline\nevents: []\nevnts: []\n", "run", "-f", "-"))


class Help(unittest.TestCase):
    def test_the_examples_run_as_they_are_pasted(self):
        for command in ("plan", "explain", "check"):
            text = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
            examples = re.findall(rf"^  reprieve {command} (.*)$", text, re.M)
            self.assertTrue(examples, command)
            for example in examples:
                arguments = example.split(";")[0].split(">")[0].split()
                # What stands behind is said about it: the words are no arguments.
                paths = [i for i, a in enumerate(arguments) if Path(ROOT, a).exists() or a.startswith("-") or a.endswith("Z")]
                arguments = arguments[: max(paths) + 1] + ([] if arguments[max(paths)] != "-o" else ["json"])
                done = subprocess.run([PROGRAM, command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
                self.assertIn(done.returncode, (0, 3), f"{command} {arguments}: {done.stderr}")


class Tables(unittest.TestCase):
    def test_alternatives_fit_into_eighty_columns(self):
        world = [node("n1"), pod("v", on="n1"), pod("want", priority=9)]
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder, "state.json")
            state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": world}))
            out = subprocess.run([PROGRAM, "plan", "--alternatives", "-f", state, "--now", NOW], capture_output=True, text=True, timeout=60, check=True).stdout
        table = out[out.index("Alternatives") :]
        self.assertLessEqual(max(len(line) for line in table.splitlines()), 80, table)


if __name__ == "__main__":
    unittest.main()
