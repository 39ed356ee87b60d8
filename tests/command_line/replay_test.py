#!/usr/bin/env python3
"""`reprieve replay` from outside: how an upgrade or a new configuration is judged, in one command.    replay_test.py PROGRAM"""
import json
import resource
import shutil
import signal
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

    def damaged(self, name, sql):
        folder = self.at / name
        shutil.copytree(self.at / "usual", folder)
        with self.database(name) as file:
            file.execute(sql)
        file.close()
        return folder

    def test_what_cannot_be_read_is_said_once_and_is_not_fine(self):
        blocks = self.damaged("blocks", "UPDATE block SET body = x'00' WHERE kind = 0")
        for command in (("replay", blocks), ("referee", "--record", blocks)):
            code, text, error = run(*command, "-o", "json")
            self.assertEqual(code, 1, text + error)
            self.assertRegex(error, r"^reprieve: .*record-2026-03-02\.db: is damaged or cut off; .*\n$")
            self.assertEqual(len(json.loads(text)["gaps"]), 1)
        self.assertEqual(run("history", "--record", blocks)[0], 0, "what was decided is kept elsewhere")

    def test_a_page_that_is_lost_does_not_empty_the_history(self):
        folder = self.at / "pages"
        shutil.copytree(self.at / "usual", folder)
        with self.database("pages") as database:
            (page,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'name'").fetchone()
        database.close()
        (file,) = folder.glob("record-*.db")
        with file.open("r+b") as blank:
            blank.seek((page - 1) * 4096)
            blank.write(bytes(4096))
        whole = json.loads(run("history", "--record", self.at / "usual", "-o", "json")[1])
        code, text, error = run("history", "--record", folder, "-o", "json")
        self.assertEqual((code, error), (1, f"reprieve: {file}: is damaged or cut off; only what is left of it can be read\n"))
        self.assertEqual(len(json.loads(text)["decisions"]), len(whole["decisions"]))
        self.assertEqual(len(json.loads(text)["gaps"]), 1)
        self.assertEqual(run("referee", "--record", folder)[0], 1)

    def test_a_file_that_cannot_be_read_is_a_gap(self):
        folder = self.at / "beside"
        shutil.copytree(self.at / "usual", folder)
        (folder / "record-2026-03-03.db").write_text("x" * 5000)
        for command in (("replay", folder), ("referee", "--record", folder), ("history", "--record", folder)):
            code, text, error = run(*command, "-o", "json")
            self.assertEqual(code, 1, error)
            self.assertIn("record-2026-03-03.db: is not a record of Reprieve", error)
            self.assertEqual([gap["why"] for gap in json.loads(text)["gaps"]], ["record-2026-03-03.db cannot be read"])

    def test_a_file_that_may_not_grow_stops_the_record_and_not_the_scheduler(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

        story = ("--now", "2026-03-02T09:00:00Z", "--seed", "1", "--speed", "fast", "--record", self.at / "small")
        done = subprocess.run([PROGRAM, "run", "-f", EXAMPLE, *map(str, story)], capture_output=True, text=True, check=False, preexec_fn=limit)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recording has stopped", done.stderr)
        self.assertRegex(done.stdout, r"evicted +6 pods")

    def test_names_that_nobody_has_are_said(self):
        record = self.at / "usual"
        code, _, error = run("history", "--record", record, "--action", "prempt")
        self.assertEqual((code, error), (2, "reprieve: --action prempt: there is no such action, did you mean preempt?\n"))
        _, _, error = run("referee", "--record", record, "--scheduler", "repreive")
        self.assertEqual(error, "reprieve: --scheduler repreive: was not seen, did you mean reprieve?\n")
        self.assertEqual(run("referee", "--record", record, "--scheduler", "reprieve"), run("referee", "--record", record))

    def test_options_that_would_be_ignored_are_refused(self):
        early, late = "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"
        for arguments, said in (
            (("manifests", "--from", early), "--from does not go with --format manifests, which takes --at or --cycle"),
            (("kwok", "--at", early), "--at does not go with --format kwok, which takes --from and --to"),
            (("perfetto", "--cycle", "1"), "--cycle does not go with --format perfetto, which takes --from and --to"),
            (("swf", "--from", late, "--to", early), f"--from {late} is later than --to {early}"),
        ):
            code, text, error = run("export", self.at / "usual", "--format", *arguments)
            self.assertEqual((code, text, error), (2, "", f"reprieve: {said}\n"))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
