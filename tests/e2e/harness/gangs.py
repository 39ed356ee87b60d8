"""Gangs in the dialects that people write them in, and racks for them to stand in.

Everything here builds objects and touches no server.
"""

import dataclasses

RACK = "example.com/rack"


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How one project writes a gang: the kind of its PodGroup, and how a pod says that it is a member."""

    groups: str  # for path_of
    needs: dict  # options of the Cluster

    def group(self, name, members, priority_class=None, one_rack=False):
        """A PodGroup that needs so many members, all in one rack if asked for."""
        return {
            "apiVersion": self.groups.rsplit("/", 1)[0],
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default"},
            "spec": self._spec(members, priority_class, one_rack),
        }

    def _spec(self, members, priority_class, one_rack):
        raise NotImplementedError

    def membership(self, gang):
        """Options of objects.pod() for a member."""
        raise NotImplementedError


class Core(Dialect):
    def _spec(self, members, priority_class, one_rack):
        spec = {"schedulingPolicy": {"gang": {"minCount": members}}}
        if priority_class:
            spec["priorityClassName"] = priority_class
        if one_rack:
            spec["schedulingConstraints"] = {"topology": [{"key": RACK}]}
        return spec

    def membership(self, gang):
        return {"spec": {"schedulingGroup": {"podGroupName": gang}}}


class Volcano(Dialect):
    def _spec(self, members, priority_class, one_rack):
        spec = {"minMember": members}
        if priority_class:
            spec["priorityClassName"] = priority_class
        if one_rack:
            spec["networkTopology"] = {"mode": "hard", "highestTierAllowed": 1}
        return spec

    def membership(self, gang):
        return {"annotations": {"scheduling.k8s.io/group-name": gang}}


class SchedulerPlugins(Dialect):
    """Knows neither priorities of groups nor racks."""

    def _spec(self, members, priority_class, one_rack):
        assert not one_rack
        return {"minMember": members}

    def membership(self, gang):
        return {"labels": {"scheduling.x-k8s.io/pod-group": gang}}


class Koordinator(SchedulerPlugins):
    """The same under an older name."""

    def membership(self, gang):
        return {"labels": {"pod-group.scheduling.sigs.k8s.io": gang}}


CORE = Core("scheduling.k8s.io/v1beta1/podgroups", {"core_gangs": True})
VOLCANO = Volcano("scheduling.volcano.sh/v1beta1/podgroups", {"crds": ["volcano-podgroup", "volcano-hypernode"]})
SCHEDULER_PLUGINS = SchedulerPlugins("scheduling.x-k8s.io/v1alpha1/podgroups", {"crds": ["schedulerplugins-podgroup"]})
KOORDINATOR = Koordinator(
    "scheduling.sigs.k8s.io/v1alpha1/podgroups", {"crds": ["koordinator-podgroup", "koordinator-elasticquota"]}
)

HYPERNODES = "topology.volcano.sh/v1alpha1/hypernodes"


def hypernode(name, tier, kind, members):
    """A domain of Volcano's topology; kind says what its members are: Node or HyperNode."""
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": {
            "tier": tier,
            "members": [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members],
        },
    }
