"""Gangs under `reprieve run`: all or nothing, and their objects say so."""

from harness.client import path_of
from harness.objects import condition
from harness.runcase import RunTestCase

VOLCANO_GROUPS = "scheduling.volcano.sh/v1beta1/podgroups"
VOLCANO_JOBS = "batch.volcano.sh/v1alpha1/jobs"
CORE_GROUPS = "scheduling.k8s.io/v1beta1/podgroups"


class VolcanoTest(RunTestCase):
    options = {"kwok": True, "audit": True, "crds": ["volcano-podgroup"]}

    def setUp(self):
        super().setUp()
        self.admin.delete(path_of(VOLCANO_GROUPS, namespace="default"))

    def gang(self, name, members, **spec):
        self.admin.post(
            path_of(VOLCANO_GROUPS, namespace="default"),
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": name},
                "spec": {"minMember": members, **spec},
            },
        )
        for index in range(members):
            self.member(name, index)

    def member(self, gang, index):
        self.ours(f"{gang}-{index}", cpu="3", annotations={"scheduling.k8s.io/group-name": gang})

    def status(self, name):
        return self.admin.get(path_of(VOLCANO_GROUPS, name, "default")).get("status", {})

    def test_a_gang_waits_as_one_and_runs_as_one(self):
        self.objects.nodes(1)
        self.start_reprieve()
        self.gang("pair", 2)
        self.wait_event("FailedScheduling", "pair-0")
        self.wait_event("FailedScheduling", "pair-1")
        self.wait_for(lambda: self.status("pair").get("phase") == "Inqueue", "the gang's phase")
        self.assertEqual([one["type"] for one in self.status("pair")["conditions"]], ["Unschedulable"])
        self.assertFalse(self.node_of("pair-0") or self.node_of("pair-1"), "half a gang is nothing")
        self.objects.nodes(1, prefix="more")
        self.wait_bound("pair-0", "pair-1")
        self.wait_for(lambda: self.status("pair").get("phase") == "Running", "the gang's phase")

    def test_a_gang_preempts_once_over_several_nodes(self):
        self.objects.priority_class("high", 1000)
        self.objects.nodes(3)
        for index in range(3):
            self.full_node(node=f"node-{index}", prefix=f"low{index}", stop_delay="500ms", grace=30)
        recorder = self.record()
        self.start_reprieve()
        self.gang("pair", 2, priorityClassName="high")
        self.wait_bound("pair-0", "pair-1")
        self.assertEqual(len(recorder.victims()), 6)
        self.assertEqual({one.node for one in recorder.victims()}, {self.node_of("pair-0"), self.node_of("pair-1")})
        self.wait_for(lambda: self.status("pair").get("phase") == "Running", "the gang's phase")
        self.wait_clean()


class VolcanoJobTest(RunTestCase):
    """Volcano's controller makes the pods of a job when the job's group has left Pending; the tests take its part."""

    options = {"kwok": True, "audit": True, "crds": ["volcano-podgroup", "volcano-queue", "volcano-job"]}

    def setUp(self):
        super().setUp()
        for kind in (VOLCANO_GROUPS, VOLCANO_JOBS):
            self.admin.delete(path_of(kind, namespace="default"))

    def job(self, name, scheduler):
        """A job, and the group that the controller makes for it."""
        task = {"name": "work", "replicas": 2, "template": {"spec": {"containers": [{"name": "main"}]}}}
        job = self.admin.post(
            path_of(VOLCANO_JOBS, namespace="default"),
            {
                "apiVersion": "batch.volcano.sh/v1alpha1",
                "kind": "Job",
                "metadata": {"name": name},
                "spec": {"schedulerName": scheduler, "minAvailable": 2, "tasks": [task]},
            },
        )
        owner = {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "name": name,
            "uid": job["metadata"]["uid"],
            "controller": True,
        }
        self.admin.post(
            path_of(VOLCANO_GROUPS, namespace="default"),
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": name, "ownerReferences": [owner]},
                "spec": {"minMember": 2, "queue": "default"},
            },
        )
        path = path_of(VOLCANO_GROUPS, name, "default", "status")
        self.admin.patch(path, {"status": {"phase": "Pending"}})

    def queue(self, state):
        path = path_of("scheduling.volcano.sh/v1beta1/queues")
        if not self.admin.find(f"{path}/default"):
            queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "default"}}
            self.admin.post(path, {**queue, "spec": {"weight": 1}})
        self.admin.patch(f"{path}/default/status", {"status": {"state": state}})

    def phase(self, name):
        return self.admin.get(path_of(VOLCANO_GROUPS, name, "default")).get("status", {}).get("phase")

    def wait_phase(self, name, phase):
        self.wait_for(lambda: self.phase(name) == phase, f"{name} to be {phase}")

    def test_the_group_of_a_job_that_names_us_leaves_pending(self):
        self.objects.nodes(1)
        self.queue("Open")
        self.job("theirs", "volcano")
        self.job("early", "reprieve")
        self.start_reprieve()
        self.wait_phase("early", "Inqueue")
        self.job("late", "reprieve")
        self.wait_phase("late", "Inqueue")
        self.assertEqual(self.phase("theirs"), "Pending")
        for index in range(2):
            self.ours(f"early-{index}", cpu="1", annotations={"scheduling.k8s.io/group-name": "early"})
        self.wait_bound("early-0", "early-1")
        self.wait_phase("early", "Running")

    def test_a_closed_queue_lets_nobody_in(self):
        self.objects.nodes(1)
        self.queue("Closed")
        self.job("job", "reprieve")
        self.start_reprieve()
        self.ours("alone", cpu="1")
        self.wait_event("FailedScheduling", "alone")  # for the same reason: a plan was made and told of
        self.assertEqual(self.phase("job"), "Pending")
        self.queue("Open")
        self.wait_phase("job", "Inqueue")


class CoreGangTest(RunTestCase):
    options = {"kwok": True, "audit": True, "core_gangs": True}

    def test_a_core_gang_runs_as_one(self):
        self.objects.nodes(1)
        self.start_reprieve()
        self.admin.post(
            path_of(CORE_GROUPS, namespace="default"),
            {
                "apiVersion": "scheduling.k8s.io/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": "pair"},
                "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
            },
        )
        for index in range(2):
            self.ours(f"pair-{index}", cpu="3", spec={"schedulingGroup": {"podGroupName": "pair"}})
        self.wait_event("FailedScheduling", "pair-0")
        self.assertFalse(self.node_of("pair-0") or self.node_of("pair-1"))

        def told():
            group = self.admin.get(path_of(CORE_GROUPS, "pair", "default"))
            return condition(group, "PodGroupInitiallyScheduled").get("status")

        self.wait_for(lambda: told() == "False", "the group to be told that it waits")
        self.objects.nodes(1, prefix="more")
        self.wait_bound("pair-0", "pair-1")
        self.wait_for(lambda: told() == "True", "the group to be told that it runs")
