"""The probe (../kube_probe): Reprieve's connection to an API server, without its mind. The test is the mind."""

import http.client
import json
import os

from .ports import free_port
from .programs import ROOT


def probe_program():
    """Built with everything else; REPRIEVE_BUILD names the build folder (build/release)."""
    folder = ROOT / os.environ.get("REPRIEVE_BUILD", "build/release")
    program = folder / "tests" / "e2e" / "kube_probe" / "kube_probe"
    assert program.exists(), f"{program} is missing: build it first (make build)"
    return program


def plan(**parts):
    """A plan with these parts and nothing else."""
    empty = (
        "placements evictions nominationsCleared scale forceDeletes annotations matches queues unplaced "
        "certificates warnings"
    )
    base = {"apiVersion": "reprieve.dev/v1", "kind": "Plan", "id": "sha256:test", "now": "2026-01-01T00:00:00Z"}
    return {**base, **{name: [] for name in empty.split()}, **parts}


def waits(pod, node, gang=None):
    """A placement that waits for evictions."""
    return {"pod": pod, "node": node, "when": "afterEvictions", "action": "preempt", **({"for": gang} if gang else {})}


def fits(pod, node, gang=None, **more):
    """A placement that can be bound now."""
    return {"pod": pod, "node": node, "when": "now", "action": "allocate", **({"for": gang} if gang else {}), **more}


def victim(pod, node, owner, mode="delete"):
    return {
        "pod": pod,
        "node": node,
        "unit": "pod",
        "for": owner,
        "action": "preempt",
        "mode": mode,
        "pdbViolation": False,
        "reason": "lower priority",
    }


class Probe:
    """One running probe. Its answers come from its polling thread: what they show was really delivered."""

    def __init__(self, cluster, *flags, user="reprieve", server=None, kubeconfig=None, name="kube-probe"):
        self._port = free_port()
        config = kubeconfig or cluster.kubeconfig(user, server)
        address = f"127.0.0.1:{self._port}"
        arguments = [probe_program(), "--kubeconfig", config, "--listen", address, *flags]
        self.process = cluster.launch(name, arguments)

    def synced(self):
        assert self.process.alive(), self.process.tail()
        try:
            return self.counts()["synced"]
        except (OSError, http.client.HTTPException):
            return False

    def leads(self):
        try:
            return self.counts()["leads"]
        except (OSError, http.client.HTTPException):
            return False

    def counts(self):
        return self._call("GET", "/counts")

    def state(self):
        return self._call("GET", "/state")

    def pods(self):
        """What it has seen of pods, by "ns/name"."""
        return self.state()["pods"]

    def others(self, kind):
        return set(self.state()["others"].get(kind, []))

    def reports(self):
        """How all steps so far ended."""
        return self._call("GET", "/reports")["reports"]

    def failures(self):
        return [one for one in self.reports() if not one["ok"]]

    def carry_out(self, uids=None, **parts):
        """Hands over a plan. UIDs are what the probe sees now, where they are not given."""
        self._call("POST", "/plan", {"uids": uids or {}, "plan": plan(**parts)})

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=70)
        try:
            connection.request(method, path, body=None if body is None else json.dumps(body))
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(f"probe: {method} {path}: {answer}")
        return answer
