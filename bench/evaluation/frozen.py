"""Frozen states (W4, W5): clusters at a moment in which one gang has to make others go, and what each policy would do.

A state is plain numbers. From it come the manifests that the program plans on, the integer program whose optimum CBC proves, and the price of
any plan. The three know nothing of each other: a plan that is cheaper than the optimum, or that does not fit, ends the evaluation.
"""
import csv
import datetime
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "traces"))
import trace  # noqa: E402

COSTS = ["GPU-minutes", "GPUs", "jobs"]
NOW = 1_767_268_800  # 2026-01-01T12:00:00Z
RESTART = 300

# What the state is planned with. Reprieve is asked for each of the three costs by itself; the others have no cost to choose.
CONFIGS = {
    "reprieve: GPU-minutes": "actions: [{name: allocate}, {name: preempt, args: {cost: [lostWork, pods]}}, {name: gangPreempt, args: {cost: [lostWork, units]}}]\n"
                             "plugins: {args: {lostWork: {resource: nvidia.com/gpu}}}\n",
    "reprieve: GPUs": "actions: [{name: allocate}, {name: preempt, args: {cost: [resources, pods]}}, {name: gangPreempt, args: {cost: [resources, units]}}]\n",
    "reprieve: jobs": "actions: [{name: allocate}, {name: preempt, args: {cost: [units, pods]}}, {name: gangPreempt, args: {cost: [units, resources]}}]\n",
    "kube": "actions: [{name: allocate}, {name: preempt, args: {improve: false}}]\n",
    "volcano": "actions: [{name: allocate}, {name: gangPreempt, args: {improve: false}}]\n",
    "koordinator": "actions: [{name: allocate}, {name: jobPreempt, args: {improve: false}}]\n",
}
HEAD = "apiVersion: reprieve.dev/v1\nkind: SchedulerConfig\n"


class State:
    """nodes: name -> (gpus, {label: value}); jobs: name -> {gpus (a pod), nodes (of each pod), victim, lost (s), elapsed (s)}; one gang that waits."""

    def __init__(self, name, nodes, jobs, pods, gpus, level="", model=""):
        self.name, self.nodes, self.jobs = name, nodes, jobs
        self.pods, self.gpus, self.level, self.model = pods, gpus, level, model
        self.free = {node: size for node, (size, _) in nodes.items()}
        for job in jobs.values():
            for node in job["nodes"]:
                self.free[node] -= job["gpus"]
        assert min(self.free.values()) >= 0, f"{name}: a node holds more than it has"

    def domain(self, node):
        """The domain of a node; None: the gang cannot use it."""
        labels = self.nodes[node][1]
        if self.model and labels.get("gpu-model") != self.model:
            return None
        return labels.get(self.level) if self.level else "all"

    def price(self, victims):
        """(GPU-minutes, GPUs, jobs) of these jobs."""
        jobs = [self.jobs[v] for v in victims]
        return (sum(j["gpus"] * len(j["nodes"]) * (j["lost"] + RESTART) for j in jobs) / 60, sum(j["gpus"] * len(j["nodes"]) for j in jobs), len(jobs))

    def room(self):
        """By node: GPUs once all who may go are gone."""
        room = dict(self.free)
        for job in self.jobs.values():
            if job["victim"]:
                for node in job["nodes"]:
                    room[node] += job["gpus"]
        return room

    def first_domain(self):
        """By name, where the gang fits once all who may go are gone; for policies that know no domains."""
        places = defaultdict(int)
        for node, room in self.room().items():
            if self.domain(node) is not None:
                places[self.domain(node)] += room // self.gpus
        return next((d for d in sorted(places) if places[d] >= self.pods), None)

    # What the program reads.

    def manifests(self, gangs=True, domain=None):
        def stamp(ago):
            return datetime.datetime.fromtimestamp(NOW - ago, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

        out = []
        for node, (size, labels) in self.nodes.items():
            out.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels}, "status": {"allocatable": {"nvidia.com/gpu": str(size), "pods": "1000"}}})

        def pod(name, priority, gpus, group):
            one = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "annotations": {}},
                   "spec": {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}]}}
            if group:
                one["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = group
            out.append(one)
            return one

        for name, job in self.jobs.items():
            group = name if gangs and len(job["nodes"]) > 1 else ""
            if group:
                out.append({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": name, "namespace": "default"},
                            "spec": {"minMember": len(job["nodes"])}})
            for i, node in enumerate(job["nodes"]):
                one = pod(f"{name}-{i}", job["priority"], job["gpus"], group)
                one["spec"]["nodeName"] = node
                one["status"] = {"phase": "Running", "startTime": stamp(job["elapsed"])}
                notes = one["metadata"]["annotations"]
                notes["reprieve.dev/restart-cost"] = f"{RESTART}s"
                if job["lost"] < job["elapsed"]:
                    notes["reprieve.dev/last-checkpoint"] = stamp(job["lost"])
                if not job["victim"]:
                    notes["reprieve.dev/preemptible"] = "false"
        selector = {"gpu-model": self.model} if self.model else {}
        grouped = gangs and self.pods > 1
        if grouped:
            spec = {"schedulingPolicy": {"gang": {"minCount": self.pods}}, "priority": 1000}
            if self.level:
                spec["schedulingConstraints"] = {"topology": [{"key": self.level}]}
            out.append({"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "newcomer", "namespace": "default"}, "spec": spec})
        elif self.level and domain:
            selector = {**selector, self.level: domain}
        for i in range(self.pods):
            one = pod(f"newcomer-{i:03}", 1000, self.gpus, "")
            if grouped:
                one["spec"]["schedulingGroup"] = {"podGroupName": "newcomer"}
            if selector:
                one["spec"]["nodeSelector"] = selector
        return "\n".join(json.dumps(document) for document in out) + "\n"

    # What the plans cost, by our own count.

    def judge(self, plan, policy):
        """The price of a plan, or None where the gang got no place."""
        placed = {p: n for p, n in plan["placements"].items() if p.startswith("default/newcomer")}
        if len(placed) < self.pods:
            return None
        victims = {re.fullmatch(r"default/(.+)-\d+", pod).group(1) for pod in plan["evictions"]}
        left = dict(self.free)
        for name in victims:
            assert self.jobs[name]["victim"], f"{self.name}: {policy} takes {name}, which may not be taken"
            for node in self.jobs[name]["nodes"]:
                left[node] += self.jobs[name]["gpus"]
        for node in placed.values():
            left[node] -= self.gpus
        assert min(left.values()) >= 0, f"{self.name}: the plan of {policy} does not fit"
        domains = {self.domain(node) for node in placed.values()}
        assert None not in domains and len(domains) == 1, f"{self.name}: the plan of {policy} leaves its domain"
        return self.price(victims)

    # The optimum.

    def program(self, nodes, cost):
        """The integer program of the least cost within these nodes, as an LP file: v: job stopped, x: members on a node."""
        room = self.room()
        on = {node: defaultdict(int) for node in nodes}
        weights = {}
        for v, (name, job) in enumerate(self.jobs.items()):
            for node in job["nodes"] if job["victim"] else ():
                if node in on:
                    on[node][v] += job["gpus"]
                    weights[v] = self.weight(name, cost)
        lines = ["Minimize", " obj: 0 x0" + "".join(f"\n + {w} v{v}" for v, w in weights.items()), "Subject To",
                 " all: " + "\n + ".join(f"x{i}" for i in range(len(nodes))) + f" = {self.pods}"]
        bounds = []
        for i, node in enumerate(nodes):
            taken = "".join(f"\n - {g} v{v}" for v, g in on[node].items())
            lines.append(f" n{i}: {self.gpus} x{i}{taken} <= {self.free[node]}")
            bounds.append(f" 0 <= x{i} <= {min(room[node] // self.gpus, self.pods)}")
        binaries = ["Binaries", *(f" v{v}" for v in weights)] if weights else []
        return "\n".join([*lines, "Bounds", *bounds, *binaries, "Generals", *(f" x{i}" for i in range(len(nodes))), "End", ""])

    def domains(self):
        """The nodes of each domain in which the gang could fit, those with most room first."""
        room, found = self.room(), defaultdict(list)
        for node in self.nodes:
            if self.domain(node) is not None and room[node] >= self.gpus:
                found[self.domain(node)].append(node)
        fits = [nodes for nodes in found.values() if sum(room[n] // self.gpus for n in nodes) >= self.pods]
        return sorted(fits, key=lambda nodes: -sum(self.free[n] for n in nodes))

    def weight(self, name, cost):
        seconds, gpus, jobs = self.price([name])
        return round(seconds * 60) if cost == "GPU-minutes" else gpus if cost == "GPUs" else jobs

    def optimum(self, cost, seconds):
        """(cost, proven): the least over all domains, or a bound from below when the time is up; None: no set of victims is enough. Domains do not
        overlap, so each is a program of its own, with the best so far as its limit."""
        scale, best, bound, left = (60 if cost == "GPU-minutes" else 1), None, None, seconds
        for nodes in self.domains():
            if left <= 0:
                bound = 0.0
                break
            status, value, spent = solve(self.program(nodes, cost), left, best)
            left -= spent
            if status == "optimal":
                best = value
            elif status == "stopped":
                bound = value if bound is None else min(bound, value)
        if bound is not None and (best is None or bound < best - 0.5):
            return bound / scale, False
        return None if best is None else (best / scale, True)


def solve(text, seconds, below):
    """One program by CBC: (optimal, least), (none, None) where nothing is cheaper than `below`, (stopped, bound); and the processor's seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        problem, answer = Path(folder) / "state.lp", Path(folder) / "answer"
        problem.write_text(text)
        limit = [] if below is None else ["cutoff", str(below - 0.5)]
        done = subprocess.run(["cbc", str(problem), "sec", f"{seconds:.1f}", "ratioGap", "0", "allowableGap", "0.5", *limit, "solve", "solu", str(answer)],
                              capture_output=True, text=True, check=True)
        told = re.search(r"Total time \(CPU seconds\):\s+([0-9.]+)", done.stdout)
        spent = float(told.group(1)) if told else seconds
        status = answer.read_text().splitlines()[0] if answer.exists() else ""
    if status.startswith("Optimal"):
        value = round(float(status.split("objective value")[1]))
        return ("optimal", value, spent) if below is None or value < below else ("none", None, spent)
    if "Stopped" in status or not status:
        bound = re.findall(r"(?:Lower bound:|best possible)\s+([-0-9.e+]+)", done.stdout)
        return "stopped", max(float(bound[-1]), 0.0) if bound else 0.0, spent
    return "none", None, spent


def plan_all(decide, state, folder):
    """{policy: (plan)} of all configurations on one state."""
    folder = Path(folder)
    names = [n for n in CONFIGS if n != "kube"]
    plans = {}
    domain = state.first_domain()
    for gangs, policies in ((True, names), (False, ["kube"] if domain else [])):
        if not policies:
            continue
        file = folder / "state.json"
        file.write_text(state.manifests(gangs, domain))
        done = subprocess.run([decide, str(file), *(str(config_file(folder, n)) for n in policies)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{state.name}: {done.stderr}")
        plans.update(zip(policies, map(json.loads, done.stdout.splitlines())))
    return plans


def config_file(folder, policy):
    file = Path(folder) / f"config-{list(CONFIGS).index(policy)}.yaml"
    if not file.exists():
        file.write_text(HEAD + CONFIGS[policy])
    return file


# Where states come from.


def checkpointed(elapsed, duration):
    """ckpt=30: the work since the last checkpoint, in seconds."""
    return elapsed % 1800 if duration > 3600 else elapsed


def fill(nodes, shapes, load, spread, draws):
    """Jobs of these (GPUs, seconds) below each switch until the load is reached there. `packed`: whole nodes from 8 GPUs on, the fullest node that fits
    below, and three tenths of the jobs may not be taken; `spread`: pods of one GPU on any nodes, and a tenth may not."""
    free = {n: size for n, (size, _) in nodes.items()}
    below = defaultdict(list)
    for node, (_, labels) in nodes.items():
        below[labels.get("psw", labels.get("gpu-model", ""))].append(node)
    jobs = {}
    for _, group in sorted(below.items()):
        want = load * sum(free[n] for n in group)
        used = misses = 0
        while used < want and misses < 200:
            gpus, seconds = shapes[draws.below(len(shapes))]
            elapsed = 1 + draws.below(max(seconds - 1, 1))
            kept = draws.below(10) < (1 if spread else 3)
            each = 1 if spread else min(gpus, 8)
            places = place(group, free, each, gpus // each, spread, draws) if used + gpus <= want + 4 else None
            if places is None:
                misses += 1
                continue
            for node in places:
                free[node] -= each
            used += each * len(places)
            jobs[f"job-{len(jobs):04}"] = {"gpus": each, "nodes": places, "victim": not kept, "priority": 500, "elapsed": elapsed, "lost": checkpointed(elapsed, seconds)}
    return jobs


def place(group, free, each, count, spread, draws):
    """Nodes for so many pods; None: there is no room."""
    if spread:
        room = [n for n in group for _ in range(free[n])]
        if len(room) < count:
            return None
        for i in range(count):
            j = i + draws.below(len(room) - i)
            room[i], room[j] = room[j], room[i]
        return room[:count]
    fits = [n for n in group if free[n] >= each]
    if len(fits) < count:
        return None
    if count == 1:
        least = min(free[n] for n in fits)
        fits = [n for n in fits if free[n] == least]
        return [fits[draws.below(len(fits))]]
    draws.shuffle(fits)
    return fits[:count]


def lingjun(file):
    """All hosts of the topology: 8 GPUs each."""
    racks = defaultdict(list)
    for r in trace.rows(file):
        racks[(r["PSW"], r["ASW"])].append(r["ip"])
    hosts = [(psw, f"{psw}-{asw}") for (psw, asw), ips in sorted(racks.items(), key=lambda item: (-len(item[1]), item[0])) for _ in ips]
    return {f"host-{i:04}": (8, {"psw": psw, "rack": rack}) for i, (psw, rack) in enumerate(hosts)}


def spot(file):
    """The nodes of the spot-GPU trace, with their models."""
    return {f"node-{int(r['node_name']):05}": (int(r["gpu_capacity_num"]), {"gpu-model": r["gpu_model"]}) for r in trace.rows(file)}


def shapes_of(file):
    """(GPUs, seconds) of the jobs of a virtual cluster of Philly."""
    return [(int(r["num_gpu"]), max(int(r["duration"]) // 1000, 2)) for r in trace.rows(file)]


def needs_victims(state):
    """Whether the gang fits nowhere as things are."""
    places = defaultdict(int)
    for node, free in state.free.items():
        if state.domain(node) is not None:
            places[state.domain(node)] += free // state.gpus
    return max(places.values(), default=0) < state.pods


def fills(nodes, shapes, gangs, spread, loads, seeds):
    """A state for each gang, load and seed; where the gang would fit as things are, the load is raised by two points, to 98 % at most."""
    kind = "spread" if spread else "packed"
    for seed in seeds:
        known = {}
        for pods, gpus, level, model in gangs:
            for first in loads:
                load = first
                while True:
                    if (first, load) not in known:
                        known[first, load] = fill(nodes, shapes, load, spread, trace.Draws(100_000 * seed + round(10_000 * first + 100 * load)))
                    name = f"{kind} {pods}x{gpus} {level or model or 'anywhere'} load {first:.2f} to {load:.2f} seed {seed}"
                    state = State(name, nodes, known[first, load], pods, gpus, level, model)
                    if needs_victims(state) or load > 0.97:
                        break
                    load = round(load + 0.02, 2)
                yield kind, f"{pods}x{gpus} {level or model or 'anywhere'}", state


class Moments:
    """Frozen states at the preemptions of a simulation: who ran where just before, from its history. One queue; priorities as in the trace."""

    def __init__(self, result, policy):
        self.result, self.policy = Path(result), policy
        self.jobs, self.evictions, self.history = (self.rows(name) for name in ("jobs.csv", "evictions.csv", "history.csv"))

    def rows(self, name):
        by_seed = defaultdict(list)
        with open(self.result / name, newline="") as file:
            for r in csv.DictReader(file):
                if r["policy"] == self.policy:
                    by_seed[int(r["seed"])].append(r)
        return by_seed

    def states(self, seed, jobs_file, nodes_file, count):
        with open(nodes_file, newline="") as file:
            nodes = {r["name"]: (int(r["gpus"]), dict(pair.split("=", 1) for pair in r["labels"].split(";"))) for r in csv.DictReader(file)}
        with open(jobs_file, newline="") as file:
            asked = {r["job"]: r for r in csv.DictReader(file)}
        ends = {r["job_id"]: float(r["finish_time"]) for r in self.jobs[seed] if r["finish_time"]}
        demands = {}
        for r in self.evictions[seed]:
            name = r["for"].removeprefix("default/")
            demands.setdefault(float(r["time"]), name if name in asked else name.rsplit("-", 1)[0])
        times = sorted(demands)
        times = times[::max(1, len(times) // (16 * count))]
        bound, since, found = defaultdict(dict), {}, []
        for r in self.history[seed]:
            while times and float(r["time"]) >= times[0]:
                state = self.freeze(f"{self.result.name} seed {seed} second {times[0]:.0f}", times[0], asked, demands[times[0]], bound, since, ends, nodes)
                times.pop(0)
                if state and needs_victims(state):
                    found.append(state)
            job, pod = r["pod"].rsplit("-", 1)
            if r["what"] == "evict":
                bound.pop(job, None)
            else:
                if not bound[job]:
                    since[job] = float(r["time"])
                bound[job][pod] = r["node"]
        found = found[::max(1, len(found) // count)][:count]
        return [(self.result.name, f"{s.pods}x{s.gpus} {s.level or 'anywhere'}", s) for s in found]

    @staticmethod
    def freeze(name, moment, asked, demand, bound, since, ends, nodes):
        """None where the history does not tell it: somebody was just leaving."""
        gang = asked[demand]
        running, free = {}, {n: size for n, (size, _) in nodes.items()}
        for job, places in bound.items():
            row = asked[job]
            if ends.get(job, 1e18) <= moment or len(places) < int(row["pods"]) or job == demand:
                continue
            elapsed = max(int(moment - since[job]), 1)
            running[job] = {"gpus": int(row["gpus"]), "nodes": list(places.values()), "victim": int(row["priority"]) < int(gang["priority"]),
                            "priority": int(row["priority"]), "elapsed": elapsed, "lost": checkpointed(elapsed, int(row["duration"]))}
            for node in places.values():
                free[node] -= int(row["gpus"])
        if min(free.values()) < 0:
            return None
        return State(name, nodes, running, int(gang["pods"]), int(gang["gpus"]), gang.get("topology") or "")
