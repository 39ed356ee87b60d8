// Colours of Room, and drawing it on a canvas.
import {cellsOf, type Layout, type RoomDoc, type RoomPod} from "./room-layout.ts";

// Told apart by people with any colour vision (after Okabe and Ito), readable on both backgrounds.
export const HUES = ["#4477aa", "#cc8844", "#228866", "#aa5599", "#66aacc", "#998833", "#bb5566", "#6b7a8f", "#7755bb", "#44aa99"];
const RAMP = ["#b9c6dd", "#93a9cf", "#6d8bbf", "#4a6dab", "#2f5190", "#1d3970"];

export type ColourBy = "queue" | "priority" | "gang" | "age";

export interface Palette {
    paint: (pod: RoomPod) => string;
    legend: {colour: string; text: string}[];
}

const AGES: [number, string][] = [[600, "under 10 minutes"], [3600, "under an hour"], [21600, "under 6 hours"], [86400, "under a day"], [604800, "under a week"], [Infinity, "longer"]];

export function palette(doc: RoomDoc, by: ColourBy): Palette {
    if (by === "queue") {
        return {
            paint: (pod) => HUES[Math.max(0, pod[1]) % HUES.length] ?? "#888",
            legend: doc.queues.slice(0, 20).map((name, i) => ({colour: HUES[i % HUES.length] ?? "#888", text: name})),
        };
    }
    if (by === "gang") {
        return {
            paint: (pod) => (pod[3] < 0 ? "#9aa3b0" : (HUES[pod[3] % HUES.length] ?? "#888")),
            legend: [...doc.gangs.slice(0, 12).map((name, i) => ({colour: HUES[i % HUES.length] ?? "#888", text: name})), {colour: "#9aa3b0", text: "no gang"}],
        };
    }
    if (by === "age") {
        const now = Date.parse(doc.now) / 1000;
        const step = (pod: RoomPod) => AGES.findIndex(([limit]) => now - pod[4] < limit);
        return {
            paint: (pod) => (pod[4] === 0 ? "#9aa3b0" : (RAMP[step(pod)] ?? "#888")),
            legend: AGES.map(([, text], i) => ({colour: RAMP[i] ?? "#888", text})),
        };
    }
    const all = [...new Set(doc.nodes.flatMap((node) => node[8].map((pod) => pod[2])))].sort((a, b) => a - b);
    const rank = new Map(all.map((priority, i) => [priority, Math.round((i * (RAMP.length - 1)) / Math.max(1, all.length - 1))]));
    const legend = all.length <= 8 ? all : [all[0] ?? 0, all[Math.floor(all.length / 2)] ?? 0, all.at(-1) ?? 0];
    return {
        paint: (pod) => RAMP[rank.get(pod[2]) ?? 0] ?? "#888",
        legend: legend.map((priority) => ({colour: RAMP[rank.get(priority) ?? 0] ?? "#888", text: `priority ${priority}`})),
    };
}

export interface Theme {
    text: string;
    muted: string;
    line: string;
    panel: string;
    free: string;
    leaves: string;
    comes: string;
    accent: string;
}

export function theme(element: Element): Theme {
    const style = getComputedStyle(element);
    const get = (name: string) => style.getPropertyValue(name).trim();
    return {text: get("--text"), muted: get("--muted"), line: get("--line"), panel: get("--panel"), free: get("--free"), leaves: get("--leaves"), comes: get("--comes"), accent: get("--accent")};
}

const hatches = new Map<string, CanvasPattern>();

function hatch(context: CanvasRenderingContext2D, colour: string, line: string): CanvasPattern | string {
    const key = colour + line;
    const known = hatches.get(key);
    if (known) return known;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    if (!pen) return colour;
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 6, 6);
    pen.strokeStyle = line;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (const at of [-3, 3, 9]) {
        pen.moveTo(at - 3, 9);
        pen.lineTo(at + 9, -3);
    }
    pen.stroke();
    const made = context.createPattern(tile, "repeat");
    if (!made) return colour;
    hatches.set(key, made);
    return made;
}

export interface Look {
    left: number;
    top: number;
    width: number;
    height: number;
    selected: string | null;
    found: (name: string) => boolean;
    dim: ((pod: RoomPod) => boolean) | null;
}

/** Draws what is inside the look. Cells of one colour are filled together: that is what makes 40,000 of them cheap. */
export function draw(context: CanvasRenderingContext2D, doc: RoomDoc, shape: Layout, colours: Palette, look: Look, tones: Theme): void {
    context.clearRect(0, 0, look.width, look.height);
    context.save();
    context.translate(-look.left, -look.top);
    const fills = new Map<string, number[]>();
    const hatched = new Map<string, number[]>();
    const outlined: number[] = [];
    const add = (map: Map<string, number[]>, key: string, x: number, y: number, w: number, h: number) => {
        const list = map.get(key);
        if (list) list.push(x, y, w, h);
        else map.set(key, [x, y, w, h]);
    };
    const right = look.left + look.width;
    const bottom = look.top + look.height;
    context.font = `${Math.min(13, Math.max(9, shape.cell * 0.7))}px ui-sans-serif, system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (const rack of shape.racks) {
        if (rack.x > right || rack.y > bottom || rack.x + rack.width < look.left || rack.y + rack.height < look.top) continue;
        context.fillStyle = tones.panel;
        context.strokeStyle = tones.line;
        context.lineWidth = 1;
        context.fillRect(rack.x + 0.5, rack.y + 0.5, rack.width - 1, rack.height - 1);
        context.strokeRect(rack.x + 0.5, rack.y + 0.5, rack.width - 1, rack.height - 1);
        if (rack.nodes[0] && rack.nodes[0].y - rack.y >= 16) {
            context.fillStyle = tones.muted;
            context.fillText(rack.name, rack.x + 8, rack.y + 11);
        }
        for (const node of rack.nodes) {
            if (node.y > bottom || node.y + shape.cell < look.top) continue;
            const row = doc.nodes[node.index];
            if (!row) continue;
            if (shape.label > 0) {
                context.fillStyle = row[0] === look.selected || look.found(row[0]) ? tones.accent : tones.text;
                context.fillText(clip(row[0], 14) + (row[2] & 1 ? " ✕" : row[2] & 2 ? " ⊘" : ""), rack.x + 8, node.y + shape.cell / 2);
            }
            for (const cell of cellsOf(row, shape.nodeWidth)) {
                const x = node.x + cell.x;
                const pod = cell.pod;
                if (!pod || pod[7] === "n" || pod[7] === "p") {
                    add(fills, pod && pod[7] === "n" && !(look.dim?.(pod)) ? colours.paint(pod) : tones.free, x, node.y, cell.width, shape.cell);
                } else if (look.dim?.(pod)) {
                    add(fills, tones.line, x, node.y, cell.width, shape.cell);
                } else if (pod[7] === "r") {
                    add(fills, colours.paint(pod), x, node.y, cell.width, shape.cell);
                } else {
                    add(hatched, colours.paint(pod), x, node.y, cell.width, shape.cell);
                }
                if (cell.also || (pod && (pod[7] === "n" || pod[7] === "p"))) outlined.push(x, node.y, cell.width, shape.cell);
            }
            if (row[0] === look.selected || (look.found(row[0]) && shape.label === 0)) {
                context.strokeStyle = tones.accent;
                context.lineWidth = 2;
                context.strokeRect(node.x - 2, node.y - 2, shape.nodeWidth + 3, shape.cell + 4);
            }
        }
    }
    for (const [colour, boxes] of fills) fill(context, colour, boxes);
    for (const [colour, boxes] of hatched) fill(context, hatch(context, colour, tones.panel), boxes);
    context.strokeStyle = tones.text;
    context.lineWidth = shape.cell > 10 ? 2 : 1;
    for (let i = 0; i < outlined.length; i += 4) context.strokeRect((outlined[i] ?? 0) + 1, (outlined[i + 1] ?? 0) + 1, (outlined[i + 2] ?? 0) - 2, (outlined[i + 3] ?? 0) - 2);
    context.restore();
}

function fill(context: CanvasRenderingContext2D, style: string | CanvasPattern, boxes: number[]): void {
    context.fillStyle = style;
    context.beginPath();
    for (let i = 0; i < boxes.length; i += 4) context.rect(boxes[i] ?? 0, boxes[i + 1] ?? 0, boxes[i + 2] ?? 0, boxes[i + 3] ?? 0);
    context.fill();
}

function clip(text: string, most: number): string {
    return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
