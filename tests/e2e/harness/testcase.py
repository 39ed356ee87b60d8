"""The base of tests that share one control plane."""

import unittest

from .client import path_of
from .cluster import Cluster
from .waiting import NotInTime, wait_for


class ClusterTestCase(unittest.TestCase):
    """One control plane for all tests of a class; every test starts without nodes and pods."""

    options = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(**cls.options)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.objects = cls.cluster.objects
        cls.admin = cls.cluster.admin

    def setUp(self):
        self.objects.clear()

    def start_scheduler(self, **options):
        process = self.cluster.start_kube_scheduler(**options)
        self.addCleanup(process.kill)
        return process

    def record(self):
        recorder = self.cluster.recorder()
        self.addCleanup(recorder.stop)
        return recorder

    def wait_for(self, condition, what, deadline=60):
        return self.cluster.wait_for(condition, deadline, what)

    def phase(self, name):
        found = self.objects.get_pod(name)
        return found and found["status"]["phase"]

    def wait_running(self, *names):
        """Waits for pods to run. The kubelet stand-in forgets pods that came before it had found the new node of an old
        name, which can take it ten seconds; a change of the pod reminds it."""
        for times in range(12):
            try:
                wait_for(lambda: not self._not_running(names), 5, "")
                return
            except NotInTime:
                for name in self._not_running(names):
                    note = {"metadata": {"annotations": {"e2e.reprieve.dev/reminder": str(times)}}}
                    self.admin.patch(path_of("pods", name, "default"), note)
        self.wait_for(lambda: not self._not_running(names), f"{', '.join(names)} running")

    def _not_running(self, names):
        return [name for name in names if self.phase(name) != "Running"]

    def wait_gone(self, name):
        self.wait_for(lambda: self.objects.get_pod(name) is None, f"{name} gone")
