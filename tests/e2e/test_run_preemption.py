"""Preemption by `reprieve run` on a real API server, with slow victims, and with a scheduler that dies in between."""

import json

from harness.objects import condition
from harness.runcase import RunTestCase

HIGH = "/pods/high"
LOW = "/pods/low-"


class PreemptionTestCase(RunTestCase):
    def setUp(self):
        super().setUp()
        self.objects.priority_class("high", 1000)

    def preemptor(self, name="high", **options):
        return self.ours(name, **{"cpu": "3", "priority_class": "high", **options})

    def victims(self, recorder):
        return [one.name for one in recorder.victims()]


class PreemptionTest(PreemptionTestCase):
    def test_victims_get_their_grace_and_the_preemptor_their_room(self):
        self.objects.nodes(2)
        self.full_node(stop_delay="1s", grace=30)
        self.full_node(node="node-1", prefix="safe", priority_class="high")
        recorder = self.record()
        self.start_reprieve()
        self.preemptor()
        self.wait_running("high")
        self.assertEqual(self.node_of("high"), "node-0")
        self.assertEqual(sorted(self.victims(recorder)), ["low-0", "low-1", "low-2"])
        high, *others = recorder.of("high"), *(recorder.of(f"low-{i}") for i in range(3))
        intent = json.loads(high[0].plans[0][1])  # it is on the pod for a second
        self.assertEqual(intent["node"], "node-0")
        self.assertEqual(len(intent["victims"]), 3)
        for (victim,) in others:
            self.assertEqual(victim.disruption_reason, "PreemptionByScheduler")
            self.assertEqual(victim.grace, 30)
            self.assertLess(high[0].plans[0][0], victim.disruption, "the intent comes first")
            self.assertLessEqual(victim.disruption, victim.deleting, "marked, then deleted")
            self.assertLess(victim.gone, high[0].bound, "the room is free when it is given away")
        self.assertEqual(high[0].nominations[0][1], "node-0")
        for index in range(3):
            note = self.wait_event("Preempted", f"low-{index}")[0]
            self.assertIn("default/high", note)
        self.wait_event("Scheduled", "high")
        self.wait_clean()

    def test_nobody_is_evicted_where_one_is_enough(self):
        self.objects.nodes(3)
        for index in range(3):
            self.full_node(node=f"node-{index}", prefix=f"low{index}", grace=0)
        recorder = self.record()
        self.start_reprieve()
        self.preemptor(cpu="1300m")
        self.wait_running("high")
        self.assertEqual(len(self.victims(recorder)), 1)
        self.wait_clean()

    def test_many_preemptors_at_once(self):
        self.objects.nodes(10)
        for index in range(10):
            self.full_node(node=f"node-{index}", prefix=f"low{index}", grace=0)
        recorder = self.record()
        self.start_reprieve()
        self.objects.pods(10, prefix="high", cpu="3", priority_class="high", scheduler="reprieve")
        self.wait_running(*(f"high-{index}" for index in range(10)))
        self.assertEqual({self.node_of(f"high-{i}") for i in range(10)}, {f"node-{i}" for i in range(10)})
        self.assertEqual(len(self.victims(recorder)), 30)
        self.wait_clean()

    def test_a_preemptor_that_goes_away_leaves_nothing_behind(self):
        self.objects.nodes(1)
        self.full_node(stop_delay="1h")
        self.start_reprieve()
        self.preemptor()
        self.wait_for(lambda: self.intent("high"), "the intent on record")
        self.wait_for(lambda: condition(self.objects.get_pod("low-0"), "DisruptionTarget"), "a marked victim")
        self.objects.delete_pod("high", grace=0)
        self.wait_gone("high")
        for index in range(3):
            self.objects.delete_pod(f"low-{index}", grace=0)
            self.wait_gone(f"low-{index}")
        self.ours("next", cpu="3")
        self.wait_bound("next")
        self.wait_clean()


class DeathTest(PreemptionTestCase):
    """The scheduler is killed before each of its calls; another one goes on."""

    def run_until_held(self, **rule):
        proxy = self.start_proxy()
        held = proxy.hold(count=1, **rule)
        first = self.start_reprieve(server=proxy.server)
        self.preemptor()
        self.wait_for(lambda: proxy.hits(held) == 1, "the call to be held")
        first.process.kill()
        proxy.clear()

    def die_before(self, **rule):
        self.objects.nodes(2)
        self.full_node(stop_delay="500ms", grace=30)
        self.full_node(node="node-1", prefix="other", stop_delay="500ms", grace=30)
        recorder = self.record()
        self.run_until_held(**rule)
        self.start_reprieve()
        self.wait_running("high")
        self.wait_clean()
        self.assertEqual(len(recorder.deletions()), 3, "one victim set and no second")
        self.assertEqual(len({one.node for one in recorder.deletions()}), 1)
        self.assertEqual({one.name for one in recorder.deletions()}, set(self.victims(recorder)))
        self.assertEqual(recorder.of("high")[0].node, recorder.deletions()[0].node)

    def test_before_the_intent(self):
        self.die_before(method="PATCH", path=HIGH)

    def test_before_the_first_mark(self):
        self.die_before(method="PATCH", path="/status", skip=1)

    def test_between_the_marks(self):
        self.die_before(method="PATCH", path="/status", skip=2)

    def test_before_the_first_delete(self):
        self.die_before(method="DELETE", path="/pods/")

    def test_between_the_deletes(self):
        self.die_before(method="DELETE", path="/pods/", skip=1)

    def test_before_the_last_delete(self):
        self.die_before(method="DELETE", path="/pods/", skip=2)

    def test_before_the_binding(self):
        self.die_before(method="POST", path="/binding")

    def test_while_the_victims_are_leaving(self):
        self.objects.nodes(2)
        self.full_node(stop_delay="1h", grace=30)
        self.full_node(node="node-1", prefix="other", stop_delay="1h", grace=30)
        recorder = self.record()
        first = self.start_reprieve()
        self.preemptor()
        self.wait_for(lambda: len(recorder.deletions()) == 3, "three victims leaving")
        first.process.kill()
        second = self.start_reprieve()
        self.wait_for(second.leads, "the second replica to lead")
        self.wait_for(lambda: second.metric("reprieve_ledger_size") == 1, "the nomination to be known")
        for victim in recorder.deletions():
            self.objects.delete_pod(victim.name, grace=0)
        self.wait_running("high")
        self.assertEqual(len(recorder.deletions()), 3)
        self.wait_clean()

    def test_answers_that_are_lost_do_no_harm(self):
        self.objects.nodes(1)
        self.full_node(grace=0)
        recorder = self.record()
        proxy = self.start_proxy()
        for method, path in (("PATCH", HIGH), ("PATCH", LOW), ("DELETE", LOW), ("POST", "/binding")):
            proxy.lose_reply(method=method, path=path, count=1)
        self.start_reprieve(server=proxy.server)
        self.preemptor()
        self.wait_running("high")
        self.assertEqual(len(recorder.deletions()), 3)
        self.wait_clean()
