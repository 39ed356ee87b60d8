// The page: header, navigation, the view that the address names, and keys.
import {render} from "preact";
import {useEffect} from "preact/hooks";
import {signal} from "@preact/signals";
import type {Now} from "./types.ts";
import {arrived, at, go, href, link, listen, needsToken, place, setParam, setToken} from "./store.ts";
import {localTime, utcTime} from "./format.ts";
import {useDocument} from "./parts.tsx";
import {Help, keys} from "./keys.tsx";
import {TimeBar} from "./time-bar.tsx";
import {DecisionsView} from "./views/decisions.tsx";
import {LifelinesView} from "./views/lifelines.tsx";
import {NowView} from "./views/now.tsx";
import {QueuesView} from "./views/queues.tsx";
import {ReceiptView} from "./views/receipt.tsx";
import {RoomView} from "./views/room.tsx";
import {WaitingView} from "./views/waiting.tsx";
import {WhatIfView} from "./views/what-if.tsx";
import {Report} from "./report/report.tsx";

const VIEWS = [
    ["/", "Now"],
    ["/decisions", "Decisions"],
    ["/waiting", "Waiting"],
    ["/room", "Room"],
    ["/lifelines", "Lifelines"],
    ["/queues", "Queues"],
    ["/what-if", "What if"],
] as const;

function View() {
    const path = place.value.path;
    const receipt = /^\/decisions\/([^/]+)$/.exec(path);
    if (receipt?.[1]) return <ReceiptView id={receipt[1]} key={receipt[1]} />;
    switch (path) {
        case "/": return <NowView />;
        case "/decisions": return <DecisionsView />;
        case "/waiting": return <WaitingView />;
        case "/room": return <RoomView />;
        case "/lifelines": return <LifelinesView />;
        case "/queues": return <QueuesView />;
        case "/what-if": return <WhatIfView />;
        default: return <><h1 tabIndex={-1}>Nothing is here</h1><p><a href="/">Now</a></p></>;
    }
}

const LINKS = {connecting: "connecting", live: "live", polling: "asking every 2 s", lost: "the program does not answer; trying again"};

function Status() {
    const doc = useDocument<Now>("/api/v1/now");
    const now = doc.data;
    return (
        <>
            <p class={`status ${link.value}`} role="status">
                <span class="dot" aria-hidden="true" />
                {at.value ? "looking back" : now && now.source !== "loop" && link.value === "live" ? `from ${now.source === "files" ? "files" : "a record"}` : now?.health.loop === "stopped" && link.value === "live" ? "the run has ended" : LINKS[link.value]}
                {now && <span class="muted" title={utcTime(now.now)}> · {localTime(now.now)}{now.scoped ? " · your namespaces" : ""}</span>}
            </p>
            {now?.extent && <TimeBar extent={now.extent} now={now.now} />}
        </>
    );
}

function Token() {
    const text = signal("");
    return (
        <main id="main">
            <h1 tabIndex={-1}>Who looks?</h1>
            <p>{needsToken.value}. It is checked by the API server and kept for this tab only.</p>
            <form onSubmit={(event) => { event.preventDefault(); setToken(text.value.trim()); }}>
                <label class="field"><span>Bearer token</span><input type="password" autoComplete="off" onInput={(event) => (text.value = event.currentTarget.value)} /></label>
                <p><button type="submit" class="primary">Look</button></p>
                <p class="muted">For example: <code>kubectl create token viewer -n reprieve-system</code></p>
            </form>
        </main>
    );
}

function focusHeading(): boolean {
    const heading = document.querySelector<HTMLElement>("main h1");
    heading?.focus({preventScroll: true});
    return heading !== null;
}

function App() {
    // The focus follows to the heading of a view that was gone to, so that readers hear where they are.
    useEffect(() => {
        if (arrived.value === 0) return undefined;
        scrollTo(0, 0);
        if (focusHeading()) return undefined;
        // A view that has to load first gets its heading later.
        const watch = new MutationObserver(() => { if (focusHeading()) watch.disconnect(); });
        watch.observe(document.body, {childList: true, subtree: true});
        return () => watch.disconnect();
    }, [arrived.value]);
    useEffect(() => {
        const name = VIEWS.find(([path]) => path === place.value.path)?.[1] ?? "Receipt";
        document.title = `${name} · Reprieve`;
    }, [place.value.path]);
    return (
        <>
            <a class="skip" href="#main">Skip to content</a>
            <header class="top">
                <a class="brand" href={href("/")} aria-label="Reprieve"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 5h10a5 5 0 0 1 0 10H9" /><path d="m12 11-4 4 4 4" /></svg>Reprieve</a>
                <nav aria-label="Views">
                    <ul>
                        {VIEWS.map(([path, name]) => {
                            const here = place.value.path === path || (path === "/decisions" && place.value.path.startsWith("/decisions/"));
                            return <li><a href={href(path)} aria-current={here ? "page" : undefined}>{name}</a></li>;
                        })}
                    </ul>
                </nav>
                <div class="top-right"><Status /></div>
            </header>
            {needsToken.value !== null ? <Token /> : <main id="main"><View /></main>}
            <Help />
        </>
    );
}

// Links inside the page are followed without loading it again.
addEventListener("click", (event) => {
    const anchor = (event.target as Element).closest?.("a");
    if (!anchor || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const url = new URL(anchor.href, location.href);
    if (url.origin !== location.origin || anchor.target || anchor.hasAttribute("download") || url.pathname.startsWith("/api/") || url.hash) return;
    event.preventDefault();
    go(url.pathname + url.search);
});

const root = document.getElementById("app");
const report = document.getElementById("report-data");
if (root && report) {
    render(<Report kind={report.dataset.kind ?? ""} data={JSON.parse(report.textContent ?? "null")} />, root);
} else if (root) {
    addEventListener("keydown", (event) => keys(event, setParam));
    render(<App />, root);
    void listen();
}
