// Queues: is it fair? Share, use, guarantee and limit of each queue, and who took from whom.
import type {Queue, Queues} from "../types.ts";
import {amount, count, resourceName} from "../format.ts";
import {queuesAnswer} from "../answers.ts";
import {Answered, Badge, Choice, Section, Shown, Table, Time, useDocument} from "../parts.tsx";
import {HUES} from "../room-paint.ts";
import {place, setParam} from "../store.ts";
import {scaleLinear, scaleUtc} from "d3-scale";
import {curveStepAfter, line} from "d3-shape";

interface Line {
    queue: Queue;
    depth: number;
}

/** The tree in the order in which it is read: parents before children, names in order. */
export function treeOf(queues: Queue[]): Line[] {
    const names = new Set(queues.map((queue) => queue.name));
    const out: Line[] = [];
    const add = (parent: string, depth: number) => {
        for (const queue of queues.filter((q) => (q.parent && names.has(q.parent) ? q.parent : "") === parent).sort((a, b) => a.name.localeCompare(b.name))) {
            if (out.some((l) => l.queue === queue)) continue;
            out.push({queue, depth});
            add(queue.name, depth + 1);
        }
    };
    add("", 0);
    return out;
}

const share = (queue: Queue, resource: string) => queue.resources[resource] ?? {};
const usedOf = (queue: Queue, resource: string) => share(queue, resource).used ?? share(queue, resource).allocated ?? 0;
const deservedOf = (queue: Queue, resource: string) => share(queue, resource).deserved ?? share(queue, resource).runtime;

function ShareBar({queue, resource, most}: {queue: Queue; resource: string; most: number}) {
    const used = usedOf(queue, resource);
    const deserved = deservedOf(queue, resource);
    const {guarantee, limit} = share(queue, resource);
    const at = (value: number) => `${Math.min(100, (100 * value) / most)}%`;
    const own = deserved === undefined ? used : Math.min(used, deserved);
    return (
        <span class="share" role="img" aria-label={`uses ${amount(resource, used)}${deserved === undefined ? "" : `, deserves ${amount(resource, deserved)}`}`}>
            <span class="own" style={{width: at(own)}} />
            {used > own && <span class="borrowed" style={{left: at(own), width: `calc(${at(used)} - ${at(own)})`}} />}
            {deserved !== undefined && <span class="mark deserved" style={{left: at(deserved)}} title={`deserved ${amount(resource, deserved)}`} />}
            {guarantee !== undefined && <span class="mark guarantee" style={{left: at(guarantee)}} title={`guarantee ${amount(resource, guarantee)}`} />}
            {limit !== undefined && limit <= most && <span class="mark limit" style={{left: at(limit)}} title={`limit ${amount(resource, limit)}`} />}
        </span>
    );
}

function OverTime({doc, resource}: {doc: Queues; resource: string}) {
    const names = [...new Set(doc.samples.map((sample) => sample.queue))].slice(0, HUES.length);
    const points = doc.samples.filter((sample) => sample.used[resource] !== undefined);
    if (points.length < 2) return <p class="muted">Use over time is not known here: a loop that runs tells it, or a record of some length.</p>;
    const times = [...points.map((point) => Date.parse(point.at)), Date.parse(doc.now)];
    const x = scaleUtc([Math.min(...times), Math.max(...times)], [46, 680]);
    const y = scaleLinear([0, Math.max(1, ...points.map((point) => point.used[resource] ?? 0))], [160, 10]).nice(4);
    const path = line<(typeof points)[number]>((point) => x(Date.parse(point.at)), (point) => y(point.used[resource] ?? 0)).curve(curveStepAfter);
    // What was seen last holds until now.
    const seriesOf = (name: string) => {
        const own = points.filter((point) => point.queue === name);
        const last = own.at(-1);
        return last ? [...own, {...last, at: doc.now}] : own;
    };
    return (
        <figure class="chart">
            <svg viewBox="0 0 700 190" role="img" aria-label={`${resourceName(resource)} that each queue uses, over time; the table has the last values`}>
                {y.ticks(4).map((tick) => <g><line class="grid" x1={46} x2={680} y1={y(tick)} y2={y(tick)} /><text x={40} y={y(tick) + 4} text-anchor="end">{amount(resource, tick).replace(/ .*/, "")}</text></g>)}
                {x.ticks(6).map((tick) => <text x={Math.min(x(tick), 672)} y={180} text-anchor="middle">{`${String(tick.getHours()).padStart(2, "0")}:${String(tick.getMinutes()).padStart(2, "0")}:${String(tick.getSeconds()).padStart(2, "0")}`}</text>)}
                {names.map((name, i) => <path class="series" d={path(seriesOf(name)) ?? ""} stroke={HUES[i]} stroke-dasharray={i % 2 ? "6 3" : undefined} />)}
            </svg>
            <figcaption><ul class="legend">{names.map((name, i) => <li><span class="swatch" style={{background: HUES[i]}} />{name}{i % 2 ? " (dashed)" : ""}</li>)}</ul></figcaption>
        </figure>
    );
}

function Matrix({doc}: {doc: Queues}) {
    if (doc.taken.length === 0) return <p>No queue took room from another, or from itself.</p>;
    const takers = [...new Set(doc.taken.map((cell) => cell.by))].sort();
    const losers = [...new Set(doc.taken.map((cell) => cell.from))].sort();
    const most = Math.max(...doc.taken.map((cell) => cell.pods));
    return (
        <Table caption="Pods that left: rows took, columns lost" head={["Took ↓ / lost →", ...losers.map((text) => ({text, number: true}))]}>
            {takers.map((by) => (
                <tr>
                    <th scope="row">{by === "-" ? "no queue" : by}</th>
                    {losers.map((from) => {
                        const pods = doc.taken.find((cell) => cell.by === by && cell.from === from)?.pods ?? 0;
                        return <td class="num heat" style={{"--heat": pods / most}}>{pods || "-"}</td>;
                    })}
                </tr>
            ))}
        </Table>
    );
}

export function QueuesView() {
    const doc = useDocument<Queues>("/api/v1/queues");
    return (
        <>
            <header class="view-head">
                <h1 tabIndex={-1}>Queues</h1>
                <p class="lead">What each queue deserves, what it uses, and who took room from whom.</p>
            </header>
            <Shown doc={doc}>
                {(queues) => {
                    const resources = [...new Set(queues.queues.flatMap((queue) => Object.keys(queue.resources)))].filter((name) => name !== "pods").sort((a, b) => Number(b.includes("/")) - Number(a.includes("/")) || a.localeCompare(b));
                    const resource = place.value.params.get("resource") ?? resources[0] ?? "cpu";
                    const lines = treeOf(queues.queues);
                    const most = Math.max(1, ...queues.queues.flatMap((queue) => [usedOf(queue, resource), deservedOf(queue, resource) ?? 0, share(queue, resource).guarantee ?? 0])) * 1.04;
                    const limited = queues.queues.some((queue) => (share(queue, resource).limit ?? Infinity) <= most);
                    return (
                        <>
                            <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label="Resource"><Choice label="Resource" value={resource} onChange={(value) => setParam("resource", value)} options={resources.map((name) => [name, resourceName(name)] as const)} /></form>
                            <Answered answer={queuesAnswer(queues, resource)} />
                            <Section title="Shares" aside={<span class="legend"><span class="key own">used</span><span class="key borrowed">above its share</span><span class="key tick-deserved">deserved</span><span class="key tick-guarantee">guarantee</span>{limited && <span class="key tick-limit">limit</span>}</span>}>
                                <Table caption={`Queues by ${resourceName(resource)}`} hideCaption head={["Queue", "Use", {text: "Used", number: true}, {text: "Deserved", number: true}, {text: "Guarantee", number: true}, {text: "Limit", number: true}, {text: "Run", number: true}, {text: "Wait", number: true}, "Standing"]}>
                                    {lines.map(({queue, depth}) => {
                                        const used = usedOf(queue, resource);
                                        const deserved = deservedOf(queue, resource);
                                        const {guarantee, limit} = share(queue, resource);
                                        const shown = (value: number | undefined) => (value === undefined ? "-" : amount(resource, value));
                                        return (
                                            <tr>
                                                <th scope="row"><span style={{paddingLeft: `${depth * 1.2}em`}}>{queue.name}</span>{queue.kind === "ElasticQuota" ? <span class="muted"> quota</span> : null}</th>
                                                <td class="wide"><ShareBar queue={queue} resource={resource} most={most} /></td>
                                                <td class="num">{amount(resource, used)}</td>
                                                <td class="num">{shown(deserved)}</td>
                                                <td class="num">{shown(guarantee)}</td>
                                                <td class="num">{shown(limit)}</td>
                                                <td class="num">{queue.pods.running}</td>
                                                <td class="num">{queue.pods.pending}</td>
                                                <td>{deserved === undefined ? <span class="muted">no share</span> : used > deserved ? <Badge of={`${amount(resource, used - deserved)} above`} tone="warn" /> : <Badge of="within" tone="good" />}</td>
                                            </tr>
                                        );
                                    })}
                                </Table>
                                <p class="muted">{count(queues.queues.length, "queue")} as of <Time at={queues.now} />.</p>
                            </Section>
                            <Section title="Who took from whom"><Matrix doc={queues} /></Section>
                            <Section title="Over time"><OverTime doc={queues} resource={resource} /></Section>
                        </>
                    );
                }}
            </Shown>
        </>
    );
}
