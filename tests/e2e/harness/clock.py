"""A wrong wall clock for one process, by libfaketime (Debian's package faketime)."""

import pathlib


def shifted(by):
    """The environment in which a program's wall clock is off by that much ("+10m"). Monotonic time stays right."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    assert found, "libfaketime is missing: install it first (scripts/setup test)"
    return {"LD_PRELOAD": str(found[0]), "FAKETIME": by, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
