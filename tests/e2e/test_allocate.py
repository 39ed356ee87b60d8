"""Devices by claim beside Kubernetes' own allocator: which devices a pod gets, and who has to go so that it gets them.

The allocator is asked for every set of victims, so the cheapest sets are known; what `reprieve plan` does must be one
of them, with the very devices that the allocator gives once they are gone."""

import collections
import itertools
import json
import os
import random
import subprocess
import tempfile
import unittest

from harness.claim_worlds import Draw
from harness.objects import node, pod
from harness.programs import E2E, ROOT, go_program

ABOVE = 20  # the priority of the pod that waits


class World:
    """Two nodes, pods that run with claims, some of them shared or without a pod, and one pod that waits."""

    def __init__(self, seed, allocate):
        dice = random.Random(seed)
        self.draw = Draw(dice)
        self._allocate = allocate
        self.nodes = [node(f"node-{i}", cpu="64", labels={"zone": dice.choice("ab")}) for i in (1, 2)]
        self.classes = self.draw.classes()
        self.slices = self.draw.slices()
        self.claims = []
        self.pods = {}
        for index in range(dice.randint(2, 7)):
            self._run(dice, f"low-{index}", dice.choice((self.nodes[0], *self.nodes)))
        self.wanted = [self.draw.claim(f"want-{index}", self.classes) for index in range(dice.choice((1, 1, 1, 2)))]

    def _run(self, dice, name, where):
        shared = [one for one in self.claims if one["users"] and reaches(one["object"], where)]
        if shared and dice.random() < 0.25:
            claim = dice.choice(shared)
        else:
            claim = {"object": self.draw.claim(f"claim-{name}", self.classes), "users": []}
            results = self.give(where, [claim["object"]], self.claims)
            if not results:
                return
            for number, result in enumerate(results[0]["devices"]["results"]):
                if "shareID" in result:
                    result["shareID"] = f"00000000-0000-0000-{len(self.claims):04}-{number:012}"
            claim["object"]["status"] = {"allocation": results[0]}
            self.claims.append(claim)
            if dice.random() < 0.05:
                return  # reserved for nobody
        claim["users"].append(name)
        self.pods[name] = {"priority": dice.choice((1, 1, 2, 3, 10, 50)), "start": dice.randint(0, 5)}
        self.pods[name].update(node=where["metadata"]["name"], claim=claim)

    def give(self, where, claims, held):
        """What the allocator gives to the claims there; None: nothing."""
        said = self._allocate(
            {
                "node": where,
                "classes": self.classes,
                "slices": self.slices,
                "claims": claims,
                "allocated": [one["object"] for one in held],
            }
        )
        return said.get("results")

    def freed(self, gone):
        return [claim for claim in self.claims if claim["users"] and gone.issuperset(claim["users"])]

    def left(self, gone):
        return [claim for claim in self.claims if claim not in self.freed(gone)]

    def cost(self, gone):
        """In the default order: highest priority, all priorities together, number, start of the most important."""
        if not gone:
            return ()
        victims = [self.pods[name] for name in gone]
        top = max(one["priority"] for one in victims)
        start = min(one["start"] for one in victims if one["priority"] == top)
        return top, sum(one["priority"] + 2**31 for one in victims), len(victims), -start

    def answers(self):
        """The cheapest (victims, node) that let the pod in, with what its claims are given."""
        low = [name for name, one in self.pods.items() if one["priority"] < ABOVE]
        sets = [frozenset(some) for size in range(len(low) + 1) for some in itertools.combinations(low, size)]
        found = {}
        for gone in sorted(sets, key=self.cost):
            if found and self.cost(gone) != self.cost(next(iter(found))[0]):
                break
            for where in self.nodes:
                if (results := self.give(where, self.wanted, self.left(gone))) is None:
                    continue
                if not any(self.give(where, self.wanted, self.left(gone - {one})) is not None for one in gone):
                    found[gone, where["metadata"]["name"]] = [devices_of(one) for one in results]
        return found

    def documents(self):
        access = {"resource.kubernetes.io/admin-access": "true"}
        made = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": access}}]
        for claim in self.claims:
            users = [{"resource": "pods", "name": name, "uid": f"uid-{name}"} for name in claim["users"]]
            status = {**claim["object"]["status"], "reservedFor": users}
            made.append({**claim["object"], "status": status})
        for name, one in self.pods.items():
            running = self._pod(name, one["priority"], [one["claim"]["object"]], one["node"])
            running["status"] = {"phase": "Running", "startTime": f"2026-01-01T00:00:0{one['start']}Z"}
            made.append(running)
        return [*self.nodes, *self.classes, *self.slices, *self.wanted, *made, self._pod("high", ABOVE, self.wanted)]

    @staticmethod
    def _pod(name, priority, claims, where=None):
        named = [{"name": f"c{i}", "resourceClaimName": one["metadata"]["name"]} for i, one in enumerate(claims)]
        made = pod(name, cpu="100m", node=where, spec={"priority": priority, "resourceClaims": named})
        made["metadata"]["uid"] = f"uid-{name}"
        return made


def reaches(claim, where):
    """Whether the claim's devices can be used from the node."""
    terms = claim["status"]["allocation"].get("nodeSelector", {}).get("nodeSelectorTerms")
    if not terms:
        return True
    for rule in terms[0].get("matchFields", []):
        if where["metadata"]["name"] not in rule["values"]:
            return False
    zone = where["metadata"]["labels"]["zone"]
    return all((zone in rule["values"]) == (rule["operator"] == "In") for rule in terms[0].get("matchExpressions", []))


def devices_of(allocation):
    return sorted((one["request"], one["pool"], one["device"]) for one in allocation["devices"].get("results") or [])


class AllocateTest(unittest.TestCase):
    WORLDS = 300

    @classmethod
    def setUpClass(cls):
        cls.allocator = subprocess.Popen(
            [go_program(E2E / "allocate")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        cls.addClassCleanup(cls._end)

    @classmethod
    def _end(cls):
        cls.allocator.stdin.close()
        cls.allocator.wait()
        cls.allocator.stdout.close()

    @classmethod
    def ask(cls, question):
        cls.allocator.stdin.write(json.dumps(question) + "\n")
        cls.allocator.stdin.flush()
        return json.loads(cls.allocator.stdout.readline())

    def plan(self, world):
        program = os.environ.get("REPRIEVE_PROGRAM", ROOT / "build/release/src/app/reprieve")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": world.documents()}, file)
            file.flush()
            command = [program, "plan", "-f", file.name, "-o", "json"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 3), done.stderr)  # 3: it waits
        return json.loads(done.stdout)

    def test_plans_are_the_cheapest_with_the_devices_of_the_allocator(self):
        first = int(os.environ.get("REPRIEVE_E2E_SEED", "20260101"))
        seen = collections.Counter()
        for seed in range(first, first + self.WORLDS):
            with self.subTest(seed=seed):
                world = World(seed, self.ask)
                wanted = world.answers()
                plan = self.plan(world)
                victims = frozenset(one["pod"].removeprefix("default/") for one in plan["evictions"])
                certificates = [one["status"] for one in plan["certificates"]]
                if not plan["placements"]:
                    self.assertEqual(wanted, {}, "there is a way")
                    self.assertEqual((victims, certificates), (frozenset(), ["infeasible"]))
                    seen["refused"] += 1
                    continue
                placed = plan["placements"][0]
                given = [devices_of({"devices": one}) for one in placed["claims"]]
                self.assertEqual(wanted.get((victims, placed["node"])), given, f"one of {list(wanted)}")
                freed = {name for one in plan["evictions"] for name in one.get("frees", [])}
                names = {f"default/{one['object']['metadata']['name']}" for one in world.freed(victims)}
                self.assertEqual((freed, certificates), (names, ["optimal"] if victims else []))
                seen["evicts" if victims else "placed"] += 1
        for what in ("refused", "placed", "evicts"):
            self.assertGreater(seen[what], self.WORLDS // 20, what)


if __name__ == "__main__":
    unittest.main()
