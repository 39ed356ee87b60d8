#!/usr/bin/env python3
"""The rules of docs/architecture.md and CONTRIBUTING.md that a machine can check.

    check_layers.py [ROOT]      prints `file:line: what is wrong` for each breach; exit code 1 if there is one
"""
import re
import sys
from pathlib import Path

# Which folders of src/ a folder may include, itself aside. Arrows go one way; a folder not listed here may not exist.
CORE = {"base", "model", "state"}
DIRECTIONS = {
    "base": set(),
    "cel": {"base"},
    "model": {"base"},
    "manifest": {"base", "model"},
    "state": {"base", "cel", "model"},
    "plugins": CORE,
    "search": CORE | {"plugins"},
    "actions": CORE | {"plugins", "search"},
    "explain": CORE | {"manifest", "plugins", "search", "actions"},
    "audit": CORE | {"cel"},
    "loop": CORE | {"manifest", "plugins", "search", "actions", "audit"},
    "text": CORE | {"explain"},
    "record": CORE | {"manifest", "plugins", "search", "actions", "audit", "loop"},
    "referee": CORE | {"manifest", "plugins", "search", "actions", "audit", "loop", "record"},
    "sim": {"base", "model", "manifest"},
    "simulate": CORE | {"manifest", "audit", "loop"},
    "kube": {"base", "model", "manifest"},
    "web": {"base", "model", "manifest"},
    "window": CORE | {"manifest", "plugins", "search", "actions", "explain", "audit", "loop", "record", "web"},
}
DIRECTIONS["app"] = set(DIRECTIONS)

# Unit tests of these folders may also decode manifests: a world is easiest to read as text.
TESTS_MAY_USE_MANIFEST = {"state", "plugins", "search", "actions", "audit"}
# Those of the loop, and the worlds they share (x_world.h), run on the embedded cluster.
LOOP_TESTS = re.compile(r"\w+_(test|world)")

# Plugins cannot see each other. These headers of src/plugins are the contract that all of them share ...
PLUGIN_CONTRACT = {f"plugins/{name}.h" for name in ("filter", "give_rule", "proportion", "score", "shares", "victim_vote")}
# ... and these files know every plugin, because listing them is their purpose.
PLUGIN_LISTS = {"filters.h", "filters.cc"}
# Limits of queues and of quotas, grants among them, are one plugin in several files.
ONE_PLUGIN = re.compile(r"quota_\w+|grants|limits")

# The decision code gets clock and chance as inputs, or it could not be replayed.
DETERMINISTIC = CORE | {"manifest", "plugins", "search", "actions", "audit"}
CHANCE = re.compile(r"system_clock::now|\brandom_device\b|\bs?rand\(|\btime\((nullptr|NULL|0)\)")

LINES_MAX = 600

# A name that wants one of these words stands for a concept that has not been found yet.
EMPTY_WORDS = {"manager", "helper", "helpers", "util", "utils", "common", "info", "impl", "context"}
DECLARATION = re.compile(r"\b(?:class|struct|union|concept|namespace|enum(?:\s+class)?|using(?=\s+\w+\s*=))\s+(?:\[\[\w+\]\]\s*)?([\w:]+)")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
THROW = re.compile(r"\bthrow\b")
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|home|root|Users)/\w")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")

TEXT_FOLDERS = ("src", "tests", "bench", "docs", "examples", "scripts", "cmake", "deploy", "ui", ".ci")
TEXT_SUFFIXES = {
    "", ".bash", ".cc", ".cmake", ".css", ".fish", ".go", ".h", ".html", ".in", ".js", ".json", ".md", ".mjs", ".py", ".sh", ".ts", ".tsx",
    ".txt", ".yaml", ".yml",
}
# Not written here: what tools put beside the sources, and the fuzzers' inputs.
MADE_FOLDERS = {"__pycache__", "corpus", "dist", "node_modules"}
# These files have to spell what they forbid.
SPELLS_THE_FORBIDDEN = {"tests/layering/check_layers.py", "tests/layering/check_layers_test.py"}
NOT_OURS = {"LICENSE", ".git"}  # in a linked work tree, .git is a file


def is_test(path):
    return path.stem.endswith("_test")


def stem(path):
    return path.stem.removesuffix("_test")


def without_comments(text):
    """The code with comments and string contents blanked out; line numbers stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def may_include(path, folder, header):
    """None if src/folder/path may include the header, else the reason why not."""
    target = header.split("/")[0] if "/" in header else None
    if target is None:
        return "name the folder too (includes are relative to src/)"
    if target not in DIRECTIONS:
        return f"'{target}' is no folder of src/"
    if target == folder:
        same = Path(header).stem == stem(path) or all(map(ONE_PLUGIN.fullmatch, (Path(header).stem, stem(path))))
        if folder == "plugins" and header not in PLUGIN_CONTRACT and path.name not in PLUGIN_LISTS and not same:
            return "plugins cannot see each other"
        return None
    allowed = DIRECTIONS[folder] | ({"manifest"} if is_test(path) and folder in TESTS_MAY_USE_MANIFEST else set())
    if folder == "loop" and LOOP_TESTS.fullmatch(path.stem):
        allowed = allowed | {"sim"}
    if target not in allowed:
        return f"{folder} may include only {', '.join(sorted(allowed)) or 'nothing'} (docs/architecture.md)"
    return None


def check_names(path, code):
    if set(re.split(r"[_\-]", stem(path).lower())) & EMPTY_WORDS:
        yield 1, f"the file's name says nothing: {path.name}"
    for number, line in enumerate(code.splitlines(), 1):
        for name in DECLARATION.findall(line):
            empty = {word.lower() for word in WORDS.findall(name)} & EMPTY_WORDS
            if empty:
                yield number, f"the name {name} says nothing ('{empty.pop()}')"


def check_source(path, folder):
    """Breaches in one file of src/, as (line, text)."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > LINES_MAX:
        yield LINES_MAX + 1, f"{len(lines)} lines; a file over {LINES_MAX} holds more than one idea"
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        reason = may_include(path, folder, match.group(1)) if match else None
        if reason:
            yield number, f'"{match.group(1)}": {reason}'
    code = without_comments(text)
    yield from check_names(path, code)
    for number, line in enumerate(code.splitlines(), 1):
        if THROW.search(line):
            yield number, "no exceptions of our own: return a Result"
        if folder in DETERMINISTIC and CHANCE.search(line):
            yield number, "clock and chance are inputs here"
    if path.suffix == ".h":
        if not lines or not lines[0].startswith("//"):
            yield 1, "a header opens with what it is"
        if "#pragma once" not in lines:
            yield 1, "#pragma once is missing"


def check_text(path):
    """Breaches in any text of the repository, as (line, text)."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"
        if UNFINISHED.search(line):
            yield number, "unfinished work is not kept in the sources"


NAMESPACE = re.compile(r"namespace(?:\s+([\w:]+))?\s*\{")
TYPE = re.compile(r"(?:template\s*<[^{;]*>\s*)?(?:struct|class|union|enum(?:\s+class)?)\s+([\w:]+)[^;()]*\{")


def shared_types(text):
    """The types that a file defines for the whole program, as (line, qualified name): those of no anonymous namespace.
    It knows the repository's layout, in which namespaces and their types begin at the margin."""
    open_namespaces = []
    for number, (line, code) in enumerate(zip(text.splitlines(), without_comments(text).splitlines()), 1):
        if line.startswith("}  // namespace"):
            open_namespaces = open_namespaces[:-1]
        elif match := NAMESPACE.match(code):
            if not code.rstrip().endswith("}"):
                open_namespaces.append(match[1])
        elif (match := TYPE.match(code)) and None not in open_namespaces:
            yield number, "::".join([*open_namespaces, match[1]])


def check_one_definition(root, paths):
    """Two types of one name in one namespace: whichever of their inline functions the linker keeps, one of them is wrong."""
    first = {}
    for path in paths:
        for line, name in shared_types(path.read_text(encoding="utf-8")):
            if name in first:
                yield f"{path.relative_to(root)}:{line}: {name} is also a type of {first[name]}"
            first.setdefault(name, path.relative_to(root))


def check_decisions(root):
    """The index of decisions lists every one of them."""
    folder = root / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8") if (folder / "README.md").exists() else ""
    for path in sorted(folder.glob("[0-9]*.md")):
        if f"({path.name})" not in index:
            yield f"{path.relative_to(root)}:1: docs/decisions/README.md does not list it"


def source_files(root):
    return sorted(p for p in (root / "src").rglob("*") if p.suffix in {".h", ".cc"})


def text_files(root):
    files = [p for p in root.iterdir() if p.is_file() and p.suffix in TEXT_SUFFIXES and p.name not in NOT_OURS]
    for folder in TEXT_FOLDERS:
        files += [p for p in (root / folder).rglob("*") if p.is_file() and p.suffix in TEXT_SUFFIXES]
    return sorted(p for p in files if not MADE_FOLDERS & set(p.relative_to(root).parts))


FENCED = re.compile(r"^( *)(```|~~~).*?^ *\2[^\n]*$", re.S | re.M)
HEADING = re.compile(r"^#{1,6} +(.*?) *#* *$", re.M)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)|\b(?:src|srcset|href)=\"([^\"]+)\"")
MADE_ANCHOR = re.compile(r"<a +(?:id|name)=\"([^\"]+)\"")


def without_fences(text):
    """The text with fenced code blanked out; line numbers stay."""
    return FENCED.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def anchors(text):
    """What links into this page may name: its headings, as GitHub spells them, and anchors that are set by hand."""
    found = set(MADE_ANCHOR.findall(text))
    for heading in HEADING.findall(without_fences(text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(slug if slug not in found else next(f"{slug}-{i}" for i in range(1, 100) if f"{slug}-{i}" not in found))
    return found


def check_links(root):
    """Links between pages lead to a file, and to a heading of it if they name one."""
    pages = {path: path.read_text(encoding="utf-8") for path in text_files(root) if path.suffix == ".md"}
    known = {path: anchors(text) for path, text in pages.items()}
    for path, text in pages.items():
        for number, line in enumerate(without_fences(text).splitlines(), 1):
            for link in (one or other for one, other in LINK.findall(re.sub(r"`[^`]*`", "", line))):
                if re.match(r"[a-z]+:", link):
                    continue
                target, _, anchor = link.partition("#")
                page = (path.parent / target).resolve() if target else path
                if not page.exists():
                    yield f"{path.relative_to(root)}:{number}: {link} leads nowhere"
                elif anchor and page in known and anchor not in known[page]:
                    yield f"{path.relative_to(root)}:{number}: {target or path.name} has no heading #{anchor}"


def breaches(root):
    """Every breach below root as one line of text."""
    found = []
    for path in source_files(root):
        name = path.relative_to(root)
        folder = name.parts[1] if len(name.parts) > 2 else None
        if folder not in DIRECTIONS:
            found.append(f"{name}:1: not in a folder that docs/architecture.md names")
            continue
        found += [f"{name}:{line}: {text}" for line, text in check_source(path, folder)]
    found += check_one_definition(root, source_files(root))
    found += check_links(root)
    found += check_decisions(root)
    for path in text_files(root):
        name = path.relative_to(root).as_posix()
        if name not in SPELLS_THE_FORBIDDEN:
            found += [f"{name}:{line}: {text}" for line, text in check_text(path)]
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    if not source_files(root):
        print(f"no sources below {root}/src")
        return 1
    found = breaches(root)
    print("\n".join(found) or f"{len(source_files(root))} sources, every rule holds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
