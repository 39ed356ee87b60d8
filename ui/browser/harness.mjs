// A program, a browser, and what every page must keep: no foreign request, no error, nothing that axe finds serious.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {chromium} from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(here, "..", "..");
export const PROGRAM = process.env.REPRIEVE ?? join(ROOT, "build", "reprieve");
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const NOW = "2026-03-02T09:00:00Z";
const AXE = readFileSync(join(here, "..", "node_modules", "axe-core", "axe.min.js"), "utf8");

/** Starts the program and gives its address; `stop` ends it. */
export async function start(args, options = {}) {
    const child = spawn(PROGRAM, args, {cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], ...options});
    let output = "";
    const address = await new Promise((done, failed) => {
        const read = (chunk) => {
            output += chunk;
            const found = /http:\/\/[\d.]+:\d+/.exec(output);
            if (found) done(found[0]);
        };
        child.stdout.on("data", read);
        child.stderr.on("data", read);
        child.on("exit", (code) => failed(new Error(`the program ended with ${code}: ${output}`)));
    });
    return {
        address,
        child,
        output: () => output,
        stop: async (signal = "SIGTERM") => {
            if (child.exitCode !== null || child.signalCode !== null) return;
            child.kill(signal);
            await once(child, "exit");
        },
    };
}

export async function browse() {
    return chromium.launch({executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"]});
}

/** A page that fails the test when it asks anybody else for anything, or when something goes wrong in it. */
export async function open(browser, address, path, options = {}) {
    const context = await browser.newContext({viewport: {width: 1280, height: 860}, timezoneId: "UTC", ...options});
    const page = await context.newPage();
    const wrong = [];
    page.on("request", (request) => {
        if (!request.url().startsWith(address) && !request.url().startsWith("data:") && !request.url().startsWith("file:")) wrong.push(`asks ${request.url()}`);
    });
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
    page.on("console", (message) => {
        if (message.type() === "error" && !/Failed to load resource|net::ERR/.test(message.text())) wrong.push(`console: ${message.text()}`);
    });
    page.on("dialog", (dialog) => {
        wrong.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
    });
    await page.goto(address + path);
    return {page, context, well: () => assert.deepEqual(wrong, [])};
}

/** What axe finds serious or critical, as sentences. Scripts of ours are put in by the browser, past the page's policy. */
export async function axe(page) {
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
        const result = await globalThis.axe.run(document, {runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}});
        return result.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
    });
    return found;
}

export async function json(address, path) {
    const response = await fetch(address + path);
    return response.json();
}
