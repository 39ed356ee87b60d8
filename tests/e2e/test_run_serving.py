"""Serving deployments on a real API server, with the real Deployment and ReplicaSet controllers and the stock scheduler
to bind replicas."""

import unittest

from harness.client import path_of
from harness.deploy import CONFIG
from harness.fleets import DESIRED, SERVINGS, FleetTestCase
from harness.programs import ROOT

PATIENT = CONFIG.read_text() + "actions: [{name: allocate}, {name: servingPreempt, args: {minTerminating: 1h}}]\n"
IMPATIENT = CONFIG.read_text() + "actions: [{name: servingPreempt, args: {forceDeleteTimeout: 1s}}]\n"

ANNOTATE = ("PATCH", r"/pods/[^/]+$")
SCALE_DOWN = ("PATCH", r"/deployments/[ab]-w/scale")
FORCE_DELETE = ("DELETE", r"/pods/[^/]+$")
SCALE_UP = ("PATCH", r"/deployments/h-w/scale")


class CrowdTestCase(FleetTestCase):
    """Replicas of three services fill three nodes, and a fourth one wants two GPUs."""

    def crowd(self, **options):
        """The cheapest for `h` is node x: `a` and `b` each give the replica they have there. Returns these two.

        Left to itself, the ReplicaSet of `a` would delete one on y, where it has two.
        """
        self.plane("w", x=2, y=2, z=2)
        for name, priority, nodes in (("a", 2, "xyy"), ("b", 1, "xz"), ("c", 9, "z")):
            self.serving(name, priority, len(nodes), 1, w=0)
            self.branch(name, "w", nodes, 1, stop_delay="1h")
        self.serving("h", 5, 1, 2, w=0)
        self.branch("h", "w", "", 2)
        self.start_scheduler()
        return self.on("x")

    def wait_served(self):
        self.wait_running_on("h-w", "x")
        self.wait_running_on("a-w", "y", "y")
        self.wait_running_on("b-w", "z")
        self.wait_unmarked()

    def assert_done_once(self, claimed, graces=(1,)):
        """These replicas and no others were claimed, scaled away and killed."""
        self.assertEqual(sorted(self.scales()), [("a-w", 3, 2), ("b-w", 2, 1), ("h-w", 0, 1)])
        self.assertEqual(sorted(set(self.marked())), claimed)
        self.assertEqual(sorted(self.forced()), [(pod, grace) for pod in claimed for grace in sorted(graces)])


class FleetTest(CrowdTestCase):
    takes_long = True

    def test_exactly_the_claimed_replicas_go(self):
        claimed = self.crowd()
        others = self.on("y") + self.on("z")
        recorder = self.record()
        replica = self.start_reprieve()
        self.wait_served()
        self.assert_done_once(claimed)
        for pod in claimed:
            self.assertIn("Preempted for default/h on node x by servingPreempt", self.wait_event("Preempted", pod)[0])
        for mode in ("scaleDown", "forceDelete"):
            self.assertEqual(replica.metric("reprieve_victims_total", mode=mode), 2, "planned often, counted once")
        self.assertEqual(self.forbidden_calls(), [])
        self.assertEqual(sorted(self.marked()), claimed, "claim and hint are one write")
        self.assertEqual(sorted(one.name for one in recorder.deletions()), claimed)
        self.assertEqual(self.on("y") + self.on("z"), others)

    def test_a_replica_leaves_in_its_own_time_where_that_is_wanted(self):
        claimed = self.crowd()
        self.start_reprieve(config=PATIENT)
        self.wait_leaving(*claimed)
        self.wait_cycle()
        self.assertEqual(self.forced(), [])
        for pod in claimed:
            self.let_go(pod)
        self.wait_served()
        self.assert_done_once(claimed, graces=())

    def test_marks_go_with_the_last_service(self):
        claimed = self.crowd()
        self.start_reprieve(config=PATIENT)
        self.wait_leaving(*claimed)
        self.assertEqual(len(self.marks()), 4, "claim and hint of two replicas")
        self.admin.delete(path_of(SERVINGS, namespace="default"))
        self.wait_unmarked()
        self.assertEqual(sorted(self.scales()), [("a-w", 3, 2), ("b-w", 2, 1)])

    def test_a_kubelet_that_does_not_answer_is_not_waited_for(self):
        claimed = self.crowd()
        self.cluster.lose_node("x")
        self.start_reprieve(config=IMPATIENT)
        for pod in claimed:
            self.wait_gone(pod)
        self.cluster.find_node_again("x")
        self.wait_served()
        self.assert_done_once(claimed, graces=(1, 0))

    def test_the_last_replica_stays(self):
        self.plane("w", x=1, y=1, z=1)
        for name, priority, nodes in (("a", 2, "xy"), ("b", 1, "z")):
            self.serving(name, priority, len(nodes), 1, w=0)
            self.branch(name, "w", nodes, 1)
        self.serving("h", 5, 3, 1, w=0)
        self.branch("h", "w", "", 1)
        self.start_scheduler()
        self.start_reprieve()
        taken = [("a-w", 2, 1), ("h-w", 0, 1)]
        self.wait_for(lambda: len(self.running_on("h-w")) == 1, "one replica of h")
        self.wait_cycle()
        self.assertEqual(self.scales(), taken)
        self.assertEqual([len(self.running_on(name)) for name in ("a-w", "b-w", "h-w")], [1, 1, 1])
        self.plane("w", new=1)
        self.wait_for(lambda: "new" in self.running_on("h-w"), "the next replica of h")
        self.wait_cycle("later", "node-later")
        self.assertEqual(self.scales(), [*taken, ("h-w", 1, 2)])
        self.wait_unmarked()

    def test_deployments_that_serve_by_themselves(self):
        self.objects.nodes(2, gpus=2)
        nodes = ["node-0", "node-0", "node-1"]
        self.deployment("a", nodes, 1, priority_class="low", annotations={DESIRED: "3"})
        self.deployment("h", [], 2, priority_class="high", annotations={DESIRED: "1"})
        self.objects.pod("other", gpus=1, node="node-1")
        self.start_scheduler()
        claimed = self.on("node-0")
        self.start_reprieve()
        self.wait_running_on("h", "node-0")
        self.wait_running_on("a", "node-1")
        self.assertEqual(self.scales(), [("a", 3, 1), ("h", 0, 1)])
        self.assertEqual(sorted(self.marked()), claimed)
        self.wait_unmarked()

    def test_the_example_that_is_shipped(self):
        self.admin.post(path_of("namespaces"), {"metadata": {"name": "serving"}})
        self.addCleanup(self.admin.delete, path_of("namespaces", "serving"))
        self.plane("near", n=4)
        self.plane("far", f=4)
        self.start_scheduler()
        self.start_reprieve()
        self.cluster.apply(ROOT / "deploy" / "examples" / "serving" / "chat.yaml")
        self.wait_running_on("chat-near", "n", "n", namespace="serving")
        self.wait_running_on("chat-far", "f", namespace="serving")
        self.want("chat", 4, namespace="serving")
        self.wait_running_on("chat-far", "f", "f", namespace="serving")
        self.assertEqual(self.scales(), [("chat-far", 1, 2)])


class FleetFaultTest(CrowdTestCase):
    def setUp(self):
        super().setUp()
        self.proxy = self.start_proxy()

    def held_at(self, step):
        """The preemption up to the first call of this kind, which waits for the proxy."""
        claimed = self.crowd()
        rule = self.proxy.hold(method=step[0], path=step[1])
        replica = self.start_reprieve(server=self.proxy.server)
        self.wait_for(lambda: self.proxy.hits(rule) > 0, f"{step} to be held")
        return claimed, replica

    def test_the_api_server_is_restarted_while_replicas_leave(self):
        claimed = self.crowd()
        replica = self.start_reprieve(config=PATIENT)
        self.wait_leaving(*claimed)
        self.cluster.restart_apiserver()
        self.wait_cycle()
        self.assertEqual(sorted(self.scales()), [("a-w", 3, 2), ("b-w", 2, 1)])
        for pod in claimed:
            self.let_go(pod)
        self.wait_served()
        self.assert_done_once(claimed, graces=())
        self.assertTrue(replica.process.alive())

    def test_the_api_server_is_restarted_between_hint_and_scale(self):
        claimed, replica = self.held_at(SCALE_DOWN)
        self.cluster.restart_apiserver()
        self.proxy.clear()
        self.wait_served()
        self.assert_done_once(claimed)
        self.assertTrue(replica.process.alive())

    def killed_before(self, step):
        claimed, replica = self.held_at(step)
        self.crash(replica)
        self.proxy.clear()
        replica.process.start()
        self.wait_served()
        self.assert_done_once(claimed)

    def test_killed_before_the_first_claim(self):
        self.killed_before(ANNOTATE)

    def test_killed_before_the_first_scale_down(self):
        self.killed_before(SCALE_DOWN)

    def test_killed_before_the_first_forced_deletion(self):
        self.killed_before(FORCE_DELETE)

    def test_killed_before_the_scale_up(self):
        self.killed_before(SCALE_UP)

    def test_answers_get_lost(self):
        claimed = self.crowd()
        rules = [self.proxy.lose_reply(method=step[0], path=step[1], count=1) for step in (ANNOTATE, SCALE_DOWN, SCALE_UP)]
        self.start_reprieve(server=self.proxy.server)
        self.wait_served()
        self.assert_done_once(claimed)
        self.assertEqual([self.proxy.hits(rule) for rule in rules], [1, 1, 1])


class FleetStoryTest(FleetTestCase):
    """Two planes, four services of 1, 2 and 4 GPUs, and wishes that change."""

    def wave(self, expected, running):
        """Waits until these Deployments run exactly there: this was scaled meanwhile, and nothing more after that."""
        for name, nodes in running.items():
            self.wait_running_on(name, *nodes)
        self.wait_unmarked()
        self.waves += 1
        self.wait_cycle(f"witness-{self.waves}", f"node-witness-{self.waves}")
        self.assertEqual(sorted(self.scales()[self.scaled :]), sorted(expected))
        self.scaled += len(expected)

    def test_nothing_goes_down_and_up_again(self):
        self.waves = self.scaled = 0
        self.plane("w1", x=4, y=4, v=4)
        self.plane("w2", z=4, u=4)
        fleet = (
            ("low", 1, 6, 1, {"w1": "xxxv", "w2": "uu"}),
            ("one", 3, 6, 1, {"w1": "xvyy", "w2": "zz"}),
            ("mid", 5, 4, 2, {"w1": "yv", "w2": "zu"}),
            ("top", 9, 0, 4, {"w1": "", "w2": ""}),
        )
        for name, priority, replicas, gpus, branches in fleet:
            self.serving(name, priority, replicas, gpus, w1=0, w2=5)
            for plane, nodes in branches.items():
                self.branch(name, plane, nodes, gpus, stop_delay="1h")
        self.start_scheduler()
        self.start_reprieve()
        # Four replicas make room for one; `one` finds another place for what it lost, at the cost of `low`.
        self.want("top", 1)
        self.wave(
            [("low-w1", 4, 1), ("one-w1", 4, 3), ("top-w1", 0, 1), ("low-w2", 2, 1), ("one-w2", 2, 3)],
            {"top-w1": "x", "one-w1": "vyy", "one-w2": "uzz", "low-w1": "v", "low-w2": "u"},
        )
        # The nearer plane, where two would do as well.
        self.want("mid", 5)
        self.wave([("one-w1", 3, 1), ("mid-w1", 2, 3)], {"mid-w1": "vyy", "one-w1": "v"})
        # The farther plane, where less important ones go; nobody can make up for that.
        self.want("top", 2)
        self.wave(
            [("mid-w2", 2, 1), ("one-w2", 3, 1), ("top-w2", 0, 1)],
            {"top-w1": "x", "top-w2": "z", "mid-w2": "u", "one-w2": "u"},
        )
        # Room comes, and those that lost some have it in the order of their importance.
        self.plane("w2", n=4)
        self.wave([("mid-w2", 1, 2), ("one-w2", 1, 3)], {"mid-w2": "nu", "one-w2": "nnu", "low-w1": "v", "low-w2": "u"})
        self.assertEqual(self.forbidden_calls(), [])


if __name__ == "__main__":
    unittest.main()
