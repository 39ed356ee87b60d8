// Figures of the page on a large cluster; prints, never judges: node figures.mjs MANIFESTS...
//
//   first paint, the time until a view has its content, frames while Room is scrolled, memory of the page
import {readFileSync} from "node:fs";
import {NOW, browse, open, start} from "./harness.mjs";

const files = process.argv.slice(2).flatMap((file) => ["-f", file]);
const begun = Date.now();
const program = await start(["ui", ...files, "--now", NOW, "--listen", "127.0.0.1:0"]);
console.log(`program ready after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
const browser = await browse();
const system = await browser.newBrowserCDPSession();

async function memory(page) {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const {metrics} = await session.send("Performance.getMetrics");
    const heap = metrics.find((metric) => metric.name === "JSHeapUsedSize").value;
    const {processInfo} = await system.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter((one) => one.type === "renderer").map((one) => {
        const found = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one.id}/smaps_rollup`, "utf8"));
        return Number(found?.[1] ?? 0) / 1024;
    });
    return `heap ${(heap / 1e6).toFixed(0)} MB, page ${Math.max(...renderers).toFixed(0)} MB`;
}

for (const [path, ready] of [["/", ".figures"], ["/decisions", "main table, main .notice"], ["/waiting", "main section"], ["/room", ".room canvas"], ["/queues", ".share"], ["/lifelines", ".lifelines"]]) {
    const {page, context, well} = await open(browser, program.address, path);
    await page.locator(ready).first().waitFor({timeout: 120000});
    const times = await page.evaluate(() => ({paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, now: performance.now()}));
    console.log(`${path.padEnd(11)} first paint ${times.paint.toFixed(0)} ms, content ${times.now.toFixed(0)} ms, ${await memory(page)}`);
    if (path === "/room") {
        const frames = await page.evaluate(() => new Promise((done) => {
            const box = document.querySelector(".room");
            const stamps = [];
            const step = (stamp) => {
                stamps.push(stamp);
                box.scrollTop += 8;
                if (stamps.length < 120) requestAnimationFrame(step);
                else done((stamps.length - 1) / ((stamps.at(-1) - stamps[0]) / 1000));
            };
            requestAnimationFrame(step);
        }));
        console.log(`            ${frames.toFixed(0)} frames a second while scrolling`);
        await page.screenshot({path: process.env.PICTURE ?? "room-large.png"});
    }
    well();
    await context.close();
}
await browser.close();
await program.stop();
