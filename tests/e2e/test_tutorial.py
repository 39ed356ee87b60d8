"""docs/tutorial.md, typed line by line: every command is run as it stands there and has to answer what stands below it.

A block after `<!-- terminal: WORD -->` gets a process of its own, which is waited for until it prints WORD (or not at all);
one after `<!-- first -->` was done by whoever runs the tests. In an expected line, `*` stands for any text.
"""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness.process import Process
from harness.programs import ROOT, kubectl
from harness.reprieve import reprieve_program
from harness.waiting import wait_for

PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]*?) ?-->\n)?```(?P<kind>sh|console)\n(?P<body>.*?)^```$", re.S | re.M)


def commands(body):
    """(command, expected lines) of a console block."""
    found = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


class Shell:
    """One bash that keeps its variables from command to command."""

    END = "e2e-end-of-answer"

    def __init__(self, environment):
        self._bash = subprocess.Popen(
            ["bash"], cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def type(self, command):
        self._bash.stdin.write(f"{command}\necho; echo {self.END} $?\n")
        self._bash.stdin.flush()
        lines = []
        for line in self._bash.stdout:
            if line.startswith(self.END):
                return int(line.split()[1]), [one for one in lines if one]
            lines.append(line.rstrip("\n"))
        raise AssertionError(f"the shell ended at: {command}")

    def close(self):
        self._bash.stdin.close()
        self._bash.stdout.close()
        self._bash.wait()


class TutorialTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.addCleanup(shutil.rmtree, ROOT / "build" / "bin", ignore_errors=True)
        # What `make build` leaves there, from the build that is tested.
        link = ROOT / "build" / "reprieve"
        if not link.exists():
            link.symlink_to(reprieve_program())
        (self.folder / "kubectl").symlink_to(kubectl())
        self.environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        self.environment.pop("KUBECONFIG", None)
        self.shell = Shell(self.environment)
        self.addCleanup(self.shell.close)

    def start_terminal(self, number, command, word):
        arguments = ["env", "-C", ROOT, *command.split()]
        process = Process(f"terminal-{number}", arguments, self.folder / f"terminal-{number}.log", self.environment)
        self.addCleanup(process.stop)
        if word:
            wait_for(lambda: word in process.log.read_text(), 120, f"{command} to say {word}", detail=process.tail)

    def test_every_line(self):
        typed = 0
        for number, block in enumerate(BLOCK.finditer(PAGE.read_text())):
            mark = block["mark"] or ""
            if mark.startswith("terminal:"):
                self.start_terminal(number, block["body"].strip(), mark.removeprefix("terminal:").strip())
            elif mark != "first":
                self.assertEqual(block["kind"], "console", block["body"])
                for command, expected in commands(block["body"]):
                    code, answer = self.shell.type(command)
                    self.assertEqual(code, 0, f"{command}: {answer}")
                    self.assertEqual(len(answer), len(expected), f"{command}: {answer}")
                    for got, wanted in zip(answer, expected):
                        self.assertTrue(fnmatch.fnmatchcase(got, wanted.replace("[", "[[]")), f"{command}: {got!r} is not {wanted!r}")
                    typed += 1
        self.assertGreater(typed, 10)


if __name__ == "__main__":
    unittest.main()
