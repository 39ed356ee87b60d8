"""Devices by claim (DRA) on a real API server, with the resourceclaim controller of Kubernetes: claims are allocated
before their pods are bound, claimed devices are freed by preemption, and no crash gives one device to two claims."""

import json
import unittest

from harness import components, devices
from harness.client import path_of
from harness.gangs import CORE, RACK
from harness.runcase import PLAN
from harness.stories import StoryTestCase

WRITES = "POST|PATCH|PUT|DELETE"
CONTROLLERS = (*components.CONTROLLERS, "resourceclaim-controller")


class ClaimTestCase(StoryTestCase):
    options = {**StoryTestCase.options, "controllers": CONTROLLERS}

    def setUp(self):
        super().setUp()
        for resource in (devices.CLAIMS, devices.TEMPLATES):
            self.admin.delete(path_of(resource, namespace="default"))
        for resource in (devices.SLICES, devices.CLASSES):
            self.admin.delete(path_of(resource))
        self.wait_for(lambda: not self.claims(), "the claims of the story before to be gone")
        self.objects.create(devices.CLASSES, devices.device_class())

    def gpu_nodes(self, count, prefix="node", gpus=8, labels=None):
        self.objects.nodes(count, prefix=prefix, labels=labels)
        self.objects.create_all(devices.SLICES, [devices.gpu_slice(f"{prefix}-{i}", gpus) for i in range(count)])

    def template(self, name, count, **options):
        self.objects.create(devices.TEMPLATES, devices.template(name, count, **options))

    def claims(self):
        return self.admin.list(path_of(devices.CLAIMS, namespace="default"))

    def claim_of(self, pod):
        """The claim that the pod of this name is in, or None."""
        for claim in self.claims():
            if any(user["name"] == pod for user in claim.get("status", {}).get("reservedFor") or []):
                return claim
        return None

    def devices_of(self, pod):
        claim = self.claim_of(pod)
        return devices.devices_of(claim) if claim else []

    def assert_no_device_twice(self):
        seen = {}
        for claim in self.claims():
            for device in devices.devices_of(claim):
                self.assertNotIn(device, seen, f"{device} is in {claim['metadata']['name']} and {seen.get(device)}")
                seen[device] = claim["metadata"]["name"]

    def assert_deleted(self, recorder, *pods):
        """These and no others. Not by the audit log: a call whose client died may stand there as failed, and was not."""
        self.assertEqual({one.name for one in recorder.deletions()}, set(pods))

    def assert_claims_hold(self, *pods, count):
        """Every pod is bound where its devices are, and its claim names it."""
        for pod in pods:
            given = self.devices_of(pod)
            self.assertEqual(len(given), count, f"devices of {pod}")
            self.assertEqual({pool for pool, _ in given}, {self.node_of(pod)}, f"devices of {pod} are its node's")
        self.assert_no_device_twice()


class ClaimTest(ClaimTestCase):
    def test_a_pod_gets_the_devices_of_its_claim_before_its_node(self):
        self.gpu_nodes(2)
        self.admin.delete(path_of(devices.CLASSES, "gpu"))
        self.objects.create(devices.CLASSES, devices.device_class(config={"mode": "fast"}))
        self.template("two", 2)
        self.start_reprieve()
        recorder = self.record()
        self.waiting("one", "mid", "1", spec=devices.with_template("two"))
        self.wait_bound("one")
        self.assert_claims_hold("one", count=2)
        claim = self.claim_of("one")
        self.assertIn("resource.kubernetes.io/delete-protection", claim["metadata"]["finalizers"])
        allocation = claim["status"]["allocation"]
        self.assertEqual([one["device"] for one in allocation["devices"]["results"]], ["gpu-0", "gpu-1"])
        config = allocation["devices"]["config"]
        self.assertEqual([one["source"] for one in config], ["FromClass"])
        self.assertEqual(config[0]["opaque"]["parameters"], {"mode": "fast"})
        calls = [resource for _, resource, _ in self.successes() if resource.startswith(("resourceclaims", "pods/b"))]
        self.assertEqual(calls, ["resourceclaims", "resourceclaims/status", "pods/binding"])
        self.assertEqual(len(recorder.of("one")), 1)
        self.assertEqual(self.forbidden_calls(), [])
        # Its devices are free when it is gone, and others get them.
        self.objects.delete_pod("one")
        self.wait_gone("one")
        self.wait_for(lambda: not self.claims(), "the controller to remove its claim")
        self.waiting("two", "mid", "1", spec=devices.with_template("two"))
        self.wait_bound("two")
        self.assertEqual({device for _, device in self.devices_of("two")}, {"gpu-0", "gpu-1"})

    def test_a_claimed_device_is_freed_by_preemption(self):
        self.gpu_nodes(1, gpus=2)
        self.template("one", 1)
        self.start_reprieve()
        for name in ("low-0", "low-1"):
            self.waiting(name, "low", "1", spec=devices.with_template("one"))
            self.wait_bound(name)
        held = {name: self.devices_of(name) for name in ("low-0", "low-1")}
        self.waiting("high", "high", "1", spec=devices.with_template("one"))
        self.wait_bound("high")
        self.wait_clean()
        evicted = self.evicted()
        self.assertEqual(len(evicted), 1, "one device, one victim")
        self.assertEqual(self.devices_of("high"), held[evicted[0]])
        self.assert_no_device_twice()

    def test_an_extended_resource_with_a_class_behind_it_preempts_again(self):
        self.gpu_nodes(1)
        self.admin.delete(path_of(devices.CLASSES, "gpu"))
        self.objects.create(devices.CLASSES, devices.device_class(extended="nvidia.com/gpu"))
        self.start_reprieve()
        self.waiting("low", "low", "1", gpus=8)
        self.wait_bound("low")
        self.assert_claims_hold("low", count=8)
        told = self.objects.get_pod("low")["status"]["extendedResourceClaimStatus"]
        self.assertEqual(told["requestMappings"][0]["resourceName"], "nvidia.com/gpu")
        self.waiting("high", "high", "1", gpus=4)
        self.wait_bound("high")
        self.wait_clean()
        self.assert_evicted("low")
        self.assertEqual(len(self.devices_of("high")), 4)
        self.assertEqual(self.forbidden_calls(), [])

    def test_a_claim_that_several_share_is_freed_only_with_the_last_of_them(self):
        self.gpu_nodes(1, gpus=1)
        self.objects.create(devices.CLAIMS, devices.claim("shared", 1))
        self.template("one", 1)
        self.start_reprieve()
        for name in ("low-0", "low-1"):
            self.waiting(name, "low", "1", spec=devices.with_claim("shared"))
            self.wait_bound(name)
        self.waiting("high", "high", "1", spec=devices.with_template("one"))
        self.wait_bound("high")
        self.assert_evicted("low-0", "low-1")
        self.assertEqual(self.devices_of("high"), [("node-0", "gpu-0")])


class ClaimCrashTest(ClaimTestCase):
    """Killed before each write of a preemption for claimed devices, and after it without knowing."""

    STEPS = (
        ("the record of the plan", "PATCH", r"/pods/high-{0}/status"),
        ("the mark", "PATCH", r"/pods/low-{0}/status"),
        ("the eviction", "DELETE", r"/pods/low-{0}"),
        ("the finalizer of the claim", "PUT", r"/resourceclaims/high-{0}-[^/]*$"),
        ("the devices of the claim", "PUT", r"/resourceclaims/high-{0}-[^/]*/status"),
        ("the binding", "POST", r"/pods/high-{0}/binding"),
    )

    def story(self, number, replica):
        node = f"node-{number}"
        self.gpu_nodes(1, prefix=f"{node}-of", labels={"story": str(number)})
        here = {"nodeSelector": {"story": str(number)}, **devices.with_template("all")}
        self.waiting(f"low-{number}", "low", "1", spec=here)
        self.wait_bound(f"low-{number}")
        return here

    def crash_at(self, after):
        proxy = self.start_proxy()
        replica = self.start_reprieve(server=proxy.server)
        self.template("all", 8)
        recorder = self.record()
        expected = []
        for number, (what, method, path) in enumerate(self.STEPS):
            with self.subTest(what):
                here = self.story(number, replica)
                path = path.format(number)
                if after:
                    lost = proxy.lose_reply(method=method, path=path, count=1)
                rule = proxy.hold(method=method, path=path)
                self.waiting(f"high-{number}", "high", "1", spec=here)
                if after:
                    self.wait_for(lambda: proxy.hits(lost) > 0, what)
                else:
                    self.wait_for(lambda: proxy.hits(rule) > 0, what)
                self.crash(replica)
                self.assert_no_device_twice()
                proxy.clear()
                replica.process.start()
                self.wait_bound(f"high-{number}")
                expected.append(f"low-{number}")
                self.assert_deleted(recorder, *expected)
                self.assert_claims_hold(f"high-{number}", count=8)
                self.wait_clean()

    def test_killed_before_each_write(self):
        self.crash_at(after=False)

    def test_killed_after_each_write_without_knowing_that_it_was_done(self):
        self.crash_at(after=True)


class ClaimGangTest(ClaimTestCase):
    """A gang of 8 pods with a claim of 8 GPUs each, in one rack."""

    options = {**ClaimTestCase.options, **CORE.needs}

    def setUp(self):
        super().setUp()
        groups = path_of(CORE.groups, namespace="default")
        self.admin.delete(groups)
        self.wait_for(lambda: not self.admin.list(groups), "the groups of the story before to be gone")

    def full_racks(self):
        """Two racks of 8 nodes, every GPU claimed: rack a by pods that are worth less."""
        self.template("all", 8)
        for rack in "ab":
            self.gpu_nodes(8, prefix=rack, labels={RACK: rack})
        cheap = [f"low-{index}" for index in range(8)]
        dear = [f"mid-{index}" for index in range(8)]
        for names, priority, rack in ((cheap, "low", "a"), (dear, "mid", "b")):
            for name in names:
                self.waiting(name, priority, "1", spec={"nodeSelector": {RACK: rack}, **devices.with_template("all")})
        self.wait_bound(*cheap, *dear, deadline=120)
        self.assert_claims_hold(*cheap, *dear, count=8)
        return cheap

    def gang(self):
        self.objects.create(CORE.groups, CORE.group("train", 8, "high", one_rack=True))
        names = [f"train-{index}" for index in range(8)]
        spec = {**CORE.membership("train")["spec"], **devices.with_template("all")}
        for name in names:
            self.waiting(name, "high", "1", spec=spec)
        return names

    def planned(self, names):
        """The devices that the intents of these pods promise."""
        found = {}
        for name in names:
            pod = self.objects.get_pod(name)
            text = pod["metadata"].get("annotations", {}).get(PLAN)
            if text:
                found[name] = sorted(tuple(one.split("/")[1:]) for one in json.loads(text).get("devices", []))
        return found

    def test_it_takes_the_rack_that_costs_least_and_gets_the_devices_it_planned(self):
        proxy = self.start_proxy()
        self.start_reprieve(server=proxy.server)
        cheap = self.full_racks()
        held = proxy.hold(method="DELETE", path=r"/pods/low-")
        gang = self.gang()
        self.wait_for(lambda: proxy.hits(held) > 0, "the first eviction")
        planned = self.planned(gang)
        self.assertEqual(set(planned), set(gang), "all have their intent before the first victim goes")
        proxy.clear()
        self.wait_bound(*gang, deadline=120)
        self.wait_clean()
        self.assert_evicted(*cheap)
        self.assert_claims_hold(*gang, count=8)
        self.assertEqual({name: self.devices_of(name) for name in gang}, planned)
        self.assertEqual({self.node_of(name)[0] for name in gang}, {"a"})
        self.assertEqual(self.forbidden_calls(), [])

    def test_killed_between_every_two_writes_it_never_gives_a_device_twice(self):
        """Every life makes one write and dies before its second. What it costs is starting the program so many times:
        nothing is waited for but its first write."""
        proxy = self.start_proxy()
        replica = self.start_reprieve(server=proxy.server)
        cheap = self.full_racks()
        writes = {"method": WRITES, "path": r"/(pods|resourceclaims)/"}
        recorder = self.record()
        held = proxy.hold(**writes, skip=1)
        gang = self.gang()
        lives = 0
        while True:
            self.wait_for(
                lambda: proxy.hits(held) > 0 or all(map(self.node_of, gang)), f"life {lives} to write twice", 120
            )
            if all(map(self.node_of, gang)):
                break
            self.crash(replica)
            self.assert_no_device_twice()
            proxy.clear()
            lives += 1
            self.assertLess(lives, 400, "lives of one write each get nowhere")
            held = proxy.hold(**writes, skip=1)
            replica.process.start()
        proxy.clear()
        self.wait_clean()
        # Each of 8 pods is nominated, its victim marked and evicted, its claim kept and given devices; then it is bound.
        self.assertGreater(lives, 40)
        self.assert_deleted(recorder, *cheap)
        self.assert_claims_hold(*gang, count=8)


if __name__ == "__main__":
    unittest.main()
