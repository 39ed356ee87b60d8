"""Proves deploy/: a real API server takes all of it, its pods are admitted, its rights end where they should."""

import unittest

from harness import ApiError, components, deploy
from harness.client import path_of
from harness.manifests import apply_file
from harness.programs import ROOT
from harness.reprieve import Reprieve
from harness.testcase import ClusterTestCase
from harness.users import USERS

SYSTEM = "reprieve-system"


class DeployTest(ClusterTestCase):
    options = {
        "controllers": (*components.CONTROLLERS, "resourcequota-controller"),
        "kwok": True,
        "access": False,
        "crds": True,
        "core_gangs": True,
    }

    def setUp(self):
        super().setUp()
        deploy.install(self.admin)
        self.addCleanup(self.admin.delete, path_of("deployments", "reprieve", SYSTEM), propagationPolicy="Foreground")

    def may(self, verb, resource, group="", namespace="default", sub="", name=""):
        user = USERS["reprieve"]
        attributes = {"verb": verb, "resource": resource, "group": group, "namespace": namespace}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.name,
                "groups": list(user.groups),
                "resourceAttributes": {**attributes, "subresource": sub, "name": name},
            },
        }
        answer = self.admin.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
        return answer["status"]["allowed"]

    def remove_namespace(self, name):
        path = path_of("namespaces", name)
        self.admin.delete(path)
        self.wait_for(lambda: self.admin.find(path) is None, f"namespace {name} gone", 60)

    def test_both_replicas_are_admitted_and_start(self):
        self.objects.nodes(2)
        self.start_scheduler()
        path = path_of("deployments", "reprieve", SYSTEM)
        self.wait_for(lambda: self.admin.get(path).get("status", {}).get("readyReplicas") == 2, "both replicas", 60)
        replicas = self.objects.list_pods(SYSTEM)
        self.assertEqual({one["spec"]["nodeName"] for one in replicas}, {"node-0", "node-1"}, "spread over nodes")
        self.assertEqual({one["spec"]["priorityClassName"] for one in replicas}, {"system-cluster-critical"})
        self.assertEqual({one["spec"]["serviceAccountName"] for one in replicas}, {"reprieve"})

    def test_its_rights_suffice_and_end(self):
        for verb, resource, group, sub in (
            ("list", "nodes", "", ""),
            ("watch", "pods", "", ""),
            ("delete", "pods", "", ""),
            ("patch", "pods", "", "status"),
            ("create", "pods", "", "binding"),
            ("create", "pods", "", "eviction"),
            ("create", "events", "events.k8s.io", ""),
            ("list", "podgroups", "scheduling.volcano.sh", ""),
            ("patch", "podgroups", "scheduling.volcano.sh", "status"),
            ("patch", "deployments", "apps", "scale"),
            ("create", "tokenreviews", "authentication.k8s.io", ""),
            ("create", "subjectaccessreviews", "authorization.k8s.io", ""),
        ):
            self.assertTrue(self.may(verb, resource, group, sub=sub), f"{verb} {resource}/{sub}")
        self.assertTrue(self.may("update", "leases", "coordination.k8s.io", SYSTEM, name="reprieve"))
        for verb, resource, group, sub in (
            ("get", "secrets", "", ""),
            ("list", "secrets", "", ""),
            ("create", "pods", "", ""),
            ("create", "pods", "", "exec"),
            ("update", "pods", "", ""),
            ("deletecollection", "pods", "", ""),
            ("patch", "nodes", "", ""),
            ("delete", "nodes", "", ""),
            ("patch", "deployments", "apps", ""),
            ("delete", "poddisruptionbudgets", "policy", ""),
            ("create", "clusterrolebindings", "rbac.authorization.k8s.io", ""),
        ):
            self.assertFalse(self.may(verb, resource, group, sub=sub), f"{verb} {resource}/{sub}")
        self.assertFalse(self.may("update", "leases", "coordination.k8s.io", SYSTEM, name="another"))
        self.assertFalse(self.may("get", "leases", "coordination.k8s.io", "kube-system", name="reprieve"))

    def test_every_kind_it_follows_may_be_read(self):
        served = {one["spec"]["names"]["plural"] for one in self.admin.list(path_of("customresourcedefinitions"))}
        self.assertLessEqual({"servingdeployments", "queues", "elasticquotas", "hypernodes"}, served)
        replica = Reprieve(self.cluster)
        self.addCleanup(replica.process.kill)
        self.wait_for(replica.ready, "everything to be read")
        self.wait_for(replica.leads, "the lease to be held")
        self.assertNotIn("403", replica.log())

    def test_a_serving_deployment_is_checked(self):
        resource = "reprieve.dev/v1/servingdeployments"

        def create(name, **spec):
            item = {"apiVersion": "reprieve.dev/v1", "kind": "ServingDeployment", "spec": spec}
            return self.admin.post(path_of(resource, namespace="default"), {**item, "metadata": {"name": name}})

        planes = [{"name": "w1", "score": 7, "committed": 2}, {"name": "w2"}]
        kept = create("good", replicas=3, priority=50, resources={"nvidia.com/gpu": "2", "cpu": 1}, planes=planes)
        self.addCleanup(self.admin.delete, path_of(resource, "good", "default"))
        self.assertEqual(kept["spec"]["planes"], planes, "no field is lost")
        for name, spec in (
            ("none", {}),
            ("negative", {"replicas": -1}),
            ("twice", {"replicas": 1, "planes": [{"name": "w1"}, {"name": "w1"}]}),
            ("both", {"replicas": 1, "priority": 1, "priorityClassName": "reprieve-batch"}),
        ):
            with self.subTest(name), self.assertRaises(ApiError) as caught:
                create(name, **spec)
            self.assertEqual(caught.exception.status, 422)

    def test_the_first_eviction_is_told_as_in_the_guide(self):
        guide = (ROOT / "docs" / "install.md").read_text()
        replica = Reprieve(self.cluster, config=deploy.CONFIG.read_text())
        self.addCleanup(replica.process.kill)
        self.wait_for(replica.leads, "the lease to be held")
        self.objects.nodes(3)
        seats = {"example.com/seat": "2"}
        status = {"capacity": seats, "allocatable": seats}
        self.admin.patch(path_of("nodes", "node-0", sub="status"), {"status": status})
        self.addCleanup(self.remove_namespace, "first-eviction")

        def running(*names):
            pods = self.objects.list_pods("first-eviction")
            phases = {one["metadata"]["name"]: one["status"]["phase"] for one in pods}
            return phases == dict.fromkeys(names, "Running")

        apply_file(self.admin, ROOT / "deploy" / "examples" / "first-eviction" / "seats.yaml")
        self.wait_for(lambda: running("report-1", "report-2"), "both seats taken")
        apply_file(self.admin, ROOT / "deploy" / "examples" / "first-eviction" / "checkout.yaml")
        self.wait_for(lambda: running("report-1", "checkout"), "one seat given to production")

        def told():
            events = self.admin.list("/apis/events.k8s.io/v1/namespaces/first-eviction/events")
            return [one["note"] for one in events if one["reason"] == "Preempted"]

        self.wait_for(told, "the Event")
        self.assertEqual(len(told()), 1)
        self.assertIn(told()[0], guide)

    def test_the_examples_are_accepted(self):
        self.admin.post(path_of("namespaces"), {"metadata": {"name": "serving"}})
        for name in ("serving", "first-eviction"):
            self.addCleanup(self.remove_namespace, name)
        for name in ("first-eviction/seats.yaml", "first-eviction/checkout.yaml", "serving/chat.yaml"):
            apply_file(self.admin, ROOT / "deploy" / "examples" / name)
        classes = {one["spec"]["priorityClassName"] for one in self.objects.list_pods("first-eviction")}
        self.assertEqual(classes, {"reprieve-batch", "reprieve-production"})


if __name__ == "__main__":
    unittest.main()
