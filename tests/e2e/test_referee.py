"""The referee beside the stock scheduler: verdicts that are known beforehand, because the worlds are small."""

import json
import unittest
import urllib.request

from harness.client import path_of
from harness.ports import free_port
from harness.reprieve import reprieve_program
from harness.testcase import ClusterTestCase

CLASSES = {"lower": 50, "low": 100, "high": 1000}
GROUPS = "scheduling.k8s.io/v1beta1/podgroups"
AVOIDED = {"key": "story", "value": "avoided", "effect": "PreferNoSchedule"}


def answers(address):
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return None


class RefereeTest(ClusterTestCase):
    options = {"controllers": True, "kwok": True, "core_gangs": True}

    def setUp(self):
        super().setUp()
        for name, value in CLASSES.items():
            self.objects.priority_class(name, value)
        self.start_scheduler()
        address = f"127.0.0.1:{free_port()}"
        arguments = [reprieve_program(), "referee", "--kubeconfig", self.cluster.kubeconfig("admin"), "--ui", address]
        self.referee = self.cluster.launch(f"referee-{self.id().rsplit('.', 1)[1]}", [*arguments, "-o", "json"])
        self.addCleanup(self.referee.kill)
        self.wait_for(lambda: answers(f"http://{address}/readyz"), "the referee to be ready")
        self.metrics = f"http://{address}/metrics"

    def nodes(self, count, name, cpu, story=None, avoided=False):
        """Nodes NAME-0 and on, for the pods of one story. Avoided: any other node that has room is preferred."""
        self.objects.nodes(count, prefix=name, cpu=str(cpu), labels={"story": story or name})
        if avoided:
            for index in range(count):
                self.admin.patch(path_of("nodes", f"{name}-{index}"), {"spec": {"taints": [AVOIDED]}})

    def low(self, name, cpu, node, **options):
        self.objects.pod(name, **{"priority_class": "low", "cpu": str(cpu), "node": node, "grace": 1, **options})
        self.wait_running(name)

    def high(self, name, cpu, story, group=None):
        spec = {"nodeSelector": {"story": story}}
        if group:
            spec["schedulingGroup"] = {"podGroupName": group}
        self.objects.pod(name, priority_class="high", cpu=str(cpu), spec=spec)

    def gang(self, name, members, cpu, story):
        group = {"schedulingPolicy": {"gang": {"minCount": members}}, "priorityClassName": "high"}
        self.admin.post(
            path_of(GROUPS, namespace="default"),
            {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": name}, "spec": group},
        )
        for index in range(members):
            self.high(f"{name}-{index}", cpu, story, name)
        self.wait_running(*(f"{name}-{index}" for index in range(members)))

    def verdicts(self):
        self.referee.send(2)
        self.referee.wait(30)
        text = self.referee.log.read_text(errors="replace")
        report = json.loads(text[text.index("{\n"):])
        return {one["for"]: one for one in report["verdicts"]}, self.referee.exit_code, report

    def test_verdicts_that_are_known_beforehand(self):
        # One victim, and nothing else would do.
        self.nodes(1, "fair", 4)
        self.low("fair", 4, "fair-0")
        self.high("wants-fair", 4, "fair")
        self.wait_running("wants-fair")

        # It spares the oldest first: the large pod stays and three small ones go. The large one alone would do.
        self.nodes(1, "greedy", 6)
        self.low("large", 3, "greedy-0")
        for index in range(3):
            self.low(f"small-{index}", 1, "greedy-0")
        self.high("wants-greedy", 3, "greedy")
        self.wait_running("wants-greedy")

        # Room is about to be free on another node: whoever waits a moment evicts nobody. The pod that goes is of the
        # lower priority, or kube-scheduler might wait for the one that leaves: of equals it takes the later start.
        self.nodes(1, "leaving", 4, "room")
        self.nodes(1, "taken", 4, "room")
        self.low("going", 4, "leaving-0", stop_delay="20s", grace=60)
        self.low("stays", 4, "taken-0", priority_class="lower")
        self.admin.delete(path_of("pods", "going", "default"))
        self.wait_for(lambda: self.objects.get_pod("going")["metadata"].get("deletionTimestamp"), "going leaving")
        self.high("wants-room", 4, "room")
        self.wait_running("wants-room")

        # A group is placed as if nobody ran, on the nodes it likes best: one of its two victims could have stayed.
        self.nodes(1, "free", 4, "many", avoided=True)
        self.nodes(2, "full", 4, "many")
        self.low("many-0", 4, "full-0")
        self.low("many-1", 4, "full-1")
        self.gang("wants-many", 2, 4, "many")

        # The same, where those it likes best are protected and others are not.
        self.nodes(2, "open", 4, "budget", avoided=True)
        self.nodes(2, "guarded", 4, "budget")
        self.objects.budget("guard", {"app": "guarded"}, min_available=2)
        for index in range(2):
            self.low(f"open-{index}", 4, f"open-{index}")
            self.low(f"guarded-{index}", 4, f"guarded-{index}", labels={"app": "guarded"})
        self.gang("wants-budget", 2, 4, "budget")

        # Each is judged once its victims have stopped coming; the sums are served meanwhile.
        lost = 'reprieve_referee_pods_lost_total{scheduler="default-scheduler"} 9\n'
        self.wait_for(lambda: lost in answers(self.metrics), "all to be judged")

        found, code, report = self.verdicts()
        said = {name.removeprefix("default/wants-"): one["verdict"] for name, one in found.items()}
        self.assertEqual(
            said,
            {
                "fair": "fair",
                "greedy": "not cheapest",
                "room": "needless",
                "many": "too many",
                "budget": "unlawful",
            },
            report,
        )
        greedy = found["default/wants-greedy"]
        self.assertEqual(greedy["victims"], ["default/small-0", "default/small-1", "default/small-2"])
        self.assertEqual(greedy["cheaper"]["victims"], ["default/large"])
        self.assertEqual(greedy["cheaper"]["status"], "optimal")
        self.assertEqual(found["default/wants-room"]["victims"], ["default/stays"])
        many = found["default/wants-many"]
        self.assertEqual(many["victims"], ["default/many-0", "default/many-1"])
        self.assertEqual(len(many["couldHaveStayed"]), 1)
        budget = found["default/wants-budget"]
        self.assertEqual(budget["victims"], ["default/guarded-0", "default/guarded-1"])
        self.assertEqual(budget["cheaper"]["victims"], ["default/open-0", "default/open-1"])
        self.assertEqual({one["confidence"] for one in found.values()}, {"named"}, report)
        # fair 1, greedy 1, room 0, many 1, budget 2.
        self.assertEqual((report["totals"]["podsLost"], report["totals"]["leastPods"]), (9, 5), report)
        self.assertEqual(code, 3)


if __name__ == "__main__":
    unittest.main()
