"""The fault-injecting proxy (../faultproxy) from the outside."""

import http.client
import json

from .ports import free_port
from .process import Process
from .programs import E2E, go_program
from .waiting import wait_for


class FaultProxy:
    """A proxy before the API server. server is its URL; faults are set and taken away while it runs."""

    def __init__(self, upstream, pki, folder, label="faultproxy"):
        self._control = free_port()
        port = free_port()
        self.server = f"https://127.0.0.1:{port}"
        pki.issue_server(label)
        self.process = Process(
            label,
            [
                go_program(E2E / "faultproxy"),
                "-listen",
                f"127.0.0.1:{port}",
                "-control",
                f"127.0.0.1:{self._control}",
                "-upstream",
                upstream,
                "-ca",
                pki.authority,
                "-cert",
                pki.certificate(label),
                "-key",
                pki.key(label),
            ],
            folder / f"{label}.log",
        )
        wait_for(self._up, 10, "the fault proxy", detail=self.process.tail)

    def refuse(self, status, method="", path="", retry_after=0, count=0, skip=0, reason=""):
        """Answers matching requests with this status instead of passing them on. Returns the rule's id."""
        return self._add(method, path, count, skip, status=status, retryAfter=retry_after, reason=reason)

    def delay(self, milliseconds, method="", path="", count=0, skip=0):
        return self._add(method, path, count, skip, delayMs=milliseconds)

    def hold(self, method="", path="", count=0, skip=0):
        """Lets matching requests wait until the rule is removed. One whose client dies meanwhile is never carried out:
        wait for hits(), kill the client, and it has died exactly between two of its steps."""
        return self._add(method, path, count, skip, hold=True)

    def drop(self, method="", path="", count=0, skip=0):
        """Closes the connection before the API server sees the request."""
        return self._add(method, path, count, skip, drop=True)

    def lose_reply(self, method="", path="", count=0, skip=0):
        """Lets the API server carry out the request, then closes the connection instead of answering."""
        return self._add(method, path, count, skip, loseReply=True)

    def end_watches_after(self, events, path="", end="abort", count=0, skip=0):
        """Ends future watches after so many events. end: "clean", "abort", "expired" (410) or "stall" (silence)."""
        return self._add("", path, count, skip, stream={"afterEvents": events, "end": end})

    def cut_watches(self, path="", end="abort"):
        """Ends open watches now and returns how many."""
        return self._call("POST", "/cut", {"path": path, "end": end})["cut"]

    def disconnect(self):
        """Closes all connections to clients now and returns how many."""
        return self._call("POST", "/disconnect", {})["cut"]

    def freeze(self):
        """From now on all connections that are open bring nothing to clients, and are not closed either; what clients
        ask on them is carried out. Returns how many there are."""
        return self._call("POST", "/freeze", {})["frozen"]

    def hits(self, rule):
        """How many requests suffered from a rule so far."""
        return next(one["hits"] for one in self._call("GET", "/rules") if one["id"] == rule)

    def open_watches(self):
        return self._call("GET", "/streams")

    def traffic(self):
        """Requests so far: rows of method, protocol, status (0 = dropped) and requests."""
        return self._call("GET", "/traffic")

    def remove(self, rule):
        self._call("DELETE", f"/rules/{rule}")

    def clear(self):
        self._call("DELETE", "/rules")

    def _add(self, method, path, count, skip, **fault):
        rule = {"method": method, "path": path, "count": count, "skip": skip, **fault}
        return self._call("POST", "/rules", rule)["id"]

    def _up(self):
        assert self.process.alive(), self.process.tail()
        try:
            return self._call("GET", "/healthz")
        except OSError:
            return False

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._control, timeout=10)
        try:
            connection.request(method, path, body=None if body is None else json.dumps(body))
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(f"fault proxy: {method} {path}: {answer}")
        return answer
