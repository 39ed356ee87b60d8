// A report in one file: the same code, with its data inside.
import {Referee, type RefereeData} from "./referee.tsx";
import {Simulation, type SimulationData} from "./simulation.tsx";

export function Report({kind, data}: {kind: string; data: unknown}) {
    return (
        <>
            <header class="top"><span class="brand">Reprieve</span><span class="muted">{kind === "simulate" ? "policies side by side" : "the referee"}</span></header>
            <main id="main">
                {kind === "simulate" ? <Simulation data={data as SimulationData} /> : kind === "referee" ? <Referee data={data as RefereeData} /> : <><h1>Report</h1><p class="notice bad">This page does not know reports of the kind “{kind}”.</p></>}
            </main>
        </>
    );
}
