"""The same small traces in `reprieve simulate` and by `reprieve run` on a real API server: the same pods are evicted, from the same nodes, for
the same arrivals; single pods, and gangs among them."""

import csv
import os
import pathlib
import subprocess
import tempfile

from harness.client import path_of
from harness.gangs import VOLCANO
from harness.runcase import RunTestCase

PROGRAM = os.environ.get("REPRIEVE_PROGRAM") or str(pathlib.Path(__file__).resolve().parents[2] / "build/release/src/app/reprieve")
# Name, priority, GPUs of a pod, pods. Each arrival comes when the one before it has its place; nobody is as important as another.
SINGLES = [("a", 10, 4, 1), ("b", 20, 2, 1), ("c", 30, 2, 1), ("d", 40, 3, 1), ("e", 50, 1, 1), ("f", 1000, 4, 1), ("g", 900, 2, 1), ("h", 1100, 3, 1), ("i", 25, 1, 1)]
GANGS = [("a", 10, 2, 1), ("b", 20, 2, 2), ("c", 30, 4, 1), ("d", 40, 1, 2), ("e", 1000, 4, 2), ("f", 900, 2, 1), ("g", 1100, 2, 3), ("h", 1200, 4, 1)]
LONG = 1_000_000


def members(name, pods):
    return [f"{name}-{index}" for index in range(pods)]


class SimulateTest(RunTestCase):
    options = {"kwok": True, "audit": True, "crds": ["volcano-podgroup"]}

    def setUp(self):
        super().setUp()
        self.admin.delete(path_of(VOLCANO.groups, namespace="default"))

    def simulated(self, arrivals):
        """Who had to go for whom: {arrival: {(pod, node)}}, and where everybody is before the next arrival: {arrival: {pod: node}}."""
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            (at / "nodes.csv").write_text("name,count,cpu,memory,gpus\nnode,3,16,64Gi,4\n")
            rows = [f"{name},{10 * i},{LONG},1,1Gi,{gpus},{priority},{pods}" for i, (name, priority, gpus, pods) in enumerate(arrivals)]
            (at / "jobs.csv").write_text("job,submit,duration,cpu,memory,gpus,priority,pods\n" + "\n".join(rows) + "\n")
            command = [PROGRAM, "simulate", "-f", at / "nodes.csv", "--trace", at / "jobs.csv", "--until", str(10 * len(arrivals)), "--out", at / "out"]
            subprocess.run(command, check=True, capture_output=True)
            with open(at / "out" / "evictions.csv", newline="") as file:
                evictions = list(csv.DictReader(file))
            with open(at / "out" / "history.csv", newline="") as file:
                history = list(csv.DictReader(file))
        decided, places, now = {}, {name: {} for name, *_ in arrivals}, {}
        for row in evictions:
            arrival = arrivals[int(float(row["time"])) // 10][0]
            decided.setdefault(arrival, set()).add((row["pod"], row["node"]))
        for i, (name, *_) in enumerate(arrivals):
            for row in history:
                if int(float(row["time"])) // 10 != i:
                    continue
                if row["what"] == "bind":
                    now[row["pod"]] = row["node"]
                else:
                    now.pop(row["pod"])
            places[name] = dict(now)
        return decided, places

    def make(self, pod, gpus, pods):
        gang = pod.rsplit("-", 1)[0]
        membership = VOLCANO.membership(gang) if pods > 1 else {}
        self.ours(pod, cpu="1", memory="1Gi", gpus=gpus, priority_class=f"class-{gang}", grace=0, **membership)

    def run_and_compare(self, arrivals):
        expected, places = self.simulated(arrivals)
        self.assertGreaterEqual(len(expected), 3, "the trace has something to decide")
        shapes = {pod: (gpus, pods) for name, _, gpus, pods in arrivals for pod in members(name, pods)}
        self.objects.nodes(3, cpu="16", memory="64Gi", gpus=4)
        for name, priority, _, _ in arrivals:
            self.objects.priority_class(f"class-{name}", priority)
        recorder = self.record()
        self.start_reprieve()
        importance = {name: priority for name, priority, *_ in arrivals}
        known, decided, before = set(), {}, {}
        for name, _, gpus, pods in arrivals:
            if pods > 1:
                self.admin.post(path_of(VOLCANO.groups, namespace="default"), VOLCANO.group(name, pods, f"class-{name}"))
            for pod in members(name, pods):
                self.make(pod, gpus, pods)
            if f"{name}-0" in places[name]:
                for pod in members(name, pods):
                    self.wait_running(pod)

            def settled(name=name, before=before):
                """Whether everybody was evicted and is placed as in the simulation; whoever was evicted is made again, as by a controller."""
                victims = [one for one in recorder.victims() if one.uid not in known and (self.objects.get_pod(one.name) or {"metadata": {"uid": ""}})["metadata"]["uid"] != one.uid]
                # At the same moment in the simulation, so the most important first here.
                for victim in sorted(victims, key=lambda one: -importance[one.name.rsplit("-", 1)[0]]):
                    known.add(victim.uid)
                    decided.setdefault(name, set()).add((victim.name, before[victim.name]))
                    self.make(victim.name, *shapes[victim.name])
                # Places alone would not do: a victim that stays without one may be gone before its eviction has been read.
                seen = decided.get(name, set()) == expected.get(name, set())
                return seen and {pod: node for pod in shapes if (node := self.node_of(pod))} == places[name]

            self.wait_for(settled, f"everybody evicted and placed as in the simulation after {name}: {expected.get(name, set())}, {places[name]}")
            before = places[name]
        self.assertEqual(decided, expected)

    def test_both_take_the_same_decisions(self):
        self.run_and_compare(SINGLES)

    def test_both_take_the_same_decisions_on_gangs(self):
        self.run_and_compare(GANGS)
