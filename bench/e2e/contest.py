"""What the end-to-end benchmarks share: contestants, each on a fresh control plane, measured from outside.

Every contestant gets a fresh etcd and kube-apiserver on the same machine. Compare the rows of one run; times of other
runs or machines mean little. "CPU" and "memory" are the contestant's own; "others" is the share of the machine that
went to foreign processes.
"""

import argparse
import json
import os
import pathlib
import platform
import resource
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from harness import Cluster  # noqa: E402
from harness.programs import go_program  # noqa: E402

DRIVER = ROOT / "bench" / "e2e" / "driver"
READS = ("GET", "LIST", "WATCH", "CONNECT")


class Contestant:
    """Something that takes the scheduler's part. start() returns its process, ready to act.

    needs are options of the Cluster, shape are flags of the driver that say what to load and to create.
    """

    def __init__(self, name, start, scheduler_name="default-scheduler", needs=None, shape=()):
        self.name = name
        self.start = start
        self.scheduler_name = scheduler_name
        self.needs = needs or {}
        self.shape = shape


def command(text, scheduler_name, name=None, **options):
    """A scheduler by its command line, in which {kubeconfig} is replaced."""

    def start(cluster):
        line = text.replace("{kubeconfig}", str(cluster.kubeconfig("reprieve")))
        process = cluster.launch("scheduler", shlex.split(line))
        cluster.wait_for(lambda: open_watches(cluster) > 0, 60, "the scheduler's watch of pods")
        return process

    return Contestant(name or pathlib.Path(shlex.split(text)[0]).name, start, scheduler_name, **options)


def kube_scheduler(**options):
    return Contestant("kube-scheduler", lambda cluster: cluster.start_kube_scheduler(), **options)


def is_idle(process):
    """Whether the process uses next to nothing for a second."""
    before = process.cpu_seconds()
    time.sleep(1)
    return process.alive() and process.cpu_seconds() - before <= 0.05


def open_watches(cluster):
    """Watches of pods that the API server serves now."""
    found = 0
    for line in cluster.admin.get("/metrics").splitlines():
        if line.startswith("apiserver_longrunning_requests{") and 'resource="pods"' in line and 'verb="WATCH"' in line:
            found += int(float(line.rsplit(" ", 1)[1]))
    return found


def access(cluster, user):
    """The driver's flags for one user."""
    file = cluster.folder / f"{user}.token"
    file.write_text(cluster.users.token(user))
    return ["-server", cluster.server, "-ca", cluster.pki.authority, "-token-file", file]


def drive(cluster, part, *arguments):
    done = subprocess.run(
        [go_program(DRIVER), part, *access(cluster, "admin"), *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"driver {part} failed")
    return done.stdout


def run_one(contestant, nodes, pods, deadline):
    """What the driver says, and what it took."""
    with Cluster(**contestant.needs) as cluster:
        begun = time.monotonic()
        common = ("-preemptors", pods, "-scheduler-name", contestant.scheduler_name, *contestant.shape)
        drive(cluster, "load", "-nodes", nodes, *common)
        loaded = time.monotonic() - begun
        if "-owned" in contestant.shape:
            cluster.add_controllers()
            cluster.wait_for(lambda: is_idle(cluster.controllers), 300, "the controllers to have read the cluster")
        process = contestant.start(cluster)
        cluster.wait_for(lambda: is_idle(process), 300, f"{contestant.name} to have read the cluster")
        servers = Group(cluster.etcd, cluster.apiserver, *([cluster.controllers] if "-owned" in contestant.shape else []))
        servers_before, cpu_before = servers.cpu_seconds(), process.cpu_seconds()
        calls_before, others = cluster.request_counts(), Others(servers, process)
        result = json.loads(drive(cluster, "measure", "-deadline", f"{deadline}s", *common))
        if not process.alive():
            raise SystemExit(f"{contestant.name} ended with {process.exit_code}\n{process.tail()}")
        result["cpuS"] = process.cpu_seconds() - cpu_before
        result["serverCpuS"] = servers.cpu_seconds() - servers_before
        result["othersShare"] = others.share()
        result["memoryPeakBytes"] = process.memory_peak_bytes()
        result["calls"] = calls_between(calls_before, cluster.request_counts(), pods)
        result["name"], result["nodes"], result["loadS"] = contestant.name, nodes, loaded
        return result


def run_all(contestants, options, pods):
    """Every contestant at every size. Leaves the figures in the file asked for."""
    print(machine(), flush=True)
    results = []
    for nodes in map(int, options.nodes.split(",")):
        for contestant in contestants:
            results.append(run_one(contestant, nodes, pods, options.deadline))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return results


class Group:
    """Several processes measured as one."""

    def __init__(self, *members):
        self._members = members

    def cpu_seconds(self):
        return sum(one.cpu_seconds() for one in self._members)


class Others:
    """How much of the machine went to processes that are no part of the benchmark. Above a few per cent, a row says
    more about them than about the contestant."""

    def __init__(self, *ours):
        self._ours = Group(*ours)
        self._start = self._read()

    def share(self):
        """From construction to now, as a share of all processors."""
        busy, total, own = (after - before for after, before in zip(self._read(), self._start, strict=True))
        return max(0.0, busy - own) / total

    def _read(self):
        ticks = [int(field) for field in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        second = os.sysconf("SC_CLK_TCK")
        idle = ticks[3] + ticks[4]
        children = resource.getrusage(resource.RUSAGE_CHILDREN)  # the driver, once it has ended
        own = self._ours.cpu_seconds() + children.ru_utime + children.ru_stime + time.process_time()
        return (sum(ticks) - idle) / second, sum(ticks) / second, own


def calls_between(before, after, creates):
    """Changing calls by verb and resource during the run, without the driver's own creates."""
    calls = {}
    for (verb, kind, code), count in after.items():
        delta = count - before.get((verb, kind, code), 0)
        if delta and verb not in READS and kind != "leases":
            name = f"{verb} {kind}" + ("" if code < 400 else f" ({code})")
            calls[name] = calls.get(name, 0) + delta
    calls["POST pods"] = calls.get("POST pods", 0) - creates
    return {name: count for name, count in sorted(calls.items()) if count}


def print_table(head, rows):
    """Columns under each other: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        cells = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join(cells))
    print()


def print_notes(results, say=lambda one: ""):
    """What does not fit into a table, a line for each; say() adds to it."""
    for one in results:
        calls = ", ".join(f"{count} {name}" for name, count in one["calls"].items())
        print(
            f"{one['name']}, {one['nodes']} nodes: loaded in {one['loadS']:.1f} s, all created after "
            f"{one['createdS']:.2f} s, first bind after {one['firstBindS']:.2f} s; API server and etcd used "
            f"{one['serverCpuS']:.1f} s of CPU; {calls}{say(one)}"
        )


def machine():
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    describe = ["git", "-C", ROOT, "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, capture_output=True, text=True).stdout.strip() or "none"
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} x {model}, Linux {platform.release()}, load {load:.1f}, commit {commit}"


def parser(description, nodes):
    """The options that all benchmarks have."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--nodes", default=nodes, help=f"comma-separated numbers of nodes (default {nodes})")
    made.add_argument("--scheduler-name", default="reprieve", help="schedulerName it serves (default reprieve)")
    made.add_argument(
        "--deadline", type=int, default=600, help="seconds before a contestant is given up (default 600)"
    )
    made.add_argument("--json", metavar="FILE", help="also write the figures there")
    return made
