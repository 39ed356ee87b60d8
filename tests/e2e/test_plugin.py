"""kubectl reprieve: answers about a real cluster, with the credentials that people have."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from harness import components
from harness.reprieve import reprieve_program
from harness.testcase import ClusterTestCase

# A credential plugin as cloud vendors ship them: it prints a token.
PLUGIN = """#!/bin/sh
[ -n "$KUBERNETES_EXEC_INFO" ] || exit 1
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$E2E_TOKEN"
"""


class PluginTest(ClusterTestCase):
    options = {"controllers": components.CONTROLLERS, "kwok": True}

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # kubectl finds a plugin by its name on the path.
        (self.folder / "kubectl-reprieve").symlink_to(reprieve_program())

    def ask(self, *arguments, kubeconfig=None, **environment):
        known = {"PATH": f"{self.folder}:{os.environ['PATH']}", "HOME": str(self.folder)}
        known["KUBECONFIG"] = str(kubeconfig or self.cluster.kubeconfig("admin"))
        command = [self.folder / "kubectl-reprieve", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env={**known, **environment}, timeout=120)

    def with_exec_plugin(self):
        program = self.folder / "token"
        program.write_text(PLUGIN)
        program.chmod(0o755)
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "elsewhere",
            "clusters": [
                {
                    "name": "test",
                    "cluster": {"server": self.cluster.server, "certificate-authority": str(self.cluster.pki.authority)},
                }
            ],
            "users": [
                {
                    "name": "cloud",
                    "user": {
                        "exec": {
                            "apiVersion": "client.authentication.k8s.io/v1",
                            "command": str(program),
                            "interactiveMode": "Never",
                            "env": [{"name": "E2E_TOKEN", "value": self.cluster.users.token("admin")}],
                        }
                    },
                }
            ],
            "contexts": [
                {"name": "elsewhere", "context": {"cluster": "test", "user": "nobody-here"}},
                {"name": "here", "context": {"cluster": "test", "user": "cloud", "namespace": "default"}},
            ],
        }
        file = self.folder / "config"
        file.write_text(json.dumps(config))
        return file

    def waiting_pod(self):
        self.objects.nodes(2)
        self.objects.pod("too-big", scheduler="reprieve", cpu="1000")

    def test_why_a_pod_waits(self):
        self.waiting_pod()
        done = self.ask("why-pending", "too-big")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("default/too-big stays unplaced", done.stdout)
        self.assertIn("Insufficient cpu", done.stdout)
        answer = json.loads(self.ask("why-pending", "default/too-big", "-o", "json").stdout)
        self.assertEqual(answer["kind"], "Explanation")

    def test_the_same_with_an_exec_plugin_and_another_context(self):
        self.waiting_pod()
        done = self.ask("why-pending", "too-big", "--context", "here", kubeconfig=self.with_exec_plugin())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("default/too-big stays unplaced", done.stdout)

    def test_a_pod_that_does_not_wait_or_is_not_ours(self):
        self.objects.nodes(1)
        self.objects.pod("placed", scheduler="reprieve", node="node-0")
        self.objects.pod("foreign", scheduler="somebody-else")
        self.wait_running("placed")
        self.assertIn("it has its place on node-0", self.ask("why-pending", "placed").stdout)
        self.assertIn("waits for another scheduler", self.ask("why-pending", "foreign").stdout)
        done = self.ask("why-pending", "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("default/nowhere", done.stderr)

    def test_it_changes_nothing(self):
        self.waiting_pod()
        before = self.objects.get_pod("too-big")
        done = self.ask("plan")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("default/too-big", done.stdout)
        self.assertEqual(self.ask("queues").returncode, 0)
        self.assertEqual(self.ask("explain", "too-big").returncode, 0)
        self.assertEqual(self.objects.get_pod("too-big"), before)

    def test_completion_offers_the_pods_that_wait(self):
        self.waiting_pod()
        self.wait_for(lambda: self.objects.get_pod("too-big"), "the pod")
        self.assertEqual(self.ask("__complete", "why-pending", "too").stdout, "too-big\n:4\n")
        self.assertEqual(self.ask("__complete", "wh").stdout, "why-pending\n:4\n")

    def test_what_is_wrong_is_said(self):
        done = self.ask("plan", kubeconfig="/nowhere/config")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/config", done.stderr)
        done = self.ask("plan", "--context", "no-such-context")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-context", done.stderr)


if __name__ == "__main__":
    unittest.main()
