#!/usr/bin/env python3
"""The reference pages say what the program knows, and the schemas describe what it writes and reads.

    reference_test.py PROGRAM
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import json_schema

PROGRAM = sys.argv.pop()
ROOT = pathlib.Path(__file__).resolve().parents[2]
NOW = ["--now", "2026-01-01T12:00:00Z"]


def run(*arguments, text=""):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, check=False)


def schema(what):
    return json.loads(run("schema", what).stdout)


def check_pages(pages, sources=ROOT / "src"):
    command = [ROOT / "scripts" / "reference", "--check", "--program", PROGRAM, "--pages", pages, "--sources", sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.pages = self.folder / "pages"
        shutil.copytree(ROOT / "docs" / "reference", self.pages)

    def test_they_are_what_the_program_knows(self):
        self.assertEqual(check_pages(ROOT / "docs" / "reference"), (0, ""))

    def test_a_key_without_its_row_is_found(self):
        for page, key in (
            ("configuration.md", "search.budget"),
            ("configuration.md", "actions[].args.improve"),
            ("annotations.md", "reprieve.dev/min-runtime"),
            ("metrics.md", "reprieve_victims_total"),
            ("plan.md", "evictions[].mode"),
        ):
            with self.subTest(key):
                path = self.pages / page
                text = path.read_text()
                without = re.sub(rf"^\| `{re.escape(key)}` .*\n", "", text, flags=re.M)
                self.assertNotEqual(without, text)
                path.write_text(without)
                code, err = check_pages(self.pages)
                self.assertEqual(code, 1)
                self.assertIn(page, err)
                path.write_text(text)

    def test_what_the_sources_begin_to_know_is_found(self):
        sources = self.folder / "src"
        for line, page, name in (
            ('case "reprieve.dev/brand-new"_key:', "annotations.md", "reprieve.dev/brand-new"),
            ('counter(registry, "reprieve_brand_new_total", "Help.")', "metrics.md", ""),
        ):
            with self.subTest(line):
                shutil.copytree(ROOT / "src", sources, dirs_exist_ok=True)
                (sources / "web" / "more.cc").write_text(line + "\n")
                code, err = check_pages(self.pages, sources)
                self.assertEqual(code, 1)
                self.assertIn(page, err)
                self.assertIn(name, err)

    def test_a_row_that_nobody_reads_any_more_is_found(self):
        with (self.pages / "annotations.md").open("a") as page:
            page.write("| `reprieve.dev/gone` | pod | read | nothing |\n")
        code, err = check_pages(self.pages)
        self.assertEqual(code, 1)
        self.assertIn("reprieve.dev/gone", err)


class Plans(unittest.TestCase):
    def test_every_plan_of_the_scenarios_and_examples_fits_the_schema(self):
        wanted = schema("plan")
        files = sorted((ROOT / "tests" / "scenarios").rglob("*.yaml"))
        seen = set()
        for file in [*files, ROOT / "examples" / "mixed-cluster", ROOT / "examples" / "serving-fleet"]:
            done = run("plan", "-f", str(file), *NOW, "-o", "json")
            if done.returncode not in (0, 3):
                continue
            plan = json.loads(done.stdout)
            self.assertEqual(list(json_schema.faults(wanted, plan)), [], file)
            seen |= {name for name, value in plan.items() if value}
        self.assertEqual(set(wanted["properties"]), seen, "every part of a plan was seen with something in it")

    def test_the_schema_can_fail(self):
        wanted = schema("plan")
        plan = json.loads(run("plan", "-f", str(ROOT / "examples" / "mixed-cluster"), *NOW, "-o", "json").stdout)
        del plan["placements"][0]["node"]
        plan["evictions"][0]["mode"] = "nicely"
        plan["certificates"][0]["surprise"] = 1
        text = "\n".join(json_schema.faults(wanted, plan))
        for part in ("placements[0]: node is missing", "evictions[0].mode", "certificates[0].surprise: is not known"):
            self.assertIn(part, text)


def config_with(path, value):
    """A configuration with one key set, as in `actions[].args.improve`."""
    head, _, rest = path.partition(".")
    inner = config_with(rest, value) if rest else value
    if head.endswith("[]"):
        return {head.removesuffix("[]"): [inner]}
    return {head: inner}


def keys_below(schema, path=""):
    for name, inner in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        yield here, inner
        for form in inner.get("oneOf", [inner]):
            items = form.get("items", {})
            yield from keys_below(items, here + "[]") if items.get("type") == "object" else keys_below(form, here)


class Configurations(unittest.TestCase):
    def setUp(self):
        self.schema = schema("config")
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "config.json"
        self.takers = {}
        for rule in self.schema["properties"]["actions"]["items"]["allOf"]:
            for arg in rule["then"]["properties"]["args"]["propertyNames"]["enum"]:
                self.takers.setdefault(arg, rule["if"]["properties"]["name"]["const"])

    def judge(self, config):
        """Whether the schema and the program take it; they have to agree."""
        self.file.write_text(json.dumps(config))
        fits = list(json_schema.faults(self.schema, config))
        done = run("check", str(self.file))
        self.assertEqual(not fits, done.returncode == 0, f"{config}: schema says {fits}, the program {done.stderr}")
        return not fits

    def with_key(self, path, value):
        config = config_with(path, value)
        for action in config.get("actions", []):
            if isinstance(action, dict) and "name" not in action:
                action["name"] = self.takers.get(path.removeprefix("actions[].args."), "preempt")
        if path.endswith(".cost"):
            config["plugins"] = {"args": {"lostWork": {"resource": "nvidia.com/gpu"}}}
        return config

    def test_schema_and_program_agree_about_every_key(self):
        judged = 0
        for path, key in keys_below(self.schema):
            for example in key.get("examples", []):
                self.assertTrue(self.judge(self.with_key(path, example)), path)
                judged += 1
            if "minimum" in key:
                self.assertFalse(self.judge(self.with_key(path, key["minimum"] - 1)), path)
            if "enum" in key.get("oneOf", [key])[0]:
                self.assertFalse(self.judge(self.with_key(path, "nobody-knows-this")), path)
            self.assertFalse(self.judge(self.with_key(path, {"nobody-knows-this": 1})), path)
        self.assertGreater(judged, 40)

    def test_an_argument_of_another_action_is_refused_by_both(self):
        self.assertFalse(self.judge({"actions": [{"name": "preempt", "args": {"maxDomains": 3}}]}))
        self.assertFalse(self.judge({"actions": [{"args": {"improve": True}}]}))
        self.assertTrue(self.judge({"actions": [{"name": "gangPreempt", "args": {"maxDomains": 3}}]}))


class Version(unittest.TestCase):
    def test_says_version_commit_and_build(self):
        said = json.loads(run("version", "-o", "json").stdout)
        self.assertEqual(set(said), {"version", "commit", "build"})
        self.assertEqual(said["version"], (ROOT / "VERSION").read_text().strip())
        self.assertEqual(run("version").stdout, f"reprieve {said['version']}\n")
        self.assertRegex(said["commit"], r"^([0-9a-f]{40}(-dirty)?|unknown)$")
        self.assertIn("Linux", said["build"])


if __name__ == "__main__":
    unittest.main()
