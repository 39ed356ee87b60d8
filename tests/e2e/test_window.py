"""The window in a real browser, beside a real API server: ui/browser/cluster.test.mjs tells the story."""

import os
import subprocess
import unittest

from harness.deploy import CONFIG
from harness.programs import ROOT
from harness.reprieve import reprieve_program
from harness.testcase import ClusterTestCase


class WindowTest(ClusterTestCase):
    options = {"controllers": True, "kwok": True, "crds": ["volcano-queue"]}

    def test_every_view_live_restarted_and_scoped(self):
        for command in (["scripts/setup", "window"], ["scripts/browser-tools"]):
            subprocess.run(command, cwd=ROOT, check=True)
        self.objects.priority_class("low", 100)
        self.objects.priority_class("high", 1000)
        self.objects.nodes(3, prefix="worker", cpu="4")
        environment = {
            "REPRIEVE": str(reprieve_program()),
            "NODE_EXTRA_CA_CERTS": str(self.cluster.pki.authority),
            "E2E_SERVER": self.cluster.server,
            "E2E_TOKEN": self.cluster.users.token("admin"),
            "E2E_KUBECONFIG": str(self.cluster.kubeconfig("reprieve")),
            "E2E_CONFIG": str(CONFIG),
            "E2E_RECORD": str(self.cluster.folder / "record"),
        }
        command = ["node", "--test", "--test-reporter=spec", "--test-timeout=120000", "ui/browser/cluster.test.mjs"]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{self.cluster.tails()}")


if __name__ == "__main__":
    unittest.main()
