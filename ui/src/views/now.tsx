// Now: is everything well?
import type {DecisionRow, Now} from "../types.ts";
import {amount, count, duration, percent, resourceName} from "../format.ts";
import {Badge, Bar, Figure, Name, Section, Shown, Table, Time, useDocument} from "../parts.tsx";
import {DecisionRows} from "./decisions.tsx";
import {href, link} from "../store.ts";

/** One sentence: the most important thing first. */
export function verdictOf(now: Now, connection: string): {tone: string; text: string} {
    const {health, counts} = now;
    if (connection === "lost") return {tone: "bad", text: "The program does not answer. What is shown is what it said last."};
    if (health.loop === "stopped") return {tone: "warn", text: "The run has ended. What is shown is how it ended."};
    if (health.plansRefused > 0) return {tone: "bad", text: `${count(health.plansRefused, "plan")} ${health.plansRefused === 1 ? "was" : "were"} refused by the audit: a defect, please report it.`};
    if (health.synced === false) return {tone: "warn", text: "The cluster is still being read."};
    if (health.leads === false) return {tone: "plain", text: "Another replica leads; this one watches."};
    if ((counts.never ?? 0) > 0) return {tone: "warn", text: `${count(counts.never ?? 0, "pod")} can never run as ${counts.never === 1 ? "it is" : "they are"} written.`};
    if ((counts.notNow ?? 0) > 0) return {tone: "warn", text: `${count(counts.notNow ?? 0, "pod")} ${counts.notNow === 1 ? "waits" : "wait"} for room.`};
    if ((counts.placedAfterEvictions ?? 0) > 0) return {tone: "good", text: "Everything that waits has room or is promised some."};
    return {tone: "good", text: "Nothing waits."};
}

// One tick a decision: height is who leaves, the table below has the same.
function Ticks({rows}: {rows: DecisionRow[]}) {
    const most = Math.max(1, ...rows.map((row) => row.evictions.length));
    return (
        <svg class="ticks" viewBox={`0 0 ${40 * 12} 56`} role="img" aria-label={`The last ${count(rows.length, "decision")} that evicted, oldest left; the table has the same`}>
            {[...rows].reverse().map((row, i) => {
                const height = 6 + (44 * row.evictions.length) / most;
                return <rect class={row.certificate?.status === "optimal" ? "tick" : "tick open"} x={i * 12 + 1} y={54 - height} width={9} height={height} rx={2} />;
            })}
        </svg>
    );
}

export function NowView() {
    const doc = useDocument<Now>("/api/v1/now");
    return (
        <Shown doc={doc}>
            {(now) => {
                const verdict = verdictOf(now, link.value);
                const c = now.counts;
                return (
                    <>
                        <header class="view-head">
                            <h1 tabIndex={-1}>Now</h1>
                            <p class={`verdict ${verdict.tone}`} role="status"><span aria-hidden="true">{verdict.tone === "good" ? "✓" : verdict.tone === "bad" ? "✕" : "!"}</span> {verdict.text}</p>
                        </header>
                        <div class="figures">
                            <Figure value={c.evicted ?? 0} label={c.evicted === 1 ? "pod leaves" : "pods leave"} tone="leaves" to="/decisions?evicting=true" />
                            <Figure value={c.placedAfterEvictions ?? 0} label="promised room" tone="comes" to="/waiting" />
                            <Figure value={c.placedNow ?? 0} label="placed now" to="/decisions" />
                            <Figure value={c.notNow ?? 0} label="wait: not now" tone={(c.notNow ?? 0) > 0 ? "warn" : ""} to="/waiting" />
                            <Figure value={c.never ?? 0} label="wait: never" tone={(c.never ?? 0) > 0 ? "bad" : ""} to="/waiting" />
                            <Figure value={c.evictionsInAll ?? 0} label="evictions in all" to="/decisions?evicting=true" />
                        </div>
                        <Section title="Latest decisions that evicted" aside={<a href={href("/decisions")}>All decisions</a>}>
                            {now.recent.length === 0 ? <p>Nobody had to leave for anybody.</p> : (
                                <>
                                    {now.recent.length > 3 && <Ticks rows={now.recent} />}
                                    <DecisionRows rows={now.recent.slice(0, 8)} caption="The latest decisions that evicted" />
                                </>
                            )}
                        </Section>
                        <div class="columns">
                            <Section title="Who is leaving">
                                {now.leaving.length === 0 ? <p>Nobody.</p> : (
                                    <Table caption="Pods that leave, and for whom" hideCaption head={["Pod", "Node", "For", "Until"]}>
                                        {now.leaving.slice(0, 12).map((pod) => (
                                            <tr>
                                                <th scope="row"><Name of={pod.pod} /></th>
                                                <td>{pod.node ?? "-"}</td>
                                                <td>{pod.for ? <Name of={pod.for} /> : <span class="muted">already leaving</span>}</td>
                                                <td>{pod.overdueSeconds ? <Badge of={`${duration(pod.overdueSeconds)} over its grace`} tone="bad" /> : pod.until ? <Time at={pod.until} /> : "next"}</td>
                                            </tr>
                                        ))}
                                    </Table>
                                )}
                            </Section>
                            <Section title="Room in the cluster">
                                <Table caption="What all nodes offer together, and what is held of it" hideCaption head={["Resource", "Held", {text: "Of", number: true}]}>
                                    {now.cluster.capacity.filter((row) => row.resource !== "pods" && row.used > 0).map((row) => (
                                        <tr>
                                            <th scope="row">{resourceName(row.resource)}</th>
                                            <td class="wide"><Bar part={row.used} whole={row.allocatable} label={`${percent(row.used, row.allocatable)} held`} /> <span class="bar-text">{percent(row.used, row.allocatable)}</span></td>
                                            <td class="num">{amount(row.resource, row.allocatable)}</td>
                                        </tr>
                                    ))}
                                </Table>
                                <p class="muted">{count(now.cluster.nodes, "node")}, {count(now.cluster.running, "pod")} running, {now.cluster.pending} waiting, {now.cluster.leaving} leaving{now.cluster.gated > 0 ? `, ${now.cluster.gated} gated` : ""}{now.cluster.otherSchedulers > 0 ? `, ${now.cluster.otherSchedulers} wait for other schedulers` : ""}</p>
                            </Section>
                        </div>
                        <Section title="Health">
                            <dl class="facts">
                                <div><dt>Source</dt><dd>{{files: "files, read once", loop: "the running loop", record: "a record"}[now.source]}</dd></div>
                                <div><dt>Loop</dt><dd>{now.health.loop === "turning" ? <Badge of="turning" tone="good" /> : now.health.loop === "stopped" ? <Badge of="ended" tone="warn" /> : "none: nothing is carried out"}</dd></div>
                                {now.health.leads !== undefined && <div><dt>Leader</dt><dd>{now.health.leads ? <Badge of="this one" tone="good" /> : "another replica"}</dd></div>}
                                {now.health.synced !== undefined && <div><dt>Cluster</dt><dd>{now.health.synced ? <Badge of="read" tone="good" /> : <Badge of="being read" tone="warn" />}</dd></div>}
                                {now.source === "loop" && <div><dt>Recording</dt><dd>{now.health.recording ? "on" : "off"}</dd></div>}
                                {now.health.planMilliseconds !== undefined && <div><dt>Last plan took</dt><dd>{now.health.planMilliseconds.toFixed(2)} ms</dd></div>}
                                <div><dt>As of</dt><dd><Time at={now.now} /></dd></div>
                            </dl>
                            {[...now.health.troubles, ...now.warnings].slice(0, 20).map((text) => <p class="notice">{text}</p>)}
                        </Section>
                    </>
                );
            }}
        </Shown>
    );
}
