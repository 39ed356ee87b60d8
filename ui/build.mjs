// Builds the page: one script, one style sheet, one HTML file, each compressed.
//
//   node build.mjs FOLDER       FOLDER/{index.html,app.js,style.css}.gz
//
// Names in the HTML carry a digest of the content, so that browsers may keep them for ever. What the page may weigh is
// checked here.
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const MOST_BYTES = 120 * 1000;
const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");

async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, "src", entry)],
        absWorkingDir: here,
        bundle: true,
        minify: true,
        write: false,
        target: "es2022",
        format: "iife",
        charset: "utf8",
        legalComments: "none",
        jsx: "automatic",
        jsxImportSource: "preact",
        logLevel: "warning",
    });
    return result.outputFiles[0].text;
}

const digest = (text) => createHash("sha256").update(text).digest("hex").slice(0, 10);

const script = await bundle("main.tsx");
// In a report the script stands inside a script element.
if (/<\/script/i.test(script)) throw new Error("the script contains </script: it could not be put into a report");
const style = await bundle("style.css");
const html = readFileSync(join(here, "src", "index.html"), "utf8")
    .replace("app.js", `app-${digest(script)}.js`)
    .replace("style.css", `style-${digest(style)}.css`);

mkdirSync(out, {recursive: true});
let total = 0;
for (const [name, text] of [["index.html", html], ["app.js", script], ["style.css", style]]) {
    const bytes = gzipSync(text, {level: 9});
    total += bytes.length;
    writeFileSync(join(out, `${name}.gz`), bytes);
}
console.log(`window: ${(total / 1000).toFixed(1)} KB compressed`);
if (total > MOST_BYTES) {
    console.error(`window: more than the ${MOST_BYTES / 1000} KB that it may weigh`);
    process.exit(1);
}
