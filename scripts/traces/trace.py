"""What the converters share: the two tables that `reprieve simulate` reads, and everything that is drawn by seed."""
import csv
import gzip

MASK = (1 << 64) - 1
JOB_COLUMNS = ["job", "submit", "duration", "pods", "cpu", "memory", "gpus", "priority", "queue", "min", "topology", "checkpoint", "restart", "selector"]
NODE_COLUMNS = ["name", "count", "cpu", "memory", "gpus", "labels", "fails"]


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def fraction(seed, index):
    """A number in [0, 1) that depends on the seed and the job's index alone."""
    return splitmix64((seed ^ index) & MASK) / 2**64


class Draws:
    """A stream of draws from a seed, the same on every machine."""

    def __init__(self, seed):
        self.state = splitmix64(seed)

    def below(self, n):
        self.state = splitmix64(self.state)
        return self.state % n

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def rows(path):
    opened = gzip.open(path, "rt", newline="") if str(path).endswith(".gz") else open(path, newline="")
    with opened as file:
        return [{k.strip(): (v or "").strip() for k, v in row.items()} for row in csv.DictReader(file)]


def write(path, columns, records):
    used = [c for c in columns if any(r.get(c, "") != "" for r in records)]
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(used)
        for record in records:
            out.writerow([record.get(c, "") for c in used])


def write_jobs(path, jobs):
    write(path, JOB_COLUMNS, jobs)


def write_nodes(path, nodes):
    write(path, NODE_COLUMNS, nodes)


def checkpoint(duration):
    """ckpt=30,rst=5: every 30 minutes for runs over an hour, none otherwise; a restart takes 5 minutes."""
    return {"checkpoint": 1800 if duration > 3600 else 0, "restart": 300}


def packed(gpus):
    """gang=packed: whole nodes of 8 from 8 GPUs on, the largest divisor below 8 where 8 does not divide; else one pod."""
    if gpus < 8:
        return {"pods": 1, "gpus": gpus}
    each = next(n for n in range(8, 0, -1) if gpus % n == 0)
    return {"pods": gpus // each, "gpus": each}
