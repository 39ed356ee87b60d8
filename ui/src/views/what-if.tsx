// What if: manifests in, the plan out, beside today's.
import {useSignal} from "@preact/signals";
import type {Plan, WhatIf} from "../types.ts";
import {bytes, count, list} from "../format.ts";
import {Badge, Name, Section, Table} from "../parts.tsx";
import {ReceiptBody, headline} from "./receipt.tsx";
import {api, at} from "../store.ts";

const LARGEST = 4 * 1024 * 1024;

const EXAMPLES: [string, string][] = [
    ["A pod", `apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec:
  schedulerName: reprieve
  priority: 200000
  tolerations: [{operator: Exists}]
  containers:
    - name: main
      resources: {requests: {cpu: "4", memory: 16Gi, nvidia.com/gpu: "2"}}
`],
    ["A job", `apiVersion: batch/v1
kind: Job
metadata: {name: sweep, namespace: default}
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      schedulerName: reprieve
      tolerations: [{operator: Exists}]
      containers:
        - name: main
          resources: {requests: {cpu: "2", memory: 8Gi}}
`],
    ["Another priority", `# A pod that exists keeps everything but its priority.
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: NAMESPACE}
spec: {priority: 5000, containers: [{name: main}]}
$patch: merge
`],
    ["A node away", `apiVersion: v1
kind: Node
metadata: {name: NAME}
$patch: delete
`],
    ["A budget", `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep-two, namespace: NAMESPACE}
spec: {minAvailable: 2, selector: {matchLabels: {app: NAME}}}
`],
];

const DIFFERENCES: [keyof WhatIf["difference"], string, string][] = [
    ["placed", "would be placed", "good"],
    ["noLongerPlaced", "would no longer be placed", "bad"],
    ["evicted", "would be evicted", "bad"],
    ["spared", "would be spared", "good"],
    ["waiting", "would wait", "warn"],
    ["noLongerWaiting", "would no longer wait", "good"],
];

function planWords(plan: Plan): string[] {
    const later = plan.placements.filter((p) => p.when === "afterEvictions").length;
    return [count(plan.placements.length - later, "pod"), count(later, "pod"), count(plan.evictions.length, "pod"), count(plan.unplaced.length, "pod")];
}

function Answer({answer}: {answer: WhatIf}) {
    const then = planWords(answer.plan);
    const today = planWords(answer.today);
    const same = DIFFERENCES.every(([key]) => answer.difference[key].length === 0);
    return (
        <>
            <Section title="What would be different">
                {same ? <p>Nothing: the plan is today's.</p> : (
                    <ul class="plain differences">
                        {DIFFERENCES.filter(([key]) => answer.difference[key].length > 0).map(([key, words, tone]) => (
                            <li><Badge of={`${count(answer.difference[key].length, "pod")} ${words}`} tone={tone} /> <span>{list(answer.difference[key], 8)}</span></li>
                        ))}
                    </ul>
                )}
                <Table caption="Beside today's plan" head={["", "Today", "Then"]}>
                    {["placed now", "placed after evictions", "evicted", "left waiting"].map((label, i) => <tr><th scope="row">{label}</th><td>{today[i]}</td><td>{then[i] === today[i] ? then[i] : <strong>{then[i]}</strong>}</td></tr>)}
                </Table>
            </Section>
            {answer.plan.unplaced.filter((u) => answer.difference.waiting.includes(u.pod ?? u.for ?? "")).slice(0, 20).map((u) => (
                <Section title={`${u.pod ?? u.for} would wait`}><p><Badge of={u.verdict} /> {u.reason}</p></Section>
            ))}
            {answer.receipts.map((receipt) => (
                <article class="receipt nested" aria-label={`Receipt for ${receipt.for}`}>
                    <h2 class="receipt-title">{headline(receipt)}</h2>
                    <ReceiptBody receipt={{...receipt, why: {missing: "What would spare whom is worked out for decisions that were made, not for what if."}}} />
                </article>
            ))}
            {answer.plan.warnings.length > 0 && <Section title="Warnings"><ul>{answer.plan.warnings.slice(0, 20).map((text) => <li>{text}</li>)}</ul></Section>}
            <Section title="The whole plan">
                <details>
                    <summary>{count(answer.plan.placements.length, "placement")}, {count(answer.plan.evictions.length, "eviction")}</summary>
                    <Table caption="Placements" head={["Pod", "Node", "Devices", "When", "Action"]}>
                        {answer.plan.placements.slice(0, 500).map((p) => <tr><th scope="row"><Name of={p.pod} /></th><td>{p.node}</td><td>{(p.devices ?? []).join(", ") || "-"}</td><td>{p.when === "now" ? "now" : "after evictions"}</td><td>{p.action}</td></tr>)}
                    </Table>
                    <Table caption="Evictions" head={["Pod", "Node", "For", "Why"]}>
                        {answer.plan.evictions.slice(0, 500).map((e) => <tr><th scope="row"><Name of={e.pod} /></th><td>{e.node}</td><td><Name of={e.for} /></td><td>{e.reason}</td></tr>)}
                    </Table>
                </details>
            </Section>
        </>
    );
}

export function WhatIfView() {
    const text = useSignal("");
    const busy = useSignal(false);
    const error = useSignal("");
    const answer = useSignal<WhatIf | null>(null);
    const plan = async () => {
        error.value = "";
        if (text.value.trim() === "") return void (error.value = "There is nothing to plan for: paste a manifest first.");
        const size = new Blob([text.value]).size;
        if (size > LARGEST) return void (error.value = `These manifests are ${bytes(size)}; at most ${bytes(LARGEST)} are taken.`);
        busy.value = true;
        try {
            const moment = at.value ? `?at=${encodeURIComponent(at.value)}` : "";
            const response = await api(`/api/v1/what-if${moment}`, {method: "POST", body: text.value, headers: {"Content-Type": "application/yaml"}});
            answer.value = (await response.json()) as WhatIf;
        } catch (problem) {
            answer.value = null;
            error.value = (problem as Error).message;
        } finally {
            busy.value = false;
        }
    };
    const drop = async (event: DragEvent) => {
        event.preventDefault();
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.reduce((sum, file) => sum + file.size, 0) > LARGEST) return void (error.value = `At most ${bytes(LARGEST)} are taken.`);
        text.value = (await Promise.all(files.map((file) => file.text()))).join("\n---\n");
    };
    // A browser that lays out so much text would stand still; it would be refused anyway.
    const paste = (event: ClipboardEvent) => {
        if ((event.clipboardData?.getData("text") ?? "").length <= LARGEST) return;
        event.preventDefault();
        error.value = `At most ${bytes(LARGEST)} are taken.`;
    };
    return (
        <>
            <header class="view-head">
                <h1 tabIndex={-1}>What if</h1>
                <p class="lead">If I submit this, who gets evicted? The plan is made on a copy; nothing is changed.</p>
            </header>
            <section class="panel" aria-label="Manifests">
                <p class="examples"><span class="muted">Start from:</span> {EXAMPLES.map(([name, manifest]) => <button type="button" class="small" onClick={() => (text.value = manifest)}>{name}</button>)}</p>
                <label class="field block">
                    <span>Manifests, YAML or JSON. What exists is replaced; <code>$patch: delete</code> takes it away. Files may be dropped here.</span>
                    <textarea rows={14} spellcheck={false} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} onPaste={paste} onDrop={drop} onDragOver={(event) => event.preventDefault()} />
                </label>
                <p class="actions"><button type="button" class="primary" disabled={busy.value} onClick={plan}>Plan</button> {busy.value && <span class="muted" role="status">Planning on a copy of the cluster…</span>}</p>
                {error.value && <p class="notice bad" role="alert">{error.value}</p>}
            </section>
            <div aria-live="polite">{answer.value && <Answer answer={answer.value} />}</div>
        </>
    );
}
