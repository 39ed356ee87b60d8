"""A real Kubernetes control plane on loopback, for tests and benchmarks. Python's standard library only.

    from harness import Cluster

    with Cluster(controllers=True, kwok=True) as cluster:
        cluster.objects.nodes(3)
        pods = cluster.objects.pods(10, cpu="500m")
        cluster.start_kube_scheduler()
        cluster.wait_for(lambda: cluster.objects.all_bound(pods), 30, "all pods bound")

Everything that is started is ended when the block is left, in reverse order, however it is left.
"""

from .client import ApiError, Client, ConnectionLost
from .cluster import Cluster
from .faults import FaultProxy
from .process import Process
from .recorder import Recorder
from .waiting import NotInTime, wait_for

__all__ = [
    "ApiError",
    "Client",
    "Cluster",
    "ConnectionLost",
    "FaultProxy",
    "NotInTime",
    "Process",
    "Recorder",
    "wait_for",
]
