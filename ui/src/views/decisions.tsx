// Decisions: what was done lately; a row is a decision, not a pod.
import {useSignal} from "@preact/signals";
import type {DecisionRow} from "../types.ts";
import {count, list, shortName, work} from "../format.ts";
import {Badge, Choice, DecisionLink, Name, Shown, Table, Time, useDocument} from "../parts.tsx";
import {decisionsAnswer} from "../answers.ts";
import {ACTIONS, costValue} from "../words.ts";
import {place, setParam} from "../store.ts";

interface Page {
    total: number;
    next: string | null;
    decisions: DecisionRow[];
}

const FILTERS = ["queue", "action", "priority", "certificate", "q", "evicting"] as const;

/** The terms that people ask for first; all of them, beside the runner-up, are on the receipt. */
export function costWords(row: Pick<DecisionRow, "certificate">): string {
    const cost = row.certificate?.cost ?? [];
    const of = (term: string) => cost.find(([name]) => name === term)?.[1] ?? 0;
    const highest = costValue(cost, "maxPriority");
    const parts: string[] = [];
    if (of("pdbViolations") > 0) parts.push(`${count(of("pdbViolations"), "budget")} broken`);
    if (highest !== "-" && highest !== "none") parts.push(`priority ${highest}`);
    if (of("gangsBroken") > 0) parts.push(count(of("gangsBroken"), "job"));
    if (parts.length === 0 && of("pods") > 0) parts.push(count(of("pods"), "pod"));
    return parts.join(", ") || "-";
}

export function whereWords(row: DecisionRow): string {
    return list([...new Set((row.placements.length > 0 ? row.placements : row.evictions).map((p) => p.node))], 3);
}

// What is asked for first stands first: on a phone the rest is one swipe away.
export function DecisionRows({rows, caption}: {rows: DecisionRow[]; caption: string}) {
    return (
        <div class="decisions"><Table caption={caption} hideCaption head={["When", "For whom", "Who leaves", "Proof", "Cost", {text: "Work lost", number: true}, "Room on", {text: "Priority", number: true}, "Action", "Outcome"]}>
            {rows.map((row) => (
                <tr>
                    <td class="when"><Time at={row.at} /></td>
                    <th scope="row"><DecisionLink id={row.id}><Name of={row.for} /></DecisionLink>{row.queue ? <span class="muted under">{row.queue}</span> : null}</th>
                    <td class="who">{row.evictions.length === 0 ? <span class="muted">nobody</span> : <><strong>{row.evictions.length}</strong> {list(row.evictions.map((e) => shortName(e.pod)), 2)}</>}</td>
                    <td>{row.certificate ? <Badge of={row.certificate.status} /> : <span class="muted">-</span>}</td>
                    <td class="nowrap">{costWords(row)}</td>
                    <td class="num">{row.lost ? work(row.lost.resource, row.lost.seconds) : "-"}</td>
                    <td>{whereWords(row)}</td>
                    <td class="num">{row.priority ?? "-"}</td>
                    <td>{row.action}</td>
                    <td><Badge of={row.outcome} /></td>
                </tr>
            ))}
        </Table></div>
    );
}

function Counted({total, rows}: {total: number; rows: DecisionRow[]}) {
    const [many, rest] = decisionsAnswer(total, rows);
    return <p role="status" class="muted"><span>{many}</span>{rest}</p>;
}

export function DecisionsView() {
    const params = place.value.params;
    const limit = useSignal(100);
    const query = new URLSearchParams();
    for (const name of FILTERS) {
        const value = params.get(name);
        if (value) query.set(name, value);
    }
    query.set("limit", String(limit.value));
    const doc = useDocument<Page>(`/api/v1/decisions?${query}`);
    return (
        <>
            <header class="view-head">
                <h1 tabIndex={-1}>Decisions</h1>
                <p class="lead">What was decided, newest first: for whom, who leaves, at what cost, and how good that provably is.</p>
            </header>
            <form class="filters" role="search" aria-label="Filter decisions" onSubmit={(event) => event.preventDefault()}>
                <label class="field">
                    <span>Name contains</span>
                    <input type="search" data-filter value={params.get("q") ?? ""} onInput={(event) => setParam("q", event.currentTarget.value)} />
                </label>
                <label class="field">
                    <span>Queue</span>
                    <input type="text" value={params.get("queue") ?? ""} onChange={(event) => setParam("queue", event.currentTarget.value)} />
                </label>
                <Choice label="Action" value={params.get("action") ?? ""} onChange={(value) => setParam("action", value)} options={[["", "any"], ...Object.entries(ACTIONS).map(([key]) => [key, key] as const)]} />
                <Choice label="Proof" value={params.get("certificate") ?? ""} onChange={(value) => setParam("certificate", value)} options={[["", "any"], ["optimal", "optimal"], ["gap", "gap"], ["heuristic", "heuristic"], ["none", "none"]]} />
                <label class="field">
                    <span>Priority at least</span>
                    <input type="number" value={params.get("priority") ?? ""} onChange={(event) => setParam("priority", event.currentTarget.value)} />
                </label>
                <label class="field check">
                    <input type="checkbox" checked={params.get("evicting") === "true"} onChange={(event) => setParam("evicting", event.currentTarget.checked ? "true" : null)} />
                    <span>Only where somebody leaves</span>
                </label>
            </form>
            <Shown doc={doc}>
                {(page) => (
                    <>
                        <Counted total={page.total} rows={page.decisions} />
                        {page.decisions.length > 0 ? <DecisionRows rows={page.decisions} caption="Decisions, newest first" /> : <p class="notice">No decision matches. {FILTERS.some((name) => params.has(name)) ? "Take a filter away to see more." : "Nothing was decided yet."}</p>}
                        {page.next && <p><button type="button" onClick={() => (limit.value = Math.min(1000, limit.value * 3))}>Show more</button></p>}
                    </>
                )}
            </Shown>
        </>
    );
}
