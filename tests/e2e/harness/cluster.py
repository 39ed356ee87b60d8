"""A whole control plane on loopback: started in order, ready by condition, ended in reverse order."""

import http.client
import json
import pathlib
import re
import shutil
import ssl
import tempfile

from . import components, deploy, programs
from .client import Client, path_of
from .faults import FaultProxy
from .manifests import apply_file
from .objects import Objects
from .pki import Pki
from .ports import free_port
from .process import Process
from .recorder import Recorder
from .users import USERS, Users
from .waiting import wait_for

_READY_DEADLINE = 180
LOST_LABEL = "e2e.reprieve.dev/kubelet"


class Cluster:
    """etcd and a kube-apiserver, and on request what stands around them.

    controllers    True for the usual ones, or names, for a kube-controller-manager; see components.CONTROLLERS
    kwok           a kubelet stand-in that starts and stops pods by kwok/stages.yaml
    crds           True for all of crds/, or file names without ending
    core_gangs     Kubernetes' own PodGroups and Workloads, in every program
    audit          write down every changing call with its user, or only "evictions"; see audit_entries()
    access         Reprieve's service account with the roles of deploy/base; False for who installs it himself
    apiserver_flags, controller_flags    further flags
    spacious       for long benchmarks: controllers and kubelets do more at a time
    node_lease_seconds    for tests of lost nodes, with controllers that watch over leases
    certificate_age       for programs whose clock is behind

    admin is a client with all rights, objects makes things with it.
    """

    def __init__(
        self,
        *,
        controllers=False,
        kwok=False,
        crds=False,
        core_gangs=False,
        audit=False,
        access=True,
        apiserver_flags=(),
        controller_flags=(),
        node_lease_seconds=40,
        certificate_age=None,
        spacious=False,
    ):
        self._controllers = components.CONTROLLERS if controllers is True else tuple(controllers or ())
        self._kwok = kwok
        self._crds = crds
        self._core_gangs = core_gangs
        self._audit = audit
        self._access = access
        self._apiserver_flags = list(apiserver_flags)
        self._controller_flags = list(controller_flags) + (components.MANY_AT_ONCE if spacious else [])
        self._node_lease_seconds = node_lease_seconds
        self._certificate_age = certificate_age
        self._spacious = spacious
        # Programs that live for seconds and have the memory would spend a fifth of the processor on collecting garbage.
        self._environment = {"GOGC": "400"}
        self._stack = []  # what to end, in order of starting: objects with kill() or stop()
        self._clients = []
        self.folder = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self._bin = programs.control_plane()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="reprieve-e2e."))
        self.pki = Pki(self.folder / "pki", self._certificate_age)
        self.users = Users(self.folder / "users")
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
            self.pki.issue_server(name)
        self._signing_public = self.pki.signing_key("service-account")
        self.server = f"https://127.0.0.1:{free_port()}"
        self.admin = self.client("admin")
        self.objects = Objects(self.admin)

        self._start_etcd()
        self._start_apiserver()
        for file in sorted((programs.E2E / "rbac").glob("*.yaml")):
            apply_file(self.admin, file)
        if self._access:
            deploy.install_access(self.admin)
        self._install_crds()
        if self._controllers:
            self._start_controllers()
        if self._kwok:
            self._start_kwok()

    def stop(self):
        """Ends everything that still runs, last started first, each gone before the next. Idempotent."""
        while self._stack:
            started = self._stack.pop()
            started.kill() if isinstance(started, Process) else started.stop()
        while self._clients:
            self._clients.pop().close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def client(self, user, server=None):
        client = Client(server or self.server, self.pki.authority, self.users.token(user))
        self._clients.append(client)
        return client

    def kubeconfig(self, user, server=None):
        """The file for a user of USERS; server may be a proxy's."""
        label = "" if server is None else "-" + server.rsplit(":", 1)[1]
        return self.users.write_kubeconfig(user, server or self.server, self.pki.authority, label)

    def certificate_kubeconfig(self, user):
        """The same user known by a client certificate; not for use through a proxy."""
        name, known = f"{user}-client", USERS[user]
        self.pki.issue_client(name, known.name, known.groups)
        return self.users.write_certificate_kubeconfig(
            user, self.server, self.pki.authority, self.pki.certificate(name), self.pki.key(name)
        )

    def wait_for(self, condition, deadline, what):
        """wait_for, with the ends of all logs when it fails."""
        return wait_for(condition, deadline, what, detail=self.tails)

    def tails(self):
        return "\n".join(one.tail(10) for one in self._stack if isinstance(one, Process))

    def launch(self, name, arguments, environment=None):
        """Starts any program (the scheduler under test) as part of this cluster."""
        process = Process(name, arguments, self.folder / f"{name}.log", environment)
        self._stack.append(process)
        return process

    def programs(self):
        """What was started as part of this cluster, first started first."""
        return [one for one in self._stack if isinstance(one, Process)]

    def recorder(self, namespace=None):
        """Begins to write down what happens to pods."""
        recorder = Recorder(self.client("admin"), namespace)
        self._stack.append(recorder)
        return recorder

    def proxy(self, label="faultproxy"):
        """A fault-injecting proxy before the API server."""
        proxy = FaultProxy(self.server, self.pki, self.folder, label)
        self._stack.append(proxy.process)
        return proxy

    def start_kube_scheduler(
        self,
        server=None,
        scheduler_name="default-scheduler",
        name="kube-scheduler",
        content_type="application/vnd.kubernetes.protobuf",
        flags=(),
    ):
        """The stock scheduler, ready. content_type application/json makes its watches readable to the proxy."""
        port = free_port()
        config = self.folder / f"{name}.yaml"
        kubeconfig = self.kubeconfig("kube-scheduler", server)
        config.write_text(components.kube_scheduler_config(kubeconfig, scheduler_name, content_type))
        arguments = components.kube_scheduler(self._bin / "kube-scheduler", port, config, self.pki)
        process = self.launch(name, [*arguments, *self._gang_flags(), *flags])
        process.port = port
        self._ready(process, f"https://127.0.0.1:{port}", "/readyz")
        return process

    def add_controllers(self, names=components.CONTROLLERS):
        """A kube-controller-manager in a cluster that was started without one."""
        self._controllers = tuple(names)
        self._start_controllers()

    def restart_etcd(self):
        """Ends etcd (kill -9), starts it again on the same data and waits until the API server has its store back."""
        self.etcd.kill()
        self.etcd.start()
        self._ready(self.etcd, self.etcd_url, "/health")
        self._ready(self.apiserver, self.server, "/readyz")

    def restart_apiserver(self, gracefully=False):
        """Ends the API server (kill -9, or asked to) and starts it again on the same port and data."""
        self.stop_apiserver(gracefully)
        self.resume_apiserver()

    def stop_apiserver(self, gracefully=False):
        self.apiserver.stop() if gracefully else self.apiserver.kill()

    def resume_apiserver(self):
        self.apiserver.start()
        self._ready(self.apiserver, self.server, "/readyz")

    def lose_node(self, name):
        """The node's kubelet falls silent: pods on it neither start nor stop any more."""
        self.admin.patch(path_of("nodes", name), {"metadata": {"labels": {LOST_LABEL: "lost"}}})

    def find_node_again(self, name):
        self.admin.patch(path_of("nodes", name), {"metadata": {"labels": {LOST_LABEL: None}}})

    def apply(self, file):
        """Applies a YAML file; see manifests.py."""
        apply_file(self.admin, file)

    def audit_entries(self, user=None, verb=None, resource=None, subresource=None):
        """Changing calls so far, oldest first, as Kubernetes' audit events. Needs audit=True."""
        wanted = USERS[user].name if user else None
        chosen = []
        for line in (self.folder / "audit.log").read_text().splitlines():
            entry = json.loads(line)
            target = entry.get("objectRef", {})
            if (
                (wanted is None or entry["user"].get("username") == wanted)
                and verb in (None, entry["verb"])
                and resource in (None, target.get("resource"))
                and subresource in (None, target.get("subresource", ""))
            ):
                chosen.append(entry)
        return chosen

    def request_counts(self):
        """Finished calls since the API server's start, by (verb, resource with subresource, code)."""
        counts = {}
        for line in self.admin.get("/metrics").splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels, value = line.rsplit("} ", 1)
            label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            resource = "/".join(part for part in (label["resource"], label["subresource"]) if part)
            key = (label["verb"], resource, int(label["code"]))
            counts[key] = counts.get(key, 0) + int(float(value))
        return counts

    def _start_etcd(self):
        client_url, peer_url = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.etcd_url = client_url
        self.etcd = self.launch("etcd", components.etcd(self._bin / "etcd", self.folder / "etcd", client_url, peer_url), self._environment)
        self._ready(self.etcd, client_url, "/health")

    def _start_apiserver(self):
        port = int(self.server.rsplit(":", 1)[1])
        flags = components.kube_apiserver(
            self._bin / "kube-apiserver",
            port,
            self.etcd_url,
            self.pki,
            self.users.write_token_file(),
            self._signing_public,
        )
        if self._core_gangs:
            flags += components.apiserver_gang_flags()
        if self._audit:
            policy = self.folder / "audit-policy.yaml"
            policy.write_text(components.EVICTIONS_POLICY if self._audit == "evictions" else components.AUDIT_POLICY)
            flags += [f"--audit-policy-file={policy}", f"--audit-log-path={self.folder / 'audit.log'}"]
        self.apiserver = self.launch("kube-apiserver", flags + self._apiserver_flags, self._environment)
        self._ready(self.apiserver, self.server, "/readyz")
        for namespace in ("default", "kube-system"):
            self.wait_for(
                lambda name=namespace: self.admin.find(path_of("namespaces", name)),
                _READY_DEADLINE,
                f"namespace {namespace}",
            )

    def _install_crds(self):
        if not self._crds:
            return
        chosen = (
            (programs.E2E / "crds").glob("*.yaml")
            if self._crds is True
            else (programs.E2E / "crds" / f"{name}.yaml" for name in self._crds)
        )
        self.objects.in_parallel(self.apply, sorted(chosen))

    def _start_controllers(self):
        port = free_port()
        controllers = list(self._controllers)
        if self._core_gangs:
            controllers.append("podgroup-protection-controller")
        flags = components.kube_controller_manager(
            self._bin / "kube-controller-manager",
            port,
            self.kubeconfig("kube-controller-manager"),
            self.pki,
            controllers,
        )
        self.controllers = self.launch(
            "kube-controller-manager", [*flags, *self._gang_flags(), *self._controller_flags], self._environment
        )
        self._ready(self.controllers, f"https://127.0.0.1:{port}", "/healthz")

    def _start_kwok(self):
        port = free_port()
        stages = programs.E2E / "kwok" / "stages.yaml"
        flags = components.kwok(self._bin / "kwok", port, self.kubeconfig("kwok"), stages, self._node_lease_seconds)
        if self._spacious:
            options = self.folder / "kwok.yaml"
            options.write_text(components.KWOK_MANY_AT_ONCE)
            flags.append(f"--config={options}")
        self.kwok = self.launch("kwok", flags, {"KWOK_WORKDIR": str(self.folder / "kwok"), **self._environment})
        self._ready(self.kwok, f"http://127.0.0.1:{port}", "/readyz")

    def _gang_flags(self):
        return [f"--feature-gates={components.GANG_GATES}"] if self._core_gangs else []

    def _ready(self, process, server, path):
        def answers():
            assert process.alive(), f"{process.name} ended with {process.exit_code}\n{process.tail()}"
            return self._status(server, path) == 200

        wait_for(answers, _READY_DEADLINE, f"{process.name} to be ready", detail=process.tail)

    def _status(self, server, path):
        """The HTTP status of a health endpoint; None while nothing answers."""
        scheme, address = server.split("://")
        host, port = address.split(":")
        if scheme == "http":
            connection = http.client.HTTPConnection(host, int(port), timeout=5)
        else:
            tls = ssl.create_default_context(cafile=str(self.pki.authority))
            connection = http.client.HTTPSConnection(host, int(port), context=tls, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
