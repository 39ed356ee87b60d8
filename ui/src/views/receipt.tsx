// Receipt: one decision, and why it is as it is.
import type {Alternative, Cost, Receipt, Victim, Why} from "../types.ts";
import {amount, count, duration, list, localTime, shortName, utcTime, work} from "../format.ts";
import {Badge, Copy, DecisionLink, Name, Section, Shown, Table, Time, useDocument} from "../parts.tsx";
import {NodePicture} from "../node-picture.tsx";
import {ACTIONS, TERMS, costValue, firstDifference, proofWords, reasonWords, remedyWords, thenWords} from "../words.ts";
import {href} from "../store.ts";

const MODES: Record<string, string> = {delete: "deleted", evict: "evicted (API)", soft: "asked to leave", scaleDown: "scaled down", forceDelete: "force deleted"};

/** "2 GPUs, 16 cores, 128Gi" of all pods together. */
export function wantsWords(pods: {requests: Record<string, number>}[]): string {
    const sums = new Map<string, number>();
    for (const pod of pods) {
        for (const [resource, value] of Object.entries(pod.requests)) sums.set(resource, (sums.get(resource) ?? 0) + value);
    }
    sums.delete("pods");
    const order = [...sums.keys()].sort((a, b) => Number(b.includes("/")) - Number(a.includes("/")) || a.localeCompare(b));
    return order.filter((key) => (sums.get(key) ?? 0) > 0).map((key) => (key.includes("/") && key !== "nvidia.com/gpu" ? `${sums.get(key)} ${key}` : amount(key, sums.get(key) ?? 0))).join(", ");
}

/** Where it goes: "gpu-2, devices 5 and 6" or "4 pods on gpu-3 and gpu-4". */
export function roomWords(receipt: Pick<Receipt, "placements" | "nodes">): string {
    const {placements} = receipt;
    const nodes = [...new Set(placements.map((p) => p.node))].sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
    if (placements.length === 0) return receipt.nodes.map((node) => node.name).join(", ") || "no node yet";
    if (placements.length === 1) {
        const devices = placements[0]?.devices ?? [];
        return `${nodes[0]}${devices.length > 0 ? `, ${devices.length === 1 ? "device" : "devices"} ${list(devices)}` : ""}`;
    }
    const domain = placements[0]?.domain;
    return `${count(placements.length, "pod")} on ${list(nodes)}${domain ? ` in ${domain}` : ""}`;
}

export function headline(receipt: Receipt): string {
    const leaving = receipt.victims.length > 0 ? receipt.evictions.length : 0;
    if (leaving === 0) return `${receipt.for} is placed; nobody leaves`;
    return `${count(leaving, "pod")} ${leaving === 1 ? "leaves" : "leave"} for ${receipt.for}`;
}

function Flow({receipt}: {receipt: Receipt}) {
    const evicts = receipt.evictions.length > 0;
    const shown = receipt.victims.slice(0, 6);
    const wants = wantsWords(receipt.wants);
    return (
        <div class="flow">
            <div class="flow-box leaves">
                <h2>Who leaves</h2>
                {evicts ? (
                    <ul>
                        {shown.map((victim) => (
                            <li>
                                <Name of={victim.pod} />
                                <span class="muted">priority {victim.priority}{victim.ranSeconds === undefined ? "" : ` · ran ${duration(victim.ranSeconds)}`}</span>
                            </li>
                        ))}
                        {receipt.evictions.length > shown.length && <li class="muted">and {receipt.evictions.length - shown.length} more</li>}
                    </ul>
                ) : <p>Nobody: there is free room.</p>}
            </div>
            <span class="arrow" aria-hidden="true" />
            <div class="flow-box freed">
                <h2>{evicts ? "What is freed" : "Where"}</h2>
                <p class="big">{roomWords(receipt)}</p>
                <p class="muted">{evicts ? "freed" : "taken"} of {count(receipt.nodesInAll, "node")} in all</p>
            </div>
            <span class="arrow" aria-hidden="true" />
            <div class="flow-box for">
                <h2>For whom</h2>
                <p class="big"><Name of={receipt.for} /></p>
                <p class="muted">
                    {receipt.priority === undefined ? "" : `priority ${receipt.priority}`}
                    {receipt.queue ? ` · queue ${receipt.queue}` : ""}
                    {receipt.wants.length > 1 ? ` · ${count(receipt.wants.length, "pod")}` : ""}
                </p>
                {wants && <p class="muted">wants {wants}</p>}
            </div>
        </div>
    );
}

function CostTable({receipt}: {receipt: Receipt}) {
    const certificate = receipt.certificate;
    const cost = certificate?.cost ?? [];
    if (cost.length === 0) return <p>No cost was counted for this decision.</p>;
    const runner = certificate?.runnerUp ?? [];
    const bound = certificate?.bound ?? [];
    const decisive = runner.length > 0 ? firstDifference(cost, runner) : undefined;
    // Times of the decision's own day do without the date.
    const today = localTime(receipt.at).slice(0, 11);
    const value = (of: Cost, term: string) => costValue(of, term).replace(today, "");
    return (
        <>
            <div class="cost"><Table caption="Cost of this decision beside the runner-up, most important term first" head={["Term", {text: "This decision", number: true}, {text: "Runner-up", number: true}, {text: "Proven bound", number: true}]}>
                {cost.map(([term]) => (
                    <tr class={term === decisive ? "decisive" : undefined}>
                        <th scope="row">{TERMS[term] ?? term}{term === decisive ? " ← decides" : ""}</th>
                        <td class="num">{value(cost, term)}</td>
                        <td class="num">{runner.length > 0 ? value(runner, term) : "-"}</td>
                        <td class="num">{bound.length > 0 ? value(bound, term) : "-"}</td>
                    </tr>
                ))}
            </Table></div>
            <p>
                {runner.length === 0
                    ? "There is no runner-up: no other set of victims was found."
                    : decisive
                      ? `The runner-up is worse in: ${TERMS[decisive] ?? decisive}. Terms above it are equal; terms below no longer count.`
                      : "The runner-up costs the same; names broke the tie."}
            </p>
        </>
    );
}

function Victims({receipt}: {receipt: Receipt}) {
    return (
        <Table caption="Victims in the order of the plan" head={[{text: "#", number: true}, "Pod", "Node", {text: "Priority", number: true}, "Queue", {text: "Ran for", number: true}, {text: "Work lost", number: true}, {text: "Grace", number: true}, "How", "Budget"]}>
            {receipt.victims.map((victim: Victim, i) => (
                <tr>
                    <td class="num">{i + 1}</td>
                    <th scope="row"><Name of={victim.pod} />{victim.group ? <span class="muted"> of {shortName(victim.group)} ({victim.unit === "safe" ? "surplus" : victim.unit})</span> : null}</th>
                    <td>{victim.node}</td>
                    <td class="num">{victim.priority}</td>
                    <td>{victim.queue ?? "-"}</td>
                    <td class="num">{victim.ranSeconds === undefined ? "-" : duration(victim.ranSeconds)}</td>
                    <td class="num">{victim.lost ? work(victim.lost.resource, victim.lost.seconds) : "-"}</td>
                    <td class="num">{duration(victim.graceSeconds)}</td>
                    <td>{MODES[victim.mode] ?? victim.mode}</td>
                    <td>{victim.pdbViolation ? <Badge of="broken" tone="bad" /> : "kept"}</td>
                </tr>
            ))}
        </Table>
    );
}

function Spared({receipt, why}: {receipt: Receipt; why: Why}) {
    if (why.missing) return <p class="notice">{why.missing}</p>;
    const told = receipt.victims.filter((victim) => why.explanations?.[victim.pod]?.evictions?.length);
    if (told.length === 0) return <p>Nothing more is known about the victims of this decision.</p>;
    return (
        <>
            {told.map((victim) => {
                const story = why.explanations?.[victim.pod]?.evictions?.find((s) => s.for === receipt.for) ?? why.explanations?.[victim.pod]?.evictions?.[0];
                const remedies = story?.margin?.sparedIf ?? [];
                const without = story?.margin?.without;
                return (
                    <div class="spared">
                        <h3><Name of={victim.pod} /></h3>
                        {story?.rule && <p class="muted">Eligible because this action {story.rule}.</p>}
                        <p>It would have been spared if</p>
                        <ul>
                            {remedies.map((remedy) => <li><strong>{remedyWords(remedy, story?.pods ?? [])}</strong>; then {thenWords(remedy.then, receipt.for, story?.pods ?? [])}.</li>)}
                            {remedies.length === 0 && <li>nothing that was tried: no other priority, minimum run time or place would have spared it.</li>}
                        </ul>
                        {without && <p class="muted">If nobody could take it, {thenWords(without, receipt.for, story?.pods ?? [])}.</p>}
                        {story?.margin && !story.margin.complete && <p class="muted">Ended after {count(story.margin.plans, "plan")}: there may be more to say.</p>}
                    </div>
                );
            })}
            {receipt.victims.length > told.length && <p class="muted">{count(told.length, "victim")} of {receipt.victims.length} are explained here.</p>}
        </>
    );
}

const ALTERNATIVES: Record<string, string> = {
    cheapest: "This plan", pdbClean: "No budget broken", fewestJobs: "Fewest jobs broken", leastWorkLost: "Least work lost", soonestFree: "Room soonest",
};

function Alternatives({all}: {all: Alternative[]}) {
    return (
        <Table caption="The whole plan beside plans with other aims" head={["Aim", {text: "Pods", number: true}, {text: "Jobs broken", number: true}, {text: "Budgets broken", number: true}, {text: "Highest priority", number: true}, {text: "Work lost", number: true}, {text: "Room free in", number: true}, {text: "Left waiting", number: true}, "Who leaves"]}>
            {all.map((a) => (
                <tr>
                    <th scope="row">{ALTERNATIVES[a.name] ?? a.name}</th>
                    <td class="num">{a.pods}</td>
                    <td class="num">{a.jobsBroken}</td>
                    <td class="num">{a.pdbViolations}</td>
                    <td class="num">{a.highestPriority ?? "-"}</td>
                    <td class="num">{work(a.lostResource, a.lostWork)}</td>
                    <td class="num">{duration(a.secondsUntilFree)}</td>
                    <td class="num">{a.unplaced}</td>
                    <td>{list(a.evicted.map(shortName), 3)}</td>
                </tr>
            ))}
        </Table>
    );
}

/** The receipt as plain text, for a ticket. */
export function receiptText(receipt: Receipt, link: string): string {
    const lines = [headline(receipt), `${utcTime(receipt.at)} · ${receipt.action} · proof: ${receipt.certificate?.status ?? "none"}`, ""];
    lines.push(`for     ${receipt.for}${receipt.priority === undefined ? "" : ` (priority ${receipt.priority})`}${receipt.queue ? `, queue ${receipt.queue}` : ""}`);
    lines.push(`room    ${roomWords(receipt)}`);
    for (const victim of receipt.victims)
        lines.push(`leaves  ${victim.pod} on ${victim.node} (priority ${victim.priority}${victim.ranSeconds === undefined ? "" : `, ran ${duration(victim.ranSeconds)}`}): ${victim.reason}`);
    const cost = receipt.certificate?.cost ?? [];
    if (cost.length > 0) lines.push(`cost    ${cost.map(([term]) => `${TERMS[term] ?? term} ${costValue(cost, term)}`).join("; ")}`);
    const runner = receipt.certificate?.runnerUp ?? [];
    if (runner.length > 0) lines.push(`runner-up  ${runner.map(([term]) => `${TERMS[term] ?? term} ${costValue(runner, term)}`).join("; ")}`);
    for (const victim of receipt.victims) {
        for (const remedy of receipt.why?.explanations?.[victim.pod]?.evictions?.[0]?.margin?.sparedIf ?? [])
            lines.push(`spared  ${victim.pod} if ${remedyWords(remedy, [victim.pod])}`);
    }
    lines.push("", `plan ${receipt.plan}`, link);
    return `${lines.join("\n")}\n`;
}

export function ReceiptBody({receipt, whyLoading}: {receipt: Receipt; whyLoading?: boolean}) {
    const evicts = receipt.evictions.length > 0;
    const others = receipt.why?.explanations?.[receipt.for]?.placement?.others;
    return (
        <>
            <Flow receipt={receipt} />
            <Section title="Before and after" aside={<span class="legend"><span class="key leaves">leaves</span><span class="key comes">comes</span><span class="key stays">stays</span><span class="key free">free</span></span>}>
                {receipt.nodes.map((node) => <NodePicture node={node} />)}
                {receipt.nodesTouched > receipt.nodes.length && <p class="muted">{receipt.nodes.length} of the {receipt.nodesTouched} nodes that change are drawn.</p>}
            </Section>
            {evicts && (
                <>
                    <Section title="Victims"><Victims receipt={receipt} /></Section>
                    <div class="columns">
                        <Section title="Cost and runner-up"><CostTable receipt={receipt} /></Section>
                        <Section title="Proof">
                            <p class="proof"><Badge of={receipt.certificate?.status ?? "unknown"} /> {proofWords(receipt.certificate)}</p>
                            {receipt.certificate?.binding && <p>{receipt.certificate.binding}</p>}
                            <p>{receipt.evictions[0]?.reason}</p>
                            {others && Object.keys(others).length > 0 && (
                                <>
                                    <h3>Who was looked at</h3>
                                    <ul>{Object.entries(others).map(([reason, nodes]) => <li>{count(nodes, "node")}: {reasonWords(reason).replace(/^nodes (that )?/, "")}</li>)}</ul>
                                </>
                            )}
                        </Section>
                    </div>
                    <Section title="Spared if">
                        {receipt.why && !(whyLoading && receipt.why.missing) ? <Spared receipt={receipt} why={receipt.why} /> : <p class="muted" role="status">Planning again with one thing different at a time…</p>}
                    </Section>
                    {receipt.why?.alternatives && <Section title="Alternatives"><Alternatives all={receipt.why.alternatives} /></Section>}
                </>
            )}
        </>
    );
}

export function ReceiptView({id}: {id: string}) {
    // The decision at once; what needs plans of its own comes after it.
    const quick = useDocument<Receipt>(`/api/v1/decisions/${id}?why=false`, false);
    const full = useDocument<Receipt>(`/api/v1/decisions/${id}`, false);
    const doc = full.data ? full : quick;
    return (
        <Shown doc={doc}>
            {(receipt) => (
                <article class="receipt">
                    <header class="view-head">
                        <p class="crumbs"><a href={href("/decisions")}>Decisions</a> / {receipt.id}</p>
                        <h1 tabIndex={-1}>{headline(receipt)}</h1>
                        <p class="lead">
                            <Badge of={receipt.certificate?.status ?? "planned"} tone={receipt.certificate ? undefined : "plain"} /> {proofWords(receipt.certificate)}{" "}
                            {receipt.lost && <span>It costs {work(receipt.lost.resource, receipt.lost.seconds)} of work.</span>}
                        </p>
                        <dl class="facts">
                            <div><dt>When</dt><dd><Time at={receipt.at} /></dd></div>
                            <div><dt>Action</dt><dd>{receipt.action} <span class="muted">({ACTIONS[receipt.action] ?? "an action"})</span></dd></div>
                            <div><dt>Outcome</dt><dd><Badge of={receipt.outcome} /></dd></div>
                            {receipt.started && <div><dt>Started</dt><dd><Time at={receipt.started} /></dd></div>}
                            <div><dt>Cycle</dt><dd>{receipt.cycle}</dd></div>
                        </dl>
                    </header>
                    <ReceiptBody receipt={receipt} whyLoading={full.loading} />
                    <Section title="The same again">
                        <p>The plan is a pure function of its inputs. This digest of all of them is its id; whoever has the same inputs gets the same bytes.</p>
                        <p><code class="hash">{receipt.plan}</code> <Copy text={receipt.plan} label="Copy hash" /></p>
                        <ul class="commands">
                            {receipt.commands.map((command) => <li><code>{command}</code> <Copy text={command} label="Copy" /></li>)}
                        </ul>
                        <p class="actions">
                            <Copy text={() => receiptText(receipt, location.href)} label="Copy receipt as text" />
                            <a href={`/api/v1/decisions/${receipt.id}`}>This receipt as JSON</a>
                        </p>
                    </Section>
                    <nav class="pager" aria-label="Neighbouring decisions">
                        {receipt.neighbours?.newer ? <DecisionLink id={receipt.neighbours.newer}>← Newer decision</DecisionLink> : <span />}
                        {receipt.neighbours?.older ? <DecisionLink id={receipt.neighbours.older}>Older decision →</DecisionLink> : <span />}
                    </nav>
                    <p class="muted small-print">Times are local; hover shows UTC ({localTime(receipt.at)} is {utcTime(receipt.at)}).</p>
                </article>
            )}
        </Shown>
    );
}
