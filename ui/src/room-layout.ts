// Room as geometry: racks of nodes, each a row of cells. Pure, so that it can be tested and hashed.

// A row of /api/v1/room: [name, rack, flags, cpu, cpu used, memory, memory used, devices, pods].
export type RoomPod = [string, number, number, number, number, number, number, "r" | "e" | "l" | "p" | "n", number[]];
export type RoomNode = [string, number, number, number, number, number, number, number, RoomPod[]];
export interface RoomDoc {
    now: string;
    nodes: RoomNode[];
    racks: string[];
    queues: string[];
    gangs: string[];
}

export interface Cell {
    x: number;
    width: number;
    pod: RoomPod | null;
    also: RoomPod | null; // who comes where somebody leaves
}

export interface PlacedNode {
    index: number;
    x: number;
    y: number;
}

export interface PlacedRack {
    name: string;
    x: number;
    y: number;
    width: number;
    height: number;
    nodes: PlacedNode[];
}

export interface Layout {
    racks: PlacedRack[];
    width: number;
    height: number;
    cell: number; // height of a cell
    nodeWidth: number; // of the cells
    label: number; // width that names take; 0: none
    pitch: number; // from node to node
}

export const NAMED_UP_TO = 200;
export const CELLS = 8;

/** Racks flow from left to right and wrap. Up to 200 nodes names are always there; above, from some zoom on. */
export function layout(doc: RoomDoc, width: number, zoom: number): Layout {
    const named = doc.nodes.length <= NAMED_UP_TO || zoom >= 2;
    const cell = doc.nodes.length <= 40 ? 22 : doc.nodes.length <= NAMED_UP_TO ? 16 : 6 * zoom;
    const cells = Math.max(CELLS, ...doc.nodes.slice(0, 50).map((node) => node[7]));
    const nodeWidth = cells * (doc.nodes.length <= 40 ? 34 : doc.nodes.length <= NAMED_UP_TO ? 18 : 6 * zoom);
    const label = named ? 92 : 0;
    const pitch = cell + (cell > 8 ? 4 : 1.5);
    const head = doc.nodes.length > 1000 && zoom < 2 ? 4 : 20;
    const pad = head > 4 ? 8 : 3;
    const byRack = new Map<number, number[]>();
    doc.nodes.forEach((node, i) => {
        const list = byRack.get(node[1]);
        if (list) list.push(i);
        else byRack.set(node[1], [i]);
    });
    const racks: PlacedRack[] = [];
    const perColumn = 64; // a rack of thousands is cut into columns
    let x = 0;
    let y = 0;
    let line = 0;
    for (const [rack, members] of [...byRack].sort((a, b) => (doc.racks[a[0]] ?? "~").localeCompare(doc.racks[b[0]] ?? "~", "en", {numeric: true}))) {
        for (let start = 0; start < members.length; start += perColumn) {
            const part = members.slice(start, start + perColumn);
            const w = nodeWidth + label + 2 * pad;
            const h = head + part.length * pitch + pad;
            if (x > 0 && x + w > width) {
                x = 0;
                y += line + 6;
                line = 0;
            }
            racks.push({
                name: doc.racks[rack] ?? "no rack", x, y, width: w, height: h,
                nodes: part.map((index, i) => ({index, x: x + pad + label, y: y + head + i * pitch})),
            });
            x += w + 6;
            line = Math.max(line, h);
        }
    }
    return {racks, width: Math.max(width, ...racks.map((r) => r.x + r.width)), height: y + line, cell, nodeWidth, label, pitch};
}

/** The cells of one node: a cell a device; without devices, pods by the CPU that they hold. */
export function cellsOf(node: RoomNode, nodeWidth: number): Cell[] {
    const [, , , cpu, , , , devices, pods] = node;
    if (devices > 0) {
        const width = nodeWidth / devices;
        const cells: Cell[] = Array.from({length: devices}, (_, i) => ({x: i * width, width: width - Math.min(2, width / 6), pod: null, also: null}));
        for (const pod of pods) {
            for (const index of pod[8]) {
                const cell = cells[index];
                if (!cell) continue;
                if (cell.pod) cell.also = pod[7] === "p" || pod[7] === "n" ? pod : cell.also;
                else cell.pod = pod;
            }
        }
        return cells;
    }
    // Pods of one queue and state are one block: a node may hold a hundred.
    const sums = new Map<string, {pod: RoomPod; cpu: number}>();
    for (const pod of pods) {
        const key = `${pod[1]} ${pod[7]} ${pod[2]}`;
        const sum = sums.get(key);
        if (sum) sum.cpu += pod[5];
        else sums.set(key, {pod, cpu: pod[5]});
    }
    const cells: Cell[] = [];
    let x = 0;
    for (const {pod, cpu: held} of sums.values()) {
        const width = cpu > 0 ? (nodeWidth * held) / cpu : 0;
        if (width <= 0) continue;
        cells.push({x, width: Math.max(0.5, width - 0.5), pod, also: null});
        x += width;
    }
    if (x < nodeWidth - 0.5) cells.push({x, width: nodeWidth - x, pod: null, also: null});
    return cells;
}

/** One number for what is drawn; tests compare it instead of pixels. */
export function fingerprint(doc: RoomDoc, shape: Layout, paint: (pod: RoomPod) => string): string {
    let hash = 0x811c9dc5;
    const add = (text: string) => {
        for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
    };
    for (const rack of shape.racks) {
        for (const node of rack.nodes) {
            const row = doc.nodes[node.index];
            if (!row) continue;
            for (const cell of cellsOf(row, shape.nodeWidth)) add(`${row[0]} ${Math.round(cell.x)} ${cell.pod ? paint(cell.pod) + cell.pod[7] : "-"}`);
        }
    }
    return hash.toString(16).padStart(8, "0");
}
