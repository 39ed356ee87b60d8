"""Writes down what happened to every pod, as a watch saw it, with the time of arrival."""

import dataclasses
import threading
import time

from .client import ApiError, ConnectionLost, path_of
from .waiting import wait_for


@dataclasses.dataclass
class PodHistory:
    """One pod's life. Times are time.monotonic() at this process; None for what has not happened."""

    namespace: str
    name: str
    uid: str
    seen: float
    bound: float | None = None
    node: str | None = None
    running: float | None = None
    disruption: float | None = None  # the DisruptionTarget condition appeared
    disruption_reason: str | None = None
    deleting: float | None = None  # deletionTimestamp appeared, or the object vanished without one
    grace: int | None = None  # when the deletion began; a kubelet ends it with none
    gone: float | None = None
    nominations: list = dataclasses.field(default_factory=list)  # (time, node or None)
    plans: list = dataclasses.field(default_factory=list)  # (time, value of reprieve.dev/plan or None)

    @property
    def key(self):
        return f"{self.namespace}/{self.name}"


class Recorder:
    """Follows all pods (of one namespace, if given) from now until stop(). Survives API server restarts."""

    def __init__(self, client, namespace=None):
        self._client = client
        self._path = path_of("pods", namespace=namespace)
        self._lock = threading.Lock()
        self._pods = {}
        self._versions = {}  # of each pod the newest that was read
        self._watch = None
        self._stopping = threading.Event()
        self._listed = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="recorder", daemon=True)
        self._thread.start()
        wait_for(self._listed.is_set, 30, "the recorder's first list")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._stopping.set()
        if self._watch:
            self._watch.close()
        self._thread.join(10)

    def pods(self):
        """All histories, in order of first sight, with all that had happened before this was asked."""
        self._catch_up()
        with self._lock:
            return [dataclasses.replace(one) for one in self._pods.values()]

    def of(self, name, namespace="default"):
        """The lives of all pods that had this name, oldest first."""
        return [one for one in self.pods() if one.name == name and one.namespace == namespace]

    def binds(self):
        """Pods that got a node while being watched, in order of time."""
        return sorted((one for one in self.pods() if one.bound is not None), key=lambda one: one.bound)

    def deletions(self):
        """Pods whose deletion began while being watched, in order of time."""
        return sorted((one for one in self.pods() if one.deleting is not None), key=lambda one: one.deleting)

    def victims(self):
        """Pods marked as preempted or evicted, in order of time."""
        return sorted((one for one in self.pods() if one.disruption is not None), key=lambda one: one.disruption)

    def evictions(self):
        """Pods that went through the Eviction API."""
        return [one for one in self.victims() if one.disruption_reason == "EvictionByEvictionAPI"]

    def _catch_up(self):
        """Waits until the watch has brought all that a list shows now."""
        with self._lock:
            known = [uid for uid, one in self._pods.items() if one.gone is None]
        (listed,) = wait_for(self._list, 30, "a list of the pods")

        def has_seen_all():
            with self._lock:
                gone = {uid for uid, one in self._pods.items() if one.gone}
                seen = all(uid in gone or self._versions.get(uid, 0) >= version for uid, version in listed.items())
                return seen and all(uid in listed or uid in gone for uid in known)

        wait_for(has_seen_all, 30, "the recorder to catch up")

    def _list(self):
        """The versions of all pods by UID, in a tuple; None while the server does not answer."""
        try:
            return ({item["metadata"]["uid"]: _version(item) for item in self._client.list(self._path)},)
        except (ConnectionLost, ApiError):
            return None

    def _follow(self):
        version = None
        while not self._stopping.is_set():
            try:
                if version is None:
                    version = self._relist()
                version = self._read_watch(version)
            except ConnectionLost:
                self._stopping.wait(0.1)
            except ApiError as error:
                version = None if error.status == 410 else version
                self._stopping.wait(0.1)

    def _relist(self):
        items, version = self._client.list_with_version(self._path)
        first = not self._listed.is_set()
        now, alive = time.monotonic(), set()
        for item in items:
            alive.add(item["metadata"]["uid"])
            self._note(item, now, before=first)
        with self._lock:
            for uid, one in self._pods.items():
                if uid not in alive and one.gone is None:
                    one.gone = now
                    one.deleting = one.deleting or now
        self._listed.set()
        return version

    def _read_watch(self, version):
        """Reads until the watch ends. Returns the version to go on from; None when that one is too old."""
        self._watch = self._client.watch(self._path, resourceVersion=version)
        if self._stopping.is_set():
            self._watch.close()
        for event in self._watch:
            item, now = event["object"], time.monotonic()
            if event["type"] == "ERROR":
                return None
            version = item["metadata"]["resourceVersion"]
            if event["type"] == "BOOKMARK":
                continue
            self._note(item, now)
            if event["type"] == "DELETED":
                with self._lock:
                    one = self._pods[item["metadata"]["uid"]]
                    one.gone = now
                    one.deleting = one.deleting or now
        return version

    def _note(self, item, now, before=False):
        """Takes over what is new in this pod. before: it was so when the recorder began, so nothing happened."""
        meta, spec, status = item["metadata"], item["spec"], item.get("status", {})
        with self._lock:
            self._versions[meta["uid"]] = _version(item)
            one = self._pods.get(meta["uid"])
            if one is None:
                one = self._pods[meta["uid"]] = PodHistory(meta["namespace"], meta["name"], meta["uid"], now)
            if spec.get("nodeName") and one.node is None:
                one.node = spec["nodeName"]
                one.bound = None if before else now
            if status.get("phase") == "Running" and one.running is None:
                one.running = now
            if meta.get("deletionTimestamp"):
                one.deleting = one.deleting or now
                one.grace = meta.get("deletionGracePeriodSeconds") if one.grace is None else one.grace
            self._note_disruption(one, status, now)
            _note_change(one.nominations, status.get("nominatedNodeName"), now)
            _note_change(one.plans, meta.get("annotations", {}).get("reprieve.dev/plan"), now)

    @staticmethod
    def _note_disruption(one, status, now):
        for condition in status.get("conditions") or []:
            if condition["type"] == "DisruptionTarget" and condition["status"] == "True" and one.disruption is None:
                one.disruption, one.disruption_reason = now, condition.get("reason")


def _version(item):
    return int(item["metadata"]["resourceVersion"])


def _note_change(changes, value, now):
    if value != (changes[-1][1] if changes else None):
        changes.append((now, value))
