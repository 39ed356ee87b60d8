#!/usr/bin/env python3
"""`reprieve simulate` from outside: its files, its errors, and going on after an interruption.    simulate_test.py PROGRAM"""
import csv
import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

PROGRAM = ""
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "run"
NODES = "name,count,cpu,memory,gpus,labels\na,4,32,128Gi,8,rack=r1\n"


def run(*arguments):
    done = subprocess.run([PROGRAM, "simulate", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def jobs(count):
    rows = ["job,submit,duration,pods,gpus,priority,queue,checkpoint,restart"]
    for i in range(count):
        rows.append(f"j{i},{i * 7},{200 + i * 37 % 900},{1 + (i % 5 == 0)},{1 + i * 3 % 8},{i * 7 % 3 * 500},q{i % 2},60,20")
    return "\n".join(rows) + "\n"


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = Path(self.folder.name)
        (self.at / "nodes.csv").write_text(NODES)
        (self.at / "jobs.csv").write_text(jobs(90))
        self.base = ("-f", self.at / "nodes.csv", "--trace", self.at / "jobs.csv")

    def tearDown(self):
        self.folder.cleanup()

    def tables(self, out):
        texts = {name: (out / name).read_text() for name in ("summary.json", "jobs.csv", "evictions.csv", "samples.csv", "history.csv")}
        texts["summary.json"] = re.sub(r'"wallS":[0-9.]+', "", texts["summary.json"])
        return texts

    def test_files_agree(self):
        code, text, _ = run(*self.base, "--policy", "reprieve", "--policy", "none", "--out", self.at / "out")
        self.assertEqual(code, 0)
        self.assertIn("reprieve", text)
        policies = json.loads((self.at / "out" / "summary.json").read_text())["policies"]
        self.assertEqual([p["name"] for p in policies], ["reprieve", "none"])
        evictions = (self.at / "out" / "evictions.csv").read_text().splitlines()[1:]
        for policy in policies:
            self.assertEqual(policy["evictions"], sum(line.startswith(policy["name"] + ",") for line in evictions))
            self.assertEqual(policy["finished"], 90)
            self.assertTrue(policy["conserved"])
        capacity = 32 * policies[0]["makespan"] / 3600
        self.assertAlmostEqual(policies[0]["gpuHoursUsed"] + policies[0]["gpuHoursLost"] + policies[0]["gpuHoursIdle"], capacity, delta=0.01)
        self.assertEqual(len((self.at / "out" / "jobs.csv").read_text().splitlines()), 181)

    def interrupt_after_one_run(self, by, arguments):
        """The command draws its progress on a terminal whose output is stopped: with its first run under way it waits there
        and starts no other, however fast it is."""
        screen, terminal = pty.openpty()
        try:
            termios.tcflow(terminal, termios.TCOOFF)
            command = [PROGRAM, "simulate", *map(str, self.base), *arguments]
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "TERM": "xterm"})
            first = Path(arguments[-1]) / ".runs" / "0-1" / "summary.json"
            while child.poll() is None and not first.exists():
                os.sched_yield()
            child.send_signal(by)
            termios.tcflow(terminal, termios.TCOON)
            return child.wait()
        finally:
            os.close(terminal)
            os.close(screen)

    def test_interrupted_or_killed_it_goes_on_to_the_same_bytes(self):
        policies = [x for p in ("reprieve", "none", "kube", "volcano", "koordinator", "fifo-backfill") for x in ("--policy", p)]
        whole = self.at / "whole"
        self.assertEqual(run(*self.base, *policies, "--out", whole)[0], 0)
        for by, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            parts = self.at / f"parts-{by}"
            self.assertEqual(self.interrupt_after_one_run(by, [*policies, "-j", "1", "--out", str(parts)]), code)
            ended, text, errors = run(*self.base, *policies, "--out", parts)
            self.assertEqual(ended, 0, errors)
            self.assertIn("resumed: 1 of 6 runs were there", text)
            self.assertEqual(self.tables(whole), self.tables(parts))
            self.assertEqual([path.name for path in parts.iterdir() if path.name.startswith(".")], [])

    def test_a_folder_belongs_to_one_command_at_a_time(self):
        out = self.at / "out"
        out.mkdir()
        with open(out / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            code, text, errors = run(*self.base, "--out", out)
            self.assertEqual((code, text), (1, ""))
            self.assertEqual(errors, f"reprieve: {out}: another process is writing there; wait until it has ended, or name another folder\n")
        self.assertEqual(run(*self.base, "--out", out)[0], 0)

    def test_a_job_that_runs_for_years_leaves_few_samples(self):
        (self.at / "long.csv").write_text("job,submit,duration,gpus\na,0,99999999999,1\nb,60,864000,1\n")
        code, _, errors = run("-f", self.at / "nodes.csv", "--trace", self.at / "long.csv", "--out", self.at / "out")
        self.assertEqual(code, 0, errors)
        with open(self.at / "out" / "samples.csv", newline="") as file:
            times = [float(row["time"]) for row in csv.DictReader(file)]
        self.assertEqual(times[:61], list(range(61)))
        self.assertLess(len(times), 1100)
        self.assertEqual(times[-1], 99999999999)

    def test_where_nobody_can_run_there_is_no_wait(self):
        (self.at / "never.csv").write_text("job,submit,duration,gpus\na,0,100,64\n")
        code, text, errors = run("-f", self.at / "nodes.csv", "--trace", self.at / "never.csv", "--out", self.at / "out")
        self.assertEqual(code, 0, errors)
        self.assertRegex(text, r"WAIT P50 +WAIT P99 .*\n.* - +- ")
        self.assertEqual(json.loads((self.at / "out" / "summary.json").read_text())["policies"][0]["waitP50"], {})

    def test_ones_own_record_under_another_policy(self):
        record = self.at / "record"
        done = subprocess.run([PROGRAM, "run", "-f", str(EXAMPLE), "--record", str(record)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        code, _, said = run("--trace", record, "--policy", "reprieve", "--policy", "none", "--out", self.at / "out")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\d+ evictions of the recorded policy left out")
        self.assertRegex(said, r"the true run time is not known")
        report = json.loads((self.at / "out" / "report.json").read_text())
        self.assertEqual(report["derivations"], ["run=record", "evictions=stripped"])
        self.assertEqual(report["cluster"], {"nodes": 6, "gpus": 40})
        with open(self.at / "out" / "jobs.csv", newline="") as file:
            rows = [r for r in csv.DictReader(file) if r["policy"] == "none"]
        pieces = [r for r in rows if r["job_id"].startswith("research.embed-")]
        self.assertEqual(len(pieces), 12, "twelve completions are twelve jobs, however often they were evicted")
        self.assertEqual({r["requested_time"] for r in pieces}, {"50"})
        gang = [r for r in rows if r["job_id"] == "research.pretrain"]
        self.assertEqual([(r["requested_number_of_resources"], r["gang"], r["requested_time"], r["priority"]) for r in gang], [("4", "4", "110", "500")])
        policies = {p["name"]: p for p in report["policies"]}
        self.assertGreater(policies["reprieve"]["evictions"], 0)
        self.assertEqual(policies["none"]["evictions"], 0)
        code, _, said = run("--trace", self.at / "nodes.csv")
        self.assertEqual(code, 2)
        self.assertIn("only a record brings its own cluster", said)

    def test_bad_input_leaves_nothing_behind(self):
        (self.at / "bad.csv").write_text("job,submit,duration\na,0,1\nb,,1\n")
        code, text, errors = run("-f", self.at / "nodes.csv", "--trace", self.at / "bad.csv", "--out", self.at / "out")
        self.assertEqual((code, text), (1, ""))
        self.assertIn("bad.csv:3: column 2 (submit): is empty", errors)
        self.assertFalse(os.path.exists(self.at / "out"))
        code, _, errors = run(*self.base, "--policy", "nobody")
        self.assertEqual(code, 2)
        self.assertIn("no policy 'nobody' is built in", errors)
        self.assertEqual(run(*self.base, "--until", "soon")[0], 2)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
