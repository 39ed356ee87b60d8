// The sentence that stands on top of each view.
import assert from "node:assert/strict";
import {test} from "node:test";
import {decisionsAnswer, lifelinesAnswer, queuesAnswer, roomAnswer, waitingAnswer} from "../src/answers.ts";
import type {RoomNode, RoomPod} from "../src/room-layout.ts";
import type {Certificate, Lifelines, Queue} from "../src/types.ts";
import {costWords} from "../src/views/decisions.tsx";

const group = (n: number) => ({binding: "Insufficient cpu", count: n, pods: []});

test("Waiting: never, not now and promised are told apart", () => {
    const text = (never: number, notNow: number, promised: number) => waitingAnswer({never: never ? [group(never)] : [], notNow: notNow ? [group(notNow)] : [], promised: Array(promised).fill({pod: "a/b", node: "n", waitsFor: []})}).text;
    assert.equal(text(0, 0, 0), "Nothing waits.");
    assert.equal(text(1, 2, 1), "1 pod can never run as it is written; 2 pods wait for room; 1 pod is promised room.");
    assert.equal(text(0, 1, 0), "1 pod waits for room.");
});

const pod = (state: RoomPod[7], devices: number[]): RoomPod => [`a/${state}${devices.join("")}`, 0, 0, -1, 0, 1000, 0, state, devices];
const node = (name: string, devices: number, pods: RoomPod[], flags = 0): RoomNode => [name, -1, flags, 8000, 2000, 0, 0, devices, pods];

test("Room: what is promised is not free, what leaves is, and closed nodes do not count", () => {
    assert.equal(roomAnswer({nodes: [node("n1", 4, [pod("r", [0]), pod("p", [1])]), node("n2", 4, [pod("e", [0, 1]), pod("r", [2, 3])]), node("n3", 8, [], 2)]}).text, "4 of 8 GPUs are free, promises kept: 2 on n1 and 2 on n2.");
    assert.equal(roomAnswer({nodes: [node("n1", 1, [pod("r", [0])])]}).text, "All of 1 GPU are held or promised.");
    assert.equal(roomAnswer({nodes: [node("n1", 0, []), node("n2", 0, [])]}).text, "25 % of 16 cores are held; 6 cores are free on n1, nowhere more.");
});

const line = (name: string, evictions: number, controller?: string): Lifelines["lines"][number] => ({pod: name, ...(controller ? {controller} : {}), priority: 0, spans: [], marks: Array(evictions).fill({at: "2026-03-02T09:00:00Z", what: "evicted"})});

test("Lifelines: pods of one controller count together", () => {
    assert.equal(lifelinesAnswer([line("a/x", 0)]).text, "Nobody was thrown out.");
    assert.equal(lifelinesAnswer([line("a/x", 1), line("a/y", 1)]).text, "Nobody was thrown out twice; a/x and a/y were once.");
    assert.equal(lifelinesAnswer([line("a/x-1", 1, "a/x"), line("a/x-2", 1, "a/x"), line("a/y", 1)]).text, "a/x lost a pod 2 times.");
});

const queue = (name: string, used: number, deserved: number | undefined, pending: number): Queue => ({name, resources: {cpu: {used, ...(deserved === undefined ? {} : {deserved})}}, pods: {running: 1, pending, leaving: 0}});

test("Queues: who is above its share, and who waits below theirs", () => {
    const text = (...queues: Queue[]) => queuesAnswer({queues}, "cpu").text;
    assert.equal(text(queue("a", 1000, 2000, 0)), "No queue is above its share of CPU.");
    assert.equal(text(queue("a", 1000, 2000, 1)), "No queue is above its share of CPU.");
    assert.equal(text(queue("a", 3000, 2000, 0), queue("b", 1000, 2000, 0)), "a is 1 core above its share; nobody waits below theirs.");
    assert.equal(text(queue("a", 3000, 2000, 0), queue("b", 1000, 2000, 1)), "a is 1 core above its share; b waits below its own.");
    assert.equal(text(queue("a", 3000, undefined, 1)), "No queue has a share of CPU: whoever comes first, or is more important, has it.");
});

test("Decisions: how many, and who left", () => {
    const eviction = {pod: "a/b", node: "n", unit: "pod", for: "a/c", action: "preempt", mode: "delete", pdbViolation: false, reason: ""};
    assert.equal(decisionsAnswer(0, []).join(""), "0 decisions");
    assert.equal(decisionsAnswer(3, [{evictions: [eviction]}, {evictions: []}]).join(""), "3 decisions, 2 shown; 1 pod leaves for 1 of them");
    const certificate: Certificate = {for: "a/c", action: "preempt", status: "optimal", cost: [["pdbViolations", 1], ["maxPriority", 100], ["gangsBroken", 4], ["pods", 4]]};
    assert.equal(costWords({certificate}), "1 budget broken, priority 100, 4 jobs");
    assert.equal(costWords({certificate: null}), "-");
});
