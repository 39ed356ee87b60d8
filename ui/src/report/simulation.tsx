// The report of `reprieve simulate`: policies beside the first one.
import {mean} from "d3-array";
import {count, duration} from "../format.ts";
import {Badge, Bar, Section, Table} from "../parts.tsx";
import {Over} from "./over-time.tsx";
import {Cdf, type Points} from "./cdf.tsx";

export interface PolicyRun {
    name: string;
    seed: number;
    jobs: number;
    finished: number;
    evictions: number;
    podsLost: number;
    gpuHoursUsed: number;
    gpuHoursLost: number;
    gpuHoursIdle: number;
    utilisation: number;
    waitP50: Record<string, number>;
    waitP99: Record<string, number>;
    jct: {mean: number; p50: number; p99: number};
    makespan: number;
    decisions: number;
    optimal: number;
    wallS?: number;
}

/** One eviction of a job, as far as a simulation keeps it. */
export interface ShortReceipt {
    time: number;
    pod: string;
    for: string;
    action: string;
    certificate: string;
    reason: string;
}

export interface SimulationData {
    policies: PolicyRun[];
    command?: string;
    cluster?: Record<string, string | number>;
    workload?: Record<string, string | number>;
    waiting?: Record<string, Points>;
    completion?: Record<string, Points>;
    groups?: {by: string; group: string; policy: string; jobs: number; waitP50: number; waitP99?: number; gpuHoursLost: number; evictions: number}[];
    worst?: {policy: string; job: string; queue?: string; priority?: number; gpus?: number; evictions: number; restarts?: number; gpuHoursLost: number; receipts?: ShortReceipt[]}[];
    compare?: {policy: string; against: string; metric: string; mean: number; difference: number; low: number; high: number}[];
    sizes?: [number, number][];
    queues?: [string, number][];
    derivations?: string[];
    runs?: {policy: string; seed: number; samples: [number, number, number, number][]}[];
    partings?: {policy: string; other: string; at: number; here: string; there: string}[];
    conservation?: {policy: string; seed: number; capacity: number; used: number; lost: number; idle: number; holds: boolean}[];
    unknown?: string[];
}

type Measure = [string, (run: PolicyRun) => number, (value: number) => string, "more" | "less"];

const plain = (value: number) => value.toLocaleString("en", {maximumFractionDigits: value < 10 ? 2 : 1});
export const MEASURES: Measure[] = [
    ["Goodput (GPU-hours of kept work)", (run) => run.gpuHoursUsed, plain, "more"],
    ["GPU-hours lost", (run) => run.gpuHoursLost, plain, "less"],
    ["Evictions", (run) => run.evictions, plain, "less"],
    ["Utilisation (%)", (run) => run.utilisation * 100, plain, "more"],
    ["Completion, mean", (run) => run.jct.mean, duration, "less"],
    ["Makespan", (run) => run.makespan, duration, "less"],
    ["Decisions proven optimal (%)", (run) => (run.decisions > 0 ? (100 * run.optimal) / run.decisions : NaN), plain, "more"],
];

/** Mean and half width of a 95 % interval; by Student's t, as there are few seeds. */
export function interval(values: number[]): {mid: number; half: number} {
    const mid = mean(values) ?? 0;
    if (values.length < 2) return {mid, half: 0};
    const t = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26][values.length - 2] ?? 2;
    const variance = values.reduce((sum, value) => sum + (value - mid) ** 2, 0) / (values.length - 1);
    return {mid, half: t * Math.sqrt(variance / values.length)};
}

/** Differences run by run: the same seed under both policies. */
export function paired(runs: PolicyRun[], base: string, other: string, of: (run: PolicyRun) => number): number[] {
    return runs.filter((run) => run.name === other).flatMap((run) => {
        const twin = runs.find((candidate) => candidate.name === base && candidate.seed === run.seed);
        return twin ? [of(run) - of(twin)] : [];
    });
}

// Measures of which the program has worked out intervals itself, by resampling.
const COMPARED: Record<string, string> = {"GPU-hours lost": "gpuHoursLost", Evictions: "evictions", "Completion, mean": "jctMean"};

/** "+3", "−1.5", and no sign where nothing is left to show. */
export function signed(value: number, show: (value: number) => string): string {
    const size = show(Math.abs(value));
    return size === show(0) ? size : `${value < 0 ? "−" : "+"}${size}`;
}

function difference(data: SimulationData, base: string, name: string, [title, of, show]: Measure): string {
    if (name === base) return "";
    const given = data.compare?.find((row) => row.policy === name && row.metric === COMPARED[title]);
    if (given) {
        const [middle, low, high] = [given.difference, given.low, given.high].map((value) => signed(value, show));
        return middle === low && low === high ? `${middle}` : `${middle} (${low} to ${high})`;
    }
    const values = paired(data.policies, base, name, of);
    if (values.length === 0 || values.some(Number.isNaN)) return "";
    const {mid, half} = interval(values);
    return `${signed(mid, show)}${half > 0 ? ` ± ${show(half)}` : ""}`;
}

const FACTS: Record<string, string> = {gpus: "GPUs", gpuHoursAsked: "GPU-hours asked for", hours: "hours of arrivals", load: "load (asked for / offered)"};

function Facts({of}: {of: Record<string, string | number>}) {
    return <dl class="facts">{Object.entries(of).map(([key, value]) => <div><dt>{FACTS[key] ?? key}</dt><dd>{typeof value === "number" ? plain(value) : value}</dd></div>)}</dl>;
}

/** "26557,evict,job-7-0,host-3", a row of the history, as a sentence. */
export function decisionWords(row: string): string {
    const [, what, pod, node] = row.split(",");
    if (what === "bind" && node) return `binds ${pod} to ${node}`;
    if (what === "evict" && node) return `evicts ${pod} from ${node}`;
    return row;
}

function shown(value: number | undefined, show: (value: number) => string): string {
    return value === undefined ? "-" : show(value);
}

export function Simulation({data}: {data: SimulationData}) {
    const names = [...new Set(data.policies.map((run) => run.name))];
    const base = names[0] ?? "";
    const seeds = new Set(data.policies.map((run) => run.seed)).size;
    const priorities = [...new Set(data.policies.flatMap((run) => Object.keys(run.waitP50 ?? {})))].sort((a, b) => Number(b) - Number(a));
    const of = (name: string) => data.policies.filter((run) => run.name === name);
    return (
        <>
            <header class="view-head">
                <h1>Policies side by side</h1>
                <p class="lead">{count(names.length, "policy", "policies")}, {count(seeds, "seed")} each, {count(data.policies[0]?.jobs ?? 0, "job")} a run.{names.length > 1 ? <> Differences are against <strong>{base}</strong>, seed by seed, with 95 % intervals.</> : null}</p>
            </header>
            <Section title="The numbers">
                <Table caption="Means over seeds; below each the paired difference" head={["Measure", ...names.map((text) => ({text, number: true}))]}>
                    {MEASURES.map((measure) => (
                        <tr>
                            <th scope="row">{measure[0]}</th>
                            {names.map((name) => <td class="num">{shown(mean(of(name), measure[1]), measure[2])}<br /><span class="muted">{difference(data, base, name, measure)}</span></td>)}
                        </tr>
                    ))}
                </Table>
            </Section>
            {(data.cluster || data.workload) && (
                <Section title="Is this my cluster?">
                    {data.cluster && <Facts of={data.cluster} />}
                    {data.workload && <Facts of={data.workload} />}
                    {data.sizes && data.sizes.length > 0 && (
                        <Table caption="Jobs by the GPUs that they ask for" head={["GPUs", {text: "Jobs", number: true}, "Share"]}>
                            {data.sizes.map(([size, n]) => <tr><th scope="row">{size}</th><td class="num">{n}</td><td class="wide"><Bar part={n} whole={data.policies[0]?.jobs ?? n} label={`${n} jobs`} /></td></tr>)}
                        </Table>
                    )}
                    {(data.derivations ?? []).length > 0 && <p class="muted">Derived, not read: {(data.derivations ?? []).join("; ")}.</p>}
                    {(data.unknown ?? []).map((text) => <p class="notice">{text}</p>)}
                </Section>
            )}
            {priorities.length > 0 && (
                <Section title="Waiting by priority">
                    <Table caption="Median and 99th percentile of the time until a job starts, means over seeds" head={["Priority", ...names.map((text) => ({text, number: true}))]}>
                        {priorities.map((priority) => (
                            <tr><th scope="row">{priority}</th>{names.map((name) => { const runs = of(name); return <td class="num">{duration(mean(runs, (run) => run.waitP50?.[priority]) ?? 0)}<br /><span class="muted">{duration(mean(runs, (run) => run.waitP99?.[priority]) ?? 0)}</span></td>; })}</tr>
                        ))}
                    </Table>
                </Section>
            )}
            {data.waiting && <Section title="How long jobs wait"><Cdf title="Share of jobs that waited at most so long" series={data.waiting} /></Section>}
            {data.completion && <Section title="How long jobs take"><Cdf title="Share of jobs that were complete after at most so long" series={data.completion} /></Section>}
            {data.runs && data.runs.some((run) => run.samples.length > 1) && <Section title="Over time"><Over runs={data.runs} /></Section>}
            {data.groups && data.groups.length > 0 && (
                <Section title="Who wins and who loses">
                    <Table caption="By queue and by size" head={["Group", "Policy", {text: "Jobs", number: true}, {text: "Median wait", number: true}, {text: "GPU-hours lost", number: true}, {text: "Evictions", number: true}]}>
                        {data.groups.map((row) => <tr><th scope="row">{row.by} {row.group}</th><td>{row.policy}</td><td class="num">{row.jobs}</td><td class="num">{duration(row.waitP50)}</td><td class="num">{plain(row.gpuHoursLost)}</td><td class="num">{row.evictions}</td></tr>)}
                    </Table>
                </Section>
            )}
            {data.worst && data.worst.length > 0 && (
                <Section title="Jobs that were hit worst">
                    <Table caption="The jobs that lost most work" head={["Policy", "Job", "Queue", {text: "Evictions", number: true}, {text: "GPU-hours lost", number: true}]}>
                        {data.worst.map((row) => <tr><td>{row.policy}</td><th scope="row">{row.job}</th><td>{row.queue ?? "-"}</td><td class="num">{row.evictions}</td><td class="num">{plain(row.gpuHoursLost)}</td></tr>)}
                    </Table>
                    {data.worst.filter((row) => (row.receipts ?? []).length > 0).map((row) => (
                        <details>
                            <summary>Receipts of {row.job} under {row.policy}</summary>
                            <Table caption={`Evictions of ${row.job}`} head={[{text: "At", number: true}, "Pod", "For whom", "Action", "Proof", "Why"]}>
                                {(row.receipts ?? []).map((receipt) => <tr><td class="num">{duration(receipt.time)}</td><th scope="row">{receipt.pod}</th><td>{receipt.for}</td><td>{receipt.action}</td><td>{receipt.certificate ? <Badge of={receipt.certificate} /> : "-"}</td><td>{receipt.reason}</td></tr>)}
                            </Table>
                        </details>
                    ))}
                </Section>
            )}
            {data.partings && data.partings.length > 0 && (
                <Section title="Where policies part">
                    <Table caption="The first decision in which two policies differ" head={["Policies", {text: "At", number: true}, "One decides", "The other"]}>
                        {data.partings.map((row) => <tr><th scope="row">{row.policy} and {row.other}</th><td class="num">{duration(row.at)}</td><td>{decisionWords(row.here)}</td><td>{decisionWords(row.there)}</td></tr>)}
                    </Table>
                </Section>
            )}
            <Section title="Where the GPU-hours go">
                <Table caption="Used, lost and idle together are all there is" head={["Policy", {text: "Seed", number: true}, "Used", {text: "Used", number: true}, {text: "Lost", number: true}, {text: "Idle", number: true}]}>
                    {data.policies.map((run) => {
                        const all = run.gpuHoursUsed + run.gpuHoursLost + run.gpuHoursIdle;
                        return <tr><th scope="row">{run.name}</th><td class="num">{run.seed}</td><td class="wide"><Bar part={run.gpuHoursUsed} whole={all} label={`${plain((100 * run.gpuHoursUsed) / Math.max(1e-9, all))} % used`} /></td><td class="num">{plain(run.gpuHoursUsed)}</td><td class="num">{plain(run.gpuHoursLost)}</td><td class="num">{plain(run.gpuHoursIdle)}</td></tr>;
                    })}
                </Table>
                {(data.conservation ?? []).some((row) => !row.holds) && <p class="notice bad">Some runs do not conserve GPU-seconds: do not trust them.</p>}
            </Section>
            {data.command && <Section title="The same again"><p class="commands"><code>{data.command}</code></p></Section>}
        </>
    );
}
