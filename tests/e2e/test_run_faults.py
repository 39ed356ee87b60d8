"""Reprieve on a real API server that fails: it finishes what it began, evicts nobody twice and nobody for nothing."""

import unittest

from harness.client import path_of
from harness.clock import shifted
from harness.components import CONTROLLERS
from harness.objects import condition
from harness.pki import Pki
from harness.programs import ROOT
from harness.stories import StoryTestCase

EXAMPLES = ROOT / "deploy" / "examples"
WRITES = "POST|PATCH|PUT|DELETE"
ON_PODS = r"/pods/"
BIND = r"/pods/[^/]+/binding"


class FaultTestCase(StoryTestCase):
    def setUp(self):
        super().setUp()
        self.proxy = self.start_proxy()

    def crowd(self, count):
        """Nodes with two pods of which one has to go for each of as many preemptors."""
        self.objects.nodes(count, cpu="2")
        options = {"cpu": "1", "grace": 30, "scheduler": "reprieve"}
        self.objects.pods(
            count * 2, prefix="low", on=lambda index: f"node-{index % count}", priority_class="low", **options
        )
        return lambda: self.objects.pods(count, prefix="high", priority_class="high", **options)

    def wait_served(self, high, deadline=90, again=False):
        """Every preemptor has its place, paid for by one victim each, and nothing is left over.

        again: the same eviction may have been asked for twice, because the first answer got lost.
        """
        self.wait_for(lambda: self.objects.all_bound(high), "every preemptor bound", deadline)
        self.wait_clean()
        left = [one for one in self.objects.list_pods() if one["metadata"]["name"].startswith("low-")]
        self.assertEqual(len(left), len(high), "one of two victims went for each")
        if not again:
            evicted = self.evicted()
            self.assertEqual(sorted(evicted), sorted(set(evicted)), "nobody evicted twice")

    def under_way(self):
        """A preemption in its middle: the victim leaves when the test lets it. Another would be there to be taken, and would
        be if the victim were overdue: it has a long grace."""
        self.objects.nodes(2)
        self.running("low", "low", "4", stop_delay="1h", grace=600)
        self.running("tempting", "mid", "4", node="node-1")
        self.wait_running("low", "tempting")
        self.waiting("high", "high", "4")
        self.wait_leaving("low")
        self.wait_nominated("high", "node-0")

    def finish(self):
        self.wait_cycle()
        self.assert_evicted("low")
        self.let_go("low")
        self.wait_bound("high", node="node-0", deadline=60)
        self.wait_clean()
        self.assert_evicted("low")


class FaultTest(FaultTestCase):
    takes_long = True

    options = {**StoryTestCase.options, "certificate_age": "1h"}  # for the clock that is behind

    # --- the server

    def test_the_api_server_is_restarted(self):
        replica = self.start_reprieve()
        self.under_way()
        self.cluster.restart_apiserver()
        self.finish()
        self.assertTrue(replica.process.alive())

    def test_the_api_server_is_restarted_under_load(self):
        arrive = self.crowd(20)
        replica = self.start_reprieve()
        high = arrive()
        self.wait_for(self.evicted, "the first eviction")
        self.cluster.restart_apiserver()
        self.remind_kubelets()
        self.wait_served(high)
        self.assertTrue(replica.process.alive())

    def test_etcd_is_restarted(self):
        replica = self.start_reprieve()
        self.under_way()
        self.cluster.restart_etcd()
        self.finish()
        self.assertTrue(replica.process.alive())

    # --- what comes back from it

    def start_behind_proxy(self, **options):
        return self.start_reprieve(server=self.proxy.server, **options)

    def test_watches_are_cut(self):
        self.start_behind_proxy()
        self.under_way()
        for end in ("abort", "clean", "expired"):
            self.wait_for(lambda end=end: self.proxy.cut_watches(path="/pods", end=end) > 0, f"a watch to end {end}")
            self.waiting(f"later-{end}", "low", "100m", spec={"nodeSelector": {"none": "such"}})
        self.assertGreater(self.proxy.disconnect(), 0)
        self.finish()

    def test_watches_break_all_the_time(self):
        arrive = self.crowd(10)
        self.proxy.end_watches_after(7, path="/pods", end="abort")
        self.start_behind_proxy()
        self.wait_served(arrive())

    def test_conflicts_on_bind(self):
        rule = self.proxy.refuse(409, method="POST", path=BIND, count=2)
        self.start_behind_proxy()
        self.under_way()
        self.finish()
        self.assertEqual(self.proxy.hits(rule), 2)

    def test_somebody_else_binds_the_pod(self):
        self.objects.nodes(2)
        self.running("full", "high", "4", node="node-1")
        rule = self.proxy.hold(method="POST", path=BIND)
        self.start_behind_proxy()
        self.waiting("one", "mid", "4")
        self.wait_for(lambda: self.proxy.hits(rule) == 1, "the bind to be held")
        self.objects.delete_pod("full", grace=0)
        target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
        self.admin.post(path_of("pods", "one", "default", "binding"), {"metadata": {"name": "one"}, "target": target})
        self.proxy.remove(rule)
        self.waiting("two", "low", "4")
        self.wait_bound("two", node="node-0")
        self.assertEqual(self.node_of("one"), "node-1")
        self.wait_clean()
        self.assert_evicted()

    def test_a_storm_of_refusals(self):
        arrive = self.crowd(10)
        self.proxy.refuse(429, method=WRITES, path=ON_PODS, retry_after=1, count=15)
        for status in (500, 503, 504):
            self.proxy.refuse(status, method=WRITES, path=ON_PODS, count=10)
        self.start_behind_proxy()
        self.wait_served(arrive())

    def test_refusals_at_the_start(self):
        arrive = self.crowd(5)
        self.proxy.refuse(429, method="GET", path=ON_PODS.rstrip("/"), retry_after=1, count=2)
        self.proxy.refuse(503, method="GET", path="/nodes", count=3)
        self.start_behind_proxy()
        self.wait_served(arrive())

    def test_slow_answers(self):
        arrive = self.crowd(10)
        self.proxy.delay(700, method=WRITES, path=ON_PODS)
        self.start_behind_proxy()
        self.wait_served(arrive())

    def test_answers_that_get_lost(self):
        arrive = self.crowd(10)
        for method, path in (("PATCH", ON_PODS), ("DELETE", ON_PODS), ("POST", BIND)):
            self.proxy.lose_reply(method=method, path=path, count=5)
        self.start_behind_proxy()
        self.wait_served(arrive())

    def test_connections_fall_silent(self):
        arrive = self.crowd(10)
        self.start_behind_proxy()
        self.assertGreater(self.proxy.freeze(), 0)
        self.wait_served(arrive(), again=True)

    def test_connections_fall_silent_under_load(self):
        arrive = self.crowd(20)
        self.start_behind_proxy()
        high = arrive()
        self.wait_for(self.evicted, "the first eviction")
        self.assertGreater(self.proxy.freeze(), 0)
        self.wait_served(high, again=True)

    def test_a_refused_eviction_is_not_insisted_on(self):
        # The budget has the last word, also when it changed between the plan and the eviction.
        config = (EXAMPLES / "strict-budgets" / "config.yaml").read_text()
        self.objects.nodes(1)
        self.running("low", "low", "4", labels={"app": "low"})
        self.wait_running("low")
        rule = self.proxy.hold(method="POST", path="/pods/low/eviction")
        self.start_behind_proxy(config=config)
        self.waiting("high", "high", "4")
        self.wait_for(lambda: self.proxy.hits(rule) == 1, "the eviction to be held")
        self.objects.budget("low", {"app": "low"}, min_available=1)

        def counted():
            status = self.admin.get(path_of("poddisruptionbudgets", "low", "default")).get("status", {})
            return status.get("expectedPods") == 1

        self.wait_for(counted, "the budget to be in force")
        self.proxy.remove(rule)
        self.wait_clean()
        self.wait_cycle()
        self.assert_evicted()
        self.admin.delete(path_of("poddisruptionbudgets", "low", "default"))
        self.wait_bound("high", node="node-0", deadline=60)
        self.wait_clean()
        self.assert_evicted("low")

    def test_a_victim_that_cannot_be_deleted_is_unmarked(self):
        self.objects.nodes(2)
        self.running("low", "low", "4")
        self.running("dearer", "mid", "4", node="node-1")
        self.wait_running("low", "dearer")
        rule = self.proxy.refuse(403, method="DELETE", path="/pods/low")
        self.start_behind_proxy()
        self.waiting("high", "high", "4")
        self.wait_for(lambda: self.proxy.hits(rule) > 0, "the refusal")
        self.wait_bound("high", node="node-1", deadline=60)
        self.wait_clean()
        self.assert_evicted("dearer")

    def test_a_record_that_comes_late_does_not_stay(self):
        self.objects.nodes(1)
        self.running("leaving", "high", "4", stop_delay="1h")
        self.wait_running("leaving")
        self.objects.delete_pod("leaving")
        rule = self.proxy.hold(method="PATCH", path="/pods/one/status")
        self.start_behind_proxy()
        self.waiting("one", "mid", "4")
        self.wait_for(lambda: self.proxy.hits(rule) > 0, "the record to be held")
        self.let_go("leaving")
        self.wait_gone("leaving")
        self.proxy.remove(rule)
        self.wait_bound("one", node="node-0")
        self.wait_clean()
        self.assert_evicted()

    # --- credentials

    def token(self, secret):
        """A token of Reprieve's service account that dies with a Secret."""
        path = path_of("secrets", namespace="reprieve-system")
        bound = self.admin.post(path, {"metadata": {"name": secret}})
        self.addCleanup(lambda: self.admin.find(f"{path}/{secret}") and self.admin.delete(f"{path}/{secret}"))
        reference = {"kind": "Secret", "apiVersion": "v1", "name": secret, "uid": bound["metadata"]["uid"]}
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600, "boundObjectRef": reference},
        }
        account = path_of("serviceaccounts", "reprieve", "reprieve-system", "token")
        return self.admin.post(account, request)["status"]["token"]

    def still_valid(self, token):
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        answer = self.admin.post("/apis/authentication.k8s.io/v1/tokenreviews", review)
        return answer["status"].get("authenticated", False)

    def test_a_token_is_rotated(self):
        file = self.cluster.folder / "token"
        first = self.token("first")
        file.write_text(first)
        config = self.cluster.users.write_token_file_kubeconfig(
            "reprieve", self.cluster.server, self.cluster.pki.authority, file
        )
        replica = self.start_reprieve(kubeconfig=config)
        self.under_way()
        file.write_text(self.token("second"))
        self.admin.delete(path_of("secrets", "first", "reprieve-system"))
        self.cluster.restart_apiserver()  # what it let in with the old one, it has forgotten
        self.assertFalse(self.still_valid(first))
        self.finish()
        self.assertTrue(replica.process.alive())

    def test_a_server_of_another_authority_is_refused(self):
        stranger = Pki(self.cluster.folder / "stranger").authority
        config = self.cluster.users.write_kubeconfig("reprieve", self.cluster.server, stranger, "-stranger")
        self.objects.nodes(1)
        self.waiting("one", "low", "1")
        replica = self.start_reprieve(kubeconfig=config, ready=False)

        def said_so():
            return "certificate" in replica.process.tail().lower()

        self.wait_for(said_so, "the certificate to be named", 60)
        self.assertNotEqual(replica.get("/readyz")[0], 200)
        self.assertEqual(self.successes(), [])
        self.assertIsNone(self.node_of("one"))

    def test_who_may_nothing_says_so(self):
        replica = self.start_reprieve(kubeconfig=self.cluster.kubeconfig("nobody"), ready=False)

        def said_so():
            return "forbidden" in replica.process.tail().lower()

        self.wait_for(said_so, "the refusal to be named", 60)
        self.assertNotEqual(replica.get("/readyz")[0], 200)

    # --- the clock

    def start_with_clock(self, shift, **options):
        return self.start_reprieve(environment=shifted(shift), **options)

    def test_a_clock_ten_minutes_ahead(self):
        self.start_with_clock("+10m")
        self.under_way()
        self.finish()

    def test_a_clock_ten_minutes_behind(self):
        self.start_with_clock("-10m")
        self.under_way()
        self.finish()

    def test_no_clock_steals_the_lease(self):
        first = self.start_with_clock("-10m", lease="15s")
        self.wait_for(first.leads, "a to lead")
        second = self.start_with_clock("+10m", lease="15s")
        self.under_way()
        self.assertTrue(first.leads())
        self.assertFalse(second.leads())
        first.process.kill()
        self.wait_for(second.leads, "b to take over")
        self.finish()


class LostNodeTest(FaultTestCase):
    options = {
        **StoryTestCase.options,
        "controllers": (*CONTROLLERS, "node-lifecycle-controller"),
        "controller_flags": ["--node-monitor-period=500ms", "--node-monitor-grace-period=6s"],
        "node_lease_seconds": 4,
    }

    def test_the_node_of_a_nomination_is_lost(self):
        self.start_reprieve()
        self.under_way()
        self.cluster.lose_node("node-0")

        def lost():
            return condition(self.admin.get(path_of("nodes", "node-0")), "Ready").get("status") == "Unknown"

        self.wait_for(lost, "the node to be given up", 60)
        self.wait_bound("high", node="node-1", deadline=60)
        self.wait_clean()
        self.assert_evicted("low", "tempting")


if __name__ == "__main__":
    unittest.main()
