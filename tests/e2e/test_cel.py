"""Device selectors: Reprieve's evaluator of CEL beside the one of Kubernetes, on random expressions and devices."""

import os
import subprocess
import unittest

from harness.programs import E2E, ROOT, go_program


class CelTest(unittest.TestCase):
    def test_both_give_the_same_answers(self):
        folder = ROOT / os.environ.get("REPRIEVE_BUILD", "build/release")
        probe = folder / "tests" / "e2e" / "cel_probe" / "cel_probe"
        self.assertTrue(probe.exists(), f"{probe} is missing: build it first (make build)")
        seed = os.environ.get("REPRIEVE_E2E_SEED", "20260101")
        done = subprocess.run(
            [go_program(E2E / "celcompare"), probe, seed, "20000"], capture_output=True, text=True, timeout=600
        )
        self.assertEqual(done.returncode, 0, f"seed {seed}\n{done.stdout[-8000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    unittest.main()
