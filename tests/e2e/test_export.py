"""A record given to KWOK: the same days, replayed by KWOK's own code, for another scheduler."""

import subprocess
import unittest

from harness.client import path_of
from harness.objects import is_bound
from harness.programs import E2E, go_program
from harness.reprieve import reprieve_program
from harness.stories import StoryTestCase


class KwokReplayTest(StoryTestCase):
    takes_long = True

    def setUp(self):
        super().setUp()
        self.folder = self.cluster.folder / "record"
        self.recording = self.cluster.folder / "recording.yaml"

    def replicas(self):
        return [one["metadata"]["name"] for one in self.objects.list_pods(labelSelector="app=web")]

    def tell_story(self):
        """A Deployment loses its pods to a preemptor and gets others in their place; people come, change their mind and go."""
        replica = self.start_reprieve("--record", self.folder)
        self.objects.nodes(1, cpu="4")
        self.objects.deployment("web", 2, scheduler="reprieve", priority_class="low", cpu="2", grace=1)
        self.wait_for(lambda: len(self.replicas()) == 2, "the replicas")
        first = self.replicas()
        self.wait_bound(*first)
        self.waiting("short", "low", "1")
        self.admin.patch(path_of("pods", "short", "default"), {"metadata": {"labels": {"color": "red", "size": "s"}}})
        self.waiting("high", "high", "4", labels={"color": "blue"})
        self.wait_bound("high")
        self.wait_for(lambda: len(self.replicas()) == 2 and not set(first) & set(self.replicas()), "two others")
        self.objects.delete_pod("short", grace=0)
        self.wait_gone("short")
        self.admin.patch(path_of("pods", "high", "default"), {"metadata": {"labels": {"color": None, "size": "l"}}})
        self.waiting("low", "low", "1")
        self.wait_told("low")
        found = {one["metadata"]["name"]: one for one in self.objects.list_pods()}
        replica.process.stop()
        return first, found

    def export(self):
        command = [reprieve_program(), "export", self.folder, "--format", "kwok", "--out", self.recording]
        subprocess.run(command, check=True, timeout=60)

    def replay(self):
        command = [go_program(E2E / "kwokreplay"), self.cluster.kubeconfig("admin"), self.cluster.etcd_url, self.recording]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_objects_are_those_of_the_record_and_can_be_scheduled(self):
        first, found = self.tell_story()
        self.export()
        self.objects.clear()
        self.wait_for(lambda: not self.admin.list(path_of("nodes")), "an empty cluster")
        self.replay()

        # Who was evicted is there, as if nobody had decided; who came in their place is not; who was taken away is gone.
        there = {one["metadata"]["name"]: one for one in self.objects.list_pods()}
        self.assertEqual(set(there), {*first, "high", "low"})
        self.assertFalse([name for name, one in there.items() if is_bound(one)])
        for name in ("high", "low"):
            before, after = found[name], there[name]
            for field in ("uid", "labels"):
                self.assertEqual(after["metadata"].get(field), before["metadata"].get(field), name)
            for field in ("priority", "schedulerName", "priorityClassName", "terminationGracePeriodSeconds"):
                self.assertEqual(after["spec"].get(field), before["spec"].get(field), (name, field))
            self.assertEqual(
                [one["resources"] for one in after["spec"]["containers"]],
                [one["resources"] for one in before["spec"]["containers"]],
            )
        self.assertEqual(there["high"]["metadata"]["labels"], {"size": "l"})
        self.assertEqual([one["metadata"]["name"] for one in self.admin.list(path_of("nodes"))], ["node-0"])

        # Another scheduler gets the same world: it may write to these objects as to any.
        self.start_reprieve()
        self.wait_bound("high", node="node-0")
        self.wait_told("low")
        self.assertFalse([name for name in first if self.node_of(name)])


if __name__ == "__main__":
    unittest.main()
