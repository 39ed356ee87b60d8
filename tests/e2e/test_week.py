"""The short form of bench/week: two minutes of churn with bad objects, a kill and a restart of the API server; recorded, planned
again, and judged by a referee that watches."""

import subprocess
import sys
import unittest

from harness.programs import ROOT


class WeekTest(unittest.TestCase):
    takes_long = True

    def test_two_minutes_of_a_living_cluster(self):
        command = [sys.executable, ROOT / "bench" / "week" / "week", "--short", "--judged"]
        command += ["--minutes", "2", "--rate", "5", "--nodes", "12"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
