// Pieces that every view is made of.
import {useSignal} from "@preact/signals";
import type {ComponentChildren, JSX} from "preact";
import {useEffect, useMemo} from "preact/hooks";
import {href, loader, type Loaded} from "./store.ts";
import {localTime, shortName, utcTime} from "./format.ts";

/** A document of the API for as long as the component lives. */
export function useDocument<T>(address: string | null, live = true): Loaded<T> {
    const current = useSignal(address);
    if (current.peek() !== address) current.value = address;
    const made = useMemo(() => loader<T>(() => current.value, live), []);
    useEffect(() => made.stop, []);
    return made.state.value as Loaded<T>;
}

/** Shows what was loaded, or what is wrong. */
export function Shown<T>({doc, children}: {doc: Loaded<T>; children: (data: T) => ComponentChildren}) {
    if (doc.data !== undefined) return <>{children(doc.data)}</>;
    if (doc.error) return <p class="notice bad" role="alert">{doc.error}</p>;
    return <p class="muted" role="status">Loading…</p>;
}

const TONES = {good: "✓", warn: "!", bad: "✕", plain: ""} as const;

/** The answer to the view's question, above everything else. */
export function Answered({answer}: {answer: {tone: keyof typeof TONES; text: string}}) {
    return <p class={`verdict ${answer.tone}`} role="status">{TONES[answer.tone] && <span aria-hidden="true">{TONES[answer.tone]} </span>}{answer.text}</p>;
}

export function Time({at}: {at: string | null | undefined}) {
    if (!at) return <span class="muted">-</span>;
    return <time dateTime={at} title={utcTime(at)}>{localTime(at)}</time>;
}

/** A pod or gang: the namespace is quieter than the name. */
export function Name({of}: {of: string}) {
    const slash = of.indexOf("/");
    if (slash < 0) return <span class="name">{of}</span>;
    return <span class="name"><span class="ns">{of.slice(0, slash + 1)}</span>{shortName(of)}</span>;
}

export function DecisionLink({id, children}: {id: string; children: ComponentChildren}) {
    return <a href={href(`/decisions/${id}`)}>{children}</a>;
}

const BADGES: Record<string, string> = {
    optimal: "good", infeasible: "plain", gap: "warn", heuristic: "plain", unknown: "plain",
    carriedOut: "good", planned: "plain", partly: "warn", dropped: "bad", superseded: "plain",
    never: "bad", notNow: "warn", fair: "good", unclear: "plain",
};
const SIGNS: Record<string, string> = {good: "✓", warn: "≈", bad: "✕", plain: "·"};
const WORDS: Record<string, string> = {carriedOut: "carried out", notNow: "not now"};

/** A word with a sign, so that colour is never alone. */
export function Badge({of, tone}: {of: string; tone?: string}) {
    const kind = tone ?? BADGES[of] ?? "plain";
    return <span class={`badge ${kind}`}><span aria-hidden="true">{SIGNS[kind]}</span> {WORDS[of] ?? of}</span>;
}

export function Section({title, id, children, aside}: {title: string; id?: string; children: ComponentChildren; aside?: ComponentChildren}) {
    const label = id ?? title.toLowerCase().replace(/[^a-z]+/g, "-");
    return (
        <section class="panel" aria-labelledby={label}>
            <div class="panel-head"><h2 id={label}>{title}</h2>{aside}</div>
            {children}
        </section>
    );
}

/** A table with a caption, in a box of its own that scrolls where the screen is narrow. */
export function Table({caption, head, children, hideCaption}: {caption: string; head: (string | {text: string; number?: boolean})[]; children: ComponentChildren; hideCaption?: boolean}) {
    return (
        <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
            <table>
                <caption class={hideCaption ? "hidden" : undefined}>{caption}</caption>
                <thead>
                    <tr>{head.map((cell) => typeof cell === "string" ? <th scope="col">{cell}</th> : <th scope="col" class={cell.number ? "num" : undefined}>{cell.text}</th>)}</tr>
                </thead>
                <tbody>{children}</tbody>
            </table>
        </div>
    );
}

export function Copy({text, label}: {text: string | (() => string); label: string}) {
    const done = useSignal("");
    const copy = async () => {
        const value = typeof text === "string" ? text : text();
        try {
            await navigator.clipboard.writeText(value);
            done.value = "Copied";
        } catch {
            done.value = copyByHand(value) ? "Copied" : "Not allowed here";
        }
        setTimeout(() => (done.value = ""), 2000);
    };
    return (
        <span class="copy">
            <button type="button" class="small" onClick={copy}>{label}</button>
            <span role="status" class="muted">{done.value}</span>
        </span>
    );
}

// Where the page is not served from this machine or by TLS there is no clipboard of its own.
function copyByHand(value: string): boolean {
    const box = document.createElement("textarea");
    box.value = value;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
}

export function Choice({label, value, options, onChange}: {label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void}) {
    return (
        <label class="field">
            <span>{label}</span>
            <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
                {options.map(([key, text]) => <option value={key} selected={key === value}>{text}</option>)}
            </select>
        </label>
    );
}

export function Figure({value, label, tone, to}: {value: ComponentChildren; label: string; tone?: string; to?: string}) {
    const inner = <><span class="value">{value}</span><span class="label">{label}</span></>;
    return to ? <a class={`figure ${tone ?? ""}`} href={href(to)}>{inner}</a> : <div class={`figure ${tone ?? ""}`}>{inner}</div>;
}

export function Bar({part, whole, label, children}: {part: number; whole: number; label: string; children?: ComponentChildren}) {
    const width = whole > 0 ? Math.min(100, (100 * part) / whole) : 0;
    return (
        <span class="bar" role="img" aria-label={label}>
            <span class="fill" style={{width: `${width}%`}} />
            {children}
        </span>
    );
}

export type Children = ComponentChildren;
export type Node = JSX.Element;
