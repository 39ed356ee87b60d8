"""Queues under `reprieve run`: brought to their shares by weight, and shares reclaimed from each other."""

import json

from harness.client import path_of
from harness.runcase import RunTestCase

QUEUES = "scheduling.volcano.sh/v1beta1/queues"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
ALLOCATED, STATUS, REQUEST = "reprieve.dev/allocated", "reprieve.dev/queue-status", "reprieve.dev/request"
BALANCE = "apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\nactions: [{name: queueBalance}]\n"
QUOTAS = BALANCE.replace("queueBalance", "queueBalance, args: {resourceQuota: true}")
RECLAIM = "apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\nactions: [{name: allocate}, {name: gangReclaim}]\n"
GI = 2**30


class QueueTest(RunTestCase):
    options = {"kwok": True, "audit": True, "crds": ["volcano-queue"]}

    def setUp(self):
        super().setUp()
        self.admin.delete(path_of(QUEUES))

    def queue(self, name, weight, request=None):
        notes = {REQUEST: json.dumps(request)} if request else {}
        self.admin.post(
            path_of(QUEUES),
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "Queue",
                "metadata": {"name": name, "annotations": notes},
                "spec": {"weight": weight},
            },
        )

    def member(self, name, queue, cpu, **options):
        notes = {QUEUE_NAME: queue, **options.pop("annotations", {})}
        return self.ours(name, cpu=cpu, annotations=notes, **options)

    def status(self, queue):
        """What is written on the queue: its grant and its status, or nothing."""
        notes = self.admin.get(path_of(QUEUES, queue))["metadata"].get("annotations", {})
        if ALLOCATED not in notes or STATUS not in notes:
            return {}
        found = json.loads(notes[STATUS])
        self.assertEqual(json.loads(notes[ALLOCATED]), found["allocated"])
        return found

    def wait_granted(self, queue, cpu, memory, preempting):
        def granted():
            told = self.status(queue)
            return told and (told["allocated"]["cpu"], told["allocated"]["memory"], told["preempting"]["cpu"])

        want = (f"{cpu * 1000}m", str(memory * GI), f"{preempting * 1000}m")
        self.wait_for(lambda: granted() == want, f"queue {queue} to be granted {want}")

    def wait_status(self, queue, **shares):
        """Waits until all that is told about a queue is this: CPUs and gigabytes of each share."""
        want = {share: {"cpu": f"{cpu * 1000}m", "memory": str(memory * GI)} for share, (cpu, memory) in shares.items()}
        self.wait_for(lambda: self.status(queue) == want, f"queue {queue} to say {want}")

    def end(self, name):
        self.objects.delete_pod(name, grace=0)
        self.wait_gone(name)


class BalanceTest(QueueTest):
    plenty = {"cpu": "1000", "memory": "1000Gi"}

    def fill(self):
        """9 CPUs shared 2 to 4; pods that are asked to stop take their time."""
        self.objects.nodes(1, cpu="9", memory="27Gi")
        self.queue("queue-1", 2, self.plenty)
        self.queue("queue-2", 4, self.plenty)
        for queue, sizes in (("queue-1", {2: "2", 3: "1"}), ("queue-2", {1: "2", 2: "2", 3: "1"})):
            for number, cpu in sizes.items():
                rank = {"preemptionrank": "-1"} if number == 3 else {}
                self.member(
                    f"{queue}-pod-{number}", queue, cpu, memory="1Gi", node="node-0", stop_delay="1h", annotations=rank
                )
        self.wait_running("queue-1-pod-2", "queue-1-pod-3", *(f"queue-2-pod-{i}" for i in (1, 2, 3)))

    def test_a_third_queue_gets_its_share_as_pods_end_across_a_kill(self):
        self.fill()
        recorder = self.record()
        first = self.start_reprieve(config=BALANCE)
        self.wait_granted("queue-1", 3, 9, 0)
        self.wait_granted("queue-2", 6, 18, 0)
        self.queue("queue-3", 3, self.plenty)
        self.wait_granted("queue-3", 1, 9, 2)
        self.wait_granted("queue-1", 2, 6, 0)
        self.wait_granted("queue-2", 4, 12, 0)
        self.assertEqual(self.status("queue-1")["used"]["cpu"], "3000m")
        self.end("queue-2-pod-3")
        self.wait_granted("queue-3", 2, 9, 1)
        first.process.kill()
        self.start_reprieve(config=BALANCE)
        self.end("queue-1-pod-3")
        self.wait_granted("queue-3", 3, 9, 0)
        self.wait_status("queue-1", deserved=(2, 6), allocated=(2, 6), used=(2, 1), preempting=(0, 0))
        self.wait_status("queue-2", deserved=(4, 12), allocated=(4, 12), used=(4, 2), preempting=(0, 0))
        self.wait_status("queue-3", deserved=(3, 9), allocated=(3, 9), used=(0, 0), preempting=(0, 0))
        stopped = {one.name for one in recorder.deletions()}
        self.assertEqual(stopped, {"queue-1-pod-3", "queue-2-pod-3"}, "a new process stops nobody else")

    def test_a_grant_is_a_quota_of_the_namespace_of_its_queue(self):
        self.objects.nodes(1, cpu="4", memory="8Gi")
        self.admin.post(path_of("namespaces"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        self.queue("team", 1, self.plenty)
        self.start_reprieve(config=QUOTAS)

        def hard():
            found = self.admin.find(path_of("resourcequotas", "reprieve", "team"))
            return found and found["spec"]["hard"]

        whole = {"requests.cpu": "4", "requests.memory": str(8 * GI)}
        self.wait_for(lambda: hard() == whole, "the namespace to have all of the cluster")
        self.queue("nowhere", 1, self.plenty)
        half = {"requests.cpu": "2", "requests.memory": str(4 * GI)}
        self.wait_for(lambda: hard() == half, "the namespace to share with a queue that has none")

    def test_queues_that_ask_for_nothing_special_are_left_alone(self):
        self.objects.nodes(1, cpu="4")
        self.queue("a", 1)
        self.queue("b", 3)
        for index in range(4):
            self.member(f"a-{index}", "a", "1", node="node-0")
        self.wait_running(*(f"a-{index}" for index in range(4)))
        self.start_reprieve()
        self.member("b-0", "b", "5")
        self.wait_event("FailedScheduling", "b-0")
        self.assertEqual(self.status("a"), {})
        self.assertEqual([one for one in self.calls() if one[1] == "queues"], [])


class ReclaimTest(QueueTest):
    def test_a_queue_below_its_share_reclaims_from_one_above(self):
        self.objects.nodes(1, cpu="4")
        self.queue("a", 1)
        self.queue("b", 1)
        for index in range(4):
            self.member(f"a-{index}", "a", "1", node="node-0", stop_delay="500ms", grace=30)
        self.wait_running(*(f"a-{index}" for index in range(4)))
        recorder = self.record()
        self.start_reprieve(config=RECLAIM)
        self.member("b-0", "b", "1")
        self.wait_bound("b-0")
        self.assertEqual(len(recorder.victims()), 1)
        self.assertTrue(recorder.victims()[0].name.startswith("a-"))
        self.wait_clean()
