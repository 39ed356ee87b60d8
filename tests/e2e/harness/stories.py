"""The base of tests that tell a story: pods of four priorities, faults in between, and what must hold at the end."""

from .client import ApiError, path_of
from .deploy import CONFIG
from .objects import condition
from .runcase import LEASE, PLAN, RunTestCase
from .waiting import NotInTime

CLASSES = {"low": 100, "mid": 500, "high": 1000, "top": 10000}


class StoryTestCase(RunTestCase):
    """Every test starts without nodes, pods and leader, with the classes above and the configuration of deploy/base."""

    options = {"controllers": True, "kwok": True, "audit": True}

    def setUp(self):
        super().setUp()
        for name, value in CLASSES.items():
            self.objects.priority_class(name, value)
        self._calls_before = len(self.cluster.audit_entries(user="reprieve"))

    def start_reprieve(self, *flags, **options):
        return super().start_reprieve(*flags, **{"config": CONFIG.read_text(), **options})

    def crash(self, replica):
        """kill -9. Its lease is taken away with it: what tests wait for is what it left undone, not the lease's end."""
        replica.process.kill()
        if self.admin.find(LEASE):
            self.admin.delete(LEASE)

    # --- objects

    def waiting(self, name, priority_class, cpu, **options):
        """A pod for Reprieve to place."""
        return self.objects.pod(
            name, **{"scheduler": "reprieve", "priority_class": priority_class, "cpu": cpu, "grace": 30, **options}
        )

    def running(self, name, priority_class, cpu, node="node-0", **options):
        """A pod of Reprieve's that has its place already."""
        return self.waiting(name, priority_class, cpu, node=node, **options)

    def let_go(self, name, namespace="default"):
        """Lets a pod that was told to take long for stopping stop now."""
        note = {"metadata": {"annotations": {"e2e.reprieve.dev/stop-delay": "0s"}}}
        self.admin.patch(path_of("pods", name, namespace), note)

    def remind_kubelets(self):
        """The kubelet stand-in forgets a pod that it was about to remove when the API server went; a change of the pod
        reminds it."""
        for item in self.objects.list_pods():
            meta = item["metadata"]
            if "deletionTimestamp" not in meta:
                continue
            note = {"metadata": {"annotations": {"e2e.reprieve.dev/reminder": "stop"}}}
            try:
                self.admin.patch(path_of("pods", meta["name"], meta["namespace"]), note)
            except ApiError as error:
                if error.status != 404:  # it had not forgotten this one
                    raise

    # --- conditions

    def node_of(self, name, namespace="default"):
        found = self.objects.get_pod(name, namespace)
        return found and found["spec"].get("nodeName")

    def wait_bound(self, *names, node=None, deadline=60, namespace="default"):
        def all_bound():
            nodes = [self.node_of(name, namespace) for name in names]
            return all(one == node if node else one for one in nodes)

        self.wait_for(all_bound, f"{', '.join(names)} bound{f' to {node}' if node else ''}", deadline)

    def nominated(self, name):
        found = self.objects.get_pod(name)
        return found and found["status"].get("nominatedNodeName")

    def wait_nominated(self, name, node, deadline=60):
        self.wait_for(lambda: self.nominated(name) == node, f"{name} nominated to {node}", deadline)

    def wait_told(self, name):
        """Waits until a pod says why it is not placed."""

        def told():
            return condition(self.objects.get_pod(name), "PodScheduled").get("reason") == "Unschedulable"

        self.wait_for(told, f"{name} to be told why it waits")

    def is_leaving(self, name, namespace="default"):
        found = self.objects.get_pod(name, namespace)
        return found is None or "deletionTimestamp" in found["metadata"]

    def wait_leaving(self, *names, deadline=60):
        self.wait_for(lambda: all(map(self.is_leaving, names)), f"{', '.join(names)} evicted", deadline)

    def wait_cycle(self, name="witness", node_name="node-witness"):
        """Waits until all that happened so far has been seen and decided about: a pod that came later is bound."""
        self.objects.nodes(1, prefix=node_name, cpu="1", labels={"witness": name})
        self.waiting(name, "low", "1", spec={"nodeSelector": {"witness": name}})
        self.wait_bound(name, deadline=60)

    def leaks(self):
        """What must not be left when nothing is under way: plans and nominations, marks on pods that stay."""
        found = []
        for item in self.objects.list_pods():
            meta, status = item["metadata"], item.get("status", {})
            if PLAN in meta.get("annotations", {}):
                found.append(f"{meta['name']}: plan {meta['annotations'][PLAN]}")
            if status.get("nominatedNodeName"):
                found.append(f"{meta['name']}: nominated to {status['nominatedNodeName']}")
            marks = [one for one in status.get("conditions") or [] if one["type"] == "DisruptionTarget"]
            if marks and "deletionTimestamp" not in meta:
                found.append(f"{meta['name']}: marked and staying")
        return found

    def wait_clean(self, deadline=60):
        """Waits until nothing is left over."""
        try:
            self.wait_for(lambda: not self.leaks(), "no plan, nomination or mark left", deadline)
        except NotInTime as error:
            raise AssertionError(f"left over: {self.leaks()}\n{error}") from None

    # --- what Reprieve did, from the API server's audit log

    def successes(self):
        """Its successful changing calls in this test: (verb, resource/subresource, ns/name)."""
        made = []
        for entry in self.cluster.audit_entries(user="reprieve")[self._calls_before :]:
            target = entry["objectRef"]
            resource = "/".join(filter(None, (target["resource"], target.get("subresource"))))
            if entry["responseStatus"]["code"] < 300:
                made.append((entry["verb"], resource, f"{target.get('namespace')}/{target.get('name')}"))
        return made

    def evicted(self):
        """Every successful delete or eviction, in order, by bare name; a name twice was evicted twice."""
        wanted = {("delete", "pods"), ("create", "pods/eviction")}
        return [target.split("/")[1] for verb, resource, target in self.successes() if (verb, resource) in wanted]

    def assert_evicted(self, *names):
        """These and no others, each once. The audit log is written a moment after the call was answered."""
        self.wait_for(lambda: len(self.evicted()) >= len(names), f"{len(names)} evictions in the audit log", 30)
        self.assertEqual(sorted(self.evicted()), sorted(names))

    def assert_evictions(self, count, why=None):
        """So many, each of another pod; the log as above."""
        self.wait_for(lambda: len(self.evicted()) >= count, f"{count} evictions in the audit log", 30)
        self.assertEqual(len(self.evicted()), count, why)
        self.assertEqual(len(set(self.evicted())), count, why)

    def forbidden_calls(self):
        """Calls that Reprieve was refused for want of a right."""
        entries = self.cluster.audit_entries(user="reprieve")[self._calls_before :]
        return [entry["requestURI"] for entry in entries if entry["responseStatus"]["code"] == 403]
