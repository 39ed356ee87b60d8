"""Making the objects of a test: short calls, many objects at once.

The functions of this module build objects and touch no server; Objects creates them.
"""

import concurrent.futures
import functools

from .client import ApiError, ConnectionLost, path_of
from .waiting import wait_for

START_DELAY = "e2e.reprieve.dev/start-delay"  # see kwok/stages.yaml
STOP_DELAY = "e2e.reprieve.dev/stop-delay"


def node(name, cpu="4", memory="32Gi", pods=110, gpus=0, labels=None, annotations=None, extra=None):
    """A node that is Ready from the start; a kubelet stand-in keeps it so."""
    capacity = {"cpu": cpu, "memory": memory, "pods": str(pods), **(extra or {})}
    if gpus:
        capacity["nvidia.com/gpu"] = str(gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
            "annotations": annotations or {},
        },
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def pod(
    name,
    cpu=None,
    memory=None,
    gpus=0,
    node=None,
    priority_class=None,
    grace=None,
    scheduler=None,
    labels=None,
    annotations=None,
    finalizers=None,
    start_delay=None,
    stop_delay=None,
    requests=None,
    namespace="default",
    spec=None,
):
    """A pod of one container. node binds it from the start; spec is merged into the pod's spec."""
    wanted = {"cpu": cpu, "memory": memory, "nvidia.com/gpu": str(gpus) if gpus else None, **(requests or {})}
    wanted = {resource: amount for resource, amount in wanted.items() if amount is not None}
    container = {"name": "main", "image": "none", "resources": {"requests": wanted}}
    limits = {resource: amount for resource, amount in wanted.items() if "/" in resource}
    if limits:
        container["resources"]["limits"] = limits  # extended resources need them
    notes = {START_DELAY: start_delay, STOP_DELAY: stop_delay, **(annotations or {})}
    body = {
        "containers": [container],
        "nodeName": node,
        "priorityClassName": priority_class,
        "schedulerName": scheduler,
        "terminationGracePeriodSeconds": grace,
        **(spec or {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels or {},
            "annotations": {key: value for key, value in notes.items() if value is not None},
            "finalizers": finalizers or [],
        },
        "spec": {key: value for key, value in body.items() if value is not None},
    }


def condition(item, kind):
    """The status condition of that type, or an empty one."""
    found = (one for one in item.get("status", {}).get("conditions") or [] if one["type"] == kind)
    return next(found, {})


def is_bound(item):
    return bool(item["spec"].get("nodeName"))


class Objects:
    """Creates and reads objects of one cluster as one user."""

    def __init__(self, client, workers=8):
        self._client = client
        self._workers = workers

    def in_parallel(self, call, items):
        """call(item) for every item, several at a time; results in order, the first failure raised."""
        with concurrent.futures.ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(call, items))

    def create(self, resource, item):
        namespace = item["metadata"].get("namespace")
        return self._client.post(path_of(resource, namespace=namespace), item)

    def create_all(self, resource, items):
        """Creates all and returns them as the server stored them."""
        return self.in_parallel(functools.partial(self.create, resource), items)

    def nodes(self, count, prefix="node", labels=None, **options):
        """Nodes PREFIX-0 to PREFIX-(count-1). labels may be a function of the index."""
        chosen = labels if callable(labels) else lambda _: labels
        return self.create_all("nodes", [node(f"{prefix}-{i}", labels=chosen(i), **options) for i in range(count)])

    def pods(self, count, prefix="pod", on=None, **options):
        """Pods PREFIX-0 and on. on may be a function from the index to the node's name."""
        place = on if callable(on) else lambda _: on
        return self.create_all("pods", [pod(f"{prefix}-{i}", node=place(i), **options) for i in range(count)])

    def pod(self, name, **options):
        return self.create("pods", pod(name, **options))

    def priority_class(self, name, value, policy=None):
        """A class that pods can name: the API server learns of it a moment after it was made."""
        made = self.create(
            "priorityclasses",
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                **({"preemptionPolicy": policy} if policy else {}),
            },
        )
        wait_for(lambda: self._priority_given(name) == value, 20, f"the API server to know class {name}")
        return made

    def _priority_given(self, name):
        """The priority that a pod of this class would get now; None for a class that is not known yet."""
        trial = pod(f"of-class-{name}", priority_class=name)
        try:
            return self._client.post(path_of("pods", namespace="default"), trial, dryRun="All")["spec"]["priority"]
        except ApiError as error:
            if error.status == 403:
                return None
            raise

    def budget(self, name, labels, min_available=None, max_unavailable=None, namespace="default"):
        """A PodDisruptionBudget over the pods with these labels."""
        limit = {"minAvailable": min_available, "maxUnavailable": max_unavailable}
        return self.create(
            "poddisruptionbudgets",
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": namespace},
                "spec": {
                    "selector": {"matchLabels": labels},
                    **{key: value for key, value in limit.items() if value is not None},
                },
            },
        )

    def deployment(self, name, replicas, labels=None, annotations=None, namespace="default", **options):
        """A Deployment whose pods are made of the options of pod()."""
        selector = {"app": name}
        template = pod(name, namespace=namespace, labels={**selector, **(labels or {})}, **options)
        meta = {key: template["metadata"][key] for key in ("labels", "annotations")}
        return self.create(
            "deployments",
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {
                    "name": name,
                    "namespace": namespace,
                    "labels": labels or {},
                    "annotations": annotations or {},
                },
                "spec": {
                    "replicas": replicas,
                    "selector": {"matchLabels": selector},
                    "template": {"metadata": meta, "spec": template["spec"]},
                },
            },
        )

    def list_pods(self, namespace=None, **query):
        return self._client.list(path_of("pods", namespace=namespace), **query)

    def get_pod(self, name, namespace="default"):
        """The pod, or None."""
        return self._client.find(path_of("pods", name, namespace))

    def delete_pod(self, name, namespace="default", grace=None):
        options = {} if grace is None else {"gracePeriodSeconds": grace}
        return self._client.delete(
            path_of("pods", name, namespace), {"kind": "DeleteOptions", "apiVersion": "v1", **options}
        )

    def evict_pod(self, name, namespace="default"):
        """Asks the Eviction API; False if a budget forbids it."""
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
        try:
            self._client.post(path_of("pods", name, namespace, "eviction"), eviction)
        except ApiError as error:
            if error.status == 429:
                return False
            raise
        return True

    def clear(self):
        """Removes what tests make, owners before what they own, at once and without grace."""
        for resource in ("deployments", "statefulsets", "daemonsets", "jobs", "replicasets", "poddisruptionbudgets"):
            for namespace in {item["metadata"]["namespace"] for item in self._client.list(path_of(resource))}:
                self._client.delete(path_of(resource, namespace=namespace), propagationPolicy="Background")
        for item in self.list_pods():
            if item["metadata"].get("finalizers"):
                self.remove_finalizers(item["metadata"]["name"], item["metadata"]["namespace"])
        wait_for(self._no_pods, 60, "all pods gone", detail=lambda: f"still there: {self._names_of_pods()}")
        self._client.delete(path_of("nodes"))
        for item in self._client.list(path_of("priorityclasses")):
            if not item["metadata"]["name"].startswith("system-"):
                self._client.delete(path_of("priorityclasses", item["metadata"]["name"]))

    def _names_of_pods(self):
        return sorted(f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in self.list_pods())

    def _no_pods(self):
        try:
            for namespace in {item["metadata"]["namespace"] for item in self.list_pods()}:
                self._client.delete(path_of("pods", namespace=namespace), gracePeriodSeconds=0)
            return not self.list_pods()
        except (ConnectionLost, ApiError):  # a busy server takes longer over thousands of pods than it keeps a request open
            return False

    def remove_finalizers(self, name, namespace="default"):
        return self._client.patch(path_of("pods", name, namespace), {"metadata": {"finalizers": None}})

    def all_bound(self, pods):
        """Whether these pods (as created) all have a node now."""
        wanted = {item["metadata"]["uid"] for item in pods}
        return wanted <= {item["metadata"]["uid"] for item in self.list_pods() if is_bound(item)}
