// Decisions: what was done lately; a row is a decision, not a pod.
import {useSignal} from "@preact/signals";
import type {DecisionRow} from "../types.ts";
import {count, list, shortName, work} from "../format.ts";
import {Badge, Choice, DecisionLink, Name, Shown, Table, Time, useDocument} from "../parts.tsx";
import {ACTIONS, TERMS, costValue, firstDifference} from "../words.ts";
import {place, setParam} from "../store.ts";

interface Page {
    total: number;
    next: string | null;
    decisions: DecisionRow[];
}

const FILTERS = ["queue", "action", "priority", "certificate", "q", "evicting"] as const;

/** What tells this decision from its runner-up, or its dearest term. */
export function costWords(row: DecisionRow): string {
    const cost = row.certificate?.cost ?? [];
    if (cost.length === 0) return "-";
    const runner = row.certificate?.runnerUp ?? [];
    const term = (runner.length > 0 ? firstDifference(cost, runner) : undefined) ?? cost.find(([name]) => name === "maxPriority")?.[0] ?? cost[0]?.[0] ?? "";
    return `${TERMS[term] ?? term}: ${costValue(cost, term)}`;
}

export function whereWords(row: DecisionRow): string {
    return list([...new Set((row.placements.length > 0 ? row.placements : row.evictions).map((p) => p.node))], 3);
}

export function DecisionRows({rows, caption}: {rows: DecisionRow[]; caption: string}) {
    return (
        <Table caption={caption} head={["When", "For whom", {text: "Priority", number: true}, "Room on", "Who leaves", {text: "Work lost", number: true}, "Cost", "Proof", "Action", "Outcome"]}>
            {rows.map((row) => (
                <tr>
                    <td class="nowrap"><Time at={row.at} /></td>
                    <th scope="row"><DecisionLink id={row.id}><Name of={row.for} /></DecisionLink>{row.queue ? <span class="muted"> {row.queue}</span> : null}</th>
                    <td class="num">{row.priority ?? "-"}</td>
                    <td>{whereWords(row)}</td>
                    <td>{row.evictions.length === 0 ? <span class="muted">nobody</span> : <><strong>{row.evictions.length}</strong> {list(row.evictions.map((e) => shortName(e.pod)), 2)}</>}</td>
                    <td class="num">{row.lost ? work(row.lost.resource, row.lost.seconds) : "-"}</td>
                    <td>{costWords(row)}</td>
                    <td>{row.certificate ? <Badge of={row.certificate.status} /> : <span class="muted">-</span>}</td>
                    <td>{row.action}</td>
                    <td><Badge of={row.outcome} /></td>
                </tr>
            ))}
        </Table>
    );
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
                        <p role="status" class="muted">{count(page.total, "decision")}{page.decisions.length < page.total ? `, ${page.decisions.length} shown` : ""}</p>
                        {page.decisions.length > 0 ? <DecisionRows rows={page.decisions} caption="Decisions, newest first" /> : <p class="notice">No decision matches. {FILTERS.some((name) => params.has(name)) ? "Take a filter away to see more." : "Nothing was decided yet."}</p>}
                        {page.next && <p><button type="button" onClick={() => (limit.value = Math.min(1000, limit.value * 3))}>Show more</button></p>}
                    </>
                )}
            </Shown>
        </>
    );
}
