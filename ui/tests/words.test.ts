import assert from "node:assert/strict";
import {test} from "node:test";
import {amount, bytes, duration, list, percent, utcTime, work} from "../src/format.ts";
import {costValue, firstDifference, remedyWords, thenWords} from "../src/words.ts";

test("amounts have units", () => {
    assert.equal(amount("cpu", 1500), "1.5 cores");
    assert.equal(amount("cpu", 1000), "1 core");
    assert.equal(amount("cpu", 40000), "40 cores");
    assert.equal(amount("memory", 8 * 2 ** 30), "8Gi");
    assert.equal(amount("nvidia.com/gpu", 1), "1 GPU");
    assert.equal(bytes(0), "0");
    assert.equal(percent(4, 10), "40 %");
    assert.equal(percent(1, 0), "-");
});

test("durations are their two largest units", () => {
    assert.equal(duration(0), "0s");
    assert.equal(duration(30), "30s");
    assert.equal(duration(6600), "1h 50m");
    assert.equal(duration(86400 * 8 + 3600 * 2 + 59), "8d 2h");
    assert.equal(work("nvidia.com/gpu", 9000), "2.5 GPU-hours");
});

test("names in a row", () => {
    assert.equal(list([]), "nobody");
    assert.equal(list(["a"]), "a");
    assert.equal(list(["a", "b"]), "a and b");
    assert.equal(list(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    assert.equal(utcTime("2026-03-02T09:00:00Z"), "2026-03-02 09:00:00 UTC");
});

test("sums of priorities are what people add up", () => {
    const cost: [string, number][] = [["pdbViolations", 0], ["prioritySum", 4294967496], ["pods", 2], ["latestStart", -1772435400]];
    assert.equal(costValue(cost, "prioritySum"), "200");
    assert.equal(costValue(cost, "latestStart"), "2026-03-02 07:10:00");
    assert.equal(firstDifference(cost, [...cost.slice(0, 3), ["latestStart", -1]]), "latestStart");
    assert.equal(firstDifference(cost, cost), undefined);
});

test("what would have spared somebody", () => {
    const then = {placed: true, evicted: ["s/c"], spared: ["s/a"]};
    assert.equal(remedyWords({change: "priority", of: "s/a", from: 100, to: 101, then}, ["s/a"]), "its priority were 101 or more (it is 100)");
    assert.equal(remedyWords({change: "priority", of: "s/g", from: 1, to: 2, then}, ["s/a"]), "the priority of s/g were 2 or more (it is 1)");
    assert.equal(remedyWords({change: "node", node: "n3", domain: "rack-2", then}, ["s/a"]), "it ran on n3 in rack-2, where there is room");
    assert.equal(thenWords(then, "s/x", ["s/a"]), "s/c would go instead");
    assert.equal(thenWords({placed: false}, "s/x", []), "s/x would stay without room");
    assert.equal(thenWords({placed: true, spared: ["s/a", "s/b"]}, "s/x", ["s/a"]), "nobody would go instead, and s/b would be spared too");
});
