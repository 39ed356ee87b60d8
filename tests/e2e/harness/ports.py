"""Free loopback ports.

Chosen below the range from which the kernel takes ports for outgoing connections, so that a port found free
stays free until its owner binds it. A port is never handed out twice by one process, nor by two that run at the same time:
each keeps a lock on a file for every port that it has handed out.
"""

import fcntl
import os
import pathlib
import random
import socket
import tempfile
import threading

_FIRST, _LAST = 20000, 32000
_lock = threading.Lock()
_given = set()
_locks = []  # open files, until this process ends


def free_port():
    with _lock:
        for _ in range(1000):
            port = random.randint(_FIRST, _LAST)
            if port not in _given and _reserve(port) and _is_free(port):
                _given.add(port)
                return port
    raise RuntimeError("no free port on loopback")


def _reserve(port):
    folder = pathlib.Path(tempfile.gettempdir()) / f"reprieve-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    file = os.open(folder / str(port), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return False
    _locks.append(file)
    return True


def _is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
