"""A cluster for people; see scripts/sandbox."""

import pathlib
import shutil
import signal
import sys
import threading

from .cluster import Cluster
from .components import CONTROLLERS

_USERS = ("admin", "reprieve")


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    print("starting a control plane (built on first use, which takes about ten minutes)", flush=True)
    with Cluster(controllers=(*CONTROLLERS, "resourcequota-controller"), kwok=True, access=False) as cluster:
        cluster.objects.nodes(3)
        for user in _USERS:
            shutil.copy(cluster.kubeconfig(user), folder / f"{user}.kubeconfig")
        print(f"ready; in another terminal:\n\n    export KUBECONFIG={folder}/admin.kubeconfig\n", flush=True)
        ended.wait()
        print("stopping", flush=True)
    for user in _USERS:
        (folder / f"{user}.kubeconfig").unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1])
