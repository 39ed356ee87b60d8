// Amounts, durations and times for people. The exact integers are in the API.

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

function trimmed(value: number, digits: number): string {
    const text = value.toFixed(digits);
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function bytes(value: number): string {
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < BINARY.length - 1) {
        value /= 1024;
        unit += 1;
    }
    return trimmed(value, value < 10 && unit > 0 ? 2 : 1) + (BINARY[unit] ?? "");
}

export function count(value: number, one: string, many = `${one}s`): string {
    return `${value.toLocaleString("en")} ${value === 1 ? one : many}`;
}

export function isBytes(resource: string): boolean {
    return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

/** What a resource is called in a sentence. */
export function resourceName(resource: string): string {
    if (resource === "cpu") return "CPU";
    if (resource === "nvidia.com/gpu") return "GPU";
    return resource;
}

/** "1.5 cores", "7.58Gi", "4 GPUs", "3". */
export function amount(resource: string, value: number): string {
    if (resource === "cpu") return `${trimmed(value / 1000, 2)} ${value === 1000 ? "core" : "cores"}`;
    if (isBytes(resource)) return bytes(value);
    if (resource === "nvidia.com/gpu") return count(value, "GPU");
    if (resource === "pods") return count(value, "pod");
    return value.toLocaleString("en");
}

/** "1h 50m", "40m", "30s"; the two largest units. */
export function duration(seconds: number): string {
    const sign = seconds < 0 ? "-" : "";
    let rest = Math.abs(Math.round(seconds));
    const parts: string[] = [];
    for (const [unit, size] of [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]] as const) {
        if (rest >= size && parts.length < 2) {
            parts.push(`${Math.floor(rest / size)}${unit}`);
            rest %= size;
        } else if (parts.length > 0) {
            break;
        }
    }
    return sign + (parts.join(" ") || "0s");
}

/** Lost or used work: "2.5 GPU-hours". */
export function work(resource: string, seconds: number): string {
    const name = resource === "cpu" ? "core" : resource === "nvidia.com/gpu" ? "GPU" : resource;
    if (seconds < 3600) return `${trimmed(seconds / 60, 1)} ${name}-minutes`;
    return `${trimmed(seconds / 3600, seconds < 36000 ? 2 : 1)} ${name}-hours`;
}

export function percent(part: number, whole: number): string {
    if (whole <= 0) return "-";
    return `${trimmed((100 * part) / whole, 0)} %`;
}

const two = (value: number) => String(value).padStart(2, "0");

/** Local date and time of this reader. */
export function localTime(text: string): string {
    const date = new Date(text);
    if (Number.isNaN(date.getTime())) return text;
    const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function utcTime(text: string): string {
    const date = new Date(text);
    return Number.isNaN(date.getTime()) ? text : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** "ns/name" -> "name". */
export function shortName(name: string): string {
    return name.slice(name.indexOf("/") + 1);
}

/** "a", "a and b", "a, b and 3 more". */
export function list(names: readonly string[], most = 4): string {
    if (names.length === 0) return "nobody";
    if (names.length === 1) return names[0] ?? "";
    if (names.length <= most) return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
    return `${names.slice(0, most - 1).join(", ")} and ${names.length - most + 1} more`;
}
