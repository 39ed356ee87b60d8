"""Random devices and claims of every shape: pools over nodes and generations, taints, partitions with counters, shares
with policies, alternatives, all, admin access, constraints. Builds objects and touches no server."""

from .devices import GROUP

DRIVERS = ("a.example.com", "b.example.com")
ATTRIBUTES = {
    "model": [{"string": text} for text in "xy"],
    "root": [{"string": text} for text in "pqr"],
    "index": [{"int": number} for number in range(3)],
    "fast": [{"bool": True}, {"bool": False}],
    "version": [{"version": "1.0.0"}, {"version": "1.2.0"}],
}
KEYS = ("sick", "hot")


def device_object(kind, name, spec):
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec}


class Draw:
    """Draws with one source of chance. `easy` worlds have claims that can mostly be met."""

    def __init__(self, dice):
        self.dice = dice
        self.easy = dice.random() < 0.8
        self.drivers = DRIVERS[:1] if self.easy and dice.random() < 0.7 else DRIVERS

    def chance(self, part, easy=None):
        return self.dice.random() < (easy if self.easy and easy is not None else part)

    def pick(self, *options):
        return self.dice.choice(options)

    # --- what drivers offer

    def policy(self):
        policy = {"default": self.pick("0", "1", "2", "3")}
        if self.chance(0.5):
            least, step = self.pick(("0", "1"), ("1", "2"), ("2", "3"), ("500m", "250m"), ("1", None))
            policy["validRange"] = {"min": least, **({"step": step} if step else {})}
            if self.chance(0.5):
                policy["validRange"]["max"] = self.pick("2", "4", "6")
        else:
            policy["validValues"] = self.pick(["0"], ["1", "2"], ["2", "3", "6"])
        return policy

    def device(self, driver, name, counters, placed):
        made = {"name": name, "attributes": {}, "capacity": {}, **(placed or {})}
        for attribute, values in ATTRIBUTES.items():
            if self.chance(0.85):
                made["attributes"][attribute if self.chance(0.7) else f"{driver}/{attribute}"] = self.pick(*values)
        for capacity in ("memory", "bandwidth"):
            if self.chance(0.6):
                made["capacity"][capacity] = {"value": self.pick("0", "2", "3", "4", "6", "8", "1500m")}
        if self.chance(0.35):
            made["allowMultipleAllocations"] = True
            for capacity in made["capacity"].values():
                if self.chance(0.6):
                    capacity["requestPolicy"] = self.policy()
        if self.chance(0.15):
            effect = self.pick("NoSchedule", "NoExecute", "None")
            made["taints"] = [{"key": self.pick(*KEYS), "value": self.pick("v", "w"), "effect": effect}]
        if counters and self.chance(0.7):
            used = {name: {"value": self.pick("0", "1", "2", "3")} for name in counters}
            made["consumesCounters"] = [{"counterSet": "card", "counters": used}]
        if self.chance(0.05):
            made["bindsToNode"] = True
        if self.chance(0.06):
            made.update(bindingConditions=["Ready"], bindingFailureConditions=["Bad"])
        return made

    def zone(self, operator="In"):
        rule = {"key": "zone", "operator": operator, "values": [self.pick("a", "b")]}
        return {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}

    def place(self):
        if self.chance(0.7, easy=0.85):
            return {"nodeName": self.pick("node-1", "node-1", "node-2")}
        return self.pick(
            {"nodeSelector": self.zone(self.pick("In", "NotIn"))}, {"allNodes": True}, {"perDeviceNodeSelection": True}
        )

    def pool(self, driver, name, generation):
        """The slices of one pool, most of one node."""
        slices, place = [], self.place()
        counters = self.pick(("memory",), ("memory", "cores")) if self.chance(0.35) else ()
        names = [f"dev-{index}" for index in range(9)]
        self.dice.shuffle(names)
        if counters:
            where = {"allNodes": True} if "perDeviceNodeSelection" in place else place
            sets = [{"name": "card", "counters": {one: {"value": self.pick("2", "3", "4", "6")} for one in counters}}]
            slices.append({**where, "sharedCounters": sets})
        for _ in range(self.pick(1, 1, 1, 2, 2)):
            if self.chance(0.25):
                place = self.place()
            devices = []
            for _ in range(self.pick(1, 2, 3)):
                placed = None
                if "perDeviceNodeSelection" in place:
                    placed = self.pick({"nodeName": "node-1"}, {"nodeSelector": self.zone()}, {"allNodes": True})
                devices.append(self.device(driver, names.pop(), counters, placed))
            slices.append({**place, "devices": devices})
        count = max(1, len(slices) + (self.pick(1, -1) if self.chance(0.06, easy=0.01) else 0))
        pool = {"name": name, "generation": generation, "resourceSliceCount": count}
        return [{"driver": driver, "pool": pool, **spec} for spec in slices]

    def slices(self):
        specs = []
        for name in self.dice.sample(range(10), self.pick(1, 2, 3)):
            driver = self.pick(*self.drivers)
            for generation in (1, 2) if self.chance(0.1) else (1,):
                specs += self.pool(driver, f"pool-{name}", generation)
        order = self.dice.sample(range(100), len(specs))
        return [device_object("ResourceSlice", f"slice-{n:02}", spec) for n, spec in zip(order, specs)]

    # --- what pods ask for

    def expression(self):
        driver = self.pick(*self.drivers)
        if self.chance(0, easy=0.75):
            return "true"
        attributes, capacity = f'device.attributes["{driver}"]', f'device.capacity["{driver}"]'
        return self.pick(
            f'device.driver == "{driver}"',
            f'{attributes}.model == "x"',
            f'{attributes}.?model.orValue("x") == "x"',
            f"has({attributes}.index) && {attributes}.index >= 1",
            f'"memory" in {capacity} && {capacity}.memory.compareTo(quantity("3")) >= 0',
            f'has({attributes}.version) && {attributes}.version.isGreaterThan(semver("1.1.0"))',
            "device.allowMultipleAllocations == true",
        )

    def selectors(self, number):
        return [{"cel": {"expression": self.expression()}} for _ in range(number)]

    def classes(self):
        names = [f"class-{index}" for index in range(self.pick(1, 2))]
        specs = [{"selectors": self.selectors(1)} if self.chance(0.7) else {} for _ in names]
        return [device_object("DeviceClass", name, spec) for name, spec in zip(names, specs)]

    def wish(self, classes, may_be_admin):
        made = {"deviceClassName": self.pick(*classes)["metadata"]["name"]}
        if self.chance(0.15):
            made["allocationMode"] = "All"
        else:
            count = self.pick(1, 1, 1, 1, 1, 2) if self.easy else self.pick(1, 1, 1, 2, 2, 3)
            made.update(allocationMode="ExactCount", count=count)
        if self.chance(0.4):
            made["selectors"] = self.selectors(self.pick(1, 1, 2))
        if may_be_admin and self.chance(0.08):
            made["adminAccess"] = True
        if self.chance(0.25):
            one = {"key": self.pick(*KEYS), **self.pick({"operator": "Exists"}, {"operator": "Equal", "value": "v"})}
            made["tolerations"] = [{**one, **self.pick({}, {"effect": "NoSchedule"})}]
        if self.chance(0.35, easy=0.15):
            asked = self.dice.sample(("memory", "bandwidth"), self.pick(1, 1, 2))
            made["capacity"] = {"requests": {name: self.pick("0", "1", "2", "4", "250m") for name in asked}}
        return made

    def claim(self, name, classes):
        requests = []
        for index in range(self.pick(1, 1, 2, 2, 3)):
            if self.chance(0.25):
                ways = [{"name": f"way-{i}", **self.wish(classes, False)} for i in range(self.pick(1, 2, 3))]
                requests.append({"name": f"r{index}", "firstAvailable": ways})
            else:
                requests.append({"name": f"r{index}", "exactly": self.wish(classes, True)})
        spec = {"requests": requests}
        if self.chance(0.5, easy=0.3):
            attribute = f"{self.pick(*self.drivers)}/{self.pick(*ATTRIBUTES)}"
            rule = {self.pick("matchAttribute", "matchAttribute", "distinctAttribute"): attribute}
            if self.chance(0.4):
                rule["requests"] = [self.pick(*requests)["name"]]
            spec["constraints"] = [rule]
        claim = device_object("ResourceClaim", name, {"devices": spec})
        claim["metadata"]["namespace"] = "default"
        return claim
