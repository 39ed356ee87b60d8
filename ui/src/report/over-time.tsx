// What a run looked like over time: GPUs held and jobs that waited, a line a policy, of the first seed.
import {max} from "d3-array";
import {scaleLinear} from "d3-scale";
import {line} from "d3-shape";
import {duration} from "../format.ts";
import {HUES} from "../room-paint.ts";

type Sample = [number, number, number, number]; // seconds, GPUs held, jobs waiting, evictions so far
const DASHES = ["", "7 4", "2 4", "10 3 2 3", "4 4"];
const MOST = 600; // points of a line

/** Few enough points to draw: every n-th, and the last. */
export function thinned<T>(points: T[], most = MOST): T[] {
    const step = Math.ceil(points.length / most);
    return points.filter((_, i) => i % step === 0 || i === points.length - 1);
}

function Lines({title, runs, of}: {title: string; runs: {policy: string; samples: Sample[]}[]; of: (sample: Sample) => number}) {
    const x = scaleLinear([0, max(runs, (run) => run.samples.at(-1)?.[0]) ?? 1], [46, 690]);
    const y = scaleLinear([0, Math.max(1, max(runs, (run) => max(run.samples, of)) ?? 1)], [130, 10]).nice(4);
    const path = line<Sample>((s) => x(s[0]), (s) => y(of(s)));
    return (
        <figure class="chart">
            <figcaption>{title}</figcaption>
            <svg viewBox="0 0 700 160" role="img" aria-label={`${title}; samples.csv has the numbers`}>
                {y.ticks(4).map((tick) => <g><line class="grid" x1={46} x2={690} y1={y(tick)} y2={y(tick)} /><text x={40} y={y(tick) + 4} text-anchor="end">{tick}</text></g>)}
                {x.ticks(6).map((tick) => <text x={Math.min(665, x(tick))} y={150} text-anchor="middle">{duration(tick)}</text>)}
                {runs.map((run, i) => <path class="series" d={path(thinned(run.samples)) ?? ""} stroke={HUES[i % HUES.length]} stroke-dasharray={DASHES[i % DASHES.length]} />)}
            </svg>
        </figure>
    );
}

export function Over({runs}: {runs: {policy: string; seed: number; samples: Sample[]}[]}) {
    const first = runs.filter((run) => run.seed === runs[0]?.seed);
    return (
        <>
            <Lines title="GPUs held" runs={first} of={(s) => s[1]} />
            <Lines title="Jobs that wait" runs={first} of={(s) => s[2]} />
            <ul class="legend" aria-label="Policies">{first.map((run, i) => <li><span class="swatch" style={{background: HUES[i % HUES.length]}} />{run.policy}</li>)}</ul>
        </>
    );
}
