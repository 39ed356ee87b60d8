// One node before and after a decision: a strip of device cells, or of CPU where it has no devices.
import type {NodePod, ReceiptNode} from "./types.ts";
import {amount, count, duration, shortName} from "./format.ts";
import {Name} from "./parts.tsx";

interface Block {
    pod: NodePod | null; // null: free
    size: number;
    label: string;
}

const holdsBefore = (pod: NodePod) => pod.then === "stays" || pod.then === "leaves";
const holdsAfter = (pod: NodePod) => pod.then !== "leaves" && !pod.leaving;

/** Neighbouring devices of one pod are one block. */
export function deviceBlocks(node: ReceiptNode, present: (pod: NodePod) => boolean): Block[] {
    const blocks: Block[] = [];
    for (const device of node.devices ?? []) {
        const pod = (node.pods ?? []).find((p) => present(p) && (p.devices ?? []).includes(device.index)) ?? null;
        const last = blocks.at(-1);
        if (pod && last && last.pod === pod) {
            last.size += 1;
            last.label += `, ${device.index}`;
        } else {
            blocks.push({pod, size: 1, label: `${device.index}`});
        }
    }
    return blocks;
}

/** Pods by the CPU that they hold; those of little CPU together. */
export function cpuBlocks(node: ReceiptNode, present: (pod: NodePod) => boolean): Block[] {
    const total = node.allocatable?.cpu ?? 0;
    const pods = (node.pods ?? []).filter(present).filter((pod) => (pod.requests.cpu ?? 0) > 0);
    const blocks: Block[] = pods.map((pod) => ({pod, size: pod.requests.cpu ?? 0, label: amount("cpu", pod.requests.cpu ?? 0)}));
    const free = total - blocks.reduce((sum, block) => sum + block.size, 0);
    if (free > 0) blocks.push({pod: null, size: free, label: amount("cpu", free)});
    return blocks;
}

const TONES: Record<string, string> = {leaves: "leaves", promised: "comes", placed: "comes", stays: "stays"};
const TELLS: Record<string, string> = {leaves: "leaves", promised: "promised", placed: "placed now", stays: "stays"};

function Strip({title, blocks, unit, quiet}: {title: string; blocks: Block[]; unit: string; quiet?: boolean}) {
    return (
        <div class="strip-row">
            <span class="strip-title">{title}</span>
            <ul class={`strip ${unit}`} aria-label={title} style={unit === "devices" ? {gridTemplateColumns: `repeat(${blocks.reduce((sum, block) => sum + block.size, 0)}, minmax(0, 1fr))`} : {}}>
                {blocks.map(({pod, size, label}) => {
                    const tone = pod ? (quiet && pod.then === "leaves" ? "stays" : TONES[pod.then]) : "free";
                    const tells = pod ? TELLS[pod.then] : "free";
                    const words = unit === "devices" ? `${label.includes(",") ? "devices" : "device"} ${label}` : label;
                    return (
                        <li class={`cell ${tone}`} style={unit === "devices" ? {gridColumn: `span ${size}`} : {flexGrow: size}} title={pod ? `${pod.pod}: ${words}, priority ${pod.priority}, ${tells}` : `${words}: free`}>
                            <span class="cell-name">{pod ? shortName(pod.pod) : "free"}</span>
                            <span class="cell-note">{pod && pod.then !== "stays" ? tells : unit === "devices" ? label : ""}</span>
                        </li>
                    );
                })}
            </ul>
        </div>
    );
}

export function NodePicture({node}: {node: ReceiptNode}) {
    const byDevice = (node.devices ?? []).length > 0;
    const blocks = byDevice ? deviceBlocks : cpuBlocks;
    const unit = byDevice ? "devices" : "cpu";
    const before = blocks(node, holdsBefore);
    const after = blocks(node, holdsAfter);
    const changed = (node.pods ?? []).filter((pod) => pod.then !== "stays");
    return (
        <div class="node">
            <h3>
                {node.name}
                <span class="muted">
                    {node.rack ? ` in ${node.rack}` : ""} · {byDevice ? count(node.devices?.length ?? 0, "GPU") : amount("cpu", node.allocatable?.cpu ?? 0)}
                </span>
            </h3>
            <Strip title="before" blocks={before} unit={unit} />
            <Strip title="after" blocks={after} unit={unit} />
            <details>
                <summary>{changed.length} of {count(Math.max(node.podsInAll ?? 0, node.pods?.length ?? 0), "pod")} on {node.name} change; all as a table</summary>
                <div class="scroll" tabIndex={0} role="region" aria-label={`Pods on ${node.name}`}>
                    <table>
                        <caption>Pods on {node.name}, before and after</caption>
                        <thead><tr><th scope="col">Pod</th><th scope="col">Then</th><th scope="col" class="num">Priority</th><th scope="col">Queue</th><th scope="col">Devices</th><th scope="col" class="num">CPU</th><th scope="col" class="num">Memory</th><th scope="col" class="num">Ran for</th></tr></thead>
                        <tbody>
                            {(node.pods ?? []).map((pod) => (
                                <tr class={TONES[pod.then]}>
                                    <th scope="row"><Name of={pod.pod} /></th>
                                    <td>{TELLS[pod.then]}</td>
                                    <td class="num">{pod.priority}</td>
                                    <td>{pod.queue ?? "-"}</td>
                                    <td>{(pod.devices ?? []).join(", ") || "-"}</td>
                                    <td class="num">{amount("cpu", pod.requests.cpu ?? 0)}</td>
                                    <td class="num">{amount("memory", pod.requests.memory ?? 0)}</td>
                                    <td class="num">{pod.ranSeconds === undefined ? "-" : duration(pod.ranSeconds)}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            </details>
        </div>
    );
}
