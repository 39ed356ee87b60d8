"""A throw-away machine with a real systemd, in namespaces of this one; see machine/boot. Needs root and systemd."""

import pathlib
import shutil
import subprocess
import tempfile

from .process import Process
from .programs import E2E
from .waiting import wait_for

_SPACES = ("--mount", "--pid", "--uts", "--ipc", "--cgroup")


class Machine:
    def __init__(self, log):
        assert shutil.which("systemctl"), "the test of the service needs systemd (apt-get install systemd)"
        self._folder = tempfile.mkdtemp()
        command = ["unshare", *_SPACES, "--fork", "--kill-child", E2E / "machine" / "boot", self._folder]
        self._process = Process("machine", command, log)
        self._first = wait_for(self._find_first, 20, "the machine's first process", detail=self._process.tail)
        wait_for(lambda: self.run("systemctl is-system-running").stdout.strip() in ("running", "degraded"), 60, "systemd to be up")

    def _find_first(self):
        children = pathlib.Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        name = children and pathlib.Path(f"/proc/{children[0]}/comm").read_text().strip()
        return int(children[0]) if name == "systemd" else None

    def run(self, script, text=""):
        """A shell script on the machine; ends for certain."""
        command = ["timeout", "-k", "5", "90", "nsenter", "-t", str(self._first), "-m", "-p", "-u", "-i", "-C", "sh", "-c", script]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)

    def stop(self):
        self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
