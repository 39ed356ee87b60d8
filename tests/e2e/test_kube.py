"""Proves Reprieve's connection to the API server (src/kube) through the probe: facts in, plans out, one leader."""

import unittest

from harness.client import path_of
from harness.manifests import apply_file
from harness.objects import condition, is_bound, pod
from harness.pki import Pki
from harness.probe import Probe, fits, victim, waits
from harness.programs import E2E
from harness.testcase import ClusterTestCase

PLAN = "reprieve.dev/plan"


class ProbeTestCase(ClusterTestCase):
    def start_probe(self, *flags, synced=True, **options):
        probe = Probe(self.cluster, *flags, **options)
        self.addCleanup(probe.process.kill)
        if synced:
            self.wait_for(probe.synced, "the probe to have read the cluster", 60)
        return probe

    def start_proxy(self):
        proxy = self.cluster.proxy()
        self.addCleanup(proxy.process.kill)
        return proxy

    def truth(self):
        """Pods as the API server has them, in the probe's words."""
        return {
            f"{one['metadata']['namespace']}/{one['metadata']['name']}": (
                one["metadata"]["uid"],
                one["spec"].get("nodeName", ""),
                "deletionTimestamp" in one["metadata"],
            )
            for one in self.objects.list_pods()
        }

    def agrees(self, probe):
        seen = {name: (one["uid"], one["node"], one["deleting"]) for name, one in probe.pods().items()}
        return seen == self.truth()

    def wait_agreement(self, probe, what, deadline=60):
        self.wait_for(lambda: self.agrees(probe), f"the probe to agree {what}", deadline)


class SourceTest(ProbeTestCase):
    options = {}

    def churn(self, prefix, count=20):
        """Pods come, change and go."""
        self.objects.pods(count, prefix=prefix)
        for index in range(0, count, 2):
            self.objects.delete_pod(f"{prefix}-{index}", grace=0)

    def test_five_thousand_pods_and_broken_watches(self):
        self.objects.nodes(10)
        self.objects.pods(5000, prefix="many", on=lambda index: f"node-{index % 10}")
        proxy = self.start_proxy()
        probe = self.start_probe(server=proxy.server)
        self.assertEqual(len(probe.pods()), 5000, "the first poll delivers everything")
        self.wait_agreement(probe, "after the first list")
        for end in ("abort", "clean", "expired"):
            before = probe.counts()
            self.churn(f"before-{end}")
            self.wait_for(lambda end=end: proxy.cut_watches(path="/pods", end=end) > 0, "an open watch to cut")
            self.churn(f"after-{end}")
            self.wait_agreement(probe, f"after a watch that ended {end}")
            relisted = probe.counts()["lists"] - before["lists"]
            self.assertEqual(relisted, 1 if end == "expired" else 0, f"lists after {end}")
        self.assertGreater(proxy.disconnect(), 0)
        self.churn("after-disconnect")
        self.wait_agreement(probe, "after all connections were closed")
        self.assertEqual(probe.counts()["malformed"], 0)
        protocols = {row["protocol"] for row in proxy.traffic()}
        self.assertEqual(protocols, {"HTTP/1.1"}, "a request at a time on each connection")

    def test_deletions_while_nobody_watched_are_noticed(self):
        self.objects.pods(10, prefix="gone")
        proxy = self.start_proxy()
        probe = self.start_probe(server=proxy.server)
        rule = proxy.refuse(503, path="/api/v1/pods")
        self.wait_for(lambda: proxy.cut_watches(path="/pods", end="expired") > 0, "an open watch to cut")
        for index in range(5):
            self.objects.delete_pod(f"gone-{index}", grace=0)
        self.wait_for(lambda: proxy.hits(rule) > 0, "a refused list")
        proxy.remove(rule)
        self.wait_agreement(probe, "after a list that was refused at first")
        self.assertEqual(len(probe.pods()), 5)

    def test_a_silent_watch_is_given_up(self):
        proxy = self.start_proxy()
        probe = self.start_probe("--silence-seconds", "2", server=proxy.server)
        self.wait_for(lambda: proxy.cut_watches(path="/pods", end="stall") > 0, "an open watch to cut")
        self.objects.pod("unheard")
        self.wait_for(lambda: "default/unheard" in probe.pods(), "the pod behind the silence", 60)

    def test_the_api_server_restarts(self):
        self.objects.pods(20, prefix="old")
        probe = self.start_probe()
        self.cluster.restart_apiserver()
        self.churn("new")
        self.wait_agreement(probe, "after the API server's restart", 90)
        self.assertTrue(probe.process.alive())

    def test_a_slow_reader_loses_nothing(self):
        text = "x" * 20_000
        self.objects.create_all("pods", [pod(f"large-{i}", annotations={"e2e/text": text}) for i in range(200)])
        probe = self.start_probe("--inbox-bytes", "30000", "--page-items", "10")
        self.assertEqual(len(probe.pods()), 200)
        probe.process.pause()
        self.objects.in_parallel(
            lambda i: self.admin.patch(
                path_of("pods", f"large-{i}", "default"), {"metadata": {"annotations": {"e2e/other": text}}}
            ),
            range(200),
        )
        self.objects.create_all("pods", [pod(f"late-{i}", annotations={"e2e/text": text}) for i in range(100)])
        probe.process.resume()
        self.wait_agreement(probe, "after it fell behind")
        self.assertEqual(len(probe.pods()), 300)

    def test_a_malformed_pod_is_read_with_care(self):
        """It holds room whatever its annotation says: it is there, it is counted, and it goes when it goes."""
        self.objects.pod("good")
        self.objects.pod("bad", annotations={PLAN: "not json"})
        probe = self.start_probe()
        self.assertEqual(set(probe.pods()), {"default/good", "default/bad"})
        self.assertEqual(probe.counts()["malformed"], 1)
        self.admin.patch(path_of("pods", "bad", "default"), {"metadata": {"annotations": {PLAN: None}}})
        self.wait_agreement(probe, "once it is well-formed")
        self.assertEqual(probe.counts()["malformed"], 1, "its next version is fine")
        self.objects.delete_pod("bad", grace=0)
        self.wait_for(lambda: set(probe.pods()) == {"default/good"}, "the pod to be gone")

    def test_custom_kinds_come_and_go(self):
        probe = self.start_probe("--rediscover-seconds", "0.5")
        self.assertEqual(probe.others("Gang"), set())
        for name in ("volcano-podgroup", "volcano-queue"):
            apply_file(self.admin, E2E / "crds" / f"{name}.yaml")
        groups = "scheduling.volcano.sh/v1beta1/podgroups"
        body = {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "gang"},
            "spec": {"minMember": 2},
        }
        self.admin.post(path_of(groups, namespace="default"), body)
        self.wait_for(lambda: probe.others("Gang") == {"default/gang"}, "the gang of a kind that came later")
        self.admin.delete(path_of("customresourcedefinitions", "podgroups.scheduling.volcano.sh"))
        self.wait_for(lambda: probe.others("Gang") == set(), "the gang to go with its kind, after two looks at what is served", 150)
        self.assertTrue(probe.process.alive())


class AccessTest(ProbeTestCase):
    options = {}

    def test_who_may_not_read_is_told_so(self):
        probe = self.start_probe("--refusals", "2", user="nobody", synced=False)
        self.assertEqual(probe.process.wait(60), 1)
        self.assertIn("cannot be read: 403 Forbidden", probe.process.tail())

    def test_a_client_certificate(self):
        self.objects.pod("one")
        probe = self.start_probe("--refusals", "2", kubeconfig=self.cluster.certificate_kubeconfig("admin"))
        self.assertEqual(set(probe.pods()), {"default/one"})

    def test_a_stranger_is_not_trusted(self):
        stranger = Pki(self.cluster.folder / "stranger").authority
        config = self.cluster.users.write_kubeconfig("reprieve", self.cluster.server, stranger, "-stranger")
        probe = self.start_probe("--refusals", "2", kubeconfig=config, synced=False)
        self.assertEqual(probe.process.wait(60), 1)
        self.assertRegex(probe.process.tail(), "(?i)certificate")


class SinkTest(ProbeTestCase):
    options = {"audit": True}

    def setUp(self):
        super().setUp()
        self.objects.nodes(2)
        self.admin.delete("/apis/events.k8s.io/v1/namespaces/default/events")
        self.marked = len(self.cluster.audit_entries(user="reprieve"))

    def full_node(self, victims=3, **options):
        self.objects.pods(victims, prefix="low", on="node-0", **{"grace": 0, **options})
        self.objects.pod("high", scheduler="reprieve")

    def preempt(self, probe, names, mode="delete", **parts):
        evictions = [victim(f"default/{name}", "node-0", "default/high", mode) for name in names]
        probe.carry_out(placements=[waits("default/high", "node-0")], evictions=evictions, **parts)

    def calls(self):
        """The probe's changing calls of this test: (verb, resource/subresource, name), without events."""
        entries = self.cluster.audit_entries(user="reprieve")[self.marked :]
        calls = []
        for entry in entries:
            target = entry["objectRef"]
            if target["resource"] == "events":
                continue
            resource = "/".join(filter(None, (target["resource"], target.get("subresource"))))
            calls.append((entry["verb"], resource, target.get("name", "")))
        return calls

    def wait_idle(self, probe):
        self.wait_for(lambda: probe.counts()["settled"], "the probe to have nothing left to do")

    def high(self):
        return self.objects.get_pod("high")

    def test_a_preemption_from_intent_to_bind(self):
        self.full_node()
        probe = self.start_probe()
        self.preempt(probe, ["low-0", "low-1", "low-2"])
        self.wait_for(lambda: set(probe.pods()) == {"default/high"}, "the victims gone")
        self.wait_idle(probe)
        self.assertEqual(self.high()["status"]["nominatedNodeName"], "node-0")
        self.assertIn(PLAN, self.high()["metadata"]["annotations"])
        self.assertEqual(condition(self.high(), "PodScheduled")["reason"], "Unschedulable")

        probe.carry_out(placements=[fits("default/high", "node-0", devices=["0", "1"])])
        self.wait_for(lambda: is_bound(self.high()), "the preemptor bound")
        self.wait_idle(probe)
        high = self.high()
        self.assertEqual(high["metadata"]["annotations"], {"reprieve.dev/devices": "0,1"}, "no plan is left behind")
        self.assertNotIn("nominatedNodeName", high["status"])
        self.assertEqual(probe.failures(), [])

        calls = self.calls()
        self.assertEqual(calls[0], ("patch", "pods/status", "high"))
        self.assertEqual({one[:2] for one in calls[1:4]}, {("patch", "pods/status")})
        self.assertEqual({one[:2] for one in calls[4:7]}, {("delete", "pods")})
        self.assertEqual(calls[7:], [("create", "pods/binding", "high"), ("patch", "pods", "high")])
        events = self.admin.list("/apis/events.k8s.io/v1/namespaces/default/events")
        reasons = sorted(one["reason"] for one in events if one["reportingController"] == "reprieve")
        self.assertEqual(reasons, ["Preempted"] * 3 + ["Scheduled"])

    def test_the_same_plan_again_changes_nothing(self):
        self.full_node(grace=600)
        probe = self.start_probe()
        for _ in range(3):
            self.preempt(probe, ["low-0", "low-1", "low-2"])
            self.wait_idle(probe)
        self.assertEqual(len(self.calls()), 7)
        self.wait_for(lambda: all(one["deleting"] for name, one in probe.pods().items() if "low" in name), "the deletes")
        probe.process.kill()
        after = self.start_probe()
        self.preempt(after, ["low-0", "low-1", "low-2"])
        self.wait_idle(after)
        self.assertEqual(len(self.calls()), 7, "a restarted replica sees that all is done")

    def test_lost_answers_and_overload(self):
        self.full_node()
        proxy = self.start_proxy()
        proxy.lose_reply(method="PATCH", path="/pods/high/status", count=1)
        proxy.refuse(429, method="PATCH", path="/pods/low-0/status", retry_after=1, count=2)
        proxy.lose_reply(method="DELETE", path="/pods/low-1", count=1)
        proxy.refuse(503, method="DELETE", path="/pods/low-2", count=2)
        probe = self.start_probe(server=proxy.server)
        self.preempt(probe, ["low-0", "low-1", "low-2"])
        self.wait_for(lambda: set(probe.pods()) == {"default/high"}, "the victims gone")
        self.wait_idle(probe)
        proxy.lose_reply(method="POST", path="/pods/high/binding", count=1)
        probe.carry_out(placements=[fits("default/high", "node-0")])
        self.wait_for(lambda: is_bound(self.high()), "the preemptor bound")
        self.wait_idle(probe)
        self.assertEqual(probe.failures(), [])
        self.assertGreaterEqual(probe.counts()["retries"], 6)

    def test_a_crash_between_marks_and_deletes_is_continued(self):
        self.full_node()
        proxy = self.start_proxy()
        rule = proxy.hold(method="DELETE", path="/pods/low-")
        probe = self.start_probe(server=proxy.server)
        self.preempt(probe, ["low-0", "low-1", "low-2"])
        self.wait_for(lambda: proxy.hits(rule) == 3, "the deletes to be held")
        probe.process.kill()
        proxy.remove(rule)
        self.assertEqual(len(self.objects.list_pods()), 4)
        after = self.start_probe()
        before = len(self.calls())
        self.preempt(after, ["low-0", "low-1", "low-2"])
        self.wait_for(lambda: set(after.pods()) == {"default/high"}, "the victims gone")
        self.assertEqual({one[:2] for one in self.calls()[before:]}, {("delete", "pods")})

    def test_another_pod_of_the_same_name_is_spared(self):
        self.full_node(victims=1)
        old = self.objects.get_pod("low-0")["metadata"]["uid"]
        self.objects.delete_pod("low-0", grace=0)
        new = self.objects.pod("low-0", node="node-0")["metadata"]["uid"]
        probe = self.start_probe()
        probe.carry_out(
            uids={"default/low-0": old},  # a plan made before the pod was replaced
            placements=[waits("default/high", "node-0")],
            evictions=[victim("default/low-0", "node-0", "default/high")],
        )
        self.wait_idle(probe)
        left = self.objects.get_pod("low-0")["metadata"]
        self.assertEqual(left["uid"], new)
        self.assertNotIn("deletionTimestamp", left)
        self.assertEqual(condition(self.objects.get_pod("low-0"), "DisruptionTarget"), {})
        self.assertEqual(probe.failures(), [], "the victim that was meant is gone")

    def test_a_budget_that_refuses(self):
        self.objects.pods(1, prefix="low", on="node-0", labels={"app": "low"})
        # A budget does not protect a pod that has not started.
        self.admin.patch(path_of("pods", "low-0", "default", "status"), {"status": {"phase": "Running"}})
        self.objects.pod("high", scheduler="reprieve")
        self.objects.budget("low", {"app": "low"}, min_available=1)
        probe = self.start_probe()
        self.preempt(probe, ["low-0"], mode="evict")
        self.wait_for(probe.failures, "the refusal")
        self.wait_idle(probe)
        low = self.objects.get_pod("low-0")
        self.assertNotIn("deletionTimestamp", low["metadata"])
        self.assertEqual(condition(low, "DisruptionTarget"), {})
        self.assertIn("disruption budget", probe.failures()[0]["what"])

    def test_a_cleared_nomination_leaves_nothing(self):
        self.full_node(grace=600)
        probe = self.start_probe()
        self.preempt(probe, ["low-0"])
        self.wait_for(lambda: probe.pods()["default/high"]["nominated"] == "node-0", "the nomination")
        probe.carry_out(nominationsCleared=["default/high"])
        self.wait_for(lambda: "nominatedNodeName" not in self.high()["status"], "the nomination cleared")
        self.assertNotIn("annotations", self.high()["metadata"])

    def test_an_unplaced_pod_is_told_why_once(self):
        self.objects.pod("high", scheduler="reprieve")
        probe = self.start_probe()
        why = "0 of 2 nodes fit: 2 Insufficient cpu"
        reason = {"pod": "default/high", "verdict": "notNow", "reason": why, "nodes": {"Insufficient cpu": 2}}
        for _ in range(3):
            probe.carry_out(unplaced=[reason])
            self.wait_idle(probe)
        told = condition(self.high(), "PodScheduled")
        self.assertEqual((told["status"], told["reason"]), ("False", "Unschedulable"))
        self.assertEqual(told["message"], why)
        self.assertEqual(self.calls(), [("patch", "pods/status", "high")])
        events = self.admin.list(
            "/apis/events.k8s.io/v1/namespaces/default/events", fieldSelector="reason=FailedScheduling"
        )
        uid = self.high()["metadata"]["uid"]
        self.assertEqual(len([one for one in events if one["regarding"]["uid"] == uid]), 1)

    def test_force_delete(self):
        self.objects.pod("slow", node="node-0", grace=600)
        self.objects.delete_pod("slow")
        probe = self.start_probe()
        for _ in range(2):
            probe.carry_out(forceDeletes=["default/slow"])
            self.wait_idle(probe)
        self.assertEqual(self.objects.get_pod("slow")["metadata"]["deletionGracePeriodSeconds"], 1)
        self.assertEqual(self.calls(), [("delete", "pods", "slow")])


class ServingTest(ProbeTestCase):
    options = {"controllers": True, "kwok": True}

    def test_the_hinted_pod_is_the_one_that_goes(self):
        self.objects.nodes(1)
        labels = {"reprieve.dev/serving": "h", "reprieve.dev/plane": "w1"}
        self.objects.deployment("web", 3, labels=labels, node="node-0", cpu="100m")
        self.wait_for(lambda: len(self.objects.list_pods()) == 3, "the Deployment's pods")
        names = sorted(one["metadata"]["name"] for one in self.objects.list_pods())
        self.wait_running(*names)
        probe = self.start_probe()
        hint = f"default/{names[1]}"
        probe.carry_out(
            scale=[{"deployment": "default/h", "plane": "w1", "from": 3, "to": 2, "hints": [hint]}],
            annotations=[{"pod": hint, "set": {"controller.kubernetes.io/pod-deletion-cost": "-1000"}}],
        )
        self.wait_for(lambda: len(self.objects.list_pods()) == 2, "one pod gone")
        left = sorted(one["metadata"]["name"] for one in self.objects.list_pods())
        self.assertEqual(left, [names[0], names[2]])
        self.assertEqual(probe.failures(), [])
        probe.carry_out(scale=[{"deployment": "default/h", "plane": "w1", "from": 3, "to": 1, "hints": []}])
        self.wait_for(probe.failures, "the refusal of a scale that is out of date")
        self.assertIn("scaled it to 2", probe.failures()[0]["what"])


class GangTest(ProbeTestCase):
    options = {"core_gangs": True, "crds": ["volcano-podgroup"]}

    def test_pod_groups_are_told_in_their_own_dialect(self):
        self.objects.nodes(1)
        core, volcano = "scheduling.k8s.io/v1beta1/podgroups", "scheduling.volcano.sh/v1beta1/podgroups"
        for resource, name, spec in (
            (core, "core", {"schedulingPolicy": {"gang": {"minCount": 1}}}),
            (volcano, "volcano", {"minMember": 1}),
        ):
            body = {"apiVersion": resource.rsplit("/", 1)[0], "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}
            self.admin.post(path_of(resource, namespace="default"), body)
        for name in ("core", "volcano"):
            self.objects.pod(f"{name}-0", scheduler="reprieve")
        probe = self.start_probe()
        gangs = ("core", core), ("volcano", volcano)
        probe.carry_out(
            unplaced=[
                {"pod": f"default/{name}-0", "for": f"default/{name}", "verdict": "notNow", "reason": "full"}
                for name, _ in gangs
            ]
        )

        def status(resource, name):
            return self.admin.get(path_of(resource, name, "default")).get("status", {})

        def told(name, resource, kind):
            return condition({"status": status(resource, name)}, kind)

        self.wait_for(lambda: told("core", core, "PodGroupInitiallyScheduled").get("status") == "False", "no place")
        self.wait_for(lambda: status(volcano, "volcano").get("phase") == "Inqueue", "the Volcano group in its queue")
        probe.carry_out(placements=[fits(f"default/{name}-0", "node-0", f"default/{name}") for name, _ in gangs])
        self.wait_for(lambda: told("core", core, "PodGroupInitiallyScheduled").get("status") == "True", "a place")
        self.wait_for(lambda: status(volcano, "volcano").get("phase") == "Running", "the Volcano group running")


class LeaseTest(ProbeTestCase):
    options = {"audit": True}

    def replica(self, name, **options):
        return self.start_probe("--identity", name, "--lease-seconds", "3", name=f"probe-{name}", **options)

    def test_one_leads_and_another_takes_over(self):
        first = self.replica("a")
        self.wait_for(first.leads, "the first to lead")
        second = self.replica("b")
        self.assertFalse(second.leads())
        first.process.kill()
        self.wait_for(second.leads, "the second to take over")

    def test_who_resigns_lets_the_other_in(self):
        first = self.replica("a")
        self.wait_for(first.leads, "the first to lead")
        second = self.replica("b")
        first.process.stop()
        lease = self.admin.get(path_of("leases", "reprieve", "reprieve-system"))
        self.assertIn(lease["spec"]["holderIdentity"], ("", "b"))
        self.wait_for(second.leads, "the second to lead")

    def test_who_was_frozen_does_not_act(self):
        self.objects.nodes(1)
        self.objects.pod("one", scheduler="reprieve")
        first = self.replica("a")
        self.wait_for(first.leads, "the first to lead")
        second = self.replica("b")
        first.process.pause()
        self.wait_for(second.leads, "the second to take over")
        first.process.resume()
        first.carry_out(placements=[fits("default/one", "node-0")])
        self.wait_for(first.failures, "the frozen one's refusal to act")
        self.assertIn("not to be done any more", first.failures()[0]["what"])
        self.assertFalse(is_bound(self.objects.get_pod("one")))
        second.carry_out(placements=[fits("default/one", "node-0")])
        self.wait_for(lambda: is_bound(self.objects.get_pod("one")), "the leader's bind")

    def test_who_cannot_renew_stops(self):
        proxy = self.start_proxy()
        first = self.replica("a", server=proxy.server)
        self.wait_for(first.leads, "the first to lead")
        proxy.refuse(503, path="/leases/")
        self.wait_for(lambda: not first.leads(), "the first to stop by itself")
        proxy.clear()
        self.wait_for(first.leads, "the first to lead again")


if __name__ == "__main__":
    unittest.main()
