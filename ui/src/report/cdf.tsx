// Distributions as steps: which share of the jobs had waited at most so long.
import {scaleLinear, scaleSymlog} from "d3-scale";
import {curveStepAfter, line} from "d3-shape";
import {duration} from "../format.ts";
import {HUES} from "../room-paint.ts";
import {Table} from "../parts.tsx";

export type Points = [number, number][]; // seconds, share from 0 to 1
const DASHES = ["", "7 4", "2 4", "10 3 2 3", "4 4", "1 3"];
const TICKS = [0, 1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000];

/** The smallest value that this share does not exceed. */
export function quantile(points: Points, share: number): number | undefined {
    return points.find(([, part]) => part >= share)?.[0] ?? points.at(-1)?.[0];
}

/** Those whose labels do not stand on each other. */
export function roomy(ticks: number[], at: (tick: number) => number): number[] {
    const kept: number[] = [];
    for (const tick of ticks) {
        const last = kept.at(-1);
        if (last === undefined || at(tick) - at(last) >= 28) kept.push(tick);
    }
    return kept;
}

export function Cdf({title, series}: {title: string; series: Record<string, Points>}) {
    const names = Object.keys(series).filter((name) => (series[name] ?? []).length > 0);
    const longest = Math.max(1, ...names.flatMap((name) => (series[name] ?? []).map(([value]) => value)));
    const x = scaleSymlog([0, longest], [44, 680]).constant(10);
    const y = scaleLinear([0, 1], [190, 12]);
    const path = line<[number, number]>((p) => x(p[0]), (p) => y(p[1])).curve(curveStepAfter);
    return (
        <figure class="chart">
            <svg viewBox="0 0 700 226" role="img" aria-label={`${title}; the table below has the quartiles`}>
                {[0, 0.25, 0.5, 0.75, 1].map((share) => <g><line class="grid" x1={44} x2={680} y1={y(share)} y2={y(share)} /><text x={38} y={y(share) + 4} text-anchor="end">{share * 100} %</text></g>)}
                {roomy(TICKS.filter((tick) => tick <= longest), x).map((tick) => <g><line class="grid" x1={x(tick)} x2={x(tick)} y1={12} y2={190} /><text x={x(tick)} y={206} text-anchor="middle">{duration(tick)}</text></g>)}
                {names.map((name, i) => <path class="series" d={path([[0, 0], ...(series[name] ?? [])]) ?? ""} stroke={HUES[i % HUES.length]} stroke-dasharray={DASHES[i % DASHES.length]} />)}
                {names.map((name, i) => <g><line class="series" x1={500} x2={530} y1={30 + i * 16} y2={30 + i * 16} stroke={HUES[i % HUES.length]} stroke-dasharray={DASHES[i % DASHES.length]} /><text x={536} y={34 + i * 16}>{name}</text></g>)}
            </svg>
            <figcaption>
                <Table caption={title} head={["Policy", {text: "25 %", number: true}, {text: "Median", number: true}, {text: "75 %", number: true}, {text: "99 %", number: true}]}>
                    {names.map((name) => (
                        <tr><th scope="row">{name}</th>{[0.25, 0.5, 0.75, 0.99].map((share) => { const value = quantile(series[name] ?? [], share); return <td class="num">{value === undefined ? "-" : duration(value)}</td>; })}</tr>
                    ))}
                </Table>
            </figcaption>
        </figure>
    );
}
