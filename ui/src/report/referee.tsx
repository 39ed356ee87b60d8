// The report of `reprieve referee`: what other schedulers evicted, beside the least that would have done.
import type {Cost} from "../types.ts";
import {count, list} from "../format.ts";
import type {Answer} from "../answers.ts";
import {Answered, Badge, Bar, Figure, Name, Section, Table, Time} from "../parts.tsx";
import {TERMS, costValue} from "../words.ts";

export interface Verdict {
    at: string;
    scheduler: string;
    for: string;
    victims: string[];
    verdict: string;
    confidence: "named" | "inferred" | "unknown";
    evidence: string;
    couldHaveStayed?: string[];
    cheaper?: {victims: string[]; cost: Cost; status: string} | null;
}

interface Totals {
    evictions: number;
    podsLost: number;
    leastPods: number;
    gpuHoursLost: number;
    leastGpuHours: number;
    byVerdict: Record<string, number>;
}

export interface RefereeData {
    from?: string;
    to?: string;
    verdicts: Verdict[];
    totals: Totals;
    by?: Record<string, Record<string, Totals>>;
    worst?: number[];
    gaps?: {from: string; to: string; why: string}[];
}

const MEANS: Record<string, string> = {
    needless: "the beneficiary fitted without any of them",
    "too many": "a part of them would have been enough",
    "not cheapest": "another set costs less",
    unlawful: "broke a budget, a gang's minimum, a guarantee or a priority",
    wasted: "the beneficiary did not start there in time",
    repeated: "the same demand evicted again, or two evicted each other",
    fair: "nothing to say against it",
    unclear: "depends on what the scheduler had seen",
};
const tone = (verdict: string) => (verdict === "fair" ? "good" : verdict === "unclear" ? "plain" : "bad");

/** Worst first: what need not have left, then what left. */
export function worstFirst(verdicts: Verdict[]): Verdict[] {
    const spared = (v: Verdict) => (v.verdict === "needless" ? v.victims.length : (v.couldHaveStayed ?? []).length);
    return verdicts.filter((v) => v.verdict !== "fair" && v.verdict !== "unclear").sort((a, b) => spared(b) - spared(a) || b.victims.length - a.victims.length || a.at.localeCompare(b.at));
}

/** The ten that the report names; a report that names none is searched. */
export function worstOf(data: RefereeData): Verdict[] {
    if (!data.worst) return worstFirst(data.verdicts).slice(0, 10);
    return data.worst.flatMap((i) => data.verdicts[i] ?? []);
}

/** Was it needed, and was it the least that would have done? */
export function refereeAnswer(data: RefereeData): Answer {
    const {totals, verdicts} = data;
    const unfair = verdicts.filter((v) => tone(v.verdict) === "bad").length;
    const unclear = verdicts.filter((v) => v.verdict === "unclear").length;
    if (verdicts.length === 0) return {tone: "plain", text: "Nobody was evicted for anybody."};
    if (unfair === 0) return {tone: unclear > 0 ? "plain" : "good", text: `${unclear > 0 ? `Nothing can be said against any decision; ${unclear} of ${verdicts.length} ${unclear === 1 ? "is" : "are"} unclear` : "Every eviction was needed, and nothing less would have done"}.`};
    const pods = totals.podsLost - totals.leastPods;
    const hours = totals.gpuHoursLost - totals.leastGpuHours;
    const parts = [pods > 0 ? `${pods} of ${count(totals.podsLost, "pod")}` : "", hours >= 0.05 ? `${hours.toFixed(1)} of ${totals.gpuHoursLost.toFixed(1)} GPU-hours` : ""].filter((part) => part !== "");
    return {tone: "warn", text: `${unfair} of ${count(verdicts.length, "decision")} ${unfair === 1 ? "was" : "were"} not fair${parts.length > 0 ? `: ${parts.join(" and ")} need not have been lost` : ""}.`};
}

const WAYS = [["scheduler", "Scheduler"], ["queue", "Queue"], ["priority", "Priority"], ["day", "Day"]] as const;

function Ways({by}: {by: NonNullable<RefereeData["by"]>}) {
    const ways = WAYS.filter(([key]) => Object.keys(by[key] ?? {}).length > 0);
    if (ways.length === 0) return null;
    return (
        <Section title="Where it was lost">
            {ways.map(([key, word]) => (
                <Table caption={`By ${key}`} head={[word, {text: "Decisions", number: true}, {text: "Not fair", number: true}, {text: "Pods lost", number: true}, {text: "Would have done", number: true}, {text: "GPU-hours lost", number: true}, {text: "Would have done", number: true}]}>
                    {Object.entries(by[key] ?? {}).sort(([a, x], [b, y]) => y.podsLost - y.leastPods - x.podsLost + x.leastPods || a.localeCompare(b, "en", {numeric: true})).slice(0, 100).map(([name, t]) => (
                        <tr>
                            <th scope="row">{name || "none"}</th>
                            <td class="num">{t.evictions}</td>
                            <td class="num">{Object.entries(t.byVerdict).reduce((sum, [verdict, n]) => sum + (tone(verdict) === "bad" ? n : 0), 0)}</td>
                            <td class="num">{t.podsLost}</td>
                            <td class="num">{t.leastPods}</td>
                            <td class="num">{t.gpuHoursLost.toFixed(1)}</td>
                            <td class="num">{t.leastGpuHours.toFixed(1)}</td>
                        </tr>
                    ))}
                </Table>
            ))}
        </Section>
    );
}

function VerdictReceipt({of}: {of: Verdict}) {
    return (
        <article class="waiting-item">
            <div class="waiting-head"><h3>{count(of.victims.length, "pod")} left for <Name of={of.for} /></h3><Badge of={of.verdict} tone={tone(of.verdict)} /><span class="muted">{of.scheduler} · <Time at={of.at} /> · {of.confidence}</span></div>
            <p>{of.evidence}</p>
            <p><strong>Left:</strong> {list(of.victims, 12)}</p>
            {(of.couldHaveStayed ?? []).length > 0 && <p><strong>Could have stayed:</strong> {list(of.couldHaveStayed ?? [], 12)}</p>}
            {of.cheaper && of.cheaper.victims.length > 0 && <p><strong>Cheaper ({of.cheaper.status}):</strong> {list(of.cheaper.victims, 12)}; {of.cheaper.cost.map(([term]) => `${TERMS[term] ?? term} ${costValue(of.cheaper?.cost ?? [], term)}`).join("; ")}</p>}
        </article>
    );
}

export function Referee({data}: {data: RefereeData}) {
    const {totals} = data;
    const worst = worstOf(data);
    const by = Object.entries(totals.byVerdict ?? {}).sort((a, b) => b[1] - a[1]);
    const schedulers = [...new Set(data.verdicts.map((v) => v.scheduler))];
    return (
        <>
            <header class="view-head">
                <h1>What was evicted, and what need not have been</h1>
                <p class="lead">{count(totals.evictions, "eviction decision")}{schedulers.length > 0 ? ` by ${list(schedulers)}` : ""}{data.from && data.to ? <> between <Time at={data.from} /> and <Time at={data.to} /></> : null}; each judged by yardsticks that are written down, with evidence.</p>
                <Answered answer={refereeAnswer(data)} />
                {(data.gaps ?? []).slice(0, 20).map((gap) => <p class="notice">Not known from <Time at={gap.from} /> to <Time at={gap.to} />: {gap.why}</p>)}
            </header>
            <div class="figures">
                <Figure value={totals.podsLost} label="pods lost" tone="leaves" />
                <Figure value={totals.leastPods} label="pods would have done" tone="comes" />
                <Figure value={totals.gpuHoursLost.toFixed(1)} label="GPU-hours lost" tone="leaves" />
                <Figure value={totals.leastGpuHours.toFixed(1)} label="GPU-hours would have done" tone="comes" />
            </div>
            <Section title="Verdicts">
                <Table caption="Decisions by verdict" head={["Verdict", {text: "Decisions", number: true}, "Share", "Means"]}>
                    {by.map(([verdict, n]) => <tr><th scope="row"><Badge of={verdict} tone={tone(verdict)} /></th><td class="num">{n}</td><td class="wide"><Bar part={n} whole={data.verdicts.length} label={`${n} of ${data.verdicts.length}`} /></td><td>{MEANS[verdict] ?? ""}</td></tr>)}
                </Table>
            </Section>
            <Section title="The worst ten">{worst.length === 0 ? <p>Nothing to say against any decision.</p> : worst.map((verdict) => <VerdictReceipt of={verdict} />)}</Section>
            {data.by && <Ways by={data.by} />}
            <Section title="All decisions">
                <Table caption="Every decision that was judged" head={["When", "Scheduler", "For", {text: "Pods", number: true}, "Verdict", "Confidence", "Evidence"]}>
                    {data.verdicts.slice(0, 1000).map((v) => <tr><td class="nowrap"><Time at={v.at} /></td><td>{v.scheduler}</td><th scope="row"><Name of={v.for} /></th><td class="num">{v.victims.length}</td><td><Badge of={v.verdict} tone={tone(v.verdict)} /></td><td>{v.confidence}</td><td>{v.evidence}</td></tr>)}
                </Table>
                {data.verdicts.length > 1000 && <p class="muted">1,000 of {data.verdicts.length} are listed; the JSON has all.</p>}
            </Section>
        </>
    );
}
