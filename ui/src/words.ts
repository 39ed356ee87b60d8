// The plan's words for people: actions, proofs, costs, and what would have spared somebody.
import type {Certificate, Consequence, Cost, Remedy} from "./types.ts";
import {count, duration, list, localTime} from "./format.ts";

const PRIORITY_BASE = 2 ** 31; // prioritySum adds it for each pod
const OWN_BASE = 2 ** 32; // the same for ownPriority

export const ACTIONS: Record<string, string> = {
    allocate: "fits as it is",
    backfill: "fills a hole",
    preempt: "pod preemption",
    gangPreempt: "gang preemption",
    gangReclaim: "reclaim of a share",
    jobPreempt: "job preemption",
    revoke: "revocation of borrowed quota",
    queueBalance: "balance of queues",
    servingPreempt: "serving preemption",
};

export const PROOFS: Record<string, string> = {
    optimal: "No cheaper set of victims exists: proven.",
    gap: "Nothing costs less than the bound; between bound and cost the search ended.",
    infeasible: "No set of victims helps: proven.",
    heuristic: "A good set; nothing is claimed about others.",
    unknown: "Nothing was found, and nothing is proven.",
};

export const TERMS: Record<string, string> = {
    pdbViolations: "disruption budgets broken",
    breaksGangs: "gangs or single pods that end",
    maxPriority: "highest priority that leaves",
    gangsBroken: "jobs broken",
    prioritySum: "priorities in sum",
    queueOrder: "place of the giving queue",
    lostWork: "work lost (resource-seconds)",
    resources: "taken away, times the need",
    pods: "pods that leave",
    units: "units that leave",
    ownPriority: "own priorities above their gangs'",
    latestStart: "start of the most important victim",
};

/** The value of one term as a person reads it. */
export function costValue(cost: Cost, term: string): string {
    const entry = cost.find(([name]) => name === term);
    if (!entry) return "-";
    let value = entry[1];
    if (term === "prioritySum" || term === "ownPriority") {
        const base = term === "prioritySum" ? PRIORITY_BASE : OWN_BASE;
        const pods = cost.find(([name]) => name === "pods")?.[1] ?? Math.round(value / base);
        value -= pods * base;
    }
    if (term === "latestStart" && value < 0)
        return value <= -253402300800 ? "none" : localTime(new Date(-value * 1000).toISOString());
    if (term === "resources") return (value / 1000).toFixed(2);
    if (term === "maxPriority" && value < -(2 ** 40)) return "none";
    return value.toLocaleString("en");
}

/** The first term in which two costs differ. */
export function firstDifference(a: Cost, b: Cost): string | undefined {
    return a.find(([name, value], i) => b[i] === undefined || b[i][0] !== name || b[i][1] !== value)?.[0];
}

export function proofWords(certificate: Certificate | null): string {
    if (!certificate) return "Nobody had to leave, so there is nothing to prove.";
    return PROOFS[certificate.status] ?? certificate.status;
}

/** "then x would go instead, and y would be spared too" */
export function thenWords(then: Consequence, owner: string, subject: readonly string[]): string {
    let out = !then.placed
        ? `${owner} would stay without room`
        : (then.evicted ?? []).length === 0
          ? "nobody would go instead"
          : `${list(then.evicted ?? [])} would go instead`;
    const spared = (then.spared ?? []).filter((name) => !subject.includes(name));
    if (spared.length > 0) out += `, and ${list(spared)} would be spared too`;
    if ((then.unplaced ?? []).length > 0) out += `, and ${list(then.unplaced ?? [])} would find no place`;
    return out;
}

/** What would have to be different, as a clause. */
export function remedyWords(remedy: Remedy, subject: readonly string[]): string {
    const own = remedy.of === undefined || subject.includes(remedy.of);
    const whose = (what: string) => (own ? `its ${what}` : `the ${what} of ${remedy.of}`);
    switch (remedy.change) {
        case "priority":
            return `${whose("priority")} were ${remedy.to} or more (it is ${remedy.from})`;
        case "minRuntime":
            return `${whose("minimum run time")} were ${duration(remedy.toSeconds ?? 0)} or more (${remedy.fromSeconds ? `it is ${duration(remedy.fromSeconds)}` : "it has none"})`;
        case "checkpointAge":
            return `${whose("last checkpoint")} were ${duration(remedy.toSeconds ?? 0)} old or ${(remedy.toSeconds ?? 0) > (remedy.fromSeconds ?? 0) ? "older" : "newer"} (it is ${duration(remedy.fromSeconds ?? 0)})`;
        case "node": {
            const nodes = remedy.node ? [remedy.node] : (remedy.nodes ?? []);
            return `it ran on ${list(nodes)}${remedy.domain ? ` in ${remedy.domain}` : ""}, where there is room`;
        }
        default:
            return remedy.change;
    }
}

export function victimsWords(pods: number): string {
    return count(pods, "pod");
}

const REASONS: [RegExp, string][] = [
    [/^node\(s\) /, "nodes that "],
    [/^Insufficient /, "nodes short of "],
];

/** What a node says, as "nodes that ..." */
export function reasonWords(reason: string): string {
    for (const [pattern, words] of REASONS) {
        if (pattern.test(reason)) return reason.replace(pattern, words);
    }
    return reason;
}
