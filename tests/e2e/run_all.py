#!/usr/bin/env python3
"""Runs the end-to-end tests, class by class, several classes at a time: each has a control plane of its own, and most of
their time is waiting.

    run_all.py                     everything
    run_all.py NAME...             modules, classes or tests, as unittest names them
    run_all.py --jobs 1 -v         one after the other, all output

A class that fails is run once more, alone, to tell a defect from one that shows now and then. Neither is a pass: a class
that passes the second time is reported as flaky and fails the run, unless --allow-flaky says that this is known.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def classes_of(suite):
    """All test classes in a suite, in order, each once."""
    found = []
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            found += classes_of(item)
        elif type(item).__name__ == "_FailedTest":
            raise SystemExit(f"cannot load {item.id()}\n{item._exception}")
        else:
            found.append(type(item))
    return list(dict.fromkeys(found))


def in_order(classes):
    """Their names. Those that take minutes come first, or they would run alone at the end, when all others are done."""
    ordered = sorted(classes, key=lambda one: not getattr(one, "takes_long", False))
    return [f"{one.__module__}.{one.__qualname__}" for one in ordered]


class Result:
    def __init__(self, name, verbose):
        begun = time.monotonic()
        command = [sys.executable, "-m", "unittest", "-v", name]
        lines = []
        with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as test:
            for line in test.stdout:
                lines.append(line)
                if verbose:
                    print(line, end="", flush=True)
            _, status, usage = os.wait4(test.pid, 0)
            test.returncode = os.waitstatus_to_exitcode(status)
        self.name = name
        self.output = "".join(lines)
        self.passed = test.returncode == 0
        self.cpu = usage.ru_utime + usage.ru_stime  # of all programs that it started, too
        self.seconds = time.monotonic() - begun
        ran = re.search(r"^Ran (\d+) test", self.output, re.MULTILINE)
        self.tests = int(ran.group(1)) if ran else 0

    def line(self):
        verdict = "ok    " if self.passed else "FAILED"
        return f"{verdict} {self.name:42} {self.tests:3} tests {self.seconds:6.0f} s, processor {self.cpu:4.0f} s"


def run_all(names, jobs, verbose):
    results = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in concurrent.futures.as_completed(pool.submit(Result, name, verbose) for name in names):
            results.append(done.result())
            print(results[-1].line(), flush=True)
            if not results[-1].passed and not verbose:
                print(f"\n==== {results[-1].name}\n{results[-1].output}", flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 2, help="classes at a time")
    parser.add_argument("-v", "--verbose", action="store_true", help="print everything; implies --jobs 1")
    parser.add_argument("--allow-flaky", action="store_true", help="classes that pass only the second time are fine")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    loader = unittest.TestLoader()
    if options.names:
        names = options.names
    else:
        names = in_order(classes_of(loader.discover(str(HERE), pattern="test_*.py")))
    begun = time.monotonic()
    results = run_all(names, 1 if options.verbose else options.jobs, options.verbose)
    failed = [one for one in results if not one.passed]
    again = []
    if failed and not options.names:
        print(f"once more, alone: {', '.join(one.name for one in failed)}", flush=True)
        again = run_all([one.name for one in failed], 1, options.verbose)
    unsteady = [one.name for one in again if one.passed]
    if unsteady:
        print(f"flaky (passed only the second time): {', '.join(unsteady)}")
    broken = [one for one in again or failed if not one.passed]
    print(f"{sum(one.tests for one in results)} tests in {len(results)} classes, {time.monotonic() - begun:.0f} s")
    sys.exit(1 if broken or (unsteady and not options.allow_flaky) else 0)


if __name__ == "__main__":
    main()
