// What the API says (docs/window.md), as far as the page reads it.

export type Cost = [string, number][];

export interface Certificate {
    for?: string;
    action: string;
    status: "optimal" | "gap" | "infeasible" | "heuristic" | "unknown";
    cost?: Cost;
    bound?: Cost;
    runnerUp?: Cost;
    binding?: string;
}

export interface Eviction {
    pod: string;
    node: string;
    unit: string;
    group?: string;
    for: string;
    action: string;
    mode: string;
    pdbViolation: boolean;
    reason: string;
}

export interface Placement {
    pod: string;
    node: string;
    devices?: string[];
    when: "now" | "afterEvictions";
    for?: string;
    domain?: string;
    action: string;
}

export interface Work {
    resource: string;
    seconds: number;
}

export interface DecisionRow {
    id: string;
    at: string;
    cycle: number;
    for: string;
    action: string;
    evictions: Eviction[];
    placements: Placement[];
    certificate: Certificate | null;
    outcome: string;
    started: string | null;
    priority?: number;
    queue?: string;
    lost?: Work;
}

export interface PodFacts {
    pod: string;
    node?: string;
    priority: number;
    queue?: string;
    gang?: string;
    requests: Record<string, number>;
    devices?: number[];
    owner?: string;
    ownerKind?: string;
    created: string | null;
    started: string | null;
    ranSeconds?: number;
    graceSeconds: number;
    leaving?: boolean;
}

export interface NodePod extends PodFacts {
    then: "stays" | "leaves" | "promised" | "placed";
}

export interface ReceiptNode {
    name: string;
    rack?: string;
    allocatable?: Record<string, number>;
    devices?: {index: number; group: number}[];
    pods?: NodePod[];
    podsInAll?: number;
}

export interface Victim extends PodFacts {
    unit: string;
    group?: string;
    mode: string;
    pdbViolation: boolean;
    reason: string;
    lost?: Work;
}

export interface Consequence {
    placed: boolean;
    whyNot?: string;
    cost?: Cost;
    worseIn?: string;
    cheaperIn?: string;
    evicted?: string[];
    spared?: string[];
    unplaced?: string[];
}

export interface Remedy {
    change: string;
    of?: string;
    from?: number;
    to?: number;
    fromSeconds?: number;
    toSeconds?: number;
    node?: string;
    nodes?: string[];
    domain?: string;
    then: Consequence;
}

export interface EvictionStory {
    for: string;
    forPriority?: number;
    rule?: string;
    pods: string[];
    order?: {pods: string[]; evicted: boolean; subject?: boolean}[];
    margin?: {without?: Consequence; sparedIf?: Remedy[]; plans: number; complete: boolean};
}

export interface Explanation {
    outcome: string;
    pod?: string;
    gang?: string;
    evictions?: EvictionStory[];
    placement?: {nodes?: number; fittingNow?: number; others?: Record<string, number>};
    unplaced?: {pods: string[]; reason: string; placedIf?: Remedy[]; plans?: number}[];
    spared?: unknown[];
}

export interface Alternative {
    name: string;
    pods: number;
    jobsBroken: number;
    pdbViolations: number;
    highestPriority?: number;
    lostWork: number;
    lostResource: string;
    secondsUntilFree: number;
    unplaced: number;
    evicted: string[];
}

export interface Why {
    missing?: string;
    explanations?: Record<string, Explanation>;
    victimsExplained?: number;
    alternatives?: Alternative[];
}

export interface Receipt extends DecisionRow {
    plan: string;
    wants: PodFacts[];
    victims: Victim[];
    nodes: ReceiptNode[];
    nodesTouched: number;
    nodesInAll: number;
    commands: string[];
    neighbours?: {newer: string | null; older: string | null};
    why?: Why;
}

export interface Extent {
    from: string;
    to: string;
    gaps: {from: string; to: string; why: string}[];
}

export interface Now {
    source: "files" | "loop" | "record";
    now: string;
    plan: string;
    version: string;
    serial: number;
    extent: Extent | null;
    scoped?: boolean;
    cluster: {
        nodes: number;
        running: number;
        pending: number;
        leaving: number;
        gated: number;
        otherSchedulers: number;
        capacity: {resource: string; allocatable: number; used: number}[];
    };
    counts: Record<string, number>;
    health: {
        loop: string;
        leads?: boolean;
        synced?: boolean;
        recording: boolean;
        cycle: number;
        plansRefused: number;
        planMilliseconds?: number;
        troubles: string[];
    };
    leaving: {pod: string; node?: string; for?: string; action?: string; when: string; until?: string | null; overdueSeconds?: number}[];
    warnings: string[];
    recent: DecisionRow[];
}

export interface WaitingPod extends PodFacts {
    for?: string;
    replicas?: number;
    verdict: "never" | "notNow";
    reason: string;
    nodes?: Record<string, number>;
    proof?: string;
}

export interface WaitingGroup {
    binding: string;
    count: number;
    pods: WaitingPod[];
}

export interface Waiting {
    now: string;
    never: WaitingGroup[];
    notNow: WaitingGroup[];
    promised: (PodFacts & {for?: string; waitsFor: string[]})[];
    total: number;
}

export interface Queue {
    name: string;
    parent?: string;
    kind?: string;
    weight?: number;
    reclaimable?: boolean;
    resources: Record<string, Record<string, number>>;
    pods: {running: number; pending: number; leaving: number};
}

export interface Queues {
    now: string;
    queues: Queue[];
    taken: {by: string; from: string; pods: number}[];
    samples: {at: string; queue: string; used: Record<string, number>}[];
}

export interface Lifelines {
    now: string;
    total: number;
    lines: {
        pod: string;
        controller?: string;
        gang?: string;
        queue?: string;
        priority: number;
        spans: {state: "waited" | "promised" | "ran" | "leaving"; from: string; to: string; node?: string}[];
        marks: {at: string; what: string; for?: string; action?: string; decision?: string}[];
    }[];
}

export interface Plan {
    placements: Placement[];
    evictions: Eviction[];
    unplaced: {pod?: string; for?: string; verdict: string; reason: string; replicas?: number}[];
    certificates: Certificate[];
    warnings: string[];
}

export interface WhatIf {
    now: string;
    plan: Plan;
    today: Plan;
    difference: Record<"placed" | "noLongerPlaced" | "evicted" | "spared" | "waiting" | "noLongerWaiting", string[]>;
    receipts: Receipt[];
}
