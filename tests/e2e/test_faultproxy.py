"""Proves the fault-injecting proxy, with the stock kube-scheduler as its client where it takes a scheduler."""

import unittest

from harness import ApiError, ConnectionLost, wait_for
from harness.client import path_of
from harness.objects import pod
from harness.testcase import ClusterTestCase

BIND = r"/pods/[^/]+/binding"


class FaultProxyTest(ClusterTestCase):
    options = {"kwok": True}

    def setUp(self):
        super().setUp()
        self.proxy = self.cluster.proxy()
        self.addCleanup(self.proxy.process.kill)
        self.client = self.cluster.client("admin", self.proxy.server)
        self.pods = path_of("pods", namespace="default")

    def test_without_rules_nothing_changes(self):
        created = self.client.post(self.pods, pod("one"))
        self.assertEqual(self.objects.get_pod("one")["metadata"]["uid"], created["metadata"]["uid"])
        self.assertEqual({(row["protocol"], row["status"]) for row in self.proxy.traffic()}, {("HTTP/1.1", 201)})

    def test_a_conflict_on_bind_is_met_and_overcome(self):
        self.objects.nodes(1)
        rule = self.proxy.refuse(409, method="POST", path=BIND, count=2)
        self.start_scheduler(server=self.proxy.server)
        one = self.objects.pod("one", cpu="1")
        self.wait_for(lambda: self.objects.all_bound([one]), "the pod bound in spite of conflicts", 60)
        self.assertEqual(self.proxy.hits(rule), 2)
        protocols = {row["protocol"] for row in self.proxy.traffic()}
        self.assertEqual(protocols, {"HTTP/2.0"}, "the stock client speaks HTTP/2 through the proxy")

    def test_too_many_requests_with_retry_after(self):
        self.proxy.refuse(429, method="GET", path="/pods", retry_after=7, count=1)
        with self.assertRaises(ApiError) as caught:
            self.client.list(self.pods)
        self.assertEqual((caught.exception.status, caught.exception.reason), (429, "TooManyRequests"))
        self.assertEqual(caught.exception.headers["Retry-After"], "7")
        self.assertEqual(self.client.list(self.pods), [])

    def test_skip_count_and_removal(self):
        rule = self.proxy.refuse(503, path="/readyz", skip=1)
        self.assertEqual(self.client.get("/readyz"), "ok")
        for _ in range(2):
            with self.assertRaises(ApiError):
                self.client.get("/readyz")
        self.proxy.remove(rule)
        self.assertEqual(self.client.get("/readyz"), "ok")

    def test_a_rule_without_a_fault_is_refused(self):
        with self.assertRaises(ValueError):
            self.proxy.refuse(0)
        with self.assertRaises(ValueError):
            self.proxy.end_watches_after(1, end="gently")

    def test_a_dropped_request_was_not_carried_out(self):
        self.proxy.drop(method="POST", count=1)
        with self.assertRaises(ConnectionLost):
            self.client.post(self.pods, pod("one"))
        self.assertIsNone(self.objects.get_pod("one"))
        self.client.post(self.pods, pod("one"))

    def test_a_request_with_a_lost_reply_was_carried_out(self):
        self.proxy.lose_reply(method="POST", count=1)
        with self.assertRaises(ConnectionLost):
            self.client.post(self.pods, pod("one"))
        self.assertIsNotNone(self.objects.get_pod("one"))

    def test_a_delayed_request_is_overtaken(self):
        rule = self.proxy.delay(2000, method="POST", path="/pods", count=1)

        def create_quick():
            wait_for(lambda: self.proxy.hits(rule) == 1, 10, "the first request to be held")
            return self.objects.pod("quick")

        def create_slow():
            return self.client.post(self.pods, pod("slow"))

        slow, quick = self.objects.in_parallel(lambda create: create(), [create_slow, create_quick])
        self.assertLess(int(quick["metadata"]["resourceVersion"]), int(slow["metadata"]["resourceVersion"]))

    def test_a_held_request_goes_on_when_the_rule_is_removed(self):
        rule = self.proxy.hold(method="POST", path="/pods", count=1)

        def release():
            wait_for(lambda: self.proxy.hits(rule) == 1, 10, "the request to be held")
            before = self.objects.get_pod("held")
            self.proxy.remove(rule)
            return before

        before, after = self.objects.in_parallel(
            lambda call: call(), [release, lambda: self.client.post(self.pods, pod("held"))]
        )
        self.assertIsNone(before)
        self.assertEqual(after["metadata"]["name"], "held")

    def test_a_held_request_dies_with_its_client(self):
        self.objects.nodes(1)
        rule = self.proxy.hold(method="POST", path=BIND, count=1)
        first = self.start_scheduler(server=self.proxy.server)
        one = self.objects.pod("one", cpu="1")
        self.wait_for(lambda: self.proxy.hits(rule) == 1, "the bind to be held")
        first.kill()
        self.wait_for(lambda: self.proxy.open_watches() == [], "the proxy to notice")
        self.proxy.remove(rule)
        witness = self.client.post(self.pods, pod("witness"))
        self.assertFalse(self.objects.all_bound([one]))
        self.start_scheduler(server=self.proxy.server)
        self.wait_for(lambda: self.objects.all_bound([one, witness]), "the next scheduler to bind both")

    def test_watches_stream_and_end_as_asked(self):
        for end in ("clean", "abort", "expired"):
            with self.subTest(end=end):
                watch = self.client.watch(self.pods, resourceVersion=self._version())
                events = iter(watch)
                self.objects.pod(f"seen-{end}")
                self.assertEqual(next(events)["object"]["metadata"]["name"], f"seen-{end}")
                self.assertEqual(len(self.proxy.open_watches()), 1)
                self.assertEqual(self.proxy.cut_watches("/pods", end), 1)
                self._assert_end(events, end)
                self.wait_for(lambda: self.proxy.open_watches() == [], "the proxy to forget the watch")

    def test_watches_end_after_a_number_of_events(self):
        for end in ("clean", "abort", "expired"):
            with self.subTest(end=end):
                rule = self.proxy.end_watches_after(2, path="/pods", end=end, count=1)
                events = iter(self.client.watch(self.pods, resourceVersion=self._version()))
                self.objects.create_all("pods", [pod(f"{end}-{i}") for i in range(4)])
                self.assertEqual([next(events)["type"] for _ in range(2)], ["ADDED", "ADDED"])
                self._assert_end(events, end)
                self.assertEqual(self.proxy.hits(rule), 1)

    def test_a_stalled_watch_says_nothing_until_it_is_cut(self):
        self.proxy.end_watches_after(1, end="stall")
        version = self._version()
        stalled = iter(self.client.watch(self.pods, resourceVersion=version))
        self.objects.pods(3)
        self.assertEqual(next(stalled)["type"], "ADDED")
        direct = iter(self.admin.watch(self.pods, resourceVersion=version))
        self.assertEqual([next(direct)["type"] for _ in range(3)], ["ADDED"] * 3)
        self.proxy.cut_watches(end="clean")
        self.assertEqual(list(stalled), [])

    def test_a_frozen_connection_brings_nothing_and_new_ones_do(self):
        version = self._version()
        frozen = iter(self.client.watch(self.pods, resourceVersion=version))
        self.wait_for(self.proxy.open_watches, "the watch")
        self.assertGreaterEqual(self.proxy.freeze(), 1)
        self.objects.pods(2)
        fresh = iter(self.client.watch(self.pods, resourceVersion=version))
        self.assertEqual([next(fresh)["type"] for _ in range(2)], ["ADDED"] * 2)
        self.proxy.disconnect()
        self._assert_end(frozen, "abort")

    def test_the_stock_scheduler_recovers_from_cut_watches_and_connections(self):
        self.objects.nodes(1)
        self.start_scheduler(server=self.proxy.server)
        for number, break_it in enumerate(
            (
                lambda: self.proxy.cut_watches("/pods", "abort"),
                lambda: self.proxy.cut_watches("/pods", "expired"),
                lambda: self.proxy.disconnect(),
            )
        ):
            self.wait_for(
                lambda: any("/pods?" in uri for uri in self.proxy.open_watches()), "the scheduler's watch of pods"
            )
            self.assertGreaterEqual(break_it(), 1)
            one = self.objects.pod(f"pod-{number}", cpu="100m")
            self.wait_for(
                lambda pods=(one,): self.objects.all_bound(pods), f"pod {number} bound after its watch was cut", 60
            )

    def _version(self):
        return self.admin.list_with_version(self.pods)[1]

    def _assert_end(self, events, end):
        if end == "abort":
            with self.assertRaises(ConnectionLost):
                next(events)
            return
        if end == "expired":
            event = next(events)
            self.assertEqual((event["type"], event["object"]["code"]), ("ERROR", 410))
        self.assertEqual(list(events), [])


if __name__ == "__main__":
    unittest.main()
