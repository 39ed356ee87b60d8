#!/usr/bin/env python3
"""`reprieve replay` from outside: how an upgrade or a new configuration is judged, in one command.    replay_test.py PROGRAM"""
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = ""
EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "run"
PATIENT = "apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\nschedulerNames: [reprieve]\nactions: [{name: allocate}]\n"


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.at = Path(folder.name)
        cls.patient = cls.at / "patient.yaml"
        cls.patient.write_text(PATIENT)
        cls.record("usual")
        cls.record("old", "--config", cls.patient)

    @classmethod
    def record(cls, name, *flags):
        story = ("--now", "2026-03-02T09:00:00Z", "--seed", "1", "--speed", "fast", "--record", cls.at / name)
        code, _, error = run("run", "-f", EXAMPLE, *story, *flags)
        assert code == 0, error

    def database(self, name):
        (file,) = (self.at / name).glob("record-*.db")
        return sqlite3.connect(file)

    def test_the_same_program_and_configuration_decide_the_same(self):
        for name in ("usual", "old"):
            code, text, error = run("replay", self.at / name)
            self.assertEqual(code, 0, text + error)
            self.assertRegex(text, r"^[1-9]\d* cycles planned again: [1-9]\d* identical, 0 different\n$")

    def test_a_new_configuration_is_judged_by_what_it_changes(self):
        code, text, _ = run("replay", self.at / "usual", "--config", self.patient)
        self.assertEqual(code, 3)
        self.assertIn("FOR", text)
        self.assertRegex(text, r"research/pretrain\s+.*\n(.*\n)*?.*recorded: evicts research/embed-", text)
        self.assertIn("replayed: nothing", text.lower())
        report = json.loads(run("replay", self.at / "usual", "--config", self.patient, "-o", "json")[1])
        self.assertEqual(report["identical"] + report["different"], report["cycles"])
        self.assertGreater(report["different"], 0)
        self.assertIn("research/embed-", json.dumps(report["firstDifference"]["recorded"]["evictions"]))
        self.assertEqual(report["totals"]["replayed"]["evictions"], 0)
        self.assertIn("research/pretrain", {one["for"] for one in report["changed"]})

    def test_an_upgrade_is_judged_by_the_new_program_alone(self):
        # A record of a version that evicted nobody under the configuration under which this one does.
        shutil.copytree(self.at / "old", self.at / "upgraded")
        usual, old = self.database("usual"), self.database("upgraded")
        (configuration,) = usual.execute("SELECT body FROM config").fetchone()
        with old:
            old.execute("UPDATE config SET body = ?", (configuration,))
            old.execute("UPDATE run SET version = '0.0.1'")
        usual.close()
        old.close()
        code, text, error = run("replay", self.at / "upgraded")
        self.assertEqual(code, 3, text + error)
        self.assertRegex(text, r"recorded: 0 evictions, \d+ placements; replayed: [1-9]\d* evictions")
        self.assertRegex(text, r"research/pretrain")
        self.assertRegex(text, r"(?i)recorded: nothing")
        self.assertRegex(text, r"(?i)replayed: evicts research/embed-")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
