"""Reprieve killed (kill -9) at every step of carrying out a plan, and started again: it goes on where it stopped."""

import os
import random
import unittest

from harness.stories import StoryTestCase

WRITES = "POST|PATCH|PUT|DELETE"

# The steps of one preemption in their order: method and path of the call, {0} is the number of the story.
STEPS = {
    "the record of the plan": ("PATCH", r"/pods/high-{0}/status"),
    "the first mark": ("PATCH", r"/pods/low-{0}-\d/status"),
    "the first eviction": ("DELETE", r"/pods/low-{0}-\d"),
    "the binding": ("POST", r"/pods/high-{0}/binding"),
    "the end of the record": ("PATCH", r"/pods/high-{0}$"),
}


class CrashTest(StoryTestCase):
    def setUp(self):
        super().setUp()
        self.proxy = self.start_proxy()
        self.replica = self.start_reprieve(server=self.proxy.server)

    def start_again(self):
        self.proxy.clear()
        self.replica.process.start()

    def story(self, number):
        """One node full of two victims, and who needs all of it."""
        node = f"node-{number}"
        self.objects.nodes(1, prefix=f"node-{number}-of", labels={"story": str(number)})
        victims = [f"low-{number}-0", f"low-{number}-1"]
        for name in victims:
            self.running(name, "low", "2", node=f"{node}-of-0")
        self.wait_running(*victims)
        self.waiting(f"high-{number}", "high", "4", spec={"nodeSelector": {"story": str(number)}})
        return victims

    def wait_hit(self, rule, what):
        self.wait_for(lambda: self.proxy.hits(rule) > 0, what)

    def test_killed_before_each_step(self):
        expected = []
        for number, (what, (method, path)) in enumerate(STEPS.items()):
            with self.subTest(what):
                rule = self.proxy.hold(method=method, path=path.format(number))
                expected += self.story(number)
                self.wait_hit(rule, what)
                self.crash(self.replica)
                self.start_again()
                self.wait_bound(f"high-{number}")
                self.assert_evicted(*expected)
                self.wait_clean()

    def test_killed_after_each_step_without_knowing_that_it_was_done(self):
        expected = []
        for number, (what, (method, path)) in enumerate(STEPS.items()):
            with self.subTest(what):
                path = path.format(number)
                lost = self.proxy.lose_reply(method=method, path=path, count=1)
                again = self.proxy.hold(method=method, path=path)
                expected += self.story(number)
                self.wait_hit(lost, what)
                self.wait_hit(again, f"{what} again")
                self.crash(self.replica)
                self.start_again()
                self.wait_bound(f"high-{number}")
                self.assertEqual(set(self.evicted()), set(expected))
                self.wait_clean()

    def test_marks_do_not_outlive_a_preemptor_that_left_meanwhile(self):
        rule = self.proxy.hold(method="DELETE", path=r"/pods/low-0-\d")
        self.story(0)
        self.wait_hit(rule, "the first eviction")
        self.crash(self.replica)
        self.objects.delete_pod("high-0", grace=0)
        self.wait_gone("high-0")
        self.assertEqual(len(self.leaks()), 2, "both victims are marked, and nobody knows for whom")
        self.start_again()
        self.wait_clean()
        self.assert_evicted()

    def test_killed_at_a_hundred_random_points(self):
        seed = int(os.environ.get("REPRIEVE_E2E_SEED", "20260101"))
        dice = random.Random(seed)
        count = 60
        self.objects.nodes(count)
        options = {"grace": 30, "scheduler": "reprieve"}
        self.objects.pods(
            count * 4, prefix="low", cpu="1", on=lambda index: f"node-{index % count}", priority_class="low", **options
        )
        held = self.proxy.hold(method=WRITES, path="/pods/")
        high = self.objects.pods(count, prefix="high", cpu="2", priority_class="high", **options)
        for point in range(100):
            self.wait_for(
                lambda: self.proxy.hits(held) > 0 or self.objects.all_bound(high), f"point {point} of seed {seed}"
            )
            self.crash(self.replica)
            self.proxy.clear()
            held = self.proxy.hold(method=WRITES, path="/pods/", skip=dice.randint(1, 6))
            self.replica.process.start()
        self.proxy.clear()
        self.wait_for(lambda: self.objects.all_bound(high), f"all preemptors bound (seed {seed})", 120)
        evicted = self.evicted()
        self.assertEqual(len(evicted), len(set(evicted)), f"somebody was evicted twice (seed {seed})")
        left = [one for one in self.objects.list_pods() if one["metadata"]["name"].startswith("low-")]
        self.assertEqual(len(left), 2 * count, f"two victims for each and no more (seed {seed})")
        self.wait_clean()


if __name__ == "__main__":
    unittest.main()
