"""Claims beside the stock scheduler: what kube-scheduler gives to a claim is what `reprieve plan` gives to it in the same
state, device by device, on random devices and claims."""

import json
import os
import random
import subprocess
import unittest

from harness import components, devices
from harness.client import path_of
from harness.objects import condition, is_bound, pod
from harness.programs import ROOT
from harness.testcase import ClusterTestCase


def random_slice(dice, name, pool):
    """Devices of one pool of the node, with attributes that requests choose and match by."""
    return {
        "apiVersion": devices.GROUP,
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": devices.DRIVER,
            "nodeName": "node-0",
            "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {
                    "name": f"gpu-{index}",
                    "attributes": {
                        "model": {"string": dice.choice("ab")},
                        "root": {"string": dice.choice("xyz")},
                        "index": {"int": index},
                    },
                    "capacity": {"memory": {"value": dice.choice(("40Gi", "80Gi"))}},
                    **({"taints": [{"key": "sick", "effect": "NoSchedule"}]} if dice.random() < 0.1 else {}),
                }
                for index in range(dice.randint(2, 6))
            ],
        },
    }


def random_wish(dice):
    texts = (
        f"device.attributes['{devices.DRIVER}'].model == '{dice.choice('ab')}'",
        f"device.attributes['{devices.DRIVER}'].index >= {dice.randint(0, 3)}",
        f"device.capacity['{devices.DRIVER}'].memory.compareTo(quantity('80Gi')) >= 0",
    )
    wish = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": dice.randint(1, 3)}
    if dice.random() < 0.6:
        wish["selectors"] = [{"cel": {"expression": dice.choice(texts)}}]
    if dice.random() < 0.1:
        wish = {**wish, "allocationMode": "All"}
        del wish["count"]
    if dice.random() < 0.3:
        wish["tolerations"] = [{"key": "sick", "operator": "Exists"}]
    return wish


def random_claim(dice, name):
    requests = []
    for index in range(dice.randint(1, 2)):
        if dice.random() < 0.3:
            choices = [{"name": f"way-{i}", **random_wish(dice)} for i in range(2)]
            requests.append({"name": f"r{index}", "firstAvailable": choices})
        else:
            requests.append({"name": f"r{index}", "exactly": random_wish(dice)})
    spec = {"devices": {"requests": requests}}
    if dice.random() < 0.5:
        attribute = f"{devices.DRIVER}/root"
        rule = dice.choice(("matchAttribute", "distinctAttribute"))
        spec["devices"]["constraints"] = [{rule: attribute}]
    return {
        "apiVersion": devices.GROUP,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


class BesideTest(ClusterTestCase):
    options = {"kwok": True, "controllers": (*components.CONTROLLERS, "resourceclaim-controller")}
    TRIALS = 12
    PODS = 5

    def plan(self, name):
        """What Reprieve would do now with the pod of this name: its node, and results by request; None: it waits."""
        items = []
        for resource, api, kind in (
            ("nodes", "v1", "Node"),
            (devices.SLICES, devices.GROUP, "ResourceSlice"),
            (devices.CLASSES, devices.GROUP, "DeviceClass"),
            (devices.CLAIMS, devices.GROUP, "ResourceClaim"),
            ("pods", "v1", "Pod"),
        ):
            for item in self.admin.list(path_of(resource)):
                if kind == "Pod":
                    item["spec"].pop("schedulingGates", None)  # asked as if the gate were gone
                items.append({"apiVersion": api, "kind": kind, **item})
        file = self.cluster.folder / "state.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        program = os.environ.get("REPRIEVE_PROGRAM", ROOT / "build/release/src/app/reprieve")
        done = subprocess.run(
            [program, "plan", "-f", file, "-o", "json"], capture_output=True, text=True, timeout=60
        )
        self.assertIn(done.returncode, (0, 3), done.stderr)  # 3: some wait
        for placement in json.loads(done.stdout)["placements"]:
            if placement["pod"] == f"default/{name}":
                return sorted(
                    (one["request"], one["pool"], one["device"])
                    for claim in placement["claims"]
                    for one in claim["results"]
                )
        return None

    def theirs(self, name, placed):
        """The same of kube-scheduler, once it has decided. It may say at first that a pod does not fit, because it has not
        seen all devices yet: where Reprieve places the pod, that is not its last word."""

        def decided():
            found = self.objects.get_pod(name)
            # SchedulerError: a selector or constraint ends the attempt.
            refused = condition(found, "PodScheduled").get("reason") in ("Unschedulable", "SchedulerError")
            return found if is_bound(found) or (refused and not placed) else None

        found = self.wait_for(decided, f"kube-scheduler to decide about {name}", 30)
        if not is_bound(found):
            return None
        claim = self.admin.get(path_of(devices.CLAIMS, name, "default"))
        results = claim["status"]["allocation"]["devices"]["results"]
        return sorted((one["request"], one["pool"], one["device"]) for one in results)

    def test_both_give_the_same_devices(self):
        seed = int(os.environ.get("REPRIEVE_E2E_SEED", "20260101"))
        dice = random.Random(seed)
        self.start_scheduler()
        given = refused = 0
        for trial in range(self.TRIALS):
            self.objects.clear()
            self.admin.delete(path_of(devices.CLAIMS, namespace="default"))
            for resource in (devices.SLICES, devices.CLASSES):
                self.admin.delete(path_of(resource))
            self.wait_for(lambda: not self.admin.list(path_of(devices.CLAIMS)), "the claims of the trial before gone")
            self.objects.nodes(1, cpu="64")
            self.objects.create(devices.CLASSES, devices.device_class())
            self.objects.create_all(
                devices.SLICES, [random_slice(dice, f"s-{trial}-{i}", f"pool-{i}") for i in range(dice.randint(1, 3))]
            )
            for index in range(self.PODS):
                name = f"p-{trial}-{index}"
                self.objects.create(devices.CLAIMS, random_claim(dice, name))
                # A gate holds kube-scheduler back while Reprieve is asked about the same state.
                spec = {**devices.with_claim(name), "schedulingGates": [{"name": "e2e.reprieve.dev/ask"}]}
                self.objects.create("pods", pod(name, cpu="1", spec=spec))
                ungated = {"spec": {"schedulingGates": None}}
                ours = self.plan(name)
                self.admin.patch(path_of("pods", name, "default"), ungated)
                theirs = self.theirs(name, ours is not None)
                self.assertEqual(ours, theirs, f"seed {seed}, trial {trial}, pod {index}")
                given += theirs is not None
                refused += theirs is None
                if theirs is None:
                    self.objects.delete_pod(name, grace=0)
                    self.wait_gone(name)
        self.assertGreater(given, self.TRIALS)
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    unittest.main()
