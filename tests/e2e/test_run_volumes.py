"""Reprieve on a real API server: claims that wait for their first consumer are given a place before the pod is."""

import unittest

from harness import components
from harness.client import path_of
from harness.stories import StoryTestCase

STORAGE_CLASSES = "storage.k8s.io/v1/storageclasses"
SELECTED = "volume.kubernetes.io/selected-node"


class VolumeTest(StoryTestCase):
    options = {
        **StoryTestCase.options,
        "controllers": (*components.CONTROLLERS, "persistentvolume-binder-controller"),
    }

    def storage_class(self, name, provisioner):
        self.admin.post(
            path_of(STORAGE_CLASSES),
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": name},
                "provisioner": provisioner,
                "volumeBindingMode": "WaitForFirstConsumer",
            },
        )
        self.addCleanup(self.admin.delete, path_of(STORAGE_CLASSES, name))

    def claim(self, name, storage_class):
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": "1Gi"}},
        }
        path = path_of("persistentvolumeclaims", namespace="default")
        self.admin.post(path, {"metadata": {"name": name}, "spec": spec})
        self.addCleanup(self.remove, "persistentvolumeclaims", name, "default")

    def volume(self, name, storage_class, node, claim=None):
        """A disk of one node, for anybody or for one claim."""
        terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        }
        if claim:
            meta = claim["metadata"]
            spec["claimRef"] = {key: meta[key] for key in ("namespace", "name", "uid")} | {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
            }
        self.admin.post(path_of("persistentvolumes"), {"metadata": {"name": name}, "spec": spec})
        self.addCleanup(self.remove, "persistentvolumes", name)

    def remove(self, resource, name, namespace=None):
        path = path_of(resource, name, namespace)
        self.admin.patch(path, {"metadata": {"finalizers": None}})
        self.admin.delete(path)

    def get_claim(self, name):
        return self.admin.get(path_of("persistentvolumeclaims", name, "default"))

    def with_claim(self, claim, **spec):
        return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}], **spec}

    def is_bound_claim(self, name):
        return self.get_claim(name).get("status", {}).get("phase") == "Bound"

    def test_a_disk_that_is_made_for_the_node(self):
        self.objects.nodes(2)
        self.running("full", "high", "4", node="node-0")
        self.storage_class("made", "e2e.reprieve.dev/disk")
        self.claim("data", "made")
        self.start_reprieve()
        recorder = self.record()
        self.waiting("one", "mid", "1", spec=self.with_claim("data"))

        def selected():
            return self.get_claim("data")["metadata"].get("annotations", {}).get(SELECTED)

        self.assertEqual(self.wait_for(selected, "the claim to be told its node"), "node-1")
        self.assertIsNone(self.node_of("one"), "the disk first")
        self.volume("disk", "made", "node-1", self.get_claim("data"))
        self.wait_for(lambda: self.is_bound_claim("data"), "the claim bound")
        self.wait_bound("one", node="node-1")
        self.assertEqual(len(recorder.of("one")), 1)
        self.assertEqual(self.forbidden_calls(), [])

    def test_a_disk_that_is_there(self):
        self.objects.nodes(2)
        self.running("low", "low", "4", node="node-1")
        self.storage_class("there", "kubernetes.io/no-provisioner")
        self.claim("data", "there")
        self.volume("disk", "there", "node-1")
        self.wait_running("low")
        self.start_reprieve()
        self.waiting("one", "high", "4", spec=self.with_claim("data"))
        self.wait_bound("one", node="node-1")
        self.wait_for(lambda: self.is_bound_claim("data"), "the claim bound")
        self.wait_clean()
        self.assert_evicted("low")


if __name__ == "__main__":
    unittest.main()
