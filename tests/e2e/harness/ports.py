"""Free loopback ports.

Chosen below the range from which the kernel takes ports for outgoing connections, so that a port found free
stays free until its owner binds it. A port is never handed out twice by one process.
"""

import random
import socket
import threading

_FIRST, _LAST = 20000, 32000
_lock = threading.Lock()
_given = set()


def free_port():
    with _lock:
        for _ in range(1000):
            port = random.randint(_FIRST, _LAST)
            if port not in _given and _is_free(port):
                _given.add(port)
                return port
    raise RuntimeError("no free port on loopback")


def _is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
