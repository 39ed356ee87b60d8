"""Reprieve beside kube-scheduler on the same nodes: what the other was promised is not ours, what it takes is replaced, and
no more is evicted than both together need."""

import unittest

from harness.stories import StoryTestCase

KUBE = "default-scheduler"


class NeighbourTest(StoryTestCase):
    def setUp(self):
        super().setUp()
        self.start_scheduler()
        self.replica = self.start_reprieve()
        self.wait_for(self.replica.leads, "the replica to lead")

    def two_nodes(self):
        """On node-0 somebody unimportant, on node-1 somebody who matters more. Both leave when the test lets them: two
        schedulers that see room become free in the same moment are told apart by a real kubelet only."""
        self.objects.nodes(2)
        self.running("low", "low", "4", node="node-0", stop_delay="1h")
        self.running("mid", "mid", "4", node="node-1", stop_delay="1h")
        self.wait_running("low", "mid")

    def let_theirs_in(self):
        self.let_go("low")
        self.wait_bound("theirs", node="node-0", deadline=120)

    def let_ours_in(self):
        self.let_go("mid")
        self.wait_bound("ours", node="node-1", deadline=120)
        self.wait_clean()

    def test_room_that_the_other_waits_for_is_not_ours(self):
        """A pod of ours that is no more important than kube-scheduler's does not wait behind it: it evicts elsewhere."""
        self.two_nodes()
        self.waiting("theirs", "high", "4", scheduler=KUBE)
        self.wait_nominated("theirs", "node-0")
        self.waiting("ours", "high", "4")
        self.wait_leaving("mid")
        self.wait_nominated("ours", "node-1")
        self.let_theirs_in()
        self.let_ours_in()
        self.assert_evicted("mid")

    def test_the_other_takes_the_room_that_we_wait_for(self):
        """kube-scheduler does not look at nominations of pods that are not its own: it may take what we made free."""
        self.two_nodes()
        self.waiting("ours", "high", "4")
        self.wait_nominated("ours", "node-0")
        self.wait_leaving("low")
        self.waiting("theirs", "high", "4", scheduler=KUBE)
        self.wait_nominated("theirs", "node-0")
        self.let_theirs_in()
        self.wait_leaving("mid")
        self.let_ours_in()
        self.assert_evicted("low", "mid")


if __name__ == "__main__":
    unittest.main()
