"""`reprieve run` on a real API server: pods bound, reasons told, one replica acting, a clean end."""

import signal

from harness.objects import condition
from harness.runcase import LEASE, RunTestCase


class BindingTest(RunTestCase):
    def test_pods_are_bound_and_told_so(self):
        self.objects.nodes(3, cpu="4")
        self.start_reprieve()
        for index in range(6):
            self.ours(f"pod-{index}", cpu="2")
        self.wait_running(*(f"pod-{index}" for index in range(6)))
        per_node = [self.node_of(f"pod-{index}") for index in range(6)]
        self.assertEqual(sorted(per_node), ["node-0", "node-0", "node-1", "node-1", "node-2", "node-2"])
        for index in range(6):
            self.assertIn(f"to {per_node[index]}", self.wait_event("Scheduled", f"pod-{index}")[0])

    def test_the_higher_priority_gets_the_room_and_the_other_is_told_why(self):
        self.objects.priority_class("high", 1000)
        self.objects.nodes(1, cpu="4")
        self.ours("low", cpu="3")
        self.ours("high", cpu="3", priority_class="high")
        self.start_reprieve()
        self.wait_bound("high")
        note = self.wait_event("FailedScheduling", "low")[0]
        self.assertIn("cpu", note)
        self.wait_for(
            lambda: condition(self.objects.get_pod("low"), "PodScheduled").get("reason") == "Unschedulable",
            "the condition of the pod that waits",
        )
        self.assertIn("cpu", condition(self.objects.get_pod("low"), "PodScheduled")["message"])
        self.assertIsNone(self.node_of("low"))
        self.objects.nodes(1, prefix="more", cpu="4")
        self.wait_bound("low")
        self.assertEqual(self.node_of("low"), "more-0")

    def test_pods_of_other_schedulers_are_left_alone(self):
        self.objects.nodes(1)
        self.start_reprieve()
        self.objects.pod("theirs", cpu="1")
        self.ours("mine", cpu="1")
        self.wait_bound("mine")
        self.assertIsNone(self.node_of("theirs"))
        self.assertEqual({name for _, _, name in self.calls()}, {"mine"})

    def test_room_that_comes_free_is_used(self):
        self.objects.nodes(1, cpu="4")
        self.objects.pod("theirs", cpu="3", node="node-0", grace=0)
        self.wait_running("theirs")
        self.objects.priority_class("lowest", -10)
        self.ours("mine", cpu="3", priority_class="lowest")
        self.start_reprieve()
        self.wait_event("FailedScheduling", "mine")
        self.objects.delete_pod("theirs")
        self.wait_bound("mine")

    def test_the_api_server_restarts(self):
        self.objects.nodes(2)
        replica = self.start_reprieve()
        self.ours("before", cpu="1")
        self.wait_bound("before")
        self.cluster.restart_apiserver()
        self.ours("after", cpu="1")
        self.wait_bound("after")
        self.assertTrue(replica.process.alive())


class OperationTest(RunTestCase):
    def test_health_and_metrics(self):
        self.objects.nodes(1)
        replica = self.start_reprieve(lease="15s")
        self.assertEqual(replica.get("/healthz"), (200, "ok"))
        self.assertEqual(replica.get("/readyz"), (200, "ok"))
        self.ours("fits", cpu="1")
        self.ours("large", cpu="100")
        self.wait_bound("fits")
        self.wait_for(lambda: replica.metric("scheduler_pending_pods", queue="unschedulable") == 1, "one pod waiting")
        self.wait_for(lambda: replica.metric("reprieve_steps_total", step="bind", result="ok") == 1, "one bind counted")
        self.assertEqual(replica.metric("reprieve_leader"), 1)
        self.assertGreater(replica.metric("reprieve_objects_total", result="decoded"), 0)
        self.assertEqual(replica.metric("reprieve_objects_total", result="malformed"), 0)

    def test_a_dry_run_changes_nothing(self):
        self.objects.nodes(1)
        self.ours("mine", cpu="1")
        replica = self.start_reprieve("--dry-run")
        self.wait_for(lambda: "bind pod=default/mine node=node-0" in replica.log(), "the plan in the log")
        self.assertEqual(self.calls(), [])
        self.assertEqual(self.cluster.audit_entries(user="reprieve")[self._marked :], [])

    def test_asked_to_end_it_lets_others_take_over_at_once(self):
        self.objects.nodes(1)
        first = self.start_reprieve(lease="1h")
        self.wait_for(first.leads, "the first replica to lead")
        second = self.start_reprieve(lease="1h")
        first.process.send(signal.SIGTERM)
        self.assertEqual(first.process.wait(30), 0)
        self.wait_for(second.leads, "the second replica to lead", 30)
        self.ours("mine", cpu="1")
        self.wait_bound("mine")
        second.process.stop()
        self.assertEqual(self.admin.get(LEASE)["spec"]["holderIdentity"], "")

    def test_a_killed_leader_is_replaced_and_only_one_acts(self):
        self.objects.nodes(1)
        first = self.start_reprieve()
        self.wait_for(first.leads, "the first replica to lead")
        second = self.start_reprieve()
        self.ours("one", cpu="1")
        self.wait_bound("one")
        self.assertFalse(second.leads())
        self.assertEqual(second.metric("reprieve_steps_total"), 0)
        first.process.kill()
        self.ours("two", cpu="1")
        self.wait_bound("two")
        self.assertTrue(second.leads())
        self.assertEqual(sum(call[1] == "pods/binding" for call in self.calls()), 2)

    def test_a_leader_that_stalled_does_not_act_on_old_news(self):
        self.objects.nodes(1, cpu="4")
        first = self.start_reprieve()
        self.wait_for(first.leads, "the first replica to lead")
        first.process.pause()
        second = self.start_reprieve()
        self.ours("one", cpu="3")
        self.wait_bound("one")
        self.ours("two", cpu="3")
        self.wait_event("FailedScheduling", "two")
        first.process.resume()
        self.wait_for(lambda: first.get("/readyz")[0] == 200, "the first replica to go on")
        self.wait_for(lambda: not first.leads() and second.leads(), "the first replica to know that it does not lead")
        self.assertEqual([call for call in self.calls() if call[1] == "pods/binding"], [("create", "pods/binding", "one")])

    def test_who_may_not_read_is_told_so(self):
        replica = self.start_reprieve(user="nobody", ready=False)
        self.assertEqual(replica.process.wait(120), 1)
        self.assertIn("cannot be read: 403 Forbidden", replica.log())
