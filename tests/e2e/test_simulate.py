"""The same small trace of single pods in `reprieve simulate` and by `reprieve run` on a real API server: the same pods are evicted, from the
same nodes, for the same arrivals."""

import csv
import os
import pathlib
import subprocess
import tempfile

from harness.runcase import RunTestCase

PROGRAM = os.environ.get("REPRIEVE_PROGRAM") or str(pathlib.Path(__file__).resolve().parents[2] / "build/release/src/app/reprieve")
# Name, priority, GPUs. Each arrival comes when the one before it has its place; nobody is as important as another.
ARRIVALS = [("a", 10, 4), ("b", 20, 2), ("c", 30, 2), ("d", 40, 3), ("e", 50, 1), ("f", 1000, 4), ("g", 900, 2), ("h", 1100, 3), ("i", 25, 1)]
LONG = 1_000_000


class SimulateTest(RunTestCase):
    def simulated(self):
        """Who had to go for whom: {arrival: {(pod, node)}}."""
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            (at / "nodes.csv").write_text("name,count,cpu,memory,gpus\nnode,3,16,64Gi,4\n")
            rows = [f"{name},{10 * i},{LONG},1,1Gi,{gpus},{priority}" for i, (name, priority, gpus) in enumerate(ARRIVALS)]
            (at / "jobs.csv").write_text("job,submit,duration,cpu,memory,gpus,priority\n" + "\n".join(rows) + "\n")
            command = [PROGRAM, "simulate", "-f", at / "nodes.csv", "--trace", at / "jobs.csv", "--until", str(10 * len(ARRIVALS)), "--out", at / "out"]
            subprocess.run(command, check=True, capture_output=True)
            with open(at / "out" / "evictions.csv", newline="") as file:
                evictions = list(csv.DictReader(file))
            with open(at / "out" / "jobs.csv", newline="") as file:
                started = {f"{row['job_id']}-0" for row in csv.DictReader(file) if row["starting_time"]}
        decided = {}
        for row in evictions:
            arrival = ARRIVALS[int(float(row["time"])) // 10][0]
            decided.setdefault(arrival, set()).add((row["pod"], row["node"]))
        return decided, started

    def make(self, name, gpus):
        self.ours(name, cpu="1", memory="1Gi", gpus=gpus, priority_class=f"class-{name}", grace=0)

    def test_both_take_the_same_decisions(self):
        expected, started = self.simulated()
        self.assertGreaterEqual(len(expected), 3, "the trace has something to decide")
        sizes = {f"{name}-0": gpus for name, _, gpus in ARRIVALS}
        self.objects.nodes(3, cpu="16", memory="64Gi", gpus=4)
        for name, priority, _ in ARRIVALS:
            self.objects.priority_class(f"class-{name}-0", priority)
        recorder = self.record()
        self.start_reprieve()
        known, decided = set(), {}
        for name, _, gpus in ARRIVALS:
            places = {pod: self.node_of(pod) for pod in sizes}
            self.make(f"{name}-0", gpus)
            if f"{name}-0" not in started:
                continue
            self.wait_running(f"{name}-0")
            victims = [one for one in recorder.victims() if one.uid not in known]
            for victim in victims:
                known.add(victim.uid)
                decided.setdefault(name, set()).add((victim.name, places[victim.name]))
            for victim in victims:  # its controller's part
                self.wait_for(lambda v=victim: (self.objects.get_pod(v.name) or {"metadata": {"uid": ""}})["metadata"]["uid"] != v.uid, f"{victim.name} gone")
                self.make(victim.name, sizes[victim.name])
        self.assertEqual(decided, expected)
