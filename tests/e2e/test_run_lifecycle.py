"""Reprieve on a real API server: what happens to pods, namespaces and nodes while preemption is under way."""

import datetime
import time
import unittest

from harness.client import path_of
from harness.objects import condition, is_bound
from harness.programs import ROOT
from harness.stories import StoryTestCase


class LifecycleTest(StoryTestCase):
    # --- victims and preemptors

    def test_victims_leave_at_their_own_pace(self):
        self.objects.nodes(1)
        for index, grace in enumerate((10, 60, 600)):
            self.running(f"low-{index}", "low", "1", grace=grace, stop_delay="1h")
        self.wait_running("low-0", "low-1", "low-2")
        self.start_reprieve()
        recorder = self.record()
        self.waiting("high", "high", "4")
        self.wait_leaving("low-0", "low-1", "low-2")
        self.wait_nominated("high", "node-0")
        leaving = [self.objects.get_pod(f"low-{index}")["metadata"] for index in range(3)]
        graces = [one["deletionGracePeriodSeconds"] for one in leaving]
        self.assertEqual(graces, [10, 60, 600], "each with its own grace")
        for name in ("low-1", "low-0"):
            self.let_go(name)
            self.wait_gone(name)
        self.wait_cycle()
        self.assertIsNone(self.node_of("high"), "not before the last victim is gone")
        self.let_go("low-2")
        self.wait_bound("high", node="node-0")
        self.wait_clean()
        self.assert_evicted("low-0", "low-1", "low-2")
        self.assertEqual({one.disruption_reason for one in recorder.victims()}, {"PreemptionByScheduler"})
        self.assertEqual(self.forbidden_calls(), [])

    def test_a_victim_with_a_finalizer_is_waited_for(self):
        self.objects.nodes(2)
        self.running("held", "low", "4", finalizers=["e2e.reprieve.dev/hold"])
        self.running("other", "mid", "4", node="node-1")
        self.wait_running("held", "other")
        self.start_reprieve()
        recorder = self.record()
        self.waiting("high", "high", "4")
        self.wait_leaving("held")
        self.wait_cycle()
        self.assertIsNone(self.node_of("high"), "its room is not free while the object stands")
        self.assert_evicted("held")
        self.objects.remove_finalizers("held")
        self.wait_bound("high", node="node-0")
        self.wait_clean()
        self.assert_evicted("held")
        self.assertLess(recorder.of("held")[0].gone, recorder.of("high")[0].bound)

    def test_the_preemptor_is_deleted_while_its_victims_leave(self):
        self.objects.nodes(1)
        self.running("low-0", "low", "2", stop_delay="1h")
        self.running("low-1", "low", "2", stop_delay="1h")
        self.wait_running("low-0", "low-1")
        self.start_reprieve()
        self.waiting("high", "high", "4")
        self.wait_leaving("low-0", "low-1")
        self.waiting("later", "mid", "3")
        self.objects.delete_pod("high", grace=0)
        self.wait_gone("high")
        for name in ("low-0", "low-1"):
            self.let_go(name)
        self.wait_bound("later", node="node-0")
        self.wait_clean()
        self.assert_evicted("low-0", "low-1")

    def test_the_preemptor_is_deleted_before_its_victims_are(self):
        self.objects.nodes(1)
        self.running("low", "low", "4")
        self.wait_running("low")
        proxy = self.start_proxy()
        marking = proxy.hold(method="PATCH", path="/pods/low/status")
        self.start_reprieve(server=proxy.server)
        self.waiting("high", "high", "4")
        self.wait_for(lambda: proxy.hits(marking) > 0, "the mark to be held")
        self.objects.delete_pod("high", grace=0)
        proxy.remove(marking)
        self.waiting("high", "high", "4")
        self.wait_bound("high", node="node-0")
        self.wait_clean()
        self.assert_evicted("low")

    def test_a_higher_preemptor_takes_the_room(self):
        self.objects.nodes(1)
        self.running("low", "low", "4", stop_delay="1h")
        self.wait_running("low")
        self.start_reprieve()
        self.waiting("high", "high", "4")
        self.wait_leaving("low")
        self.wait_nominated("high", "node-0")
        self.waiting("top", "top", "4")
        self.wait_nominated("top", "node-0")
        self.wait_for(lambda: not self.nominated("high"), "the nomination of the lower one dropped")
        self.let_go("low")
        self.wait_bound("top", node="node-0")
        self.wait_clean()
        self.assertIsNone(self.node_of("high"))
        self.assert_evicted("low")
        self.assertEqual(condition(self.objects.get_pod("high"), "PodScheduled")["reason"], "Unschedulable")

    def test_a_hundred_preemptors_at_once(self):
        self.objects.nodes(25)
        self.objects.pods(
            100,
            prefix="low",
            on=lambda index: f"node-{index % 25}",
            cpu="1",
            grace=30,
            priority_class="low",
            scheduler="reprieve",
        )
        self.start_reprieve()
        recorder = self.record()
        high = self.objects.pods(
            100, prefix="high", cpu="1", grace=30, priority_class="high", scheduler="reprieve"
        )
        self.wait_for(lambda: self.objects.all_bound(high), "all hundred bound", 90)
        self.wait_clean()
        self.assertEqual(sorted(self.evicted()), sorted(f"low-{index}" for index in range(100)), "each victim once")
        self.assertEqual(len(recorder.victims()), 100)
        per_node = {}
        for one in recorder.binds():
            per_node[one.node] = per_node.get(one.node, 0) + 1
        self.assertEqual(set(per_node.values()), {4})
        self.assertEqual(self.forbidden_calls(), [])

    def test_every_eviction_is_explained(self):
        self.objects.nodes(1)
        self.running("low-explained", "low", "4")
        self.wait_running("low-explained")
        self.start_reprieve()
        self.waiting("high-explained", "high", "4")
        self.wait_bound("high-explained")
        path = "/apis/events.k8s.io/v1/namespaces/default/events"

        def notes(name, reason):
            found = self.admin.list(path)
            return [one["note"] for one in found if (one["regarding"]["name"], one["reason"]) == (name, reason)]

        self.wait_for(lambda: notes("low-explained", "Preempted"), "the victim's event")
        self.assertIn("default/high-explained", notes("low-explained", "Preempted")[0])
        self.assertIn("priority", notes("low-explained", "Preempted")[0])

        self.wait_for(lambda: notes("high-explained", "Scheduled"), "the preemptor's event")

    # --- disruption budgets

    def guard(self, name):
        """A budget that lets none of the pods with this label go, in force."""
        self.objects.budget(name, {"app": name}, min_available=1)

        def counted():
            status = self.admin.get(path_of("poddisruptionbudgets", name, "default")).get("status", {})
            return status.get("expectedPods") == 1 and status.get("currentHealthy") == 1

        self.wait_for(counted, f"the budget of {name} to be in force")

    def test_a_budget_is_kept_where_it_can_be(self):
        self.objects.nodes(2)
        self.running("guarded", "low", "4", labels={"app": "guarded"})
        self.running("dearer", "mid", "4", node="node-1")
        self.wait_running("guarded", "dearer")
        self.guard("guarded")
        self.start_reprieve()
        self.waiting("high", "high", "4")
        self.wait_bound("high", node="node-1")
        self.wait_clean()
        self.assert_evicted("dearer")
        self.waiting("another", "high", "4")
        self.wait_bound("another", node="node-0")
        self.wait_clean()
        self.assert_evicted("dearer", "guarded")

    def test_a_strict_budget_is_never_exceeded(self):
        self.objects.nodes(1)
        self.running("guarded", "low", "4", labels={"app": "guarded"})
        self.wait_running("guarded")
        self.guard("guarded")
        self.start_reprieve(config=(ROOT / "deploy" / "examples" / "strict-budgets" / "config.yaml").read_text())
        self.waiting("high", "high", "4")
        self.wait_told("high")
        self.wait_cycle()
        self.assert_evicted()
        self.assertEqual(self.leaks(), [])
        self.admin.delete(path_of("poddisruptionbudgets", "guarded", "default"))
        self.wait_bound("high", node="node-0")
        self.wait_clean()
        self.assert_evicted("guarded")
        self.assertIn(("create", "pods/eviction", "default/guarded"), self.successes())

    # --- what comes and goes

    def test_pods_are_bound_in_order(self):
        self.waiting("low", "low", "1")
        self.waiting("high-first", "high", "1")
        self.wait_for(lambda: time.time() >= self.created("high-first") + 1, "the next second: creation times have no more")
        self.waiting("high-after", "high", "1")
        self.waiting("top", "top", "1")
        self.start_reprieve()
        for index, name in enumerate(("top", "high-first", "high-after", "low")):
            self.objects.nodes(1, prefix=f"room-{index}", cpu="1")
            self.wait_bound(name, node=f"room-{index}-0")
        self.assert_evicted()

    def created(self, name):
        text = self.objects.get_pod(name)["metadata"]["creationTimestamp"]
        return datetime.datetime.fromisoformat(text).timestamp()

    def test_scheduling_gates(self):
        self.objects.nodes(1)
        self.running("low", "low", "4")
        self.wait_running("low")
        self.start_reprieve()
        self.waiting("gated", "high", "4", spec={"schedulingGates": [{"name": "e2e.reprieve.dev/gate"}]})
        self.wait_cycle()
        self.assertIsNone(self.node_of("gated"))
        self.assert_evicted()
        gate = [{"op": "remove", "path": "/spec/schedulingGates"}]
        self.admin.patch(path_of("pods", "gated", "default"), gate, kind="json")
        self.wait_bound("gated", node="node-0")
        self.wait_clean()
        self.assert_evicted("low")

    def test_a_namespace_is_deleted_under_a_preemption(self):
        self.admin.post(path_of("namespaces"), {"metadata": {"name": "team"}})
        self.objects.nodes(1)
        self.running("low", "low", "4", stop_delay="1h")
        self.wait_running("low")
        self.start_reprieve()
        self.waiting("high", "high", "4", namespace="team")
        self.wait_leaving("low")
        self.admin.delete(path_of("namespaces", "team"))
        self.wait_for(lambda: self.admin.find(path_of("namespaces", "team")) is None, "the namespace gone", 60)
        self.waiting("later", "mid", "4")
        self.let_go("low")
        self.wait_bound("later", node="node-0")
        self.wait_clean()
        self.assert_evicted("low")

    def test_a_new_node_ends_the_wait(self):
        self.objects.nodes(1)
        self.running("old", "high", "4")
        self.start_reprieve()
        self.waiting("new", "high", "4")
        self.wait_told("new")
        self.objects.nodes(1, prefix="more")
        self.wait_bound("new", node="more-0")
        self.assert_evicted()

    def test_a_node_is_removed_under_a_preemption(self):
        self.objects.nodes(2)
        self.running("low", "low", "4", stop_delay="1h")
        self.running("dearer", "mid", "4", node="node-1")
        self.wait_running("low", "dearer")
        self.start_reprieve()
        self.waiting("high", "high", "4")
        self.wait_leaving("low")
        self.wait_nominated("high", "node-0")
        self.admin.delete(path_of("nodes", "node-0"))
        self.wait_bound("high", node="node-1", deadline=60)
        self.wait_clean()
        self.assert_evicted("low", "dearer")

    def test_the_room_that_appears_is_taken_instead(self):
        self.objects.nodes(1)
        self.running("low", "low", "4", stop_delay="1h")
        self.wait_running("low")
        self.start_reprieve()
        self.waiting("high", "high", "4")
        self.wait_leaving("low")
        self.objects.nodes(1, prefix="more")
        self.let_go("low")
        self.wait_bound("high")
        self.wait_clean()
        self.assert_evicted("low")

    # --- beside the stock scheduler

    def bound_by(self, user):
        entries = self.cluster.audit_entries(user=user, verb="create", resource="pods", subresource="binding")
        return {entry["objectRef"]["name"] for entry in entries}

    @staticmethod
    def only(node):
        return {"nodeSelector": {"kubernetes.io/hostname": node}}

    def test_two_schedulers_leave_each_other_alone(self):
        self.objects.nodes(2)
        self.start_scheduler()
        self.start_reprieve()
        self.objects.pods(2, prefix="theirs", cpu="2", grace=30, priority_class="low", spec=self.only("node-0"))
        for index in range(2):
            self.waiting(f"ours-{index}", "mid", "2", spec=self.only("node-1"))
        self.wait_bound("theirs-0", "theirs-1", "ours-0", "ours-1")
        self.waiting("high", "high", "2")
        self.wait_bound("high", node="node-1")
        self.wait_clean()
        self.assert_evictions(1)
        self.assertLessEqual(set(self.evicted()), {"ours-0", "ours-1"}, "the cheaper victims are not ours")
        self.assertEqual(self.bound_by("kube-scheduler"), {"theirs-0", "theirs-1"})
        bound = {call[2] for call in self.successes() if call[:2] == ("create", "pods/binding")}
        self.assertEqual(bound, {"default/ours-0", "default/ours-1", "default/high"})
        self.assertTrue(all(is_bound(self.objects.get_pod(f"theirs-{index}")) for index in range(2)))
        touched = {target for _, resource, target in self.successes() if resource.startswith("pods")}
        self.assertFalse({"default/theirs-0", "default/theirs-1"} & touched)


if __name__ == "__main__":
    unittest.main()
