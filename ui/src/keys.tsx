// Keys: rows, filter, neighbours, help. They can be switched off, for those whose tools type letters.
import {signal} from "@preact/signals";
import {useEffect, useRef} from "preact/hooks";

const on = signal(stored());
const help = signal(false);

function stored(): boolean {
    try {
        return localStorage.getItem("keys") !== "off";
    } catch {
        return true;
    }
}

function rowLinks(): HTMLElement[] {
    return [...document.querySelectorAll<HTMLElement>("main tbody tr a[href], main .waiting-item summary")];
}

function step(by: number): void {
    const links = rowLinks();
    const here = links.indexOf(document.activeElement as HTMLElement);
    links[Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
}

export function keys(event: KeyboardEvent, _setParam: unknown): void {
    const target = event.target as HTMLElement;
    if (!on.value || event.ctrlKey || event.metaKey || event.altKey || target.matches("input, textarea, select")) return;
    switch (event.key) {
        case "j": step(1); break;
        case "k": step(-1); break;
        case "/": document.querySelector<HTMLElement>("[data-filter]")?.focus(); break;
        case "?": help.value = true; break;
        case "[": document.querySelector<HTMLElement>(".pager a:first-child")?.click(); break;
        case "]": document.querySelector<HTMLElement>(".pager a:last-child")?.click(); break;
        default: return;
    }
    event.preventDefault();
}

export function Help() {
    const box = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        if (help.value) box.current?.showModal();
    }, [help.value]);
    return (
        <footer class="bottom">
            <button type="button" class="small" onClick={() => (help.value = true)}>Keys</button>
            <span class="muted">Everything here is also at <a href="/api/v1/now">/api/v1</a>.</span>
            <dialog ref={box} aria-labelledby="keys-title" onClose={() => (help.value = false)}>
                <h2 id="keys-title">Keys</h2>
                <dl class="keys">
                    <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous row</dd>
                    <dt><kbd>Enter</kbd></dt><dd>open it</dd>
                    <dt><kbd>/</kbd></dt><dd>filter</dd>
                    <dt><kbd>[</kbd> <kbd>]</kbd></dt><dd>newer, older decision</dd>
                    <dt><kbd>?</kbd></dt><dd>this list</dd>
                </dl>
                <label class="field check">
                    <input type="checkbox" checked={on.value} onChange={(event) => {
                        on.value = event.currentTarget.checked;
                        try { localStorage.setItem("keys", on.value ? "on" : "off"); } catch { /* not kept then */ }
                    }} />
                    <span>Use these keys</span>
                </label>
                <form method="dialog"><button class="primary">Close</button></form>
            </dialog>
        </footer>
    );
}
