#!/usr/bin/env python3
"""Each rule of check_layers.py is broken once on purpose, and must be seen; what is allowed must pass."""
import tempfile
import unittest
from pathlib import Path

import check_layers

HEADER = "// What this is.\n#pragma once\n"


class Layers(unittest.TestCase):
    def breaches(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return check_layers.breaches(Path(folder))

    def assert_breach(self, files, expected):
        found = self.breaches(files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def assert_clean(self, files):
        self.assertEqual(self.breaches(files), [])

    def test_directions(self):
        self.assert_clean({"src/search/bound.cc": '#include "state/snapshot.h"\n#include "plugins/filter.h"\n'})
        self.assert_clean({"src/app/loop.cc": '#include "kube/watch.h"\n#include "actions/preempt.h"\n'})
        self.assert_breach({"src/state/cluster.cc": '#include "search/bound.h"\n'}, "src/state/cluster.cc:1: ")
        self.assert_breach({"src/audit/audit.cc": '\n#include "plugins/filter.h"\n'}, "src/audit/audit.cc:2: ")
        self.assert_breach({"src/actions/preempt.cc": '#include "kube/apply.h"\n'}, "actions may include only")
        self.assert_breach({"src/base/id.h": HEADER + '#include "model/pod.h"\n'}, "base may include only nothing")

    def test_tests_may_decode_manifests(self):
        self.assert_clean({"src/state/cluster_test.cc": '#include "manifest/decode.h"\n'})
        self.assert_breach({"src/state/cluster.cc": '#include "manifest/decode.h"\n'}, "state may include only")
        self.assert_breach({"src/model/pod_test.cc": '#include "manifest/decode.h"\n'}, "model may include only")

    def test_plugins_cannot_see_each_other(self):
        own = '#include "plugins/node_ports.h"\n#include "plugins/filter.h"\n'
        self.assert_clean({"src/plugins/node_ports.cc": own, "src/plugins/node_ports_test.cc": own})
        self.assert_clean({"src/plugins/filters.cc": own})
        self.assert_breach({"src/plugins/taints.cc": own}, "plugins cannot see each other")

    def test_folders(self):
        self.assert_breach({"src/misc/x.cc": ""}, "not in a folder")
        self.assert_breach({"src/base/x.cc": '#include "id.h"\n'}, "name the folder too")
        self.assert_breach({"src/base/x.cc": '#include "elsewhere/id.h"\n'}, "no folder of src/")

    def test_links(self):
        page = "# How it works\n\n## A `name` of [two](other.md) words\n\n## Again\n\n## Again\n"
        source = {"src/base/x.cc": ""}
        good = "[a](docs/page.md) [b](docs/page.md#a-name-of-two-words) [c](docs/page.md#again-1) [d](#e)\n\n# E\n`[x](nowhere)`\n"
        both = {**source, "docs/page.md": page, "docs/other.md": "```\n[x](nowhere)\n```\n[out](https://example.com/x#y)\n"}
        self.assert_clean({**both, "README.md": good})
        self.assert_breach({**both, "README.md": "\n[x](docs/pages.md)\n"}, "README.md:2: docs/pages.md leads nowhere")
        self.assert_breach({**both, "README.md": "[x](docs/page.md#again-2)\n"}, "docs/page.md has no heading #again-2")
        self.assert_breach({**both, "docs/picture.md": '<img src="pictures/one.png">\n'}, "pictures/one.png leads nowhere")

    def test_index_of_decisions(self):
        files = {"src/base/x.cc": "", "docs/decisions/0001-x.md": "# 1. X\n"}
        self.assert_clean({**files, "docs/decisions/README.md": "[1](0001-x.md)\n"})
        self.assert_breach(files, "docs/decisions/0001-x.md:1: docs/decisions/README.md does not list it")

    def test_one_definition(self):
        demand = "namespace reprieve {\nstruct Demand {\n};\n}  // namespace reprieve\n"
        own = "namespace reprieve {\nnamespace {\nstruct Demand {\n};\n}  // namespace\n}  // namespace reprieve\n"
        told = "namespace reprieve {\nstruct Demand;\n}  // namespace reprieve\n"
        self.assert_clean({"src/state/x.cc": demand, "src/kube/x.cc": own, "src/kube/y.cc": told, "src/kube/z.cc": own})
        self.assert_clean({"src/state/x.cc": demand, "src/kube/x.cc": demand.replace("reprieve {", "reprieve::kube {")})
        self.assert_breach({"src/state/x.cc": demand, "src/kube/x.cc": demand}, "reprieve::Demand is also a type of src/kube/x.cc")

    def test_sizes(self):
        self.assert_clean({"src/base/x.cc": "\n" * 600})
        self.assert_breach({"src/base/x.cc": "\n" * 601}, "601 lines")

    def test_names(self):
        self.assert_clean({"src/base/x.cc": "class Information;\nstruct Implied;\n// class PodManager\nusing fmt::format_context;\n"})
        self.assert_breach({"src/base/x.cc": "\nclass PodManager {};\n"}, "src/base/x.cc:2: the name PodManager")
        self.assert_breach({"src/base/x.cc": "namespace reprieve::utils {}\n"}, "utils")
        self.assert_breach({"src/base/x.cc": "using PodInfo = int;\n"}, "PodInfo")
        self.assert_breach({"src/base/string_util.cc": ""}, "string_util.cc")

    def test_failures_are_values(self):
        self.assert_clean({"src/base/x.cc": '// they throw\nconst char* kText = "throw";\n'})
        self.assert_breach({"src/base/x.cc": "void f() { throw 1; }\n"}, "no exceptions")

    def test_clock_and_chance_are_inputs(self):
        now = "auto t = std::chrono::system_clock::now();\n"
        self.assert_clean({"src/app/x.cc": now})
        self.assert_breach({"src/search/x.cc": now}, "clock and chance")
        self.assert_breach({"src/plugins/x.cc": "std::random_device d;\n"}, "clock and chance")

    def test_headers(self):
        self.assert_breach({"src/base/x.h": "#pragma once\n"}, "opens with")
        self.assert_breach({"src/base/x.h": "// What this is.\n"}, "#pragma once")

    def test_texts(self):
        self.assert_clean({"docs/x.md": "see https://example.com/home/page and network/work/x\n"})
        self.assert_breach({"docs/x.md": "\nin /home/me/reprieve\n"}, "docs/x.md:2: a path of one machine")
        self.assert_breach({"examples/x.yaml": "# TODO\n"}, "unfinished")
        self.assert_breach({"ui/src/x.tsx": "// TODO\n"}, "unfinished")
        self.assert_clean({"ui/node_modules/x/y.ts": "// TODO\n"})
        self.assert_breach({"Makefile": "# FIXME\n"}, "unfinished")


if __name__ == "__main__":
    unittest.main()
