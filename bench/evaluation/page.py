"""docs/evaluation.md and its pictures, from the results alone: no number in it is typed."""
import statistics

STATED = {
    "W1": ("Fractions", "openb gpuspec33 on its 1,213 GPU nodes: best-effort pods three times first, then all others in the order of the trace; nobody leaves.",
           "prio=qos; order of the best-effort pods by seed", "15,000 s: every pod has arrived by then"),
    "W2": ("Tenants", "Philly jobs on 88 hosts x 8 GPUs of the Lingjun racks.", "prio=10/60/30, gang=packed, ckpt=30,rst=5, grace 30 s", "the busiest week, 2017-10-22 to 28"),
    "W3": ("LLM gangs", "Kalos training gangs over Philly jobs from 2017-09-25 on 144 hosts x 8 GPUs of the Lingjun racks.",
           "prio=llm, gang=packed, topo=req, ckpt=30,rst=5, grace 30 s", "the first twelve days of 90; gangs first find the cluster full on the ninth"),
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
            middle, low, high = interval([of(seeds[s]) - of(base[s]) for s in sorted(seeds)])
            cells.append(f"{shape.format(middle)} [{shape.format(low)}, {shape.format(high)}]")
            if (low > 0 and sign > 0) or (high < 0 and sign < 0):
                better.append(f"`{name}` in {title}")
        out.append(f"| {name} | " + " | ".join(cells) + " |")
    out += ["", f"Where `{BASE}` loses (the interval excludes 0): " + ("; ".join(better) if better else "nowhere") + "."]
    return out


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


def write(docs, facts, checks, published, runs):
    pictures = docs / "evaluation"
    pictures.mkdir(exist_ok=True)
    out = ["# Evaluation", "", "<!-- Written by bench/evaluation/evaluate. -->", "",
           f"Made by `bench/evaluation/evaluate --data DIR` with the program of commit {facts['commit']}, {facts['date']}, {facts['cpu']}. The stand-ins are our engine with the other scheduler's",
           "literal algorithm, not the other program; [simulate.md](simulate.md) says what each leaves out. What a trace does not say (priorities, gang shapes, topology",
           "needs, checkpoints) is ours: the names of the rules stand with each workload, [scripts/traces](../scripts/traces/README.md) explains them.", "",
           "`reprieve-lw` chooses victims by the GPU work they lose, `reprieve-x` by the usual costs; both take from other queues",
           "([configurations](../bench/evaluation)). `kube` sees no queues; `volcano` and `koordinator` take by priority inside a queue only, `volcano` also gives",
           "queues their share back. So the policies do not all answer the same question. Every run balanced its books, or it would have failed.", ""]
    if checks:
        out += ["## W0: is the placement right?", "", "Allocated GPUs in percent when 100 % of the cluster's GPUs have been asked for, mean over seeds, beside the published mean of 10 runs (Weng et al., ATC 2023).",
                "The seeds are ours: the paper's shuffles cannot be repeated.", "", "| pods | policy | seeds | simulated | published | difference | within 0.5 |", "|---|---|---|---|---|---|---|"]
        for pods, by_place in checks.items():
            for policy, values in by_place.items():
                place = policy.removeprefix("place:")
                mean = statistics.mean(values)
                off = mean - published[pods][place]
                out.append(f"| {pods} | {place} | {len(values)} | {mean:.2f} | {published[pods][place]:.2f} | {off:+.2f} | {'yes' if abs(off) <= 0.5 else 'no'} |")
        out.append("")
    for name, rows in runs.items():
        title, what, derived, window = STATED[name]
        table = by_policy(rows)
        seeds = max(len(of) for of in table.values())
        fewer = [f"{policy} ({len(of)})" for policy, of in table.items() if len(of) < seeds]
        out += [f"## {name}: {title}", "", f"{what} Derived: `{derived}`. Window: {FULL[name] if facts['full'] else window}. {seeds} seeds; means, and the priority is the highest there is.", ""]
        if fewer:
            out += [f"The workload was interrupted: fewer seeds are complete for {', '.join(fewer)}; compare those by the paired differences only.", ""]
        out += main_table(rows) + [""] + difference_table(rows) + [""]
        points = [(policy, statistics.mean(r["gpuHoursLost"] for r in by_seed.values()), statistics.mean(highest(r["waitP99"]) for r in by_seed.values()))
                  for policy, by_seed in by_policy(rows).items()]
        (pictures / f"{name.lower()}.svg").write_text(svg(points, f"{name}: down and left is better", "GPU-hours lost", "wait p99 of the highest priority, s"))
        out += [f"![{name}: GPU-hours lost against waiting of the highest priority](evaluation/{name.lower()}.svg)", ""]
    missing = [name for name in ("W1", "W2", "W3") if name not in runs]
    out += ["## What is not here", ""]
    other = [pods for pods in ("default", "gpuspec33", "multigpu50", "gpushare100") if pods not in checks]
    if other:
        out.append(f"- W0 on {', '.join(other)}: not run for this page.")
    if missing:
        out.append(f"- {', '.join(missing)}: not run for this page.")
    if not facts["full"]:
        out.append("- The windows are cut, as said above; `--full` runs two weeks of W2 and all of W3. Other cluster sizes and sweeps are not run.")
    out += ["- W4 (300 frozen states against an integer program) and W5 (latency on 4,278 nodes) have no runs here. \"Proven optimal\" above is the engine's own certificate for each",
            "  decision, not a second solver's word; `make oracle` holds such certificates against exhaustive search and integer programs on small worlds.",
            "- Guaranteed quotas, disruption budgets and elastic jobs of the traces' derivations are not simulated.", ""]
    (docs / "evaluation.md").write_text("\n".join(out))
