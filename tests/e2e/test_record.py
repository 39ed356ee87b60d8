"""What a run on a real API server leaves behind: a record that is planned again byte for byte, also after kill -9."""

import json
import subprocess
import unittest

from harness.reprieve import reprieve_program
from harness.stories import StoryTestCase


def run(*arguments):
    command = [reprieve_program(), *map(str, arguments), "-o", "json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def answer(*arguments):
    """(exit code, JSON) of a command of the program."""
    done = run(*arguments)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


class RecordTest(StoryTestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.cluster.folder / f"record-{self.id().rsplit('.', 1)[1]}"
        self.proxy = self.start_proxy()
        self.replica = self.start_reprieve("--record", self.folder, server=self.proxy.server)

    def fill(self, number):
        """A node full of two victims, and who needs all of it."""
        node = f"node-{number}-of"
        self.objects.nodes(1, prefix=node, labels={"story": str(number)})
        victims = [f"low-{number}-{i}" for i in range(2)]
        for name in victims:
            self.running(name, "low", "2", node=f"{node}-0")
        self.wait_running(*victims)
        self.waiting(f"high-{number}", "high", "4", spec={"nodeSelector": {"story": str(number)}})
        return victims

    def recorded(self, name):
        """Whether the record tells that this pod has started. It is written at most a second later than it happens."""
        done = run("history", f"default/{name}", "--record", self.folder)
        return done.returncode == 0 and any(one["started"] for one in json.loads(done.stdout)["decisions"])

    def test_replays_identically_after_a_kill_and_faults(self):
        victims = self.fill(0)
        self.wait_bound("high-0")
        self.wait_for(lambda: self.recorded("high-0"), "the record to tell of high-0")
        rule = self.proxy.hold(method="DELETE", path=r"/pods/low-1-\d")
        victims += self.fill(1)
        self.wait_for(lambda: self.proxy.hits(rule) > 0, "the first eviction")
        self.crash(self.replica)
        self.proxy.clear()
        self.replica.process.start()
        self.wait_bound("high-1")
        self.proxy.lose_reply(method="POST", path=r"/pods/high-2/binding", count=1)
        victims += self.fill(2)
        self.wait_bound("high-2")
        self.replica.process.stop()

        code, report = answer("replay", self.folder)
        self.assertEqual(code, 0, report)
        self.assertGreater(report["cycles"], 3)
        self.assertEqual(report["identical"], report["cycles"])
        self.assertEqual([gap["why"] for gap in report["gaps"]], ["nobody was recording"])

        _, history = answer("history", "default/low-0-0", "--record", self.folder)
        evictions = [one for one in history["decisions"] if one["evictions"]]
        self.assertEqual([one["for"] for one in evictions], ["default/high-0"])
        self.assertEqual(evictions[0]["outcome"], "carriedOut")
        self.assertIsNotNone(evictions[0]["started"])
        _, history = answer("history", "--record", self.folder, "--action", "preempt")
        evicted = {eviction["pod"] for one in history["decisions"] for eviction in one["evictions"]}
        self.assertEqual(evicted, {f"default/{name}" for name in victims})

        code, verdicts = answer("referee", "--record", self.folder)
        self.assertEqual({one["verdict"] for one in verdicts["verdicts"]}, {"fair"}, verdicts)
        self.assertEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
