"""The base of tests that share one control plane."""

import unittest

from .cluster import Cluster


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

    def wait_for(self, condition, what, deadline=30):
        return self.cluster.wait_for(condition, deadline, what)

    def phase(self, name):
        found = self.objects.get_pod(name)
        return found and found["status"]["phase"]

    def wait_running(self, *names):
        self.wait_for(lambda: all(self.phase(name) == "Running" for name in names), f"{', '.join(names)} running")

    def wait_gone(self, name):
        self.wait_for(lambda: self.objects.get_pod(name) is None, f"{name} gone")
