// The window in a real browser: every view, by keyboard, live, restarted, with hostile input, without scripts.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, describe, test} from "node:test";
import {NOW, PROGRAM, ROOT, axe, browse, json, open, start} from "./harness.mjs";

const VIEWS = [["/", "Now"], ["/decisions", "Decisions"], ["/waiting", "Waiting"], ["/room", "Room"], ["/lifelines", "Lifelines"], ["/queues", "Queues"], ["/what-if", "What if"]];
const POD = `apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: serving}
spec:
  priority: 200000
  tolerations: [{operator: Exists}]
  containers: [{name: main, resources: {requests: {cpu: "4", memory: 16Gi, nvidia.com/gpu: "2"}}}]
`;

let browser;
before(async () => { browser = await browse(); });
after(async () => { await browser?.close(); });

for (const example of ["mixed-cluster", "serving-fleet"]) {
    describe(`examples/${example}`, () => {
        let program;
        let receipt;
        before(async () => {
            program = await start(["ui", "-f", `examples/${example}`, "--now", NOW, "--listen", "127.0.0.1:0"]);
            receipt = (await json(program.address, "/api/v1/decisions?evicting=true")).decisions[0];
        });
        after(() => program?.stop());

        for (const [path, name] of VIEWS) {
            test(`${name} is well formed, in both themes and on a phone`, async () => {
                for (const options of [{colorScheme: "light"}, {colorScheme: "dark"}, {viewport: {width: 390, height: 844}}]) {
                    const {page, context, well} = await open(browser, program.address, path, options);
                    await page.getByRole("heading", {level: 1, name}).waitFor();
                    await page.locator("main table, main section").first().waitFor();
                    assert.equal(await page.locator("h1").count(), 1);
                    const links = page.getByRole("navigation", {name: "Views"}).getByRole("link");
                    assert.deepEqual(await links.allTextContents(), VIEWS.map(([, text]) => text));
                    for (const table of await page.locator("table").all()) assert.equal(await table.locator("caption").count(), 1);
                    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), `${path} is wider than the screen`);
                    assert.deepEqual(await axe(page), [], `${path} ${JSON.stringify(options)}`);
                    well();
                    await context.close();
                }
            });
        }

        test("a receipt says what the program says, and a colleague sees the same", async () => {
            const {page, context, well} = await open(browser, program.address, `/decisions/${receipt.id}`);
            await page.getByRole("heading", {name: "Spared if"}).waitFor();
            await page.locator(".spared, .notice").first().waitFor();
            const text = await page.locator("main").innerText();
            for (const word of ["cost", "proof", "runner-up", "spared"]) assert.match(text.toLowerCase(), new RegExp(word));
            assert.ok(text.includes(receipt.for));
            for (const eviction of receipt.evictions) assert.ok(text.includes(eviction.pod.split("/")[1]), eviction.pod);
            assert.deepEqual(await axe(page), []);
            const other = await open(browser, program.address, new URL(page.url()).pathname);
            await other.page.locator(".spared, .notice").first().waitFor();
            assert.equal(await other.page.locator("main").innerText(), text);
            well();
            await context.close();
            await other.context.close();
        });

        test("a receipt on a phone, in the dark", async () => {
            const {page, context, well} = await open(browser, program.address, `/decisions/${receipt.id}`, {viewport: {width: 360, height: 740}, colorScheme: "dark"});
            await page.locator(".spared, .notice").first().waitFor();
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1));
            assert.deepEqual(await axe(page), []);
            well();
            await context.close();
        });
    });
}

describe("what people do", () => {
    let program;
    before(async () => { program = await start(["ui", "-f", "examples/mixed-cluster", "--now", NOW, "--listen", "127.0.0.1:0"]); });
    after(() => program?.stop());

    test("from the list to a receipt and to what if, by keyboard alone", async () => {
        const {page, context, well} = await open(browser, program.address, "/decisions");
        await page.getByRole("table", {name: /Decisions/}).waitFor();
        await page.keyboard.press("Tab");
        assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to content");
        await page.locator("body").press("j");
        await page.keyboard.press("Enter");
        await page.getByRole("heading", {level: 1, name: /2 pods leave for serving\/chat-0/}).waitFor();
        assert.equal(await page.evaluate(() => document.activeElement?.tagName), "H1", "the focus follows");
        await page.keyboard.press("]");
        await page.getByRole("heading", {level: 1, name: /nobody leaves/}).waitFor();
        await page.keyboard.press("[");
        await page.getByRole("heading", {level: 1, name: /2 pods leave/}).waitFor();
        await page.keyboard.press("?");
        await page.getByRole("dialog").waitFor();
        await page.keyboard.press("Escape");
        await page.getByRole("link", {name: "What if"}).focus();
        await page.keyboard.press("Enter");
        // The focus follows to the new heading; whoever takes it before loses it again.
        await page.waitForFunction(() => document.activeElement?.tagName === "H1" && document.activeElement.textContent === "What if");
        await page.getByRole("textbox").focus();
        await page.keyboard.insertText(POD);
        await page.keyboard.press("Tab");
        assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Plan");
        await page.keyboard.press("Enter");
        await page.getByRole("heading", {name: "What would be different"}).waitFor();
        assert.match(await page.locator("main").innerText(), /serving\/urgent/);
        assert.deepEqual(await axe(page), []);
        well();
        await context.close();
    });

    test("filters are in the address", async () => {
        const {page, context, well} = await open(browser, program.address, "/decisions?evicting=true&q=chat");
        await page.getByText("1 decision", {exact: true}).waitFor();
        await page.getByLabel("Name contains").fill("nobody-of-that-name");
        await page.getByText("0 decisions", {exact: true}).waitFor();
        assert.match(page.url(), /q=nobody-of-that-name/);
        well();
        await context.close();
    });

    test("room is drawn, found and described", async () => {
        const {page, context, well} = await open(browser, program.address, "/room?node=gpu-2");
        await page.getByRole("heading", {name: "Node gpu-2"}).waitFor();
        const first = await page.locator(".room").getAttribute("data-fingerprint");
        assert.match(first ?? "", /^[0-9a-f]{8}$/);
        await page.getByLabel("Colour by").selectOption("priority");
        await page.waitForFunction((seen) => document.querySelector(".room")?.getAttribute("data-fingerprint") !== seen, first);
        const painted = await page.evaluate(() => {
            const canvas = document.querySelector("canvas");
            return new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size;
        });
        assert.ok(painted > 5, "something is on the canvas");
        well();
        await context.close();
    });

    test("waiting tells what would place it", async () => {
        const {page, context, well} = await open(browser, program.address, "/waiting");
        await page.locator("summary", {hasText: "What would place it"}).first().click();
        await page.getByText(/its priority were|the priority of .* were/).waitFor();
        well();
        await context.close();
    });

    test("hostile names stay text, and what is too large is refused", async () => {
        const {page, context, well} = await open(browser, program.address, "/what-if");
        const hostile = POD.replace("urgent", `"<img src=x onerror=alert(1)>"`);
        await page.getByRole("textbox").fill(hostile);
        await page.getByRole("button", {name: "Plan"}).click();
        await page.locator("[role=alert], [aria-live] section").first().waitFor();
        assert.equal(await page.locator("main img").count(), 0);
        await page.getByRole("textbox").fill("kind: [");
        await page.getByRole("button", {name: "Plan"}).click();
        await page.getByRole("alert").filter({hasText: /what-if/}).waitFor();
        await page.evaluate(() => {
            const files = new DataTransfer();
            files.items.add(new File(["x".repeat(50 * 1024 * 1024)], "large.yaml"));
            document.querySelector("textarea").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true}));
        });
        await page.getByRole("alert").filter({hasText: /At most 4Mi/}).waitFor();
        well();
        await context.close();
        const refused = await fetch(`${program.address}/api/v1/what-if`, {method: "POST", body: "x".repeat(5 * 1024 * 1024)});
        assert.equal(refused.status, 413);
        // As curl sends a file, when nobody tells it what the body is.
        const asForm = await fetch(`${program.address}/api/v1/what-if`, {method: "POST", headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: POD + "# ".repeat(50_000)});
        assert.equal(asForm.status, 200);
        assert.equal((await fetch(`${program.address}/api/v1/now`)).status, 200);
    });

    test("a node away, another priority", async () => {
        const ask = async (body) => (await fetch(`${program.address}/api/v1/what-if`, {method: "POST", body})).json();
        const away = await ask("apiVersion: v1\nkind: Node\nmetadata: {name: cpu-2}\n$patch: delete\n");
        assert.deepEqual(away.error, undefined);
        const other = await ask("apiVersion: v1\nkind: Pod\nmetadata: {name: embeddings-2, namespace: serving}\nspec: {priority: 101, containers: [{name: main}]}\n$patch: merge\n");
        assert.deepEqual(other.difference.spared, ["serving/embeddings-2"]);
        assert.deepEqual(other.difference.evicted, ["serving/embeddings-0"]);
    });

    test("without scripts there is a sentence and the links", async () => {
        const {page, context} = await open(browser, program.address, "/", {javaScriptEnabled: false});
        assert.match(await page.locator("main").innerText(), /scripts are switched off/);
        assert.equal(await page.getByRole("link").count(), 6);
        await context.close();
    });

    test("readable at 200 %", async () => {
        const {page, context, well} = await open(browser, program.address, "/", {viewport: {width: 640, height: 430}, deviceScaleFactor: 2});
        await page.getByRole("heading", {level: 1}).waitFor();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1));
        well();
        await context.close();
    });
});

describe("a loop that runs", () => {
    test("decisions appear while one looks, and the page outlives the program", async () => {
        const args = (listen) => ["run", "-f", "examples/run", "--now", NOW, "--seed", "1", "--speed", "4x", "--ui", listen];
        const program = await start(args("127.0.0.1:0"));
        const port = new URL(program.address).port;
        const {page, context, well} = await open(browser, program.address, "/decisions?evicting=true");
        // At 15 s of the cluster's time a gang arrives and four pods leave for it.
        await page.getByRole("link", {name: "research/pretrain"}).waitFor();
        await page.getByRole("link", {name: "research/pretrain"}).click();
        await page.getByRole("heading", {level: 1, name: "4 pods leave for research/pretrain"}).waitFor();
        const told = await json(program.address, new URL(page.url()).pathname.replace("/decisions", "/api/v1/decisions"));
        assert.equal(told.outcome, "carriedOut");
        assert.equal(told.certificate.status, "optimal");
        await page.getByRole("link", {name: "Room", exact: true}).click();
        await page.locator(".room").waitFor();
        await page.getByRole("link", {name: "Lifelines"}).click();
        await page.getByRole("heading", {name: "Who was thrown out"}).waitFor();
        assert.match(await page.locator("main").innerText(), /research\/embed/);
        await page.getByRole("link", {name: "Now", exact: true}).click();
        await page.getByRole("status").filter({hasText: "live"}).waitFor();
        await program.stop("SIGKILL");
        await page.getByRole("status").filter({hasText: "the program does not answer"}).first().waitFor();
        const again = await start(args(`127.0.0.1:${port}`));
        await page.getByRole("status").filter({hasText: "live"}).waitFor();
        assert.equal((await fetch(`${again.address}/healthz`)).status, 200);
        well();
        await context.close();
        await again.stop();
    });
});

describe("a record", () => {
    let program;
    let folder;
    before(async () => {
        folder = mkdtempSync(join(tmpdir(), "reprieve-record-"));
        const done = spawnSync(PROGRAM, ["run", "-f", "examples/run", "--now", NOW, "--seed", "1", "--speed", "fast", "--record", folder], {cwd: ROOT, encoding: "utf8"});
        assert.equal(done.status, 0, done.stderr);
        program = await start(["ui", "--record", folder, "--listen", "127.0.0.1:0"]);
    });
    after(async () => {
        await program?.stop();
        rmSync(folder, {recursive: true, force: true});
    });

    test("the slider turns every view back, and the moment is in the address", async () => {
        const {page, context, well} = await open(browser, program.address, "/decisions?evicting=true");
        await page.getByText("3 decisions", {exact: true}).waitFor();
        const slider = page.getByRole("slider");
        await slider.waitFor();
        await slider.focus();
        await page.keyboard.press("Home");
        await page.getByText("0 decisions", {exact: true}).waitFor();
        assert.match(page.url(), /at=2026-03-02T09%3A00%3A00Z/);
        await page.goto(`${program.address}/decisions?evicting=true&at=2026-03-02T09:00:20Z`);
        await page.getByText("1 decision", {exact: true}).waitFor();
        await page.getByRole("link", {name: "research/pretrain"}).click();
        await page.getByRole("heading", {level: 1, name: "4 pods leave for research/pretrain"}).waitFor();
        await page.locator(".spared").first().waitFor();
        assert.match(page.url(), /at=/, "the moment goes along");
        await page.getByRole("link", {name: "Room", exact: true}).click();
        await page.locator(".room").waitFor();
        await page.getByRole("link", {name: "Lifelines"}).click();
        await page.getByRole("heading", {name: "Who was thrown out"}).waitFor();
        assert.deepEqual(await axe(page), []);
        well();
        await context.close();
    });

    test("a receipt from the record is the one that the loop showed", async () => {
        const loop = await start(["run", "-f", "examples/run", "--now", NOW, "--seed", "1", "--speed", "fast", "--ui", "127.0.0.1:0"]);
        const told = async (address) => (await json(address, "/api/v1/decisions?evicting=true")).decisions.map((d) => [d.id, d.at, d.for, d.evictions.map((e) => e.pod)]);
        let live = await told(loop.address);
        while (live.length < 3) live = await told(loop.address);
        assert.deepEqual(await told(program.address), live);
        await loop.stop();
    });

    test("a loop that keeps a record has its past behind the slider", async () => {
        const kept = join(folder, "loop");
        const loop = await start(["run", "-f", "examples/run", "--now", NOW, "--seed", "1", "--speed", "fast", "--ui", "127.0.0.1:0", "--record", kept]);
        let now = await json(loop.address, "/api/v1/now");
        while (!now.extent || now.counts === undefined) now = await json(loop.address, "/api/v1/now");
        assert.equal(now.health.recording, true);
        const {page, context, well} = await open(browser, loop.address, "/decisions?evicting=true");
        await page.getByText("3 decisions", {exact: true}).waitFor();
        await page.getByRole("slider").focus();
        await page.keyboard.press("Home");
        await page.getByText("0 decisions", {exact: true}).waitFor();
        await page.getByRole("button", {name: "Newest"}).click();
        await page.getByText("3 decisions", {exact: true}).waitFor();
        // What the loop has just decided, the record plans again.
        const [row] = (await json(loop.address, "/api/v1/decisions?evicting=true")).decisions;
        const {commands} = await json(loop.address, `/api/v1/decisions/${row.id}?why=false`);
        assert.match(commands[1], /^reprieve plan --record .* --cycle \d+$/);
        well();
        await context.close();
        await loop.stop();
    });

    test("a record tells who took from whom, over time, and by queue", async () => {
        const {page, context, well} = await open(browser, program.address, "/queues");
        await page.getByRole("status").filter({hasText: "from a record"}).waitFor();
        await page.locator(".chart .series").first().waitFor();
        await page.getByRole("table", {name: /rows took, columns lost/}).getByRole("cell", {name: "6"}).waitFor();
        await page.goto(`${program.address}/lifelines?queue=default`);
        await page.getByText("research/embed lost a pod 6 times.").waitFor();
        await page.goto(`${program.address}/decisions?priority=1000&evicting=true`);
        await page.getByText("2 decisions", {exact: true}).waitFor();
        assert.deepEqual(await axe(page), []);
        well();
        await context.close();
    });

    test("a receipt's commands plan the same again", async () => {
        for (const row of (await json(program.address, "/api/v1/decisions?evicting=true")).decisions) {
            const {commands} = await json(program.address, `/api/v1/decisions/${row.id}?why=false`);
            const again = spawnSync(PROGRAM, [...commands[1].split(" ").slice(1), "-o", "json"], {cwd: ROOT, encoding: "utf8"});
            const evicted = JSON.parse(again.stdout).evictions.filter((e) => e.for === row.for).map((e) => e.pod);
            assert.deepEqual(evicted, row.evictions.map((e) => e.pod), commands[1]);
        }
    });

    test("a time that the record does not know is an error that says so", async () => {
        assert.equal((await fetch(`${program.address}/api/v1/now?at=2020-01-01T00:00:00Z`)).status, 404);
    });
});

describe("reports", () => {
    const runs = ["none", "reprieve"].flatMap((name, i) => [1, 2].map((seed) => ({
        name, seed, jobs: 100, finished: 100, evictions: 10 * i + seed, podsLost: 10 * i, gpuHoursUsed: 90 + 5 * i, gpuHoursLost: 2 * i, gpuHoursIdle: 10, utilisation: 0.9,
        waitP50: {0: 100, 1000: 10}, waitP99: {0: 900, 1000: 60}, jct: {mean: 3600, p50: 3000, p99: 9000}, makespan: 86400, decisions: 20, optimal: 19, wallS: 1,
    })));
    const simulate = {policies: runs, command: "reprieve simulate ...", cluster: {nodes: 10, GPUs: 80}, waiting: {none: [[0, 0.2], [100, 0.7], [900, 1]], reprieve: [[0, 0.5], [60, 1]]}, worst: [{policy: "reprieve", job: "<b>hostile</b>", evictions: 2, gpuHoursLost: 3}]};
    const referee = {verdicts: [{at: NOW, scheduler: "kube-scheduler", for: "a/high", victims: ["b/x", "b/y"], verdict: "too many", confidence: "named", evidence: "b/y could have stayed.", couldHaveStayed: ["b/y"], cheaper: null}], totals: {evictions: 1, podsLost: 2, leastPods: 1, gpuHoursLost: 3.5, leastGpuHours: 1.5, byVerdict: {"too many": 1}}, worst: [0], by: {scheduler: {"kube-<b>scheduler</b>": {evictions: 1, podsLost: 2, leastPods: 1, gpuHoursLost: 3.5, leastGpuHours: 1.5, byVerdict: {"too many": 1}}}}};

    for (const [name, data, heading] of [["simulate", simulate, "Policies side by side"], ["referee", referee, "What was evicted, and what need not have been"]]) {
        test(`the report of ${name} is one file`, async () => {
            const folder = mkdtempSync(join(tmpdir(), "reprieve-report-"));
            const file = join(folder, "data.json");
            writeFileSync(file, JSON.stringify(data));
            const program = await start(["ui", file, "--listen", "127.0.0.1:0"]);
            const {page, context, well} = await open(browser, program.address, "/");
            await page.getByRole("heading", {level: 1, name: heading}).waitFor();
            if (name === "referee") {
                await page.getByText("1 of 1 decision was not fair: 1 of 2 pods and 2.0 of 3.5 GPU-hours need not have been lost.").waitFor();
                await page.getByRole("table", {name: "By scheduler"}).waitFor();
            }
            assert.deepEqual(await axe(page), []);
            const html = await (await fetch(program.address)).text();
            await program.stop();
            well();
            await context.close();
            // The same from the disk, with no program behind it.
            const kept = join(folder, "report.html");
            writeFileSync(kept, html);
            const alone = await open(browser, "file://", kept, {colorScheme: "dark"});
            await alone.page.getByRole("heading", {level: 1, name: heading}).waitFor();
            assert.equal(await alone.page.locator("main b").count(), 0);
            assert.deepEqual(await axe(alone.page), []);
            alone.well();
            await alone.context.close();
            rmSync(folder, {recursive: true});
        });
    }
});
