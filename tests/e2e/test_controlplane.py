"""Proves the harness itself, with the stock kube-scheduler in the place of the scheduler under test."""

import http.client
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import unittest

from harness import ApiError, Client, Cluster, ConnectionLost, wait_for
from harness.client import path_of
from harness.objects import condition, is_bound, pod
from harness.pki import Pki
from harness.testcase import ClusterTestCase


class SchedulingTest(ClusterTestCase):
    options = {"controllers": True, "kwok": True, "audit": True}

    def test_pods_are_bound_and_run(self):
        self.objects.nodes(3)
        recorder = self.record()
        pods = self.objects.pods(9, cpu="1")
        scheduler = self.start_scheduler()
        self.wait_for(lambda: self.objects.all_bound(pods), "all pods bound")
        self.wait_for(lambda: sum(one.running is not None for one in recorder.pods()) == 9, "all pods running")
        self.assertEqual({one.name for one in recorder.binds()}, {f"pod-{i}" for i in range(9)})
        self.assertLessEqual(max(one.bound for one in recorder.binds()), max(one.running for one in recorder.pods()))
        self.assertGreater(scheduler.cpu_seconds(), 0)
        self.assertGreaterEqual(scheduler.memory_peak_bytes(), scheduler.memory_bytes() // 2)
        self.assertGreater(scheduler.memory_bytes(), 10 << 20)

    def test_a_pod_that_does_not_fit_stays_pending(self):
        self.objects.nodes(1, cpu="1")
        self.objects.pod("big", cpu="2")
        self.start_scheduler()
        refused = self.wait_for(
            lambda: condition(self.objects.get_pod("big"), "PodScheduled").get("reason"), "the scheduler's verdict"
        )
        self.assertEqual(refused, "Unschedulable")

    def test_a_higher_priority_preempts(self):
        self.objects.nodes(1, cpu="4")
        self.objects.priority_class("high", 1000)
        self.objects.pods(4, prefix="low", cpu="900m", on="node-0", grace=0)
        self.wait_running("low-0", "low-1", "low-2", "low-3")
        recorder = self.record()
        self.objects.pod("high", cpu="3", priority_class="high")
        self.start_scheduler()
        self.wait_for(lambda: is_bound(self.objects.get_pod("high")), "the preemptor bound")

        self.wait_for(lambda: len([one for one in recorder.pods() if one.gone]) == 3, "three victims gone")
        victims = recorder.victims()
        self.assertEqual({one.disruption_reason for one in victims}, {"PreemptionByScheduler"})
        self.assertEqual({one.uid for one in victims}, {one.uid for one in recorder.deletions()})
        high = recorder.of("high")[0]
        self.assertEqual([node for _, node in high.nominations], ["node-0", None])
        self.assertGreaterEqual(high.bound, max(one.deleting for one in victims))
        self.assertEqual(recorder.evictions(), [])

        deleted = self.cluster.audit_entries(user="kube-scheduler", verb="delete", resource="pods")
        names = [one["objectRef"]["name"] for one in deleted if one["objectRef"]["name"].startswith("low-")]
        self.assertEqual(sorted(names), sorted(one.name for one in victims), "each victim was deleted once")

    def test_a_disruption_budget_limits_evictions(self):
        self.objects.nodes(1)
        self.objects.deployment("web", 3, cpu="100m", node="node-0")
        self.wait_for(lambda: len(self.objects.list_pods()) == 3, "the Deployment's pods")
        names = [item["metadata"]["name"] for item in self.objects.list_pods()]
        self.wait_running(*names)
        self.objects.budget("web", {"app": "web"}, min_available=2)
        budget = path_of("poddisruptionbudgets", "web", "default")
        self.wait_for(
            lambda: self.admin.get(budget).get("status", {}).get("disruptionsAllowed") == 1, "one allowed disruption"
        )

        recorder = self.record()
        self.cluster.kwok.pause()  # so that the replacement does not become ready in between
        self.addCleanup(self.cluster.kwok.resume)
        self.assertTrue(self.objects.evict_pod(names[0]))
        self.assertFalse(self.objects.evict_pod(names[1]))
        self.cluster.kwok.resume()
        self.wait_gone(names[0])
        self.assertEqual([one.name for one in recorder.evictions()], [names[0]])
        self.wait_for(lambda: self.admin.get(budget)["status"]["disruptionsAllowed"] == 1, "the replacement to count")
        self.assertEqual(len(self.objects.list_pods()), 3)

    def test_the_recorder_and_the_scheduler_survive_a_restart_of_the_api_server(self):
        self.objects.nodes(1)
        recorder = self.record()
        scheduler = self.start_scheduler()
        before = self.objects.pod("before", cpu="1")
        self.wait_for(lambda: self.objects.all_bound([before]), "the first pod bound")
        self.cluster.restart_apiserver()
        after = self.objects.pod("after", cpu="1")
        self.wait_for(lambda: self.objects.all_bound([after]), "a pod bound after the restart", 60)
        self.wait_for(lambda: recorder.of("after") and recorder.of("after")[0].bound, "the recorder to see it")
        self.assertTrue(scheduler.alive())


class KubeletTest(ClusterTestCase):
    """The kubelet stand-in. Order is checked, never duration: what is slow here would take an hour."""

    options = {"kwok": True}

    def setUp(self):
        super().setUp()
        self.objects.nodes(2)

    def test_slow_start(self):
        self.objects.pod("slow", node="node-0", start_delay="1h")
        self.objects.pod("late", node="node-0", start_delay="300ms")
        self.objects.pod("quick", node="node-0")
        self.wait_running("quick", "late")
        self.assertEqual(self.phase("slow"), "Pending")

    def test_slow_termination_and_kill(self):
        self.objects.pod("slow", node="node-0", grace=3600, stop_delay="1h")
        self.objects.pod("late", node="node-0", grace=3600, stop_delay="300ms")
        self.objects.pod("quick", node="node-0", grace=3600)
        self.wait_running("slow", "late", "quick")
        for name in ("slow", "late", "quick"):
            self.objects.delete_pod(name)
        self.wait_gone("quick")
        self.wait_gone("late")
        self.assertIn("deletionTimestamp", self.objects.get_pod("slow")["metadata"])
        self.objects.delete_pod("slow", grace=1)
        self.wait_gone("slow")

    def test_a_finalizer_holds_a_pod(self):
        recorder = self.record()
        self.objects.pod("held", node="node-0", finalizers=["e2e.reprieve.dev/hold"])
        self.objects.pod("free", node="node-0")
        self.wait_running("held", "free")
        self.objects.delete_pod("held")
        self.objects.delete_pod("free")
        self.wait_gone("free")
        self.assertIn("deletionTimestamp", self.objects.get_pod("held")["metadata"])
        self.objects.remove_finalizers("held")
        self.wait_gone("held")
        self.wait_for(lambda: recorder.of("held") and recorder.of("held")[0].gone, "the recorder to see it gone")

    def test_a_lost_node_neither_starts_nor_stops_pods(self):
        self.objects.pod("old", node="node-0", grace=30)
        self.wait_running("old")
        self.cluster.lose_node("node-0")
        self.wait_for(self._node_0_is_silent, "the stand-in to let go of the node")
        self.objects.delete_pod("old")
        self.objects.pod("witness", node="node-1", grace=30)
        self.wait_running("witness")
        self.objects.delete_pod("witness")
        self.wait_gone("witness")
        self.assertIn("deletionTimestamp", self.objects.get_pod("old")["metadata"])
        self.cluster.find_node_again("node-0")
        self.wait_gone("old")

    def _node_0_is_silent(self):
        """Whether a new pod on the lost node stays Pending while a later one elsewhere starts."""
        for name, node in (("probe-lost", "node-0"), ("probe-found", "node-1")):
            if self.objects.get_pod(name):
                self.objects.delete_pod(name, grace=0)
            self.objects.pod(name, node=node)
        self.wait_running("probe-found")
        return self.phase("probe-lost") == "Pending"


class AccessTest(ClusterTestCase):
    options = {"crds": True}

    def test_roles(self):
        self.objects.nodes(1)
        self.objects.pod("one")
        viewer, reprieve, nobody = (self.cluster.client(user) for user in ("viewer", "reprieve", "nobody"))
        self.assertEqual(len(viewer.list(path_of("pods"))), 1)
        one = path_of("pods", "one", "default")
        self.assert_forbidden(lambda: viewer.delete(one))
        self.assert_forbidden(lambda: nobody.list(path_of("pods")))
        self.assert_forbidden(lambda: reprieve.post(path_of("pods", namespace="default"), pod("two")))
        self.assert_forbidden(lambda: reprieve.list(path_of("secrets")))
        reprieve.patch(one, {"metadata": {"annotations": {"reprieve.dev/plan": "{}"}}})
        reprieve.patch(one + "/status", {"status": {"nominatedNodeName": "node-0"}})
        reprieve.post(
            one + "/binding",
            {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": "one"},
                "target": {"kind": "Node", "name": "node-0"},
            },
        )
        reprieve.delete(one)

    def test_tls_is_verified(self):
        stranger = Client(self.cluster.server, Pki(self.cluster.folder / "other-pki").authority, "no-token")
        with self.assertRaises(ConnectionLost) as caught:
            stranger.get("/readyz")
        self.assertIn("CERTIFICATE_VERIFY_FAILED", str(caught.exception))

    def test_a_client_certificate_is_a_user(self):
        kubeconfig = self.cluster.certificate_kubeconfig("viewer").read_text()
        self.assertIn("client-certificate:", kubeconfig)
        tls = ssl.create_default_context(cafile=str(self.cluster.pki.authority))
        tls.load_cert_chain(self.cluster.pki.certificate("viewer-client"), self.cluster.pki.key("viewer-client"))
        host, port = self.cluster.server.removeprefix("https://").split(":")
        for path, status in (("/api/v1/pods", 200), ("/api/v1/secrets", 403)):
            connection = http.client.HTTPSConnection(host, int(port), context=tls, timeout=10)
            connection.request("GET", path)
            self.assertEqual(connection.getresponse().status, status)
            connection.close()

    def test_custom_kinds(self):
        for resource, namespace, body in (
            (
                "scheduling.volcano.sh/v1beta1/podgroups",
                "default",
                {"minMember": 3, "networkTopology": {"mode": "hard", "highestTierAllowed": 2}},
            ),
            (
                "scheduling.volcano.sh/v1beta1/queues",
                None,
                {"weight": 2, "deserved": {"cpu": "4", "nvidia.com/gpu": 8}},
            ),
            (
                "topology.volcano.sh/v1alpha1/hypernodes",
                None,
                {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "node-0"}}}]},
            ),
            ("scheduling.x-k8s.io/v1alpha1/podgroups", "default", {"minMember": 2}),
            ("scheduling.sigs.k8s.io/v1alpha1/podgroups", "default", {"minMember": 2}),
            ("scheduling.x-k8s.io/v1alpha1/elasticquotas", "default", {"min": {"cpu": 4}, "max": {"cpu": "8"}}),
            ("scheduling.sigs.k8s.io/v1alpha1/elasticquotas", "default", {"min": {"cpu": 4}, "max": {"cpu": "8"}}),
        ):
            group, version, plural = resource.split("/")
            kind = {
                "podgroups": "PodGroup",
                "queues": "Queue",
                "hypernodes": "HyperNode",
                "elasticquotas": "ElasticQuota",
            }[plural]
            stored = self.admin.post(
                path_of(resource, namespace=namespace),
                {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": "sample"}, "spec": body},
            )
            with self.subTest(resource=resource):
                self.assertEqual(stored["spec"] | body, stored["spec"])

    def test_a_queue_drops_what_it_does_not_know(self):
        queues = "scheduling.volcano.sh/v1beta1/queues"
        self.admin.post(
            path_of(queues),
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "Queue",
                "metadata": {"name": "strict"},
                "spec": {"weight": 1},
            },
        )
        stored = self.admin.patch(
            path_of(queues, "strict", sub="status"), {"status": {"state": "Open", "deserved": {"cpu": "1"}}}
        )
        self.assertEqual(stored["status"], {"state": "Open"})

    def assert_forbidden(self, call):
        with self.assertRaises(ApiError) as caught:
            call()
        self.assertEqual(caught.exception.status, 403)


class CoreGangTest(ClusterTestCase):
    options = {"core_gangs": True, "controllers": True, "kwok": True}
    groups = "scheduling.k8s.io/v1beta1/podgroups"

    def test_the_stock_scheduler_binds_a_gang_as_a_whole(self):
        self.objects.nodes(2, cpu="2")
        stored = self.admin.post(
            path_of(self.groups, namespace="default"),
            {
                "apiVersion": "scheduling.k8s.io/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": "gang"},
                "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
            },
        )
        self.assertEqual(stored["spec"]["schedulingPolicy"], {"gang": {"minCount": 3}})
        member = {"cpu": "1", "spec": {"schedulingGroup": {"podGroupName": "gang"}}}
        self.start_scheduler()
        early = self.objects.pods(2, prefix="early", **member)
        alone = self.objects.pod("alone", cpu="100m")
        self.wait_for(lambda: self.objects.all_bound([alone]), "a pod outside of the gang bound")
        self.assertFalse(any(is_bound(self.objects.get_pod(f"early-{i}")) for i in range(2)))
        late = self.objects.pod("late", **member)
        self.wait_for(lambda: self.objects.all_bound([*early, late]), "the whole gang bound")


class CleanupTest(unittest.TestCase):
    def test_nothing_is_left_after_a_cluster(self):
        with Cluster(kwok=True) as cluster:
            folder = cluster.folder
            processes = [cluster.etcd, cluster.apiserver, cluster.kwok]
            self.assertTrue(all(one.alive() for one in processes))
        self.assertFalse(any(one.alive() for one in processes))
        self.assertFalse(folder.exists())

    def test_a_program_that_does_not_start_is_reported_with_its_log(self):
        with self.assertRaises(AssertionError) as caught:
            with Cluster(apiserver_flags=["--no-such-flag"]):
                self.fail("the API server cannot have started")
        self.assertIn("no-such-flag", str(caught.exception))

    def test_children_do_not_outlive_a_killed_test_run(self):
        script = (
            "import sys; from harness import Process;"
            "print(Process('sleeper', ['sleep', '600'], sys.argv[1]).pid, flush=True); input()"
        )
        log = pathlib.Path(os.devnull)
        run = subprocess.Popen(
            [sys.executable, "-c", script, log],
            cwd=pathlib.Path(__file__).parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stdin.close)
        sleeper = int(run.stdout.readline())
        self.assertTrue(pathlib.Path(f"/proc/{sleeper}").exists())
        run.send_signal(signal.SIGKILL)
        run.wait()
        wait_for(lambda: not pathlib.Path(f"/proc/{sleeper}").exists(), 10, "the orphan to be ended")


if __name__ == "__main__":
    unittest.main()
