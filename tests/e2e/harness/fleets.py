"""The base of tests about serving deployments: real Deployments and ReplicaSets, replicas on nodes of the test's choice."""

from .client import path_of
from .deploy import shipped
from .manifests import apply_document
from .objects import is_bound, node
from .stories import StoryTestCase

SERVINGS = "reprieve.dev/v1/servingdeployments"
SERVING, PLANE = "reprieve.dev/serving", "reprieve.dev/plane"
CLAIM, COST = "reprieve.dev/claimed-by", "controller.kubernetes.io/pod-deletion-cost"
DESIRED = "reprieve.dev/desired-replicas"


def name_of(item):
    return item["metadata"]["name"]


def is_leaving(item):
    return "deletionTimestamp" in item["metadata"]


class FleetTestCase(StoryTestCase):
    """Services in planes. Nothing binds replicas until start_scheduler() is called: before that, lay_out() does."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for document in shipped(("CustomResourceDefinition",)):
            apply_document(cls.admin, document)

    def setUp(self):
        self.admin.delete(path_of(SERVINGS, namespace="default"))
        super().setUp()
        self.objects.priority_class("replica", 0, policy="Never")

    # --- objects

    def plane(self, plane, **gpus):
        """Nodes of a plane, by name, with so many GPUs."""
        for name, count in gpus.items():
            self.objects.create("nodes", node(name, labels={PLANE: plane}, gpus=count))

    def serving(self, name, priority, replicas, gpus, **scores):
        """A service that wants so many replicas of so many GPUs in all; scores: what it thinks of the planes it may use."""
        planes = [{"name": plane, "score": score} for plane, score in scores.items()]
        spec = {"priority": priority, "replicas": replicas, "resources": {"nvidia.com/gpu": str(gpus)}, "planes": planes}
        meta = {"name": name, "namespace": "default"}
        self.objects.create(
            SERVINGS, {"apiVersion": "reprieve.dev/v1", "kind": "ServingDeployment", "metadata": meta, "spec": spec}
        )

    def want(self, name, replicas, namespace="default"):
        self.admin.patch(path_of(SERVINGS, name, namespace), {"spec": {"replicas": replicas}})

    def branch(self, name, plane, nodes, gpus, **options):
        """The Deployment of a service in a plane, with one running replica for each of these nodes."""
        labels = {SERVING: name, PLANE: plane}
        self.deployment(f"{name}-{plane}", nodes, gpus, labels=labels, selector={PLANE: plane}, **options)

    def deployment(self, name, nodes, gpus, selector=None, **options):
        """A Deployment with one running replica for each of these nodes."""
        options = {"grace": 300, "priority_class": "replica", "spec": {"nodeSelector": selector or {}}, **options}
        self.objects.deployment(name, len(nodes), gpus=gpus, **options)
        if nodes:
            self.lay_out(name, nodes)

    def lay_out(self, name, nodes):
        """Binds the pods of a Deployment, one to each node."""
        pods = self.wait_for(
            lambda: (found := self.replicas(name)) and len(found) == len(nodes) and found, f"the replicas of {name}"
        )
        for pod, place in zip(sorted(map(name_of, pods)), nodes):
            target = {"apiVersion": "v1", "kind": "Node", "name": place}
            self.admin.post(
                path_of("pods", pod, "default", "binding"), {"metadata": {"name": pod}, "target": target}
            )
        self.wait_running(*map(name_of, pods))

    # --- what there is

    def replicas(self, deployment, namespace="default"):
        """Its pods that are not leaving."""
        found = self.objects.list_pods(namespace, labelSelector=f"app={deployment}")
        return [one for one in found if not is_leaving(one)]

    def on(self, place):
        """The names of the replicas on a node, leaving or not."""
        found = self.objects.list_pods("default")
        return sorted(name_of(one) for one in found if one["spec"].get("nodeName") == place)

    def running_on(self, deployment, namespace="default"):
        """The nodes of its replicas that run, one entry for each."""
        return sorted(
            one["spec"]["nodeName"]
            for one in self.replicas(deployment, namespace)
            if is_bound(one) and one["status"]["phase"] == "Running"
        )

    def wait_running_on(self, deployment, *nodes, namespace="default", deadline=90):
        def all_there():
            return self.running_on(deployment, namespace) == sorted(nodes)

        self.wait_for(all_there, f"{deployment} on {', '.join(nodes)}", deadline)

    def marks(self):
        """Claims and hints that stand on pods."""
        return [
            f"{name_of(one)}: {key}={value}"
            for one in self.objects.list_pods("default")
            for key, value in one["metadata"].get("annotations", {}).items()
            if key in (CLAIM, COST)
        ]

    def wait_unmarked(self):
        self.wait_for(lambda: not self.marks(), "no claim or hint left over")

    # --- what Reprieve did, from the API server's audit log

    def _made(self, verb, resource, subresource=""):
        entries = self.cluster.audit_entries(user="reprieve")[self._calls_before :]
        return [
            one
            for one in entries
            if (one["verb"], one["objectRef"]["resource"], one["objectRef"].get("subresource", ""))
            == (verb, resource, subresource)
            and one["responseStatus"]["code"] < 300
        ]

    def scales(self):
        """Every change of a number of replicas, in order: (Deployment, from, to)."""
        found = []
        for entry in self._made("patch", "deployments", "scale"):
            steps = {step["op"]: step for step in entry["requestObject"]}
            before = steps["test"]["value"]
            found.append((entry["objectRef"]["name"], 0 if before == {} else before, steps["add"]["value"]))
        return found

    def forced(self):
        """Every deletion, in order: (pod, grace)."""
        return [
            (one["objectRef"]["name"], one["requestObject"]["gracePeriodSeconds"]) for one in self._made("delete", "pods")
        ]

    def marked(self):
        """The pods that were annotated, in order, each as often as it was."""
        return [one["objectRef"]["name"] for one in self._made("patch", "pods")]
