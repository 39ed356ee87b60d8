"""docs/evaluation.md and its pictures, from the results alone: no number in it is typed."""
import math
import statistics

STATED = {
    "W1": ("Fractions", "openb gpuspec33 on its 1,213 GPU nodes: best-effort pods three times first, then all others in the order of the trace; nobody leaves.",
           "prio=qos; order of the best-effort pods by seed", "15,000 s: every pod has arrived by then"),
    "W2": ("Tenants", "Philly jobs on 88 hosts x 8 GPUs of the Lingjun racks.", "prio=10/60/30, gang=packed, ckpt=30,rst=5, grace 30 s", "the busiest week, 2017-10-22 to 28"),
    "W3": ("LLM gangs", "Kalos training gangs over Philly jobs from 2017-09-25 on 144 hosts x 8 GPUs of the Lingjun racks.",
           "prio=llm, gang=packed, topo=req, ckpt=30,rst=5, grace 30 s", "days 41 to 52 of 90, from an empty cluster (before that gangs hardly ever find it full); ends with the twelfth day"),
}
FULL = {"W2": "2017-10-15 to 28", "W3": "all 90 days", "W1": "15,000 s: every pod has arrived by then"}
BASE = "reprieve-lw"
COLOURS = ["#0072b2", "#56b4e9", "#999999", "#666666", "#d55e00", "#009e73", "#cc79a7"]


def highest(table):
    return table[max(table, key=int)]


METRICS = [
    ("GPU-h lost", lambda r: r["gpuHoursLost"], "{:.1f}", -1),
    ("evictions", lambda r: r["evictions"], "{:.0f}", -1),
    ("wait p50, highest (s)", lambda r: highest(r["waitP50"]), "{:.0f}", -1),
    ("wait p99, highest (s)", lambda r: highest(r["waitP99"]), "{:.0f}", -1),
    ("utilisation (%)", lambda r: 100 * r["utilisation"], "{:.2f}", 1),
    ("JCT mean (s)", lambda r: r["jct"]["mean"], "{:.0f}", -1),
]


def splitmix64(x):
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def interval(differences):
    """Median and bootstrap interval of 95 %, by a fixed generator."""
    draw, medians = 1, []
    for _ in range(2000):
        sample = []
        for _ in differences:
            draw = splitmix64(draw)
            sample.append(differences[draw % len(differences)])
        medians.append(statistics.median(sample))
    medians.sort()
    return statistics.median(differences), medians[50], medians[-51]


def by_policy(runs):
    table = {}
    for run in runs:
        table.setdefault(run["name"], {})[run["seed"]] = run
    return table


def main_table(runs):
    table = by_policy(runs)
    out = ["| policy | seeds | " + " | ".join(m[0] for m in METRICS) + " | finished | proven optimal | cascades |", "|---" * (len(METRICS) + 5) + "|"]
    for name, seeds in table.items():
        mean = lambda of: statistics.mean(of(r) for r in seeds.values())  # noqa: E731
        decisions = mean(lambda r: r["decisions"])
        optimal = f"{100 * mean(lambda r: r['optimal']) / decisions:.1f} % of {decisions:.0f}" if decisions else "-"
        out.append(f"| {name} | {len(seeds)} | " + " | ".join(m[2].format(mean(m[1])) for m in METRICS) +
                   f" | {mean(lambda r: r['finished']):.0f} of {mean(lambda r: r['jobs']):.0f} | {optimal} | {mean(lambda r: r['cascades']):.0f} |")
    return out


def difference_table(runs):
    table = by_policy(runs)
    base = table[BASE]
    out = [f"Paired by seed, policy less `{BASE}`: median [95 % interval].", "", "| policy | " + " | ".join(m[0] for m in METRICS) + " |", "|---" * (len(METRICS) + 1) + "|"]
    better = []
    for name, seeds in table.items():
        if name == BASE:
            continue
        cells = []
        for title, of, shape, sign in METRICS:
            middle, low, high = interval([of(seeds[s]) - of(base[s]) for s in sorted(seeds) if s in base])
            cells.append(f"{shape.format(middle)} [{shape.format(low)}, {shape.format(high)}]")
            if (low > 0 and sign > 0) or (high < 0 and sign < 0):
                better.append(f"`{name}` in {title}")
        out.append(f"| {name} | " + " | ".join(cells) + " |")
    out += ["", f"Where `{BASE}` loses (the interval excludes 0): " + ("; ".join(better) if better else "nowhere") + "."]
    return out


def for_whom_table(found):
    """Who went for whom: {policy: {seed: facts}}, means over seeds."""
    columns = [("for the highest: pods", "pods_highest", "{:.0f}"), ("GPUs", "gpus_highest", "{:.0f}"), ("GPU-h lost", "lost_highest", "{:.1f}"),
               ("for others: pods", "pods_others", "{:.0f}"), ("GPUs", "gpus_others", "{:.0f}"), ("GPU-h lost", "lost_others", "{:.1f}"),
               ("GPUs of all jobs stopped", "gpus_broken", "{:.0f}"), ("jobs evicted", "jobs", "{:.0f}"), ("most evictions of one job", "most", "{:.0f}")]
    out = ["Evicted for jobs of the highest priority, and for others (means; the last column is the most of any seed). A job of several pods stops when a part of it",
           "is evicted: its whole size counts as stopped. Who has just started again loses least, so a cost of lost work takes the same small jobs again and again, each time for little.", "", "| policy | " + " | ".join(title for title, _, _ in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for policy, seeds in found.items():
        cells = [shape.format((max if key == "most" else statistics.mean)(one[key] for one in seeds.values())) for _, key, shape in columns]
        out.append(f"| {policy} | " + " | ".join(cells) + " |")
    return out + [""]


def verdict(differences, sign, shape):
    """Better, worse or neither, by the interval; and by how much."""
    middle, low, high = interval(differences)
    word = "too few seeds" if len(differences) < 5 else "equal" if low == high == 0 else "no difference shown" if low <= 0 <= high else "better" if (middle > 0) == (sign > 0) else "worse"
    return f"{word} ({shape.format(middle)})"


def claims_table(table):
    """What is claimed, against each stand-in: less work lost and no longer waits of the highest priority, at equal or better utilisation."""
    claimed = [METRICS[0], METRICS[3], METRICS[4]]
    out = [f"`{BASE}` against each stand-in: better or worse where the 95 % interval of the paired differences excludes 0, with the median difference (`{BASE}` less the stand-in).",
           "Who evicts nobody loses no work; the price stands in the columns beside it.", "",
           "| against | " + " | ".join(m[0] for m in claimed) + " |", "|---" * (len(claimed) + 1) + "|"]
    for policy, seeds in table.items():
        both = [s for s in sorted(seeds) if s in table[BASE]]
        if both and policy not in (BASE, "reprieve-x"):
            out.append(f"| {policy} | " + " | ".join(verdict([of(table[BASE][s]) - of(seeds[s]) for s in both], sign, shape) for _, of, shape, sign in claimed) + " |")
    return out + [""]


def svg(points, title, x_title, y_title):
    width, height, left, bottom = 640, 360, 70, 50
    top_x = max(p[1] for p in points) * 1.1 or 1
    top_y = max(p[2] for p in points) * 1.1 or 1
    x = lambda v: left + v / top_x * (width - left - 130)  # noqa: E731
    y = lambda v: height - bottom - v / top_y * (height - bottom - 30)  # noqa: E731
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img"><title>{title}</title>',
           f'<rect width="{width}" height="{height}" fill="#fff"/>', f'<path d="M{left} 30V{height - bottom}H{width - 130}" fill="none" stroke="#333"/>',
           f'<text x="{left}" y="18">{title}</text>', f'<text x="{left}" y="{height - 12}">{x_title} (0 to {top_x:.0f})</text>',
           f'<text transform="translate(18 {height - bottom}) rotate(-90)">{y_title} (0 to {top_y:.0f})</text>']
    for i, (name, px, py) in enumerate(points):
        colour = COLOURS[i % len(COLOURS)]
        out.append(f'<circle cx="{x(px):.1f}" cy="{y(py):.1f}" r="6" fill="{colour}"/>')
        out.append(f'<circle cx="{width - 118}" cy="{40 + 18 * i}" r="5" fill="{colour}"/><text x="{width - 108}" y="{44 + 18 * i}">{name}</text>')
    return "\n".join(out + ["</svg>", ""])


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * (len(values) - 1) + 0.5))]


def ratios(rows, policy, counted):
    """Cost over the proven least, of the states that this policy served."""
    return [float(r["cost"]) / float(r["opt"]) for r in rows if r["policy"] == policy and r["counted"] == counted and r["cost"] != "" and r["proven"] == "1"
            and r["opt"] not in ("", "0", "0.0")]


def names(rows):
    return list(dict.fromkeys(r["policy"] for r in rows))


def gap_section(rows, full):
    states = {r["id"]: r for r in rows}
    kinds = {}
    for r in states.values():
        kinds[r["kind"]] = kinds.get(r["kind"], 0) + 1
    whole = 300
    short = f" Of {whole} planned; the others were not reached." if len(states) < whole else ""
    out = [f"{len(states)} frozen states ({', '.join(f'{n} {kind}' for kind, n in kinds.items())}), each with one gang that fits only if others go.{short} `packed` and `spread`: the 847 hosts of the",
           "Lingjun tree x 8 GPUs, filled to 90, 94 or 98 % with jobs drawn from a virtual cluster of Philly (whole nodes for large jobs, or pods of one GPU anywhere below a switch); three",
           "tenths of the jobs (`spread`: one tenth) may not be taken; the gang wants one rack (4x8) or one switch. `W2` and `W3`: moments at which `reprieve-lw` preempted in the runs below,",
           "15 for each seed, without queues. Derived, by seed: `ckpt=30,rst=5`, how long each job has run (uniform over its duration), and who may not be taken.", "",
           "Three costs, each with an optimum of its own from an integer program (CBC, one program for each domain, "
           f"{'60' if full else '3'} s a state and cost). `reprieve` is asked for the cost that is counted; the stand-ins",
           "have no cost to choose, so their rows mix not seeing a cost with not finding the set. `kube` knows neither gangs nor domains: it gets the first domain by name in which the gang could",
           "fit, and jobs that lose a pod are lost whole. Every plan was checked by a count of its own: it fits, stays in its domain, takes only whom it may; none is below the optimum, and no",
           "certificate `optimal` differs from CBC's proof, or this page would not have been written.", "",
           "Ratios to the least, over states where CBC has a proof:", "",
           "| counted | policy | served | compared | median | p90 | largest | exactly the least |", "|---|---|---|---|---|---|---|---|"]
    for counted in ("GPU-minutes", "GPUs", "jobs"):
        for policy in names(rows):
            own = [r for r in rows if r["policy"] == policy and r["counted"] == counted]
            found = ratios(rows, policy, counted)
            if not found:
                continue
            exact = sum(1 for x in found if x < 1 + 1e-6)
            out.append(f"| {counted} | {policy} | {sum(1 for r in own if r['cost'] != '')} of {len(own)} | {len(found)} | {statistics.median(found):.2f} | {quantile(found, 0.9):.2f} | "
                       f"{max(found):.2f} | {100 * exact / len(found):.0f} % |")
    out += ["", "By kind of state, median and p90, GPU-minutes:", "", "| states | " + " | ".join(names(rows)) + " | proven by CBC | `optimal` by certificate |",
            "|---" * (len(names(rows)) + 3) + "|"]
    for kind in kinds:
        part = [r for r in rows if r["kind"] == kind and r["counted"] == "GPU-minutes"]
        own = [r for r in part if r["policy"] == "reprieve"]
        cells = []
        for policy in names(rows):
            found = ratios(part, policy, "GPU-minutes")
            cells.append(f"{statistics.median(found):.2f}, {quantile(found, 0.9):.2f}" if found else "-")
        out.append(f"| {kind} | " + " | ".join(cells) + f" | {sum(r['proven'] == '1' for r in own)} of {len(own)} | {sum(r['certificate'] == 'optimal' for r in own)} |")
    refused = sum(1 for r in rows if r["policy"] == "reprieve" and r["counted"] == "GPUs" and r["cost"] == "")
    never = sum(1 for r in rows if r["policy"] == "reprieve" and r["counted"] == "GPUs" and r["opt"] == "")
    worse = [f"`{p}` in {c} ({w} of {n})" for c in ("GPU-minutes", "GPUs", "jobs") for p, w, n in beaten(rows, c) if w]
    out += ["", f"In {never} states no set of victims is enough; `reprieve` refuses {refused}. States in which a stand-in finds a cheaper set than `reprieve`, proven or not: "
            + ("; ".join(worse) if worse else "none") + ".", "",
            "![W4: share of states by cost over the least](evaluation/w4.svg)", ""]
    return out


def beaten(rows, counted):
    ours = {r["id"]: float(r["cost"]) for r in rows if r["policy"] == "reprieve" and r["counted"] == counted and r["cost"] != ""}
    for policy in names(rows):
        theirs = {r["id"]: float(r["cost"]) for r in rows if r["policy"] == policy and r["counted"] == counted and r["cost"] != ""}
        both = [i for i in theirs if i in ours]
        if policy != "reprieve":
            yield policy, sum(theirs[i] < ours[i] - 1e-6 for i in both), len(both)


def frame(width, height, title):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img"><title>{title}</title>',
            f'<rect width="{width}" height="{height}" fill="#fff"/>', f'<text x="60" y="18">{title}</text>']


def gap_picture(rows):
    """Share of states within a ratio, for each policy; two panels."""
    width, height, out = 860, 360, frame(860, 360, "W4: share of states whose cost is at most so many times the least (up and left is better)")
    for panel, counted in enumerate(("GPU-minutes", "GPUs")):
        left, right, top, bottom = 60 + 400 * panel, 350 + 400 * panel, 50, height - 50
        x = lambda ratio: left + (right - left) * min(math.log(ratio) / math.log(20), 1)  # noqa: E731, B023
        y = lambda share: bottom - (bottom - top) * share  # noqa: E731, B023
        out.append(f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#333"/><text x="{left}" y="{top - 10}">{counted}</text>')
        for tick in (1, 1.5, 2, 3, 5, 10, 20):
            out.append(f'<path d="M{x(tick):.1f} {bottom}v4" stroke="#333"/><text x="{x(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>')
        for share in (0, 0.5, 1):
            out.append(f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>')
        for i, policy in enumerate(names(rows)):
            found = sorted(ratios(rows, policy, counted))
            path = "".join(f"L{x(max(r, 1)):.1f} {y((k + 1) / len(found)):.1f}" for k, r in enumerate(found))
            if path:
                colour = COLOURS[(0, 4, 5, 6)[i % 4]]
                out.append(f'<path d="M{left} {y(0):.1f}{path}H{right}" fill="none" stroke="{colour}" stroke-width="2"/>')
                if panel == 0:
                    out.append(f'<path d="M{left + 130} {top + 110 + 20 * i}h20" stroke="{colour}" stroke-width="2"/><text x="{left + 156}" y="{top + 114 + 20 * i}">{policy}</text>')
        out.append(f'<text x="{left}" y="{height - 12}">cost / least (logarithmic)</text>')
    return "\n".join(out + ["</svg>", ""])


def milliseconds(rows, policy, nodes):
    return [int(r["us"]) / 1000 for r in rows if r["policy"] == policy and int(r["nodes"]) == nodes and r["counted"] == "GPU-minutes"]


def latency_section(rows, facts):
    sizes = sorted({int(r["nodes"]) for r in rows})
    stress = [r for r in rows if r["from"] == "W5"]
    out = [f"One gang on the nodes of the spot-GPU trace (4,278 nodes, 10,412 GPUs), filled as in W4; the gang wants one of three models: 64x1 on A10, 16x8 on A100, 32x4 on H800;"
           f" {len({r['id'] for r in stress})} states{', and beside them those of W4' if len(stress) < len(rows) else ''}.",
           f"Milliseconds of the processor for one cycle, with the search for a certificate where the policy has one; least of three; {facts['cpu']}, shared with other work.", "",
           "| nodes | policy | decisions | p50 | p90 | p99 | largest | `optimal` |", "|---|---|---|---|---|---|---|---|"]
    for nodes in sizes:
        for policy in names(rows):
            found = milliseconds(rows, policy, nodes)
            proven = sum(r["certificate"] == "optimal" for r in rows if r["policy"] == policy and int(r["nodes"]) == nodes and r["counted"] == "GPU-minutes")
            if found:
                out.append(f"| {nodes} | {policy} | {len(found)} | {quantile(found, 0.5):.1f} | {quantile(found, 0.9):.1f} | {quantile(found, 0.99):.1f} | {max(found):.1f} | "
                           f"{proven if policy == 'reprieve' else '-'} |")
    return out + ["", "![W5: time of a decision by the size of the cluster](evaluation/w5.svg)", ""]


def latency_picture(rows):
    sizes = sorted({int(r["nodes"]) for r in rows})
    width, height, left, right, top, bottom = 640, 360, 70, 500, 40, 310
    out = frame(width, height, "W5: milliseconds of a decision: median (dot) and p99 (bar)")
    x = lambda n: left + (right - left) * (sizes.index(n) + 0.5) / len(sizes)  # noqa: E731
    y = lambda ms: bottom - (bottom - top) * (math.log10(max(ms, 0.1)) + 1) / 5  # noqa: E731
    out.append(f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#333"/>')
    for ms in (0.1, 1, 10, 100, 1000, 10000):
        out.append(f'<path d="M{left - 4} {y(ms):.1f}h4" stroke="#333"/><text x="{left - 8}" y="{y(ms) + 4:.1f}" text-anchor="end">{ms:g}</text>')
    for n in sizes:
        out.append(f'<text x="{x(n):.1f}" y="{bottom + 18}" text-anchor="middle">{n} nodes</text>')
    for i, policy in enumerate(names(rows)):
        colour = COLOURS[(0, 4, 5, 6)[i % 4]]
        out.append(f'<circle cx="{right + 20}" cy="{top + 20 * i}" r="5" fill="{colour}"/><text x="{right + 30}" y="{top + 4 + 20 * i}">{policy}</text>')
        for n in sizes:
            found = milliseconds(rows, policy, n)
            if found:
                at = x(n) + 9 * (i - 1.5)
                out.append(f'<path d="M{at:.1f} {y(quantile(found, 0.5)):.1f}V{y(quantile(found, 0.99)):.1f}" stroke="{colour}" stroke-width="3"/>'
                           f'<circle cx="{at:.1f}" cy="{y(quantile(found, 0.5)):.1f}" r="4" fill="{colour}"/>')
    return "\n".join(out + ["</svg>", ""])


def pressure_table(by_policy_seed):
    """W1: what was evicted for what was let in, in GPUs."""
    out = ["GPUs evicted for each GPU of higher priority that was let in (mean, and the largest of the seeds), and what was let in:", "",
           "| policy | evicted / let in | largest | GPUs let in | pods of priority 0 evicted |", "|---|---|---|---|---|"]
    for policy, seeds in by_policy_seed.items():
        rates = [evicted / admitted if admitted else 0 for evicted, admitted, _ in seeds.values()]
        out.append(f"| {policy} | {statistics.mean(rates):.3f} | {max(rates):.3f} | {statistics.mean(a for _, a, _ in seeds.values()):.0f} | {statistics.mean(p for _, _, p in seeds.values()):.0f} |")
    return out + [""]


def speed_section(speed):
    out = ["One policy (`reprieve`), one process, one core; seconds of the processor and the largest resident memory, reading and writing of all files included.", "",
           "| workload | nodes | jobs | pods | finished | cycles | processor | memory |", "|---|---|---|---|---|---|---|---|"]
    for r in speed:
        out.append(f"| {r['name']} | {r['nodes']} | {r['jobs']} | {r['pods']} | {r['finished']} | {r['cycles']} | {r['cpu']:.1f} s | {r['rss'] / 1e6:.0f} MB |")
    return out + [""]


def placement_section(checks, published):
    out = ["Allocated GPUs in percent when 100 % of the cluster's GPUs have been asked for, mean over seeds, beside the published mean of 10 runs (Weng et al., ATC 2023).",
           "The seeds are ours: the paper's shuffles cannot be repeated.", "", "| pods | policy | seeds | simulated | published | difference | within 0.5 |", "|---|---|---|---|---|---|---|"]
    for pods, by_place in checks.items():
        for policy, values in by_place.items():
            place = policy.removeprefix("place:")
            mean = statistics.mean(values)
            off = mean - published[pods][place]
            out.append(f"| {pods} | {place} | {len(values)} | {mean:.2f} | {published[pods][place]:.2f} | {off:+.2f} | {'yes' if abs(off) <= 0.5 else 'no'} |")
    other = [pods for pods in ("default", "gpuspec33", "multigpu50", "gpushare100") if pods not in checks]
    return out + [""] + ([f"Not run for this page: {', '.join(other)}.", ""] if other else [])


def workload_section(name, rows, facts, pressure, for_whom, pictures):
    _, what, derived, window = STATED[name]
    table = by_policy(rows)
    seeds = max(len(of) for of in table.values())
    fewer = [f"{policy} ({len(of)})" for policy, of in table.items() if len(of) < seeds]
    out = [f"{what} Derived: `{derived}`. Window: {FULL[name] if facts['full'] else window}. Seeds: {seeds}; means, and the priority is the highest there is.", ""]
    absent = [policy for policy in facts["policies"] if policy not in table]
    if absent:
        out += [f"Not run for this page: {', '.join(f'`{policy}`' for policy in absent)}.", ""]
    if fewer:
        out += [f"The workload was interrupted: fewer seeds are complete for {', '.join(fewer)}; compare those by the paired differences only.", ""]
    out += main_table(rows) + [""]
    if BASE in table:
        out += claims_table(table) + difference_table(rows) + [""]
    out += pressure_table(pressure) if name == "W1" and pressure else for_whom_table(for_whom) if for_whom else []
    points = [(policy, statistics.mean(r["gpuHoursLost"] for r in by_seed.values()), statistics.mean(highest(r["waitP99"]) for r in by_seed.values()))
              for policy, by_seed in table.items()]
    (pictures / f"{name.lower()}.svg").write_text(svg(points, f"{name}: down and left is better", "GPU-hours lost", "wait p99 of the highest priority, s"))
    return out + [f"![{name}: GPU-hours lost against waiting of the highest priority](evaluation/{name.lower()}.svg)", ""]


TITLES = {"W0": "## W0: is the placement right?", **{name: f"## {name}: {stated[0]}" for name, stated in STATED.items()}, "W4": "## W4: how far from the least?",
          "W5": "## W5: how long does a decision take?", "speed": "## How fast is the simulator?"}


def kept_sections(file):
    """The sections of the page as it stands, by workload."""
    found, name = {}, None
    for line in file.read_text().splitlines() if file.exists() else []:
        if line.startswith("## "):
            name = next((n for n, title in TITLES.items() if line == title), None)
        if name:
            found.setdefault(name, []).append(line)
    return found


def write(docs, sections):
    """`sections`: workload -> (who made it, lines), of those that were run; the others stay as they stand in the page, with what is said there of who made them."""
    kept = kept_sections(docs / "evaluation.md")
    for name, (made, lines) in sections.items():
        kept[name] = [TITLES[name], "", made, "", *lines]
    out = ["# Evaluation", "", "<!-- Written by bench/evaluation/evaluate. -->", "",
           "Made by `bench/evaluation/evaluate --data DIR`. Each section says with the program of which commit; a section that was not run again stays as it was. The stand-ins are our engine with",
           "the other scheduler's literal algorithm, not the other program; [simulate.md](simulate.md) says what each leaves out. What a trace does not say (priorities, gang shapes, topology",
           "needs, checkpoints) is ours: the names of the rules stand with each workload, [scripts/traces](../scripts/traces/README.md) explains them.", "",
           "`reprieve-lw` chooses victims by the GPU work they lose, `reprieve-x` by the usual costs; both take from other queues",
           "([configurations](../bench/evaluation)). `kube` sees no queues; `volcano` and `koordinator` take by priority inside a queue only, `volcano` also gives",
           "queues their share back. So the policies do not all answer the same question. Every run balanced its books, or it would have failed.", ""]
    for name in TITLES:
        if name in kept:
            out += "\n".join(kept[name]).rstrip().split("\n") + [""]
    out += ["## What is not here", ""]
    missing = [f"{name}: not run." if name != "speed" else "The simulator's own speed: not run." for name in TITLES if name not in kept]
    out += [f"- {line}" for line in missing]
    out += ["- The windows are cut, as said above; `--full` runs two weeks of W2 and all of W3, and gives CBC a minute. Other cluster sizes and sweeps are not run.",
            "- \"Proven optimal\" in the tables of W1 to W3 is the engine's own certificate for each decision; W4 and `make oracle` hold such certificates against other solvers.",
            "- Lyra's greedy, upstream's pod group preemption and ablations of Reprieve are not among the policies; Jain's index and finish-time fairness are not counted.",
            "- Guaranteed quotas, disruption budgets and elastic jobs of the traces' derivations are not simulated.", ""]
    (docs / "evaluation.md").write_text("\n".join(out))
