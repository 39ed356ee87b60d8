"""Where the programs come from: the cached control plane, and our own small Go programs."""

import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

E2E = pathlib.Path(__file__).resolve().parent.parent
ROOT = E2E.parent.parent


@functools.cache
def control_plane():
    """The folder with etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok; built if missing."""
    done = subprocess.run([E2E / "controlplane" / "build"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError("the control plane could not be built")
    return pathlib.Path(done.stdout.strip())


@functools.cache
def go_program(source):
    """The program built from a folder of Go files, cached by their content and the versions they depend on."""
    source = pathlib.Path(source)
    files = sorted([*source.glob("*.go"), *source.glob("go.*")])
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    cache = _cache()
    final = cache / f"{source.name}-{digest.hexdigest()[:12]}"
    if not final.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _build(source, final)
    return final


@functools.cache
def kubectl():
    """The one on the path; where there is none, the one of the control plane's own version, built once."""
    found = shutil.which("kubectl")
    if found:
        return pathlib.Path(found)
    module = E2E / "controlplane" / "kubernetes"
    digest = hashlib.sha256((module / "go.sum").read_bytes()).hexdigest()[:12]
    final = _cache() / f"kubectl-{digest}"
    if not final.exists():
        final.parent.mkdir(parents=True, exist_ok=True)
        _build(module, final, "k8s.io/kubernetes/cmd/kubectl")
    return final


def _cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "reprieve" / "programs"


def _build(source, final, package="."):
    folder = tempfile.mkdtemp(prefix="partial.", dir=final.parent)
    try:
        built = pathlib.Path(folder) / source.name
        done = subprocess.run(
            ["go", "build", "-p", "2", "-buildvcs=false", "-trimpath", "-o", built, package],
            cwd=source,
            env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"go build of {source.name} failed:\n{done.stderr}")
        built.rename(final)
    finally:
        shutil.rmtree(folder)
