// The window beside a real API server: every view answers its question, decisions appear while one looks, the program is
// restarted under an open page, and off loopback the API server says who may see what.
//
// Run by tests/e2e/test_window.py, which starts the control plane and says in the environment where it is.
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {axe, browse, json, open, start} from "./harness.mjs";

const {E2E_SERVER: SERVER, E2E_TOKEN: ADMIN, E2E_KUBECONFIG: KUBECONFIG, E2E_CONFIG: CONFIG, E2E_RECORD: RECORD} = process.env;
const QUEUE = "scheduling.volcano.sh/queue-name";
const VIEWS = ["now", "decisions", "waiting", "room", "lifelines", "queues"];

/** A call to the API server; null: there is no such thing. */
async function kube(method, path, body) {
    const headers = {Authorization: `Bearer ${ADMIN}`, ...(body ? {"Content-Type": "application/json"} : {})};
    const response = await fetch(SERVER + path, {method, headers, body: body && JSON.stringify(body)});
    if (response.status === 404 && method === "GET") return null;
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
    return response.json();
}

/** Waits until a condition holds. The runner's limit ends what never holds. */
async function until(condition) {
    for (;;) {
        const held = await condition();
        if (held) return held;
        await new Promise((done) => setTimeout(done, 50));
    }
}

const podOf = (namespace, name) => kube("GET", `/api/v1/namespaces/${namespace}/pods/${name}`);
const isBound = async (namespace, name) => (await podOf(namespace, name))?.spec.nodeName;

async function makePod(namespace, name, cpu, priorityClassName, queue, spec = {}) {
    const container = {name: "main", image: "none", resources: {requests: {cpu}}};
    await kube("POST", `/api/v1/namespaces/${namespace}/pods`, {
        apiVersion: "v1", kind: "Pod", metadata: {name, namespace, annotations: {[QUEUE]: queue}},
        spec: {schedulerName: "reprieve", priorityClassName, containers: [container], ...spec},
    });
}

async function makeNamespace(name) {
    await kube("POST", "/api/v1/namespaces", {apiVersion: "v1", kind: "Namespace", metadata: {name}});
}

/** The token of a new service account, which may list the pods of its own namespace, or nothing at all. */
async function tokenOf(namespace, name, reads) {
    await kube("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {apiVersion: "v1", kind: "ServiceAccount", metadata: {name}});
    if (reads) {
        const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
        const about = {apiVersion: "rbac.authorization.k8s.io/v1", metadata: {name}};
        await kube("POST", `${rbac}/roles`, {...about, kind: "Role", rules: [{apiGroups: [""], resources: ["pods"], verbs: ["list"]}]});
        await kube("POST", `${rbac}/rolebindings`, {...about, kind: "RoleBinding", roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: "Role", name}, subjects: [{kind: "ServiceAccount", name, namespace}]});
    }
    const asked = await kube("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {}});
    return asked.status.token;
}

const started = [];

/** `reprieve run`, once it leads. */
async function run(ui, ...flags) {
    const program = await start(["run", "--kubeconfig", KUBECONFIG, "--config", CONFIG, "--lease", "reprieve-system/reprieve", "--lease-duration", "2s", "--ui", ui, ...flags]);
    started.push(program);
    const address = `http://127.0.0.1:${new URL(program.address).port}`;
    await until(async () => /^reprieve_leader 1$/m.test(await (await fetch(`${address}/metrics`)).text()));
    return {...program, address};
}

let browser;
before(async () => {
    browser = await browse();
    for (const name of ["team-a", "team-b"]) await makeNamespace(name);
    for (const name of ["blue", "green"])
        await kube("POST", "/apis/scheduling.volcano.sh/v1beta1/queues", {apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: {name}, spec: {weight: 1}});
    // The queue green has lent itself the share of blue: three nodes of 4 CPUs, full of its batch.
    for (let i = 0; i < 6; ++i) await makePod("team-b", `batch-${i}`, "2", "low", "green", {nodeName: `worker-${Math.floor(i / 2)}`});
    await until(async () => (await kube("GET", "/api/v1/namespaces/team-b/pods")).items.every((pod) => pod.status.phase === "Running"));
});
after(async () => {
    for (const program of started) await program.stop("SIGKILL");
    await browser?.close();
});

describe("on loopback", () => {
    let program;
    before(async () => { program = await run("127.0.0.1:0", "--record", RECORD); });
    after(() => program.stop());

    test("a preemption appears while one looks, with the receipt of what the API server was told", async () => {
        const {page, context, well} = await open(browser, program.address, "/decisions?evicting=true");
        await page.getByText("0 decisions", {exact: true}).waitFor();
        await makePod("team-a", "urgent", "4", "high", "blue");
        await page.getByRole("link", {name: "team-a/urgent"}).click();
        await page.getByRole("heading", {level: 1, name: "2 pods leave for team-a/urgent"}).waitFor();
        await page.locator(".spared, .notice").first().waitFor();
        const text = await page.locator("main").innerText();
        for (const word of ["cost", "proof", "runner-up", "spared"]) assert.match(text.toLowerCase(), new RegExp(word));
        const told = await json(program.address, new URL(page.url()).pathname.replace("/decisions", "/api/v1/decisions"));
        assert.equal(told.certificate.status, "optimal");
        const victims = told.evictions.map((eviction) => eviction.pod);
        for (const victim of victims) assert.ok(text.includes(victim.split("/")[1]), victim);
        assert.deepEqual(await axe(page), []);
        // What the page says is what happened at the API server.
        assert.equal(await until(() => isBound("team-a", "urgent")), told.placements[0].node);
        for (const victim of victims) assert.equal(await podOf(...victim.split("/")), null);
        assert.equal((await kube("GET", "/api/v1/namespaces/team-b/pods")).items.length, 4);
        well();
        await context.close();
    });

    test("every view answers its question", async () => {
        await makePod("team-a", "huge", "64", "high", "blue");
        await makePod("team-b", "later", "4", "low", "green");
        const {page, context, well} = await open(browser, program.address, "/");
        const visit = async (name, ...found) => {
            await page.getByRole("navigation", {name: "Views"}).getByRole("link", {name, exact: true}).click();
            await page.getByRole("heading", {level: 1, name, exact: true}).waitFor();
            for (const locator of found) await locator.first().waitFor();
            assert.deepEqual(await axe(page), [], name);
        };
        const main = page.locator("main");
        await visit("Now", main.getByText("1 pod can never run as it is written."), main.getByRole("link", {name: "team-a/urgent"}));
        assert.match(await main.innerText(), /Leader\s+✓ this one\s+Cluster\s+✓ read\s+Recording\s+on/);
        await visit("Decisions", page.getByRole("table", {name: /Decisions/}).getByRole("link", {name: "team-a/urgent"}));
        const never = page.locator("section", {has: page.getByRole("heading", {name: "Never", exact: true})});
        const notNow = page.locator("section", {has: page.getByRole("heading", {name: "Not now", exact: true})});
        await visit("Waiting", never.getByText("team-a/huge"), notNow.getByText("team-b/later"));
        assert.equal(await notNow.getByText("team-a/huge").count(), 0);
        await visit("Room", page.getByRole("table", {name: "Nodes"}).getByText("worker-2"), page.locator("canvas"));
        const room = await json(program.address, "/api/v1/room");
        assert.deepEqual(room.nodes.map(([name, , , cpu]) => [name, cpu]), [0, 1, 2].map((i) => [`worker-${i}`, 4000]));
        await visit("Lifelines", page.getByRole("table", {name: /Evictions/}).getByText("team-a/urgent"));
        await visit("Queues", page.getByRole("rowheader", {name: "green"}), page.getByRole("heading", {name: "Who took from whom"}));
        const queues = await json(program.address, "/api/v1/queues");
        assert.deepEqual(queues.taken.map(({by, from, pods}) => [by, from, pods]), [["blue", "green", 2]]);
        await visit("What if", page.getByRole("textbox"));
        await page.getByRole("textbox").fill(`apiVersion: v1
kind: Pod
metadata: {name: wish, namespace: team-a, annotations: {${QUEUE}: green}}
spec: {schedulerName: reprieve, priority: 1000, containers: [{name: main, resources: {requests: {cpu: "2"}}}]}
`);
        await page.getByRole("button", {name: "Plan"}).click();
        await page.getByText("1 pod would be evicted").waitFor();
        assert.match(await main.innerText(), /1 pod leaves for team-a\/wish/);
        assert.deepEqual(await axe(page), [], "the answer of what if");
        // It was asked, not done.
        assert.equal(await podOf("team-a", "wish"), null);
        assert.equal((await kube("GET", "/api/v1/namespaces/team-b/pods")).items.filter((pod) => pod.spec.nodeName).length, 4);
        well();
        await context.close();
    });

    test("an open page outlives the program, and shows what the next one does", async () => {
        const {page, context, well} = await open(browser, program.address, "/decisions?evicting=true&q=again");
        await page.getByRole("status").filter({hasText: "live"}).waitFor();
        await page.getByText("0 decisions", {exact: true}).waitFor();
        await program.stop("SIGKILL");
        await page.getByRole("status").filter({hasText: "the program does not answer"}).waitFor();
        await makePod("team-a", "again", "2", "high", "blue");
        program = await run(`127.0.0.1:${new URL(program.address).port}`, "--record", RECORD);
        await page.getByRole("status").filter({hasText: "live"}).waitFor();
        await page.getByRole("link", {name: "team-a/again"}).waitFor();
        await page.getByText("1 decision", {exact: true}).waitFor();
        await until(() => isBound("team-a", "again"));
        well();
        await context.close();
    });
});

describe("off loopback", () => {
    const answer = (address, path, token, options = {}) => fetch(address + path, {...options, headers: token ? {Authorization: `Bearer ${token}`} : {}});
    let stranger;
    let tenant;
    before(async () => {
        stranger = await tokenOf("default", "stranger", false);
        tenant = await tokenOf("team-a", "tenant", true);
    });

    test("without --ui-scope: all of it or nothing", async () => {
        const program = await run("0.0.0.0:0");
        for (const token of ["", "made-up", stranger, tenant]) {
            for (const path of [...VIEWS.map((view) => `/api/v1/${view}`), "/api/v1/events"]) assert.equal((await answer(program.address, path, token)).status, 401, `${path} ${token.slice(0, 8)}`);
            assert.equal((await answer(program.address, "/api/v1/what-if", token, {method: "POST", body: "{}"})).status, 401);
        }
        for (const view of VIEWS) assert.equal((await answer(program.address, `/api/v1/${view}`, ADMIN)).status, 200, view);
        assert.equal((await fetch(`${program.address}/readyz`)).status, 200, "probes need no token");
        await program.stop();
    });

    test("with --ui-scope: a tenant sees its namespace and nothing of others", async () => {
        const program = await run("0.0.0.0:0", "--ui-scope");
        for (const token of ["", "made-up", stranger]) assert.equal((await answer(program.address, "/api/v1/now", token)).status, 401);
        await makePod("team-a", "third", "2", "high", "green");
        await until(() => isBound("team-a", "third"));
        const all = await (await answer(program.address, "/api/v1/decisions?evicting=true", ADMIN)).json();
        const [decision] = all.decisions.filter((one) => one.for === "team-a/third");
        assert.match(decision.evictions[0].pod, /^team-b\/batch-\d$/);

        const wish = JSON.stringify({apiVersion: "v1", kind: "Pod", metadata: {name: "wish", namespace: "team-a", annotations: {[QUEUE]: "green"}}, spec: {schedulerName: "reprieve", priority: 1000, containers: [{name: "main", resources: {requests: {cpu: "2"}}}]}});
        for (const [path, options] of [...VIEWS.map((view) => [`/api/v1/${view}`]), [`/api/v1/decisions/${decision.id}`], ["/api/v1/waiting?name=team-a/huge"], ["/api/v1/what-if", {method: "POST", body: wish}]]) {
            const response = await answer(program.address, path, tenant, options);
            const text = await response.text();
            assert.equal(response.status, 200, `${path}: ${text}`);
            assert.doesNotMatch(text, /team-b|batch-|later/, path);
            if (!/queues/.test(path)) assert.match(text, /team-a/, path);
        }
        assert.equal((await answer(program.address, "/api/v1/waiting?name=team-b/later", tenant)).status, 404);

        const {page, context, well} = await open(browser, program.address, "/decisions?evicting=true");
        await page.getByRole("heading", {level: 1, name: "Who looks?"}).waitFor();
        assert.deepEqual(await axe(page), []);
        await page.getByLabel("Bearer token").fill("made-up");
        await page.getByRole("button", {name: "Look"}).click();
        await page.getByText("the API server does not know this token").waitFor();
        await page.getByLabel("Bearer token").fill(tenant);
        await page.getByRole("button", {name: "Look"}).click();
        await page.getByRole("link", {name: "team-a/third"}).click();
        await page.getByRole("heading", {level: 1, name: "1 pod leaves for team-a/third"}).waitFor();
        await page.getByRole("status").filter({hasText: "your namespaces"}).waitFor();
        await page.getByRole("table", {name: /Victims/}).getByText("(another namespace)").waitFor();
        await page.getByRole("heading", {name: "Spared if"}).waitFor();
        assert.doesNotMatch(await page.locator("body").innerText(), /team-b|batch-/);
        assert.deepEqual(await axe(page), []);
        well();
        await context.close();
        await program.stop();
    });
});
