// Pictures for the documents, taken from the demo: node pictures.mjs FOLDER
import {mkdirSync} from "node:fs";
import {join} from "node:path";
import {NOW, browse, json, open, start} from "./harness.mjs";

const folder = process.argv[2];
mkdirSync(folder, {recursive: true});
const browser = await browse();

async function picture(address, name, path, ready, options = {}, clip) {
    const {page, context, well} = await open(browser, address, path, {viewport: {width: 1240, height: 900}, ...options});
    await page.locator(ready).first().waitFor();
    // Fonts and the last frame.
    await page.evaluate(() => document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))));
    await page.screenshot({path: join(folder, `${name}.png`), ...(clip ? {clip} : {fullPage: true})});
    well();
    await context.close();
    console.log(`pictures: ${name}.png`);
}

const desk = await start(["ui", "-f", "examples/mixed-cluster", "--now", NOW, "--listen", "127.0.0.1:0"]);
const receipt = (await json(desk.address, "/api/v1/decisions?evicting=true")).decisions[0];
await picture(desk.address, "receipt", `/decisions/${receipt.id}`, ".spared", {}, {x: 0, y: 0, width: 1240, height: 830});
await picture(desk.address, "receipt-dark", `/decisions/${receipt.id}`, ".spared", {colorScheme: "dark"}, {x: 0, y: 0, width: 1240, height: 830});
await picture(desk.address, "room", "/room", ".room", {});
await picture(desk.address, "waiting", "/waiting", ".waiting-item", {});
await picture(desk.address, "receipt-phone", `/decisions/${receipt.id}`, ".spared", {viewport: {width: 390, height: 844}}, {x: 0, y: 0, width: 390, height: 844});
await desk.stop();

// Three minutes of the embedded cluster's time, then it stays to be looked at.
const loop = await start(["run", "-f", "examples/run", "--now", NOW, "--seed", "1", "--speed", "fast", "--ui", "127.0.0.1:0"]);
for (;;) {
    const now = await json(loop.address, "/api/v1/now");
    if (now.health?.loop === "stopped") break;
    await new Promise((done) => setTimeout(done, 100));
}
await picture(loop.address, "lifelines", "/lifelines", ".lifelines", {});
await loop.stop();
await browser.close();
