// Each view answers a question; these are the answers in a sentence, which stand above everything else.
import type {DecisionRow, Lifelines, Queues, Waiting} from "./types.ts";
import {amount, count, list, percent, resourceName} from "./format.ts";
import type {RoomDoc, RoomNode} from "./room-layout.ts";

export interface Answer {
    tone: "good" | "warn" | "bad" | "plain";
    text: string;
}

const sumOf = (groups: {count: number}[]) => groups.reduce((sum, group) => sum + group.count, 0);

/** Why does mine not run? */
export function waitingAnswer(waiting: Pick<Waiting, "never" | "notNow" | "promised">): Answer {
    const never = sumOf(waiting.never);
    const notNow = sumOf(waiting.notNow);
    const parts: string[] = [];
    if (never > 0) parts.push(`${count(never, "pod")} can never run as ${never === 1 ? "it is" : "they are"} written`);
    if (notNow > 0) parts.push(`${count(notNow, "pod")} ${notNow === 1 ? "waits" : "wait"} for room`);
    if (waiting.promised.length > 0) parts.push(`${count(waiting.promised.length, "pod")} ${waiting.promised.length === 1 ? "is" : "are"} promised room`);
    if (parts.length === 0) return {tone: "good", text: "Nothing waits."};
    return {tone: never + notNow > 0 ? "warn" : "good", text: `${parts.join("; ")}.`};
}

/** Devices that nobody holds, or is about to hold. */
export function freeDevices(node: RoomNode): number {
    const held = new Set(node[8].filter((pod) => pod[7] !== "n" && pod[7] !== "p").flatMap((pod) => pod[8]));
    return node[7] - held.size;
}

const takenSoon = (node: RoomNode) => new Set(node[8].filter((pod) => pod[7] === "n" || pod[7] === "p").flatMap((pod) => pod[8])).size;
const leavingSoon = (node: RoomNode) => new Set(node[8].filter((pod) => pod[7] === "e" || pod[7] === "l").flatMap((pod) => pod[8])).size;

/** Where is the room? Nodes that take nobody do not count. */
export function roomAnswer(doc: Pick<RoomDoc, "nodes">): Answer {
    const open = doc.nodes.filter((node) => (node[2] & 3) === 0);
    const devices = open.reduce((sum, node) => sum + node[7], 0);
    if (devices === 0) {
        const cpu = open.reduce((sum, node) => sum + node[3], 0);
        const used = open.reduce((sum, node) => sum + node[4], 0);
        const most = open.reduce<RoomNode | undefined>((best, node) => (best === undefined || node[3] - node[4] > best[3] - best[4] ? node : best), undefined);
        if (!most) return {tone: "warn", text: "No node takes pods."};
        return {tone: "plain", text: `${percent(used, cpu)} of ${amount("cpu", cpu)} are held; ${amount("cpu", most[3] - most[4])} are free on ${most[0]}, nowhere more.`};
    }
    const free = open.map((node) => ({name: node[0], free: Math.max(0, freeDevices(node) - takenSoon(node) + leavingSoon(node))}));
    const all = free.reduce((sum, node) => sum + node.free, 0);
    if (all === 0) return {tone: "warn", text: `All of ${count(devices, "GPU")} are held or promised.`};
    const best = free.filter((node) => node.free > 0).sort((a, b) => b.free - a.free || a.name.localeCompare(b.name, "en", {numeric: true}));
    const where = best.length <= 4 ? list(best.map((node) => `${node.free} on ${node.name}`)) : `at most ${best[0]?.free} on one node (${best[0]?.name}), on ${count(best.length, "node")} in all`;
    return {tone: "plain", text: `${all.toLocaleString("en")} of ${count(devices, "GPU")} ${all === 1 ? "is" : "are"} free, promises kept: ${where}.`};
}

/** Who keeps being thrown out? Pods of one controller or gang count together: they come back under other names. */
export function lifelinesAnswer(lines: Lifelines["lines"]): Answer {
    const times = new Map<string, number>();
    for (const line of lines) {
        const evicted = line.marks.filter((mark) => mark.what === "evicted").length;
        const name = line.controller ?? line.gang ?? line.pod;
        if (evicted > 0) times.set(name, (times.get(name) ?? 0) + evicted);
    }
    const worst = [...times].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
    const again = worst.filter(([, n]) => n > 1);
    if (worst.length === 0) return {tone: "good", text: "Nobody was thrown out."};
    if (again.length === 0) return {tone: "plain", text: `Nobody was thrown out twice; ${list(worst.map(([name]) => name))} ${worst.length === 1 ? "was" : "were"} once.`};
    const named = list(again.slice(0, 3).map(([name, n]) => `${name} lost a pod ${n} times`));
    return {tone: "warn", text: `${named}${again.length > 3 ? `; ${count(again.length - 3, "other")} more than once` : ""}.`};
}

/** Is it fair? */
export function queuesAnswer(doc: Pick<Queues, "queues">, resource: string): Answer {
    const shares = doc.queues.map((queue) => {
        const share = queue.resources[resource] ?? {};
        return {name: queue.name, used: share.used ?? share.allocated ?? 0, deserved: share.deserved ?? share.runtime, waits: queue.pods.pending > 0};
    });
    const judged = shares.filter((share) => share.deserved !== undefined);
    if (judged.length === 0) return {tone: "plain", text: `No queue has a share of ${resourceName(resource)}: whoever comes first, or is more important, has it.`};
    const above = judged.filter((share) => share.used > (share.deserved ?? 0));
    const short = judged.filter((share) => share.waits && share.used < (share.deserved ?? 0));
    // Whoever waits then waits for another reason than another's share.
    if (above.length === 0) return {tone: "good", text: `No queue is above its share of ${resourceName(resource)}.`};
    const borrows = list(above.map((share) => `${share.name} is ${amount(resource, share.used - (share.deserved ?? 0))} above its share`));
    if (short.length === 0) return {tone: "good", text: `${borrows}; nobody waits below theirs.`};
    return {tone: "warn", text: `${borrows}; ${list(short.map((share) => share.name))} ${short.length === 1 ? "waits below its" : "wait below their"} own.`};
}

/** What has it done lately? How many decisions, and what those that are listed did. */
export function decisionsAnswer(total: number, rows: Pick<DecisionRow, "evictions">[]): [many: string, rest: string] {
    const evicting = rows.filter((row) => row.evictions.length > 0);
    const pods = evicting.reduce((sum, row) => sum + row.evictions.length, 0);
    const shown = rows.length < total ? `, ${rows.length} shown` : "";
    const who = evicting.length === 0 ? "nobody leaves" : `${count(pods, "pod")} ${pods === 1 ? "leaves" : "leave"} for ${count(evicting.length, "of them", "of them")}`;
    return [count(total, "decision"), total > 0 ? `${shown}; ${who}` : ""];
}
