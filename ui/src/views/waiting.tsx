// Waiting: why does mine not run? Never and not now are kept apart.
import {useSignal} from "@preact/signals";
import type {Explanation, Waiting, WaitingGroup, WaitingPod} from "../types.ts";
import {count, duration, list, percent} from "../format.ts";
import {waitingAnswer} from "../answers.ts";
import {Answered, Badge, Name, Section, Shown, Time, useDocument} from "../parts.tsx";
import {reasonWords, remedyWords} from "../words.ts";
import {wantsWords} from "./receipt.tsx";
import {place, setParam} from "../store.ts";

function PlacedIf({name}: {name: string}) {
    const doc = useDocument<Explanation>(`/api/v1/waiting?name=${encodeURIComponent(name)}`, false);
    return (
        <Shown doc={doc}>
            {(explanation) => {
                const stories = explanation.unplaced ?? [];
                const remedies = stories.flatMap((story) => story.placedIf ?? []);
                return (
                    <div class="placed-if">
                        <h4>It would be placed if</h4>
                        <ul>
                            {remedies.map((remedy) => <li><strong>{remedyWords(remedy, [])}</strong>; then {list(remedy.then.evicted ?? [])} would go for it.</li>)}
                            {remedies.length === 0 && <li>nothing about its priority helps: other nodes, other requests or other rules would be needed.</li>}
                        </ul>
                    </div>
                );
            }}
        </Shown>
    );
}

function WaitingItem({pod, now}: {pod: WaitingPod; now: string}) {
    const open = useSignal(false);
    const name = pod.pod ?? pod.for ?? "";
    const nodes = Object.entries(pod.nodes ?? {}).sort((a, b) => b[1] - a[1]);
    const total = nodes.reduce((sum, [, n]) => sum + n, 0);
    return (
        <li class="waiting-item">
            <div class="waiting-head">
                <h3><Name of={name} />{pod.for && pod.for !== name ? <span class="muted"> of {pod.for}</span> : null}</h3>
                <span class="muted">
                    {pod.replicas ? `${count(pod.replicas, "replica")} · ` : ""}priority {pod.priority ?? "-"}{pod.queue ? ` · queue ${pod.queue}` : ""}{pod.created ? ` · waits ${duration((Date.parse(now) - Date.parse(pod.created)) / 1000)}` : ""}
                </span>
                {pod.proof && <Badge of={pod.proof === "infeasible" ? "proven" : pod.proof} tone="plain" />}
            </div>
            {pod.requests && <p class="muted">wants {wantsWords([pod])}</p>}
            {nodes.length > 0 && (
                <ul class="reasons">
                    {nodes.map(([reason, n]) => (
                        <li>
                            <span class="bar mini" role="img" aria-label={percent(n, total)}><span class="fill" style={{width: `${(100 * n) / total}%`}} /></span>
                            <span>{count(n, "node")}: {reasonWords(reason).replace(/^nodes (that )?/, "")}</span>
                        </li>
                    ))}
                </ul>
            )}
            <details>
                <summary>All of the reason</summary>
                <p>{pod.reason}</p>
            </details>
            <details onToggle={(event) => (open.value = event.currentTarget.open)}>
                <summary>What would place it</summary>
                {open.value && <PlacedIf name={name} />}
            </details>
        </li>
    );
}

function Groups({groups, now, filter}: {groups: WaitingGroup[]; now: string; filter: string}) {
    const limit = useSignal(20);
    const matching = groups.map((group) => ({...group, pods: group.pods.filter((pod) => `${pod.pod ?? ""} ${pod.for ?? ""} ${pod.queue ?? ""}`.includes(filter))})).filter((group) => group.pods.length > 0);
    if (matching.length === 0) return <p>{filter ? "No pod of that name." : "Nobody."}</p>;
    return (
        <>
            {matching.map((group) => (
                <div class="waiting-group">
                    <h3 class="binding">{count(group.count, "pod")}: {reasonWords(group.binding)}</h3>
                    <ul class="plain">
                        {group.pods.slice(0, limit.value).map((pod) => <WaitingItem pod={pod} now={now} />)}
                    </ul>
                    {group.pods.length > limit.value && <p><button type="button" onClick={() => (limit.value *= 3)}>Show more of {group.pods.length}</button></p>}
                </div>
            ))}
        </>
    );
}

export function WaitingView() {
    const doc = useDocument<Waiting>("/api/v1/waiting");
    const filter = place.value.params.get("q") ?? "";
    return (
        <>
            <header class="view-head">
                <h1 tabIndex={-1}>Waiting</h1>
                <p class="lead">What waits, grouped by what binds it, and what would place it.</p>
            </header>
            <form class="filters" role="search" aria-label="Find a pod that waits" onSubmit={(event) => event.preventDefault()}>
                <label class="field"><span>Name or queue contains</span><input type="search" data-filter value={filter} onInput={(event) => setParam("q", event.currentTarget.value)} /></label>
            </form>
            <Shown doc={doc}>
                {(waiting) => (
                    <>
                        <Answered answer={waitingAnswer(waiting)} />
                        <Section title="Not now" aside={<span class="muted">waits until somebody leaves or room is added</span>}><Groups groups={waiting.notNow} now={waiting.now} filter={filter} /></Section>
                        <Section title="Never" aside={<span class="muted">no eviction helps: the pod or the cluster has to change</span>}><Groups groups={waiting.never} now={waiting.now} filter={filter} /></Section>
                        <Section title="Promised room">
                            {waiting.promised.length === 0 ? <p>Nobody waits for others to leave.</p> : (
                                <ul class="plain">
                                    {waiting.promised.filter((pod) => pod.pod.includes(filter)).slice(0, 100).map((pod) => (
                                        <li class="waiting-item">
                                            <div class="waiting-head"><h3><Name of={pod.pod} /></h3><span class="muted">on {pod.node}{pod.created ? <> · since <Time at={pod.created} /></> : null}</span></div>
                                            <p>starts when {pod.waitsFor.length > 0 ? <>{list(pod.waitsFor)} {pod.waitsFor.length === 1 ? "is" : "are"} gone</> : "its room is free"}</p>
                                        </li>
                                    ))}
                                </ul>
                            )}
                        </Section>
                    </>
                )}
            </Shown>
        </>
    );
}
