"""Jobs under ElasticQuotas with `reprieve run`: who makes room for them and how it is asked to, what is lent and given
back, and what a crash in between changes (nothing)."""

import json
import unittest

from harness.client import path_of
from harness.gangs import KOORDINATOR
from harness.stories import StoryTestCase

QUOTAS = "scheduling.sigs.k8s.io/v1alpha1/elasticquotas"
QUOTA = "quota.scheduling.koordinator.sh/name"
PREEMPTIBLE = "quota.scheduling.koordinator.sh/preemptible"
SOFT = "scheduling.koordinator.sh/soft-eviction"
OVER_SINCE = "reprieve.dev/over-since"
HOME = "quotas"
LONG_AGO = "2020-01-01T00:00:00Z"


def config(*actions):
    wanted = json.dumps([{"name": "allocate"}, *actions])
    return f"apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\nschedulerNames: [reprieve]\nactions: {wanted}\n"


DELETE = config({"name": "jobPreempt"})
ASK = config({"name": "jobPreempt", "args": {"podShouldBeDeletedWhenPreempted": False}})
ASK_ONCE = config(
    {"name": "jobPreempt", "args": {"podShouldBeDeletedWhenPreempted": False, "softEvictionDeadline": "1s"}}
)


def revoke_after(delay):
    return config({"name": "revoke", "args": {"delayEvictTime": delay}})


class QuotaTestCase(StoryTestCase):
    """Stories about quotas and the job "train". The quotas stand in a namespace without pods, so that only pods that
    name one are in it."""

    options = {**StoryTestCase.options, **KOORDINATOR.needs}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}}
        cls.admin.post(path_of("namespaces"), namespace)

    def setUp(self):
        super().setUp()
        for path in (path_of(QUOTAS, namespace=HOME), path_of(KOORDINATOR.groups, namespace="default")):
            self.admin.delete(path)
            self.wait_for(lambda path=path: not self.admin.list(path), "the quotas and jobs of the story before gone")

    def quota(self, name, low, high, parent=None):
        labels = {"quota.scheduling.koordinator.sh/parent": parent} if parent else {}
        self.objects.create(
            QUOTAS,
            {
                "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
                "kind": "ElasticQuota",
                "metadata": {"name": name, "namespace": HOME, "labels": labels},
                "spec": {"min": {"cpu": str(low)}, "max": {"cpu": str(high)}},
            },
        )

    def use(self, quota, names, priority_class="mid", cpu="2", node="node-0", **options):
        """Preemptible pods of a quota, running on a node."""
        for name in names:
            self.running(name, priority_class, cpu, node=node, labels={QUOTA: quota}, **options)
        self.wait_running(*names)

    def job(self, quota, members=2, cpu="2", priority_class="low", fixed=True):
        """A gang; fixed: of non-preemptible pods."""
        self.objects.create(KOORDINATOR.groups, KOORDINATOR.group("train", members))
        names = [f"train-{index}" for index in range(members)]
        labels = {QUOTA: quota, PREEMPTIBLE: "false" if fixed else "true", **KOORDINATOR.membership("train")["labels"]}
        for name in names:
            self.waiting(name, priority_class, cpu, labels=labels)
        return names

    def asked(self, name):
        """How a pod was asked to go, or None."""
        found = self.objects.get_pod(name)
        text = found and found["metadata"].get("annotations", {}).get(SOFT)
        return json.loads(text) if text else None

    def all_asked(self, names):
        return [name for name in names if self.asked(name)]

    def wait_asked(self, *names):
        self.wait_for(lambda: len(self.all_asked(names)) == len(names), f"{', '.join(names)} asked to go")

    def nominations(self, names):
        return {name: self.nominated(name) for name in names}

    def wait_all_nominated(self, names):
        self.wait_for(lambda: all(map(self.nominated, names)), f"{', '.join(names)} nominated")
        return self.nominations(names)


class JobTest(QuotaTestCase):
    """The quota is full of its own preemptible pods, the nodes are not; beside it are pods of nobody's quota."""

    victims = ["mine-0", "mine-1"]

    def fill(self, **options):
        self.objects.nodes(3)
        self.quota("team", 4, 4)
        self.use("team", self.victims, **options)
        self.running("guest", "low", "2", node="node-1")
        self.wait_running("guest")

    def test_a_job_short_of_quota_has_pods_of_its_quota_deleted(self):
        self.fill()
        self.start_reprieve(config=DELETE)
        job = self.job("team")
        self.wait_bound(*job)
        self.assert_evicted(*self.victims)
        for name in self.victims:
            self.assertIn("default/train", self.wait_event("Preempted", name)[0])
        self.wait_clean()

    def test_a_job_waits_until_an_operator_lets_them_go(self):
        self.fill()
        self.start_reprieve(config=ASK)
        job = self.job("team")
        self.wait_asked(*self.victims)
        nominations = self.wait_all_nominated(job)
        for name in self.victims:
            told = self.asked(name)
            self.assertEqual((told["preemptJob"], told["initiator"]), ("default/train", "reprieve"))
            self.assertTrue(told["reason"] and told["timestamp"])
            self.wait_event("Preempted", name)
        self.wait_cycle()
        self.assert_evicted()
        self.objects.delete_pod(self.victims[0])
        self.wait_gone(self.victims[0])
        self.wait_cycle("second", "node-second")
        self.assertEqual([self.node_of(name) for name in job], [None, None], "half of the room is nothing")
        self.objects.delete_pod(self.victims[1])
        self.wait_bound(*job)
        self.assertEqual({name: self.node_of(name) for name in job}, nominations)
        self.assert_evicted()
        self.assertFalse(self.asked("guest"))
        self.wait_clean()

    def test_whoever_does_not_go_when_asked_is_deleted_at_the_deadline(self):
        self.fill()
        self.start_reprieve(config=ASK_ONCE)
        job = self.job("team")
        self.wait_bound(*job)
        self.assert_evicted(*self.victims)
        self.wait_clean()

    def test_a_job_that_is_deleted_meanwhile_leaves_nobody_asked_to_go(self):
        self.fill()
        self.start_reprieve(config=ASK)
        job = self.job("team")
        self.wait_asked(*self.victims)
        for name in job:
            self.objects.delete_pod(name, grace=0)
        self.wait_for(lambda: not self.all_asked(self.victims), "nobody to be asked to go any more")
        self.wait_clean()
        self.wait_cycle()
        self.assert_evicted()

    def test_a_job_above_its_minimum_takes_nothing(self):
        self.fill()
        self.start_reprieve(config=DELETE)
        for name in self.job("team", members=3):
            self.wait_told(name)
        self.wait_cycle()
        self.assert_evicted()


class LendingTest(QuotaTestCase):
    def test_exactly_what_was_borrowed_goes_back_to_the_lender(self):
        self.objects.nodes(2)
        self.quota("lender", 4, 8)
        self.quota("borrower", 4, 8)
        self.use("borrower", ["theirs-0", "theirs-1"], "top")
        self.use("borrower", ["theirs-2", "theirs-3"], "top", node="node-1")
        self.start_reprieve(config=DELETE)
        job = self.job("lender", fixed=False)
        self.wait_bound(*job)
        self.assert_evictions(2)
        self.waiting("more", "low", "2", labels={QUOTA: "lender"})
        self.wait_told("more")
        self.wait_cycle()
        self.assert_evictions(2, "the borrower keeps its minimum")
        self.wait_clean()

    def test_a_maximum_further_up_is_kept(self):
        self.objects.nodes(3)
        self.quota("top", 4, 4)
        self.quota("left", 2, 4, parent="top")
        self.quota("right", 2, 4, parent="top")
        self.use("right", ["right-0", "right-1"], "top")
        self.start_reprieve(config=DELETE)
        self.waiting("left-0", "low", "2", labels={QUOTA: "left", PREEMPTIBLE: "false"})
        self.wait_bound("left-0")
        self.assert_evictions(1)
        self.waiting("left-1", "top", "2", labels={QUOTA: "left", PREEMPTIBLE: "false"})
        self.wait_told("left-1")
        self.wait_cycle()
        self.assert_evictions(1)


class LedgerTest(QuotaTestCase):
    """Killed (kill -9) while a job waits for its victims: three pods may go, two must."""

    candidates = ["mine-0", "mine-1", "mine-2"]

    def fill(self, **options):
        self.objects.nodes(3)
        self.quota("team", 4, 6)
        self.use("team", self.candidates[:2], **options)
        self.use("team", self.candidates[2:], node="node-1", **options)

    def start_through(self, proxy, text):
        return self.start_reprieve(server=proxy.server, config=text)

    def leaving(self):
        return [name for name in self.candidates if self.is_leaving(name)]

    def go_on(self, proxy, replica):
        """As after a crash: what was held back is not, and there is somebody else who wants room."""
        self.crash(replica)
        proxy.clear()
        self.waiting("rival", "mid", "2", labels={QUOTA: "team"})
        replica.process.start()
        self.wait_told("rival")

    def test_killed_while_victims_terminate(self):
        self.fill(stop_delay="1h")
        proxy = self.start_proxy()
        replica = self.start_through(proxy, DELETE)
        job = self.job("team")
        self.wait_for(lambda: len(self.leaving()) == 2, "two victims")
        victims, nominations = self.leaving(), self.wait_all_nominated(job)
        self.let_go(victims[0])
        self.wait_gone(victims[0])
        self.go_on(proxy, replica)
        self.wait_cycle()
        self.assert_evicted(*victims)
        self.assertEqual(self.nominations(job), nominations)
        self.let_go(victims[1])
        self.wait_bound(*job)
        self.assert_evicted(*victims)

    def test_killed_between_two_deletions(self):
        self.fill()
        proxy = self.start_proxy()
        replica = self.start_through(proxy, DELETE)
        second = proxy.hold(method="DELETE", path="/pods/mine-", skip=1)
        job = self.job("team")
        # The first has been answered: one that is cut off in its middle is no success in the audit log.
        self.wait_for(lambda: proxy.hits(second) > 0 and self.evicted(), "one deletion, and a second")
        self.go_on(proxy, replica)
        self.wait_bound(*job)
        self.wait_cycle()
        self.assert_evictions(2)

    def test_killed_between_two_who_are_asked_to_go(self):
        self.fill()
        proxy = self.start_proxy()
        replica = self.start_through(proxy, ASK)
        second = proxy.hold(method="PATCH", path=r"/pods/mine-\d/status", skip=1)
        job = self.job("team")
        self.wait_for(lambda: proxy.hits(second) > 0 and self.all_asked(self.candidates), "one asked, and a second")
        first = self.all_asked(self.candidates)
        self.assertEqual(len(first), 1)
        self.go_on(proxy, replica)
        self.wait_for(lambda: len(self.all_asked(self.candidates)) == 2, "a second one asked")
        victims = self.all_asked(self.candidates)
        self.assertIn(first[0], victims)
        self.wait_cycle()
        self.assertEqual(self.all_asked(self.candidates), victims)
        self.assert_evicted()
        for name in victims:
            self.objects.delete_pod(name)
        self.wait_bound(*job)
        self.assertFalse(self.node_of("rival"))

    def test_a_job_that_ends_while_nobody_looks_leaves_nobody_asked_to_go(self):
        self.fill()
        replica = self.start_reprieve(config=ASK)
        job = self.job("team")
        self.wait_for(lambda: len(self.all_asked(self.candidates)) == 2, "two asked to go")
        self.crash(replica)
        for name in job:
            self.objects.delete_pod(name, grace=0)
        replica.process.start()
        self.wait_for(lambda: not self.all_asked(self.candidates), "nobody to be asked to go any more")
        self.wait_clean()
        self.assert_evicted()


class RevokeTest(QuotaTestCase):
    """One quota uses all, half of which is the other's as soon as it asks for it."""

    greedy = [f"greedy-{index}" for index in range(4)]

    def fill(self):
        self.objects.nodes(2)
        self.quota("greedy", 0, 8)
        self.quota("modest", 4, 8)
        self.use("greedy", self.greedy[:2], "low")
        self.use("greedy", self.greedy[2:], "mid", node="node-1")

    def over_since(self, quota="greedy"):
        return self.admin.get(path_of(QUOTAS, quota, HOME))["metadata"].get("annotations", {}).get(OVER_SINCE)

    def wait_over(self):
        return self.wait_for(self.over_since, "the quota to say since when it is above its runtime")

    def note_over(self, since):
        self.admin.patch(path_of(QUOTAS, "greedy", HOME), {"metadata": {"annotations": {OVER_SINCE: since}}})

    def test_since_when_survives_a_crash_and_the_time_counts_from_there(self):
        self.fill()
        replica = self.start_reprieve(config=revoke_after("1h"))
        self.wait_cycle()
        self.assertIsNone(self.over_since(), "nobody else asks for anything")
        self.waiting("claim", "low", "4", labels={QUOTA: "modest"})
        since = self.wait_over()
        self.crash(replica)
        replica.process.start()
        self.wait_cycle("second", "node-second")
        self.assertEqual(self.over_since(), since)
        self.assert_evicted()
        self.note_over(LONG_AGO)
        self.wait_bound("claim")
        self.assert_evicted("greedy-0", "greedy-1")
        self.wait_for(lambda: not self.over_since(), "the quota to be within its runtime again")
        self.wait_clean()

    def test_the_note_goes_when_nobody_wants_the_room_any_more(self):
        self.fill()
        self.start_reprieve(config=revoke_after("1h"))
        self.waiting("claim", "low", "4", labels={QUOTA: "modest"})
        self.wait_over()
        self.objects.delete_pod("claim", grace=0)
        self.wait_for(lambda: not self.over_since(), "the note to go")
        self.assert_evicted()

    def test_it_gives_back_when_its_time_is_over(self):
        self.fill()
        self.start_reprieve(config=revoke_after("1s"))
        self.waiting("claim", "low", "4", labels={QUOTA: "modest"})
        self.wait_bound("claim")
        self.assert_evicted("greedy-0", "greedy-1")


if __name__ == "__main__":
    unittest.main()
