#!/usr/bin/env python3
"""Scaling (P10) as a table and, if asked, as a picture.

    build/bench/bench/preempt_bench --benchmark_format=json > preempt.json
    build/bench/bench/gang_bench --benchmark_format=json > gang.json
    build/bench/bench/storm_bench --json storm.json
    bench/plot.py preempt.json gang.json storm.json [--svg scaling.svg]
"""
import argparse
import json
import math

WIDTH, HEIGHT, LEFT, BOTTOM, MARGIN = 760, 440, 70, 50, 30
COLOURS = ["#1b6ca8", "#c1440e", "#3a7d44", "#6a4c93", "#b8860b", "#008080", "#8b0000", "#556b2f", "#ff1493", "#4682b4", "#2f4f4f"]


def series(paths):
    """name -> [(nodes, microseconds per decision)]: PreemptionBasic decides once per node, a gang once per cycle."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            runs = json.load(file)["benchmarks"]
        for run in runs:
            parts = run["name"].split("/")
            if parts[0] == "PreemptionBasic":
                found.setdefault("one pod", []).append((int(parts[1]), run["time/preemptor"] * 1e6))
            elif parts[0] == "GangIntoFullRows":
                kind = "gang of 64, mixed pods" if parts[2] == "1" else "gang of 64, whole nodes"
                found.setdefault(kind, []).append((int(parts[1]), run["cpu_time"] * 1e3))
            elif parts[0] == "Storm":
                found.setdefault(f"storm, {parts[1]}", []).append((int(parts[2]), run["us/preemptor"]))
    return {name: sorted(points) for name, points in found.items()}


def table(found):
    print(f"{'decision':28}{'nodes':>8}{'us':>12}{'us per 1000 nodes':>20}")
    for name, points in found.items():
        for nodes, us in points:
            print(f"{name:28}{nodes:>8}{us:>12.1f}{us * 1000 / nodes:>20.2f}")
        print(f"{name:28}grows like nodes^{exponent(points):.2f}\n")


def exponent(points):
    """The slope of the line through the points, both axes logarithmic: 1 is linear."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(us) for _, us in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / spread if spread else 0.0


def ticks(low, high):
    """1, 2 and 5 times powers of ten in this range of logarithms."""
    steps = (digit * 10**power for power in range(int(low), int(high) + 1) for digit in (1, 2, 5))
    return [step for step in steps if low <= math.log10(step) <= high]


def picture(found):
    every = [p for points in found.values() for p in points]
    low_x, high_x = (f(math.log10(n) for n, _ in every) for f in (min, max))
    low_y, high_y = math.floor(math.log10(min(u for _, u in every))), math.ceil(math.log10(max(u for _, u in every)))

    def at(nodes, us):
        x = LEFT + (math.log10(nodes) - low_x) / (high_x - low_x or 1) * (WIDTH - LEFT - MARGIN)
        y = HEIGHT - BOTTOM - (math.log10(us) - low_y) / (high_y - low_y or 1) * (HEIGHT - BOTTOM - MARGIN)
        return f"{x:.1f}", f"{y:.1f}"

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for power in range(low_y, high_y + 1):
        _, y = at(10**low_x, 10**power)
        label = f"{10**power:g} us" if power < 3 else f"{10**(power - 3):g} ms"
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - MARGIN}" y1="{y}" y2="{y}" stroke="#ddd"/><text x="8" y="{y}">{label}</text>')
    for nodes in ticks(low_x, high_x):
        x, y = at(nodes, 10**low_y)
        out.append(f'<line x1="{x}" x2="{x}" y1="{MARGIN}" y2="{y}" stroke="#eee"/>')
        out.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{nodes}</text>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 10}" text-anchor="middle">nodes</text>')
    out.append(f'<text x="8" y="{MARGIN - 14}">time per decision</text>')
    for i, (name, points) in enumerate(found.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(",".join(at(*p)) for p in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in (at(*p) for p in points)]
        power = f"nodes^{exponent(points):.2f}"
        out.append(f'<text x="{LEFT + 10}" y="{MARGIN + 16 * (i + 1)}" fill="{colour}">{name}: {power}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="output of the benchmarks as JSON")
    parser.add_argument("--svg", help="write the picture there")
    arguments = parser.parse_args()
    found = series(arguments.results)
    table(found)
    if arguments.svg:
        with open(arguments.svg, "w", encoding="utf-8") as file:
            file.write(picture(found))


if __name__ == "__main__":
    main()
