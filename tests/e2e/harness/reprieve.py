"""The scheduler under test, `reprieve run`, started on a test cluster."""

import http.client
import os
import pathlib
import re

from .ports import free_port
from .programs import ROOT


def reprieve_program():
    """Built with everything else. REPRIEVE_BUILD names the build folder (build/release), REPRIEVE_PROGRAM the program."""
    program = os.environ.get("REPRIEVE_PROGRAM")
    folder = ROOT / os.environ.get("REPRIEVE_BUILD", "build/release")
    found = pathlib.Path(program) if program else folder / "src" / "app" / "reprieve"
    assert found.exists(), f"{found} is missing: build it first (make build)"
    return found


class Reprieve:
    """A replica. server may be a proxy's; leases are short, so that a killed one is soon replaced.

    config is the text of a configuration, kubeconfig a file of its own instead of that of user and server.
    """

    def __init__(
        self,
        cluster,
        *flags,
        server=None,
        user="reprieve",
        kubeconfig=None,
        name="reprieve",
        lease="2s",
        config=None,
        environment=None,
    ):
        self._port = free_port()
        arguments = [reprieve_program(), "run", "--kubeconfig", kubeconfig or cluster.kubeconfig(user, server)]
        if "--lease" not in flags:
            arguments += ["--lease", "reprieve-system/reprieve"]
        arguments += ["--ui", f"127.0.0.1:{self._port}"]
        if "--dry-run" not in flags:
            arguments += ["--lease-duration", lease]
        if config is not None:
            file = cluster.folder / f"{name}.config.yaml"
            file.write_text(config)
            arguments += ["--config", file]
        self.process = cluster.launch(name, [*arguments, *flags], environment)

    def get(self, path):
        """(status, text) of its web server; (None, "") while nothing answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (OSError, http.client.HTTPException):
            return None, ""
        finally:
            connection.close()

    def ready(self):
        assert self.process.alive(), self.process.tail()
        return self.get("/readyz")[0] == 200

    def leads(self):
        return self.metric("reprieve_leader") == 1

    def metric(self, name, **labels):
        """The sum of a metric's samples with these labels; 0 where there is none."""
        total = 0.0
        for line in self.get("/metrics")[1].splitlines():
            found = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if not found or found[1] != name:
                continue
            have = dict(re.findall(r'(\w+)="([^"]*)"', found[2] or ""))
            if all(have.get(key) == value for key, value in labels.items()):
                total += float(found[3])
        return total

    def log(self):
        return self.process.log.read_text(errors="replace")
