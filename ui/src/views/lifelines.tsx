// Lifelines: who keeps being thrown out? Pods of a queue over time.
import {scaleUtc} from "d3-scale";
import type {Lifelines, Queues} from "../types.ts";
import {count, duration, localTime, shortName} from "../format.ts";
import {lifelinesAnswer} from "../answers.ts";
import {Answered, Choice, DecisionLink, Name, Section, Shown, Table, Time, useDocument} from "../parts.tsx";
import {place, setParam} from "../store.ts";

const WINDOWS = [["auto", "where something happens"], ["all", "all that is known"], ["3600", "the last hour"], ["21600", "the last 6 hours"], ["86400", "the last day"], ["604800", "the last week"]] as const;
const ROW = 24;
const LEFT = 250;
const WIDTH = 1100;
const SPANS: Record<string, string> = {waited: "waits", promised: "has room promised", ran: "runs", leaving: "leaves"};

type LineOf = Lifelines["lines"][number];

/** How often somebody was thrown out; those of one owner count together. */
export function evictionsOf(line: LineOf): number {
    return line.marks.filter((mark) => mark.what === "evicted").length;
}

/** From when on something happens: those who wait or leave, with some time before them. */
export function busyFrom(lines: LineOf[], first: number, to: number): number {
    const starts = lines.filter((line) => line.marks.length > 0 || line.spans.at(-1)?.state !== "ran").flatMap((line) => line.spans.slice(0, 1).map((span) => Date.parse(span.from)));
    if (starts.length === 0) return first;
    return Math.max(first, to - 1.3 * (to - Math.min(...starts)));
}

/** A time of day, or a date where days are shown. */
export function tickWords(tick: Date, span: number): string {
    const two = (n: number) => String(n).padStart(2, "0");
    if (span > 2 * 86400e3) return `${two(tick.getMonth() + 1)}-${two(tick.getDate())}`;
    return `${two(tick.getHours())}:${two(tick.getMinutes())}${span < 1800e3 ? `:${two(tick.getSeconds())}` : ""}`;
}

/** Evictions of everything that one controller made: its pods come back under other names. */
export function together(lines: LineOf[], line: LineOf): number {
    return lines.filter((other) => other === line || (line.controller && other.controller === line.controller)).reduce((sum, other) => sum + evictionsOf(other), 0);
}

function Drawing({doc, from, to}: {doc: Lifelines; from: number; to: number}) {
    const x = scaleUtc([from, to], [LEFT, WIDTH - 12]);
    const lines = doc.lines;
    const height = lines.length * ROW + 34;
    const clamp = (ms: number) => Math.min(WIDTH - 12, Math.max(LEFT, x(ms)));
    const places = new Map(lines.map((line, i) => [line.pod, i]));
    const gangs = new Map<string, number>();
    lines.forEach((line, i) => { if (line.gang && !gangs.has(line.gang)) gangs.set(line.gang, i); });
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label="Lifelines">
            <svg class="lifelines" viewBox={`0 0 ${WIDTH} ${height}`} width={WIDTH} height={height} role="img" aria-label={`${count(lines.length, "pod")} from ${localTime(new Date(from).toISOString())} to ${localTime(new Date(to).toISOString())}; the table has the same`}>
                <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" class="hatch-ground" /><line x1="0" y1="0" x2="0" y2="6" class="hatch-line" /></pattern></defs>
                {x.ticks(7).map((tick) => <g><line class="grid" x1={x(tick)} x2={x(tick)} y1={20} y2={height} /><text class="axis" x={Math.min(x(tick), WIDTH - 26)} y={13} text-anchor="middle">{tickWords(tick, to - from)}</text></g>)}
                {lines.map((line, i) => {
                    const y = 26 + i * ROW;
                    return (
                        <g>
                            {i % 2 === 1 && <rect class="zebra" x={0} y={y - 2} width={WIDTH} height={ROW} />}
                            <text class="line-name" x={6} y={y + 14}>{shortName(line.pod).slice(0, 32)}</text>
                            {line.spans.map((span) => {
                                const a = clamp(Date.parse(span.from));
                                const b = Math.max(a + 2, clamp(Date.parse(span.to)));
                                return <rect class={`span ${span.state}`} x={a} y={y + 3} width={b - a} height={ROW - 10} rx={3}><title>{`${line.pod} ${SPANS[span.state]}${span.node ? ` on ${span.node}` : ""} for ${duration((Date.parse(span.to) - Date.parse(span.from)) / 1000)}`}</title></rect>;
                            })}
                            {line.marks.map((mark) => {
                                const at = clamp(Date.parse(mark.at));
                                return (
                                    <g>
                                        <path class="cross" d={`M${at - 5},${y + 4} l10,12 m0,-12 l-10,12`}><title>{`${line.pod} was evicted${mark.for ? ` for ${mark.for}` : ""}`}</title></path>
                                    </g>
                                );
                            })}
                        </g>
                    );
                })}
                {lines.flatMap((line, i) => line.marks.map((mark) => {
                    const target = mark.for ? (places.get(mark.for) ?? gangs.get(mark.for)) : undefined;
                    const at = clamp(Date.parse(mark.at));
                    const [from, to] = [26 + (target ?? 0) * ROW + 10, 26 + i * ROW + 10];
                    return target === undefined ? null : <path class="taken" d={`M${at},${from} C${at - 26},${from} ${at - 26},${to} ${at - 7},${to}`} />;
                }))}
            </svg>
        </div>
    );
}

export function LifelinesView() {
    const params = place.value.params;
    const queue = params.get("queue") ?? "";
    const span = params.get("span") ?? "auto";
    const queues = useDocument<Queues>("/api/v1/queues");
    const doc = useDocument<Lifelines>(`/api/v1/lifelines?queue=${encodeURIComponent(queue)}`);
    return (
        <>
            <header class="view-head">
                <h1 tabIndex={-1}>Lifelines</h1>
                <p class="lead">Pods over time: how long they waited, when they ran, by whom they were thrown out, and whether they came back.</p>
            </header>
            <form class="filters" aria-label="Lifelines" onSubmit={(event) => event.preventDefault()}>
                <Choice label="Queue" value={queue} onChange={(value) => setParam("queue", value)} options={[["", "all queues"], ...(queues.data?.queues ?? []).map((q) => [q.name, q.name] as const)]} />
                <Choice label="Time shown" value={span} onChange={(value) => setParam("span", value === "auto" ? null : value)} options={WINDOWS} />
            </form>
            <Shown doc={doc}>
                {(lines) => {
                    if (lines.lines.length === 0) return <p class="notice">No pod of this queue has a time of its own.</p>;
                    const ends = lines.lines.flatMap((line) => [...line.spans.map((s) => Date.parse(s.to)), ...line.marks.map((m) => Date.parse(m.at))]);
                    const to = Math.max(Date.parse(lines.now), ...ends);
                    const first = Math.min(...lines.lines.flatMap((line) => line.spans.map((s) => Date.parse(s.from))));
                    const from = Math.min(to - 1000, span === "all" ? first : span === "auto" ? busyFrom(lines.lines, first, to) : Math.max(first, to - 1000 * Number(span)));
                    const worst = lines.lines.filter((line) => evictionsOf(line) > 0).sort((a, b) => evictionsOf(b) - evictionsOf(a));
                    return (
                        <>
                            <Answered answer={lifelinesAnswer(lines.lines)} />
                            <Section title="Over time" aside={<span class="legend"><span class="key waited">waits</span><span class="key comes">promised</span><span class="key ran">runs</span><span class="key leaves">leaves</span><span class="key">✕ evicted</span></span>}>
                                <Drawing doc={lines} from={from} to={to} />
                                {lines.total > lines.lines.length && <p class="muted">{lines.lines.length} of {lines.total} pods are drawn: those that leave or wait first, then the youngest. Choose a queue to see others.</p>}
                            </Section>
                            <Section title="Who was thrown out">
                                {worst.length === 0 ? <p>Nobody that is shown.</p> : (
                                    <Table caption="Evictions of the pods above; pods of one controller count together" head={["Pod", "Of", {text: "Times in all", number: true}, "When", "For whom", "Action"]}>
                                        {worst.slice(0, 50).flatMap((line) => line.marks.map((mark) => (
                                            <tr>
                                                <th scope="row"><Name of={line.pod} /></th>
                                                <td>{line.controller ? <Name of={line.controller} /> : "-"}</td>
                                                <td class="num">{together(lines.lines, line)}</td>
                                                <td><Time at={mark.at} /></td>
                                                <td>{mark.for ? (mark.decision ? <DecisionLink id={mark.decision}><Name of={mark.for} /></DecisionLink> : <Name of={mark.for} />) : "-"}</td>
                                                <td>{mark.action ?? "-"}</td>
                                            </tr>
                                        )))}
                                    </Table>
                                )}
                            </Section>
                            <Section title="The same as a table">
                                <details>
                                    <summary>{count(lines.lines.length, "pod")} with their spans</summary>
                                    <Table caption="Pods over time" head={["Pod", "Queue", {text: "Priority", number: true}, "State", "From", "To", "Node"]}>
                                        {lines.lines.flatMap((line) => line.spans.map((s) => (
                                            <tr>
                                                <th scope="row"><Name of={line.pod} /></th>
                                                <td>{line.queue ?? "-"}</td>
                                                <td class="num">{line.priority}</td>
                                                <td>{SPANS[s.state]}</td>
                                                <td><Time at={s.from} /></td>
                                                <td><Time at={s.to} /></td>
                                                <td>{s.node ?? "-"}</td>
                                            </tr>
                                        )))}
                                    </Table>
                                </details>
                            </Section>
                        </>
                    );
                }}
            </Shown>
        </>
    );
}
