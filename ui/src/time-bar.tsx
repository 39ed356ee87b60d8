// A slider over a record: every view turns back to that moment.
import {scaleLinear} from "d3-scale";
import type {Extent} from "./types.ts";
import {localTime, utcTime} from "./format.ts";
import {at, setParam} from "./store.ts";

export function TimeBar({extent, now}: {extent: Extent; now: string}) {
    const from = Date.parse(extent.from);
    const to = Math.max(from + 1000, Date.parse(extent.to));
    const here = at.value ? Date.parse(at.value) : Date.parse(now);
    const scale = scaleLinear([from, to], [0, 100]).clamp(true);
    const move = (ms: number) => setParam("at", ms >= to ? null : new Date(Math.max(from, ms)).toISOString().replace(/\.\d+Z$/, "Z"), true);
    return (
        <div class="time-bar">
            <label>
                <span class="hidden">Moment that is looked at</span>
                <input type="range" min={from} max={to} step={1000} value={here} aria-valuetext={localTime(new Date(here).toISOString())} onInput={(event) => move(Number(event.currentTarget.value))} />
            </label>
            <span class="gaps" aria-hidden="true">
                {extent.gaps.map((gap) => <span class="gap" style={{left: `${scale(Date.parse(gap.from))}%`, width: `${Math.max(0.5, scale(Date.parse(gap.to)) - scale(Date.parse(gap.from)))}%`}} title={`Not known: ${gap.why}`} />)}
            </span>
            <span title={utcTime(new Date(here).toISOString())}>{localTime(new Date(here).toISOString())}</span>
            <button type="button" class="small" disabled={!at.value} onClick={() => setParam("at", null)}>{extent.gaps.length > 0 ? `Newest (${extent.gaps.length} gaps)` : "Newest"}</button>
        </div>
    );
}
