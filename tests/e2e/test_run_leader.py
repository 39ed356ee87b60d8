"""Two replicas of Reprieve on a real API server: one acts, the other takes over, and never both."""

import unittest

from harness.client import path_of
from harness.runcase import LEASE
from harness.stories import StoryTestCase


class LeaderTest(StoryTestCase):
    def pair(self, lease="2s", **first_options):
        """A leader a, and b behind it. Where none of them dies, the lease of production does not run out on a busy machine."""
        first = self.start_reprieve(lease=lease, **first_options)
        self.wait_for(first.leads, "a to lead")
        self.first_holder = self.holder()
        second = self.start_reprieve(lease=lease)
        self.assertEqual(self.holder(), self.first_holder)
        return first, second

    def holder(self):
        return self.admin.get(LEASE)["spec"].get("holderIdentity", "")

    def under_way(self):
        """A preemption that is stuck in its middle: the victim leaves when the test lets it."""
        self.objects.nodes(1)
        self.running("low", "low", "4", stop_delay="1h", grace=600)
        self.wait_running("low")
        self.waiting("high", "high", "4")
        self.wait_leaving("low")
        self.wait_nominated("high", "node-0")

    def finish(self):
        self.let_go("low")
        self.wait_bound("high", node="node-0", deadline=60)
        self.wait_clean()
        self.assert_evicted("low")
        self.assertEqual(self.forbidden_calls(), [])

    def test_both_are_ready_and_one_leads(self):
        first, second = self.pair(lease="15s")
        self.assertEqual(first.get("/healthz")[0], 200)
        self.assertEqual(second.get("/healthz")[0], 200, "who waits is healthy too")
        self.assertFalse(second.leads())

    def test_a_killed_leader_is_succeeded(self):
        first, second = self.pair()
        self.under_way()
        first.process.kill()
        self.wait_for(second.leads, "b to take over")
        self.finish()

    def test_a_leader_that_is_asked_to_stop_hands_over(self):
        first, second = self.pair(lease="15s")
        self.under_way()
        first.process.stop()
        self.assertEqual(first.process.exit_code, 0)
        self.assertNotEqual(self.holder(), self.first_holder, "resigned, not run out")
        self.wait_for(second.leads, "b to take over")
        self.finish()

    def test_a_leader_frozen_past_its_lease_does_not_act(self):
        first, second = self.pair()
        self.under_way()
        first.process.pause()
        self.wait_for(second.leads, "b to take over")
        self.let_go("low")
        self.wait_bound("high", node="node-0", deadline=60)
        # What the frozen one knows is old: it would evict for this pod where b finds it a free node.
        self.objects.nodes(1, prefix="free")
        self.waiting("next", "top", "4")
        self.wait_bound("next", node="free-0")
        first.process.resume()
        self.wait_for(lambda: first.leads() is False, "a to see that it does not lead")
        self.wait_cycle()
        self.wait_clean()
        self.assert_evicted("low")
        self.assertTrue(second.leads())
        self.assertTrue(first.process.alive())

    def test_a_leader_frozen_between_two_steps_does_not_finish_them(self):
        proxy = self.start_proxy()
        self.objects.nodes(1)
        self.running("low", "low", "4", stop_delay="1h")
        self.wait_running("low")
        first, second = self.pair(server=proxy.server)
        deletes = proxy.hold(method="DELETE", path="/pods/low")
        self.waiting("high", "high", "4")
        self.wait_for(lambda: proxy.hits(deletes) == 1, "the delete to be held")
        first.process.pause()
        self.wait_for(second.leads, "b to take over")
        self.wait_leaving("low")
        proxy.remove(deletes)
        first.process.resume()
        self.wait_for(lambda: first.leads() is False, "a to see that it does not lead")
        self.let_go("low")
        self.wait_bound("high", node="node-0")
        self.wait_clean()
        self.assertEqual(set(self.evicted()), {"low"})

    def test_a_leader_that_cannot_renew_stops_and_another_goes_on(self):
        proxy = self.start_proxy()
        first, second = self.pair(server=proxy.server)
        self.under_way()
        proxy.refuse(503, path="/leases")
        self.wait_for(lambda: first.leads() is False, "a to stop by itself")
        self.wait_for(second.leads, "b to take over")
        self.finish()

    def test_a_leader_cut_off_from_everything(self):
        proxy = self.start_proxy()
        first, second = self.pair(server=proxy.server)
        self.under_way()
        proxy.drop()
        proxy.disconnect()
        self.wait_for(second.leads, "b to take over")
        self.finish()
        proxy.clear()
        self.wait_for(lambda: first.get("/readyz")[0] == 200, "a to be ready again")
        self.assertFalse(first.leads())

    def test_the_lease_is_deleted(self):
        first = self.start_reprieve()
        self.wait_for(first.leads, "a to lead")
        self.objects.nodes(1)
        self.admin.delete(LEASE)
        self.wait_for(lambda: self.admin.find(LEASE), "the lease to be made again")
        self.waiting("one", "low", "1")
        self.wait_bound("one")

    def test_a_lease_of_somebody_unknown_is_waited_for(self):
        spec = {"holderIdentity": "stranger", "leaseDurationSeconds": 3}
        lease = {"metadata": {"name": "reprieve", "namespace": "reprieve-system"}, "spec": spec}
        self.admin.post(path_of("leases", namespace="reprieve-system"), lease)
        self.objects.nodes(1)
        self.waiting("one", "low", "1")
        first = self.start_reprieve()
        self.wait_for(first.leads, "a to lead when the stranger's time is over")
        self.wait_bound("one")


if __name__ == "__main__":
    unittest.main()
