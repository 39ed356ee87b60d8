"""The base of tests of `reprieve run`."""

import json

from .client import path_of
from .objects import is_bound, pod
from .reprieve import Reprieve
from .testcase import ClusterTestCase

PLAN = "reprieve.dev/plan"
LEASE = path_of("leases", "reprieve", "reprieve-system")


class RunTestCase(ClusterTestCase):
    """Starts replicas, makes pods for them, and asks afterwards what was done."""

    options = {"kwok": True, "audit": True}

    def setUp(self):
        super().setUp()
        if self.admin.find(LEASE):
            self.admin.delete(LEASE)
        self._marked = len(self.cluster.audit_entries(user="reprieve"))
        self._replicas = 0

    def start_reprieve(self, *flags, ready=True, **options):
        self._replicas += 1
        replica = Reprieve(self.cluster, *flags, name=f"{self.id().rsplit('.', 1)[1]}-{self._replicas}", **options)
        self.addCleanup(replica.process.kill)
        if ready:
            self.wait_for(replica.ready, "the replica to have read the cluster", 60)
        return replica

    def start_proxy(self):
        proxy = self.cluster.proxy()
        self.addCleanup(proxy.process.kill)
        return proxy

    def ours(self, name, **options):
        return self.objects.pod(name, **{"scheduler": "reprieve", **options})

    def node_of(self, name):
        found = self.objects.get_pod(name)
        return found and found["spec"].get("nodeName")

    def wait_bound(self, *names, deadline=60):
        self.wait_for(lambda: all(self.node_of(name) for name in names), f"{', '.join(names)} bound", deadline)

    def events(self, reason, name):
        """Notes of the Events about a pod, oldest first."""
        found = [
            one
            for one in self.admin.list(path_of("events.k8s.io/v1/events", namespace="default"))
            if one["reason"] == reason and one["regarding"]["name"] == name
        ]
        return [one["note"] for one in sorted(found, key=lambda one: one["eventTime"] or "")]

    def wait_event(self, reason, name):
        return self.wait_for(lambda: self.events(reason, name), f"an Event {reason} about {name}")

    def calls(self):
        """Changing calls of all replicas in this test: (verb, resource/subresource, name), without Events and Leases."""
        calls = []
        for entry in self.cluster.audit_entries(user="reprieve")[self._marked :]:
            target = entry["objectRef"]
            if target["resource"] in ("events", "leases"):
                continue
            resource = "/".join(filter(None, (target["resource"], target.get("subresource"))))
            calls.append((entry["verb"], resource, target.get("name", "")))
        return calls

    def leftovers(self):
        """Pods that carry an intent, or are nominated although they are bound."""
        return [
            one["metadata"]["name"]
            for one in self.objects.list_pods()
            if PLAN in one["metadata"].get("annotations", {})
            or (is_bound(one) and one["status"].get("nominatedNodeName"))
        ]

    def wait_clean(self):
        self.wait_for(lambda: not self.leftovers(), "no intent or nomination to be left over")

    def intent(self, name):
        """What is recorded on a pod, or None."""
        found = self.objects.get_pod(name)
        text = found and found["metadata"].get("annotations", {}).get(PLAN)
        return json.loads(text) if text else None

    def full_node(self, victims=3, node="node-0", prefix="low", **options):
        """A node of 4 CPU full of pods that a preemptor of 3 CPU needs to go."""
        self.objects.create_all(
            "pods", [pod(f"{prefix}-{i}", cpu="1300m", node=node, scheduler="reprieve", **options) for i in range(victims)]
        )
        self.wait_running(*(f"{prefix}-{i}" for i in range(victims)))
