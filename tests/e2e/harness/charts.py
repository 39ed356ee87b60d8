"""The Helm chart, rendered with Helm itself."""

import functools
import subprocess

from .programs import E2E, ROOT

CHART = ROOT / "deploy" / "helm" / "reprieve"
VALUES = sorted((CHART / "ci").glob("*.yaml"))


@functools.cache
def helm():
    done = subprocess.run([E2E / "helm" / "build"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError("Helm could not be built")
    return done.stdout.strip()


def render(values, *flags, namespace="reprieve-system"):
    """The documents of `helm template` with one file of values, as text."""
    command = [helm(), "template", "reprieve", CHART, "--namespace", namespace, "--values", values, *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [one for one in done.stdout.split("\n---\n") if "\nkind: " in one]
