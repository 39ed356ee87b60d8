// What the page knows: where it is, what time it looks at, what it fetched, and whether the program is still there.
import {computed, effect, signal} from "@preact/signals";

export interface Place {
    path: string;
    params: URLSearchParams;
}

const read = (): Place => ({path: location.pathname, params: new URLSearchParams(location.search)});

export const place = signal<Place>(read());
/** The moment that is looked at; null: the newest. */
export const at = computed(() => place.value.params.get("at"));

/** Goes somewhere inside the page. The moment that is looked at goes along. */
export function go(href: string, replace = false): void {
    const url = new URL(href, location.href);
    const moment = at.peek();
    if (moment && !url.searchParams.has("at")) url.searchParams.set("at", moment);
    history[replace ? "replaceState" : "pushState"](null, "", url.pathname + url.search);
    const moved = url.pathname !== place.peek().path;
    place.value = read();
    if (moved) arrived.value += 1;
}

/** Counts arrivals at another view, so that the focus can follow. */
export const arrived = signal(0);

export function setParam(name: string, value: string | null, replace = true): void {
    const params = new URLSearchParams(place.peek().params);
    if (value === null || value === "") params.delete(name);
    else params.set(name, value);
    const text = params.toString();
    history[replace ? "replaceState" : "pushState"](null, "", place.peek().path + (text ? `?${text}` : ""));
    place.value = read();
}

/** A link that keeps the moment. */
export function href(path: string): string {
    const moment = at.value;
    if (!moment) return path;
    return `${path}${path.includes("?") ? "&" : "?"}at=${encodeURIComponent(moment)}`;
}

addEventListener("popstate", () => {
    const moved = location.pathname !== place.peek().path;
    place.value = read();
    if (moved) arrived.value += 1;
});

// A token is kept for this tab only.
export const token = signal(sessionGet("token"));
export const needsToken = signal<string | null>(null);

function sessionGet(key: string): string {
    try {
        return sessionStorage.getItem(key) ?? "";
    } catch {
        return "";
    }
}

export function setToken(value: string): void {
    try {
        sessionStorage.setItem("token", value);
    } catch {
        // Kept in memory then.
    }
    token.value = value;
    needsToken.value = null;
    serial.value += 1;
}

export class ApiError extends Error {
    constructor(
        readonly status: number,
        message: string,
    ) {
        super(message);
    }
}

const BUSY_TRIES = 20;

/** Questions are answered one at a time: whoever comes while another is worked out asks again after a second. */
const isBusy = (response: Response, path: string) => response.status === 429 || (response.status === 503 && path.startsWith("/api/v1/waiting?name="));

export async function api(path: string, init: RequestInit = {}): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
        const response = await once(path, init);
        if (response.ok) return response;
        if (isBusy(response, path) && tries < BUSY_TRIES && !init.signal?.aborted) {
            await sleep(1000);
            continue;
        }
        return refused(response);
    }
}

async function once(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token.peek()) headers.set("Authorization", `Bearer ${token.peek()}`);
    try {
        return await fetch(path, {...init, headers});
    } catch (error) {
        if ((error as Error).name === "AbortError") throw error;
        throw new ApiError(0, "The program does not answer.");
    }
}

async function refused(response: Response): Promise<never> {
    let message = response.statusText;
    try {
        message = ((await response.json()) as {error: string}).error;
    } catch {
        // Not JSON: the status line has to do.
    }
    if (response.status === 401) needsToken.value = message;
    throw new ApiError(response.status, message);
}

export type Link = "connecting" | "live" | "polling" | "lost";
export const link = signal<Link>("connecting");
/** Grows whenever there may be something new to fetch. */
export const serial = signal(0);

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function readEvents(): Promise<void> {
    const response = await api("/api/v1/events", {headers: {Accept: "text/event-stream"}});
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) return;
    link.value = "live";
    serial.value += 1;
    let first = true;
    let text = "";
    while (true) {
        const {done, value} = await reader.read();
        if (done) return;
        text += value;
        const events = text.split("\n\n");
        text = events.pop() ?? "";
        if (events.some((event) => event.includes("event: "))) {
            // The first one only says where the program is: what it says was just fetched.
            if (!first) serial.value += 1;
            first = false;
        }
    }
}

/** Listens for ever: by events, by asking where there are too many listeners, and again after the program was away. */
export async function listen(): Promise<void> {
    let wait = 500;
    while (true) {
        try {
            await readEvents();
            wait = 500;
        } catch (error) {
            if (error instanceof ApiError && error.status === 503) {
                link.value = "polling";
                serial.value += 1;
                await sleep(2000);
                continue;
            }
        }
        if (needsToken.peek() === null) link.value = "lost";
        await sleep(wait);
        wait = Math.min(wait * 2, 4000);
    }
}

export interface Loaded<T> {
    data?: T;
    error?: string;
    loading: boolean;
}

/** A document that is fetched again when its address or the program's state changes. */
export function loader<T>(address: () => string | null, live = true): {state: ReturnType<typeof signal<Loaded<T>>>; stop: () => void} {
    const state = signal<Loaded<T>>({loading: true});
    let abort: AbortController | null = null;
    let last = "";
    let stale = false; // one fetch at a time: news that comes meanwhile is fetched after it
    const stop = effect(() => {
        const path = address();
        const moment = at.value;
        if (live && !moment) void serial.value;
        if (path === null) return;
        const url = moment ? `${path}${path.includes("?") ? "&" : "?"}at=${encodeURIComponent(moment)}` : path;
        if (url === last && abort) return void (stale = true);
        last = url;
        state.value = {...state.peek(), loading: true};
        void run(url);
    });
    async function run(url: string): Promise<void> {
        abort?.abort();
        const mine = new AbortController();
        abort = mine;
        stale = false;
        try {
            const response = await api(url, {signal: mine.signal});
            const data = (await response.json()) as T;
            if (abort === mine) state.value = {data, loading: false};
        } catch (error) {
            if (mine.signal.aborted) return;
            const {data} = state.peek();
            const lost = error instanceof ApiError && error.status === 0;
            // What was seen stays on the screen while the program is away; the header says that it is.
            state.value = {...(lost && data !== undefined ? {data} : {}), error: (error as Error).message, loading: false};
        }
        if (abort === mine) {
            abort = null;
            if (stale) void run(url);
        }
    }
    return {state, stop: () => (stop(), abort?.abort())};
}
