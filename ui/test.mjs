// Runs the unit tests of the page: bundled by esbuild, run by node:test.
import {build} from "esbuild";
import {spawnSync} from "node:child_process";
import {mkdtempSync, readdirSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(join(here, "tests")).filter((name) => /\.test\.tsx?$/.test(name));
if (tests.length === 0) throw new Error("no tests");
const out = mkdtempSync(join(tmpdir(), "reprieve-window-"));
try {
    await build({
        entryPoints: tests.map((name) => join(here, "tests", name)),
        bundle: true,
        platform: "node",
        format: "esm",
        target: "node20",
        outdir: out,
        outExtension: {".js": ".mjs"},
        jsx: "automatic",
        jsxImportSource: "preact",
        // The page reads where it is as soon as it is loaded.
        banner: {js: 'globalThis.location ??= {pathname: "/", search: "", href: "http://localhost/"}; globalThis.addEventListener ??= () => {};'},
        logLevel: "warning",
    });
    const files = readdirSync(out).filter((name) => name.endsWith(".mjs")).map((name) => join(out, name));
    process.exitCode = spawnSync(process.execPath, ["--test", ...files], {stdio: "inherit", env: {...process.env, TZ: "UTC"}}).status ?? 1;
} finally {
    rmSync(out, {recursive: true, force: true});
}
