"""Proves the Helm chart: every file of values is rendered, taken by a real API server, and gives the rights of deploy/base."""

import json
import re
import subprocess
import tempfile
import unittest

from harness import charts, components, deploy
from harness.client import path_of
from harness.manifests import apply_document, apply_file, field
from harness.programs import E2E, ROOT
from harness.reprieve import Reprieve, reprieve_program
from harness.testcase import ClusterTestCase

SYSTEM = "reprieve-system"
ROLES = "rbac.authorization.k8s.io/v1/clusterroles"


def named(documents):
    return {(field(one, "kind"), re.search(r"(?m)^  name: (\S+)", one)[1]): one for one in documents}


def metrics_of(text):
    names = set(re.findall(r"\b((?:reprieve|scheduler|process)_[a-z0-9_]+)", text))
    return {re.sub(r"_bucket$", "", name) for name in names}


class RenderTest(unittest.TestCase):
    def test_it_lints(self):
        for values in charts.VALUES:
            done = subprocess.run(
                [charts.helm(), "lint", "--strict", charts.CHART, "--values", values], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_configuration_is_one(self):
        for values in charts.VALUES:
            with self.subTest(values.name):
                config = named(charts.render(values))["ConfigMap", "reprieve-config"]
                text = re.search(r"(?s)config\.yaml: \|\n(.*)", config)[1]
                with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                    file.write(re.sub(r"(?m)^    ", "", text))
                    file.flush()
                    done = subprocess.run([reprieve_program(), "check", file.name], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_versions_are_those_of_the_program(self):
        version = (ROOT / "VERSION").read_text().strip()
        chart = (charts.CHART / "Chart.yaml").read_text()
        self.assertEqual(re.findall(r"(?m)^(?:version|appVersion): (\S+)", chart), [version, version])

    def test_alerts_and_dashboard_speak_of_metrics_that_there_are(self):
        known = metrics_of((ROOT / "docs" / "reference" / "metrics.md").read_text())
        dashboard = json.loads((charts.CHART / "dashboards" / "reprieve.json").read_text())
        asked = metrics_of((charts.CHART / "templates" / "monitoring.yaml").read_text())
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                asked |= metrics_of(target["expr"])
        self.assertLessEqual(asked, known)
        self.assertGreater(len(asked), 10)

    def test_the_kind_of_our_own_is_that_of_the_base(self):
        base = (deploy.BASE / "servingdeployment-crd.yaml").read_text()
        self.assertEqual((charts.CHART / "crds" / "servingdeployments.yaml").read_text(), base)

    def test_switches_switch(self):
        least = named(charts.render(charts.CHART / "ci" / "least.yaml"))
        kinds = {kind for kind, _ in least}
        self.assertFalse(kinds & {"FlowSchema", "NetworkPolicy", "PodDisruptionBudget", "ServiceMonitor", "PriorityClass"})
        self.assertEqual([name for kind, name in least if kind == "ClusterRole"], ["reprieve"])
        self.assertNotIn(("ClusterRoleBinding", "reprieve-window"), least)
        self.assertIn(("ClusterRoleBinding", "reprieve-window"), named(charts.render(charts.CHART / "ci" / "default.yaml")))
        for switch, kind in (("serviceMonitor", "ServiceMonitor"), ("prometheusRule", "PrometheusRule")):
            values = charts.CHART / "ci" / "default.yaml"
            self.assertNotIn(kind, {one for one, _ in named(charts.render(values))})
            self.assertIn(kind, {one for one, _ in named(charts.render(values, "--set", f"{switch}.enabled=true"))})


class ChartTest(ClusterTestCase):
    takes_long = True

    options = {
        "controllers": (*components.CONTROLLERS, "resourcequota-controller"),
        "kwok": True,
        "access": False,
        "crds": True,
    }

    def setUp(self):
        super().setUp()
        for document in deploy.shipped(("Namespace",)):
            apply_document(self.admin, document)
        apply_file(self.admin, charts.CHART / "crds" / "servingdeployments.yaml")
        apply_file(self.admin, E2E / "prometheus-operator.yaml")

    def rules(self):
        """Every rule that a ClusterRole of ours grants, as a set of (group, resource, verb)."""
        found = set()
        for role in self.admin.list(path_of(ROLES)):
            if role["metadata"].get("labels", {}).get("app.kubernetes.io/name") != "reprieve":
                continue
            for rule in role["rules"]:
                found |= {
                    (group, resource, verb)
                    for group in rule["apiGroups"]
                    for resource in rule["resources"]
                    for verb in rule["verbs"]
                }
        return found

    def clear_roles(self):
        for role in self.admin.list(path_of(ROLES)):
            if role["metadata"].get("labels", {}).get("app.kubernetes.io/name") == "reprieve":
                self.admin.delete(path_of(ROLES, role["metadata"]["name"]))

    def test_every_file_of_values_is_taken(self):
        for values in charts.VALUES:
            with self.subTest(values.name):
                for document in charts.render(values):
                    apply_document(self.admin, document)

    def test_its_rights_are_those_of_the_base_and_suffice(self):
        self.clear_roles()
        for document in deploy.shipped(("ClusterRole",)):
            apply_document(self.admin, document)
        base = self.rules()
        self.clear_roles()
        for document in charts.render(charts.CHART / "ci" / "everything.yaml"):
            apply_document(self.admin, document)
        self.assertEqual(self.rules(), base)
        replica = Reprieve(self.cluster)
        self.addCleanup(replica.process.kill)
        self.wait_for(replica.ready, "everything to be read")
        self.wait_for(replica.leads, "the lease to be held")
        self.assertNotIn("403", replica.log())

    def test_the_fewest_rights_place_a_pod(self):
        self.clear_roles()
        for document in charts.render(charts.CHART / "ci" / "least.yaml"):
            apply_document(self.admin, document)
        self.objects.nodes(1)
        replica = Reprieve(self.cluster)
        self.addCleanup(replica.process.kill)
        self.objects.pod("plain", scheduler="reprieve")
        self.wait_running("plain")


if __name__ == "__main__":
    unittest.main()
