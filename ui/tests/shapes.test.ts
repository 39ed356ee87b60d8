import assert from "node:assert/strict";
import {test} from "node:test";
import {cpuBlocks, deviceBlocks} from "../src/node-picture.tsx";
import {cellsOf, fingerprint, layout, type RoomDoc, type RoomNode, type RoomPod} from "../src/room-layout.ts";
import {palette} from "../src/room-paint.ts";
import {quantile, roomy} from "../src/report/cdf.tsx";
import {decisionWords, interval, paired, signed, type PolicyRun} from "../src/report/simulation.tsx";
import {refereeAnswer, worstFirst, worstOf} from "../src/report/referee.tsx";
import {treeOf} from "../src/views/queues.tsx";
import {busyFrom, together} from "../src/views/lifelines.tsx";
import {verdictOf} from "../src/views/now.tsx";
import type {NodePod, Now, Queue} from "../src/types.ts";

const pod = (name: string, devices: number[], then: NodePod["then"]): NodePod => ({pod: name, priority: 0, requests: {cpu: 1000}, devices, then, created: null, started: null, graceSeconds: 30});

test("neighbouring devices of one pod are one block", () => {
    const node = {name: "n", allocatable: {cpu: 4000}, devices: [0, 1, 2, 3].map((index) => ({index, group: 0})), pods: [pod("a/x", [0, 1], "stays"), pod("a/y", [3], "leaves"), pod("a/z", [3], "promised")]};
    const before = deviceBlocks(node, (p) => p.then !== "promised");
    assert.deepEqual(before.map((block) => [block.pod?.pod ?? "free", block.size]), [["a/x", 2], ["free", 1], ["a/y", 1]]);
    assert.equal(deviceBlocks(node, (p) => p.then !== "leaves")[2]?.pod?.pod, "a/z");
    assert.deepEqual(cpuBlocks(node, (p) => p.then === "stays").map((block) => block.size), [1000, 3000]);
});

const running = (name: string, devices: number[], state: RoomPod[7] = "r"): RoomPod => [name, 0, 100, -1, 1, 1000, 0, state, devices];
const node = (name: string, devices: number, pods: RoomPod[]): RoomNode => [name, 0, 0, 8000, 1000, 1, 0, devices, pods];

test("a cell a device, and who comes where somebody leaves", () => {
    const cells = cellsOf(node("n", 2, [running("a", [0], "e"), running("b", [0], "p")]), 100);
    assert.equal(cells.length, 2);
    assert.equal(cells[0]?.pod?.[0], "a");
    assert.equal(cells[0]?.also?.[0], "b");
    assert.equal(cells[1]?.pod, null);
});

test("five thousand nodes are laid out side by side, none over another", () => {
    const doc: RoomDoc = {now: "2026-03-02T09:00:00Z", racks: Array.from({length: 100}, (_, i) => `r${i}`), queues: ["q"], gangs: [], nodes: Array.from({length: 5000}, (_, i) => [`n${i}`, i % 100, 0, 8000, 0, 1, 0, 8, []] as RoomNode)};
    const shape = layout(doc, 1200, 1);
    const places = new Set(shape.racks.flatMap((rack) => rack.nodes.map((n) => `${n.x} ${n.y}`)));
    assert.equal(places.size, 5000);
    assert.ok(shape.width <= 1200);
    assert.equal(shape.label, 0);
    assert.ok(layout(doc, 1200, 2).label > 0, "names appear when one looks closer");
});

test("what is drawn has a fingerprint", () => {
    const doc: RoomDoc = {now: "2026-03-02T09:00:00Z", racks: ["r"], queues: ["q"], gangs: [], nodes: [node("n", 2, [running("a", [0])])]};
    const colours = palette(doc, "queue");
    const first = fingerprint(doc, layout(doc, 800, 1), colours.paint);
    doc.nodes[0] = node("n", 2, [running("a", [0], "e")]);
    assert.notEqual(first, fingerprint(doc, layout(doc, 800, 1), colours.paint));
});

test("queues are read as a tree", () => {
    const queue = (name: string, parent?: string): Queue => ({name, parent, resources: {}, pods: {running: 0, pending: 0, leaving: 0}});
    assert.deepEqual(treeOf([queue("b", "a"), queue("a"), queue("c", "gone")]).map(({queue: q, depth}) => [q.name, depth]), [["a", 0], ["b", 1], ["c", 0]]);
});

test("pods of one controller are thrown out together", () => {
    const line = (name: string, marks: number) => ({pod: name, controller: "ns/job", priority: 0, spans: [{state: "ran" as const, from: "2026-03-02T08:00:00Z", to: "2026-03-02T09:00:00Z"}], marks: Array.from({length: marks}, () => ({at: "2026-03-02T09:00:00Z", what: "evicted"}))});
    const lines = [line("ns/a", 1), line("ns/b", 2)];
    assert.equal(together(lines, lines[0]!), 3);
    const to = Date.parse("2026-03-02T09:00:00Z");
    assert.ok(busyFrom(lines, to - 30 * 86400e3, to) > to - 2 * 3600e3);
});

test("the most important thing is said first", () => {
    const now = {health: {loop: "turning", plansRefused: 0, troubles: [], recording: false, cycle: 1}, counts: {never: 0, notNow: 2, placedAfterEvictions: 0}} as unknown as Now;
    assert.equal(verdictOf(now, "live").text, "2 pods wait for room.");
    assert.equal(verdictOf(now, "lost").tone, "bad");
    assert.match(verdictOf({...now, health: {...now.health, plansRefused: 1}}, "live").text, /refused by the audit/);
});

test("differences are taken seed by seed", () => {
    const run = (name: string, seed: number, evictions: number) => ({name, seed, evictions}) as PolicyRun;
    const runs = [run("a", 1, 10), run("a", 2, 20), run("b", 1, 12), run("b", 2, 26)];
    assert.deepEqual(paired(runs, "a", "b", (r) => r.evictions), [2, 6]);
    const {mid, half} = interval([2, 6]);
    assert.equal(mid, 4);
    assert.ok(Math.abs(half - 12.71 * 2) < 0.01);
    assert.equal(quantile([[1, 0.2], [5, 0.6], [9, 1]], 0.5), 5);
});

test("the referee's worst is what need not have left", () => {
    const verdict = (kind: string, victims: number, stay: number) => ({at: "t", scheduler: "s", for: "f", victims: Array.from({length: victims}, (_, i) => `p${i}`), verdict: kind, confidence: "named" as const, evidence: "", couldHaveStayed: Array.from({length: stay}, (_, i) => `p${i}`)});
    assert.deepEqual(worstFirst([verdict("fair", 9, 0), verdict("too many", 5, 1), verdict("needless", 3, 0)]).map((v) => v.verdict), ["needless", "too many"]);
});

test("a simulation's report speaks in words", () => {
    assert.equal(decisionWords("26557,evict,job-7-0,host-3"), "evicts job-7-0 from host-3");
    assert.equal(decisionWords("12,bind,job-7-0,host-3"), "binds job-7-0 to host-3");
    assert.equal(decisionWords("nothing more"), "nothing more");
    assert.equal(signed(-0.2, (value) => value.toFixed(0)), "0");
    assert.equal(signed(-2, (value) => value.toFixed(0)), "−2");
    assert.deepEqual(roomy([0, 1, 10, 60], (tick) => tick * 20), [0, 10, 60]);
});

test("the referee's report begins with what need not have been", () => {
    const verdict = (word: string, victims: number) => ({at: "2026-03-02T09:00:00Z", scheduler: "s", for: "a/b", victims: Array<string>(victims).fill("x/y"), verdict: word, confidence: "named" as const, evidence: ""});
    const totals = {evictions: 2, podsLost: 5, leastPods: 3, gpuHoursLost: 3.5, leastGpuHours: 1, byVerdict: {}};
    const verdicts = [verdict("fair", 2), verdict("too many", 3)];
    assert.equal(refereeAnswer({verdicts, totals}).text, "1 of 2 decisions was not fair: 2 of 5 pods and 2.5 of 3.5 GPU-hours need not have been lost.");
    assert.equal(refereeAnswer({verdicts: [verdict("fair", 2)], totals}).text, "Every eviction was needed, and nothing less would have done.");
    assert.equal(refereeAnswer({verdicts: [verdict("fair", 2), verdict("unclear", 1)], totals}).text, "Nothing can be said against any decision; 1 of 2 is unclear.");
    assert.deepEqual(worstOf({verdicts, totals, worst: [1]}), [verdicts[1]]);
});
