"""Gangs that need a rack under `reprieve run`, in the dialects people write them in: who has to go, who is told what,
and what a crash in between changes (nothing)."""

import unittest

from harness.client import path_of
from harness.gangs import CORE, HYPERNODES, RACK, SCHEDULER_PLUGINS, VOLCANO, hypernode
from harness.objects import condition
from harness.stories import StoryTestCase


class GangStoryTestCase(StoryTestCase):
    """Stories about the gang "train", written in the dialect of the class."""

    dialect = None

    @classmethod
    def setUpClass(cls):
        cls.options = {**StoryTestCase.options, **cls.dialect.needs}
        super().setUpClass()

    def setUp(self):
        super().setUp()
        groups = path_of(self.dialect.groups, namespace="default")
        self.admin.delete(groups)
        self.wait_for(lambda: not self.admin.list(groups), "the groups of the story before to be gone")

    def group(self, members, **options):
        self.objects.create(self.dialect.groups, self.dialect.group("train", members, "high", **options))

    def gang(self, members, **options):
        """The group and its pods, each as big as a node."""
        self.group(members, **options)
        for index in range(members):
            self.member(index)
        return [f"train-{index}" for index in range(members)]

    def member(self, index):
        self.waiting(f"train-{index}", "high", "4", **self.dialect.membership("train"))

    def read_group(self):
        return self.admin.get(path_of(self.dialect.groups, "train", "default"))

    def wait_group(self, told, what):
        """Waits until the group's object says so."""
        self.wait_for(lambda: told(self.read_group()), f"the group to say {what}")

    def places(self, names):
        return sorted(filter(None, map(self.node_of, names)))

    def status_writes(self):
        return [target for _, resource, target in self.successes() if resource == "podgroups/status"]


class RackStories:
    """What holds in every dialect that knows racks."""

    def full_racks(self, **options):
        """Four racks of two nodes. Rack b is the one to clear: a and d hold a pod that nobody may evict beside a free
        node each, so that two nodes are free but no rack is; the pods of c are fewer, but more important."""
        for rack in "abcd":
            self.objects.nodes(2, prefix=rack, labels={RACK: rack})
        self.name_racks()
        self.running("top-0", "top", "4", node="a-0")
        self.running("top-1", "top", "4", node="d-0")
        self.running("mid-0", "mid", "4", node="c-0")
        self.running("mid-1", "mid", "4", node="c-1")
        cheap = [f"low-{index}" for index in range(4)]
        for index, name in enumerate(cheap):
            self.running(name, "low", "2", node=f"b-{index // 2}", **options)
        self.wait_running("top-0", "top-1", "mid-0", "mid-1", *cheap)
        return cheap

    def name_racks(self):
        """Labels of nodes say it all, where the dialect does not need more."""

    def test_a_gang_clears_the_one_rack_that_costs_least(self):
        cheap = self.full_racks()
        self.start_reprieve()
        gang = self.gang(2, one_rack=True)
        self.wait_bound(*gang)
        self.assertEqual(self.places(gang), ["b-0", "b-1"])
        self.assert_evicted(*cheap)
        self.wait_clean()

    def test_killed_before_the_group_was_told_that_it_is_placed(self):
        self.full_racks()
        proxy = self.start_proxy()
        replica = self.start_reprieve(server=proxy.server)
        held = proxy.hold(method="PATCH", path="/podgroups/train/status")
        gang = self.gang(2, one_rack=True)
        self.wait_bound(*gang)
        self.wait_for(lambda: proxy.hits(held) > 0, "somebody wants to tell the group")
        self.crash(replica)
        proxy.clear()
        self.assertFalse(self.is_placed(self.read_group()))
        replica.process.start()
        self.wait_group(self.is_placed, "that it is placed")
        self.wait_clean()

    def test_killed_while_the_victims_of_a_gang_terminate(self):
        cheap = self.full_racks(stop_delay="1h")
        replica = self.start_reprieve()
        gang = self.gang(2, one_rack=True)
        self.wait_leaving(*cheap)
        for name in gang:
            self.wait_for(lambda name=name: self.nominated(name), f"{name} nominated")
        nominations = {name: self.nominated(name) for name in gang}
        gone, staying = [cheap[0], cheap[1], cheap[2]], cheap[3]
        for name in gone:
            self.let_go(name)
            self.wait_gone(name)
        self.assertFalse(self.places(gang), "one node of two is free: half a gang is nothing")

        self.crash(replica)
        # Somebody who would fit on the half that is free, and comes first.
        self.waiting("greedy", "mid", "2", spec={"nodeSelector": {RACK: "b"}})
        replica.process.start()
        self.wait_told("greedy")
        self.wait_cycle()
        self.assert_evicted(*cheap)
        self.assertEqual({name: self.nominated(name) for name in gang}, nominations)
        self.assertFalse(self.places(gang))

        self.let_go(staying)
        self.wait_bound(*gang)
        self.assertEqual({name: self.node_of(name) for name in gang}, nominations)
        self.assertFalse(self.node_of("greedy"))
        self.assert_evicted(*cheap)
        self.wait_clean()


class CoreRackTest(RackStories, GangStoryTestCase):
    dialect = CORE

    def is_placed(self, group):
        return self.told(group)[0] == "True"

    def told(self, group):
        found = condition(group, "PodGroupInitiallyScheduled")
        return found.get("status"), found.get("reason")

    def test_the_group_is_told_before_meanwhile_and_after(self):
        cheap = self.full_racks(stop_delay="1h")
        self.start_reprieve()
        self.group(2, one_rack=True)
        self.member(0)
        self.wait_group(lambda group: self.told(group) == ("False", "Unschedulable"), "that a member is missing")
        self.member(1)
        self.wait_leaving(*cheap)
        self.wait_group(
            lambda group: "preempted" in condition(group, "PodGroupInitiallyScheduled").get("message", ""),
            "that it waits for victims",
        )
        self.assertEqual(self.told(self.read_group()), ("False", "Unschedulable"))
        for name in cheap:
            self.let_go(name)
        self.wait_bound("train-0", "train-1")
        self.wait_group(lambda group: self.told(group) == ("True", "Scheduled"), "that it is scheduled")


class VolcanoRackTest(RackStories, GangStoryTestCase):
    dialect = VOLCANO

    def setUp(self):
        super().setUp()
        self.admin.delete(path_of(HYPERNODES))

    def is_placed(self, group):
        return group.get("status", {}).get("phase") == "Running"

    def name_racks(self):
        racks = [hypernode(f"rack-{rack}", 1, "Node", [f"{rack}-0", f"{rack}-1"]) for rack in "abcd"]
        row = hypernode("row", 2, "HyperNode", [f"rack-{rack}" for rack in "abcd"])
        self.objects.create_all(HYPERNODES, [*racks, row])

    def test_the_group_is_told_before_meanwhile_and_after(self):
        cheap = self.full_racks(stop_delay="1h")
        self.start_reprieve()
        self.group(2, one_rack=True)
        created = {"status": {"phase": "Pending"}}  # as Volcano's own controller begins
        self.admin.patch(path_of(self.dialect.groups, "train", "default", "status"), created)
        self.member(0)
        self.wait_group(lambda group: group["status"]["phase"] == "Inqueue", "that it waits")
        self.assertEqual(condition(self.read_group(), "Unschedulable").get("status"), "True")
        self.member(1)
        self.wait_leaving(*cheap)
        self.wait_group(
            lambda group: "preempted" in condition(group, "Unschedulable").get("message", ""),
            "that it waits for victims",
        )
        self.assertEqual(self.read_group()["status"]["phase"], "Inqueue")
        for name in cheap:
            self.let_go(name)
        self.wait_running("train-0", "train-1")
        self.wait_group(lambda group: group["status"]["phase"] == "Running", "that it runs")
        self.assertEqual(condition(self.read_group(), "Scheduled").get("status"), "True")
        self.assertFalse(condition(self.read_group(), "Unschedulable"), "no longer")
        self.wait_group(lambda group: group["status"].get("running") == 2, "how many of it run")

    def test_a_group_that_lost_its_members_waits_again(self):
        self.full_racks()
        self.start_reprieve()
        gang = self.gang(2, one_rack=True)
        self.wait_running(*gang)
        self.wait_group(lambda group: group.get("status", {}).get("running") == 2, "that both run")
        for name in gang:
            self.objects.delete_pod(name)
        self.wait_group(lambda group: group["status"]["phase"] == "Inqueue", "that it has no place any more")
        self.wait_group(lambda group: group["status"]["running"] == 0, "that none runs")


class SchedulerPluginsTest(GangStoryTestCase):
    dialect = SCHEDULER_PLUGINS

    def test_a_gang_preempts_all_or_nothing(self):
        self.objects.nodes(3)
        victims = [f"low-{index}" for index in range(3)]
        for index, name in enumerate(victims[:2]):
            self.running(name, "low", "4", node=f"node-{index}")
        self.running("top-0", "top", "4", node="node-2")
        self.wait_running(*victims[:2], "top-0")
        self.start_reprieve()
        gang = self.gang(3)
        for name in gang:
            self.wait_told(name)
        self.wait_cycle()
        self.assert_evicted()

        # Its pod is there before it: an empty node would be room for one of the gang.
        self.running(victims[2], "low", "4", node="more-0")
        self.objects.nodes(1, prefix="more")
        self.wait_bound(*gang)
        self.assertEqual(self.places(gang), ["more-0", "node-0", "node-1"])
        self.assert_evicted(*victims)
        self.wait_clean()

    def test_the_status_is_left_to_its_own_controller(self):
        self.objects.nodes(1)
        self.running("low-0", "low", "4", stop_delay="1h")
        self.wait_running("low-0")
        self.start_reprieve()
        gang = self.gang(1)
        # Its controller counts pods, and is the only one who writes here.
        counted = {"phase": "Scheduling", "running": 0}
        self.admin.patch(path_of(self.dialect.groups, "train", "default", "status"), {"status": counted})
        self.wait_leaving("low-0")
        self.let_go("low-0")
        self.wait_bound(*gang)
        self.wait_clean()
        self.wait_cycle()
        self.assertEqual(self.read_group()["status"], counted)
        self.assertEqual(self.status_writes(), [])


if __name__ == "__main__":
    unittest.main()
