// Room: where is the room? Racks, nodes and devices as cells on one canvas, and the same as a table.
import {useSignal} from "@preact/signals";
import {useEffect, useMemo, useRef} from "preact/hooks";
import {amount, count, duration, percent} from "../format.ts";
import {freeDevices, roomAnswer} from "../answers.ts";
import {Answered, Choice, Name, Section, Shown, Table, useDocument} from "../parts.tsx";
import {NAMED_UP_TO, fingerprint, layout, type RoomDoc, type RoomNode} from "../room-layout.ts";
import {draw, palette, theme, type ColourBy} from "../room-paint.ts";
import {place, setParam} from "../store.ts";

const STATES: Record<string, string> = {r: "runs", e: "leaves next", l: "is leaving", p: "promised this room", n: "placed now"};

// Looked for once in each document: a large one takes a while.
function WhereRoomIs({doc}: {doc: RoomDoc}) {
    return <Answered answer={useMemo(() => roomAnswer(doc), [doc])} />;
}

function NodeDetails({doc, node}: {doc: RoomDoc; node: RoomNode}) {
    const now = Date.parse(doc.now) / 1000;
    return (
        <Section title={`Node ${node[0]}`} id="node-details" aside={<button type="button" class="small" onClick={() => setParam("node", null)}>Close</button>}>
            <p class="muted">
                {node[1] >= 0 ? `${doc.racks[node[1]]} · ` : ""}{percent(node[4], node[3])} of {amount("cpu", node[3])}, {percent(node[6], node[5])} of {amount("memory", node[5])}
                {node[7] > 0 ? `, ${freeDevices(node)} of ${count(node[7], "GPU")} free` : ""}
                {node[2] & 1 ? " · not ready" : ""}{node[2] & 2 ? " · cordoned" : ""}{node[2] & 4 ? " · tainted" : ""}
            </p>
            <Table caption={`Pods on ${node[0]}`} head={["Pod", "State", "Queue", {text: "Priority", number: true}, "Gang", "Devices", {text: "CPU", number: true}, {text: "Memory", number: true}, {text: "Runs for", number: true}]}>
                {node[8].slice(0, 200).map((pod) => (
                    <tr class={pod[7] === "e" || pod[7] === "l" ? "leaves" : pod[7] === "p" || pod[7] === "n" ? "comes" : undefined}>
                        <th scope="row"><Name of={pod[0]} /></th>
                        <td>{STATES[pod[7]]}</td>
                        <td>{doc.queues[pod[1]] ?? "-"}</td>
                        <td class="num">{pod[2]}</td>
                        <td>{doc.gangs[pod[3]] ?? "-"}</td>
                        <td>{pod[8].join(", ") || "-"}</td>
                        <td class="num">{amount("cpu", pod[5])}</td>
                        <td class="num">{amount("memory", pod[6])}</td>
                        <td class="num">{pod[4] > 0 && pod[7] !== "p" && pod[7] !== "n" ? duration(now - pod[4]) : "-"}</td>
                    </tr>
                ))}
            </Table>
        </Section>
    );
}

function Picture({doc}: {doc: RoomDoc}) {
    const params = place.value.params;
    const by = (params.get("by") ?? "queue") as ColourBy;
    const zoom = Number(params.get("zoom") ?? "1");
    const wanted = params.get("q") ?? "";
    const only = params.get("only") ?? "";
    const selected = params.get("node");
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const width = useSignal(1100);
    const shape = useMemo(() => layout(doc, width.value - 4, zoom), [doc, width.value, zoom]);
    const colours = useMemo(() => palette(doc, by), [doc, by]);
    const print = useMemo(() => fingerprint(doc, shape, colours.paint), [shape, colours]);

    useEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        const observer = new ResizeObserver(() => (width.value = element.clientWidth));
        observer.observe(element);
        return () => observer.disconnect();
    }, []);

    useEffect(() => {
        const element = box.current;
        const pen = canvas.current?.getContext("2d");
        if (!element || !pen || !canvas.current) return undefined;
        const ratio = devicePixelRatio || 1;
        let asked = 0;
        const paint = () => {
            asked = 0;
            const target = canvas.current;
            if (!target) return;
            const w = element.clientWidth;
            const h = Math.min(element.clientHeight, Math.ceil(shape.height));
            if (target.width !== w * ratio || target.height !== h * ratio) {
                target.width = w * ratio;
                target.height = h * ratio;
                target.style.width = `${w}px`;
                target.style.height = `${h}px`;
            }
            pen.setTransform(ratio, 0, 0, ratio, 0, 0);
            draw(pen, doc, shape, colours, {
                left: element.scrollLeft, top: element.scrollTop, width: w, height: h, selected,
                found: (name) => wanted !== "" && name.includes(wanted),
                dim: only === "" ? null : only === "changes" ? (pod) => pod[7] === "r" : (pod) => doc.queues[pod[1]] !== only,
            }, theme(element));
        };
        const ask = () => { if (!asked) asked = requestAnimationFrame(paint); };
        paint();
        element.addEventListener("scroll", ask, {passive: true});
        const dark = matchMedia("(prefers-color-scheme: dark)");
        dark.addEventListener("change", ask);
        return () => {
            cancelAnimationFrame(asked);
            element.removeEventListener("scroll", ask);
            dark.removeEventListener("change", ask);
        };
    }, [shape, colours, wanted, only, selected, width.value]);

    // What is searched for is scrolled to.
    useEffect(() => {
        const element = box.current;
        if (!element || wanted === "") return;
        for (const rack of shape.racks) {
            const node = rack.nodes.find((n) => doc.nodes[n.index]?.[0].includes(wanted));
            if (!node) continue;
            element.scrollTo({left: node.x - 100, top: node.y - element.clientHeight / 2});
            return;
        }
    }, [wanted]);

    const pick = (event: MouseEvent) => {
        const element = box.current;
        if (!element) return;
        const bounds = element.getBoundingClientRect();
        const x = event.clientX - bounds.left + element.scrollLeft;
        const y = event.clientY - bounds.top + element.scrollTop;
        for (const rack of shape.racks) {
            const hit = rack.nodes.find((node) => x >= rack.x && x <= rack.x + rack.width && y >= node.y - 2 && y <= node.y + shape.cell + 2);
            const row = hit ? doc.nodes[hit.index] : undefined;
            if (row) return setParam("node", row[0]);
        }
    };
    return (
        <>
            <div class="room" ref={box} tabIndex={0} role="img" aria-label={`${count(doc.nodes.length, "node")} in ${count(doc.racks.length, "rack")}, coloured by ${by}. The table below has the same.`} data-fingerprint={print} onClick={pick} style={{height: `min(72vh, ${Math.ceil(shape.height)}px)`}}>
                <canvas ref={canvas} />
                <div class="room-size" style={{width: `${shape.width}px`, height: `${Math.max(0, shape.height)}px`}} />
            </div>
            <ul class="legend" aria-label="Legend">
                {colours.legend.map(({colour, text}) => <li><span class="swatch" style={{background: colour}} />{text}</li>)}
                <li><span class="swatch hatched" />leaves</li>
                <li><span class="swatch outlined" />promised or placed now</li>
                <li><span class="swatch free" />free</li>
            </ul>
            {doc.nodes.length > NAMED_UP_TO && shape.label === 0 && <p class="muted">Names of nodes appear from a zoom of 2 on; search finds a node by name, and the table lists all.</p>}
        </>
    );
}

export function RoomView() {
    const doc = useDocument<RoomDoc>("/api/v1/room");
    const params = place.value.params;
    const rows = useSignal(50);
    return (
        <>
            <header class="view-head">
                <h1 tabIndex={-1}>Room</h1>
                <p class="lead">Every node a row, every device a cell. Hatched cells are leaving, outlined ones are promised or placed now.</p>
            </header>
            <Shown doc={doc}>
                {(room) => {
                    const wanted = params.get("q") ?? "";
                    const zoom = Number(params.get("zoom") ?? "1");
                    const selected = room.nodes.find((node) => node[0] === params.get("node"));
                    const listed = room.nodes.filter((node) => node[0].includes(wanted) || (wanted !== "" && node[8].some((pod) => pod[0].includes(wanted))));
                    return (
                        <>
                            <WhereRoomIs doc={room} />
                            <form class="filters" role="search" aria-label="Room" onSubmit={(event) => event.preventDefault()}>
                                <label class="field"><span>Find a node or pod</span><input type="search" data-filter value={wanted} onInput={(event) => setParam("q", event.currentTarget.value)} /></label>
                                <Choice label="Colour by" value={params.get("by") ?? "queue"} onChange={(value) => setParam("by", value)} options={[["queue", "queue"], ["priority", "priority"], ["gang", "gang"], ["age", "age"]]} />
                                <Choice label="Bring out" value={params.get("only") ?? ""} onChange={(value) => setParam("only", value)} options={[["", "everything"], ["changes", "what changes"], ...room.queues.map((name) => [name, `queue ${name}`] as const)]} />
                                {room.nodes.length > NAMED_UP_TO && <Choice label="Zoom" value={String(zoom)} onChange={(value) => setParam("zoom", value === "1" ? null : value)} options={[["0.5", "½"], ["1", "1"], ["2", "2"], ["3", "3"]]} />}
                            </form>
                            <section class="panel" aria-label="Picture"><Picture doc={room} /></section>
                            {selected && <NodeDetails doc={room} node={selected} />}
                            <Section title="The same as a table">
                                <Table caption={`Nodes${wanted ? ` that match “${wanted}”` : ""}`} head={["Node", "Rack", {text: "Pods", number: true}, {text: "CPU held", number: true}, {text: "Memory held", number: true}, {text: "GPUs free", number: true}, {text: "Leave", number: true}, {text: "Come", number: true}]}>
                                    {listed.slice(0, rows.value).map((node) => (
                                        <tr>
                                            <th scope="row"><button type="button" class="link" onClick={() => setParam("node", node[0])}>{node[0]}</button></th>
                                            <td>{room.racks[node[1]] ?? "-"}</td>
                                            <td class="num">{node[8].length}</td>
                                            <td class="num">{percent(node[4], node[3])} of {amount("cpu", node[3])}</td>
                                            <td class="num">{percent(node[6], node[5])} of {amount("memory", node[5])}</td>
                                            <td class="num">{node[7] > 0 ? `${freeDevices(node)} of ${node[7]}` : "-"}</td>
                                            <td class="num">{node[8].filter((pod) => pod[7] === "e" || pod[7] === "l").length}</td>
                                            <td class="num">{node[8].filter((pod) => pod[7] === "p" || pod[7] === "n").length}</td>
                                        </tr>
                                    ))}
                                </Table>
                                {listed.length > rows.value && <p><button type="button" onClick={() => (rows.value *= 4)}>Show more of {listed.length}</button></p>}
                            </Section>
                        </>
                    );
                }}
            </Shown>
        </>
    );
}
