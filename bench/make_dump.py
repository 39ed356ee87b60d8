#!/usr/bin/env python3
"""Writes what `kubectl get nodes,pods -A -o json` would print for a made-up cluster: the input of the load benchmarks.

    bench/make_dump.py --nodes 5000 --pods 150000 -o dump.json

Same arguments, same bytes. Pods belong to Deployments, StatefulSets and Jobs with templates of their own, and carry what real ones carry:
environment, probes, volumes, tolerations, conditions and container statuses: about 4 KB each with --compact, as the API server writes them, and
10 KB when indented as kubectl does. The compact form is the harder one: no spaces to skip.
"""
import argparse
import json
import random
import sys

ZONES = ("eu-central-1a", "eu-central-1b", "eu-central-1c")
NAMESPACES = [f"team-{i:02d}" for i in range(40)]
CREATED = "2026-01-01T08:00:00Z"
TOLERATIONS = [{"effect": "NoExecute", "key": f"node.kubernetes.io/{k}", "operator": "Exists", "tolerationSeconds": 300}
               for k in ("not-ready", "unreachable")]


def uid(rng):
    digits = f"{rng.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def node(i, rng):
    name = f"ip-10-{i // 250 // 250}-{i // 250 % 250}-{i % 250}.eu-central-1.compute.internal"
    gpus = {"nvidia.com/gpu": "8"} if i % 4 == 0 else {}
    amounts = {"cpu": "95690m", "ephemeral-storage": "95551679124", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "memory": "387093512Ki",
               "pods": "110", **gpus}
    conditions = [{"lastHeartbeatTime": "2026-01-01T11:59:12Z", "lastTransitionTime": CREATED, "message": f"kubelet has {kind.lower()} in order",
                   "reason": f"Kubelet{kind}", "status": "True" if kind == "Ready" else "False", "type": kind}
                  for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")]
    images = [{"names": [f"registry.example.com/app-{k}@sha256:{k:064x}", f"registry.example.com/app-{k}:1.{k % 7}.{k % 13}"],
               "sizeBytes": 80_000_000 + 1_000_003 * k} for k in sorted(rng.sample(range(120), 20))]
    labels = {"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name,
              "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "m6i.24xlarge", "topology.kubernetes.io/region": "eu-central-1",
              "topology.kubernetes.io/zone": ZONES[i % 3], "row": f"row-{i // 64}", "rack": f"rack-{i // 16}"}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"annotations": {"csi.volume.kubernetes.io/nodeid": json.dumps({"ebs.csi.aws.com": f"i-{i:017x}"}),
                                         "node.alpha.kubernetes.io/ttl": "15", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
                         "creationTimestamp": CREATED, "labels": labels, "name": name, "resourceVersion": str(9_000_000 + i), "uid": uid(rng)},
            "spec": {"podCIDR": f"10.{i % 250}.{i // 250}.0/24", "providerID": f"aws:///{ZONES[i % 3]}/i-{i:017x}",
                     **({"taints": [{"effect": "NoSchedule", "key": "nvidia.com/gpu", "value": "present"}]} if gpus else {})},
            "status": {"addresses": [{"address": f"10.0.{i // 250}.{i % 250}", "type": "InternalIP"}, {"address": name, "type": "Hostname"}],
                       "allocatable": amounts, "capacity": {**amounts, "cpu": "96"}, "conditions": conditions,
                       "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}, "images": images,
                       "nodeInfo": {"architecture": "amd64", "containerRuntimeVersion": "containerd://1.7.27", "kernelVersion": "6.1.0",
                                    "kubeletVersion": "v1.33.1", "operatingSystem": "linux", "osImage": "Debian GNU/Linux 12"}}}


class Template:
    """What all pods of one workload share."""

    def __init__(self, i, rng):
        self.kind = ("ReplicaSet", "ReplicaSet", "StatefulSet", "Job")[i % 4]
        self.name, self.namespace = f"app-{i}", NAMESPACES[i % len(NAMESPACES)]
        self.owner_uid, self.hash = uid(rng), f"{rng.getrandbits(40):010x}"
        self.gpus = 1 << rng.randrange(4) if i % 16 == 3 else 0
        self.requests = {"cpu": f"{rng.choice((100, 250, 500, 1000, 2000))}m", "memory": f"{rng.choice((256, 512, 1024, 4096))}Mi"}
        self.limits = {"memory": self.requests["memory"]}
        if self.gpus:
            self.requests["nvidia.com/gpu"] = self.limits["nvidia.com/gpu"] = str(self.gpus)
        self.image = f"registry.example.com/app-{i % 120}:1.{i % 7}.{i % 13}"
        self.priority = rng.choice((0, 0, 0, 100, 1000, 10000))
        self.env = [{"name": f"SETTING_{k}", "value": f"https://service-{k}.{self.namespace}.svc.cluster.local:8443/v1"} for k in range(5)]
        self.env.append({"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}})

    def labels(self, pod_name):
        labels = {"app.kubernetes.io/instance": self.name, "app.kubernetes.io/name": self.name, "app.kubernetes.io/version": "1.4.2", "team": self.namespace}
        if self.kind == "ReplicaSet":
            labels["pod-template-hash"] = self.hash
        elif self.kind == "StatefulSet":
            labels["statefulset.kubernetes.io/pod-name"] = pod_name
        else:
            labels["batch.kubernetes.io/job-name"] = self.name
        return labels

    def affinity(self):
        term = {"labelSelector": {"matchLabels": {"app.kubernetes.io/name": self.name}}, "topologyKey": "kubernetes.io/hostname"}
        return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": term, "weight": 100}]}}


def pod(i, template, node_name, rng):
    t = template
    suffix = f"{rng.getrandbits(25):05x}"[:5]
    name = {"ReplicaSet": f"{t.name}-{t.hash}-{suffix}{i}", "StatefulSet": f"{t.name}-{i}", "Job": f"{t.name}-{i}-{suffix}"}[t.kind]
    token = f"kube-api-access-{suffix}"
    mounts = [{"mountPath": "/etc/config", "name": "config"}, {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token, "readOnly": True}]
    probe = {"failureThreshold": 3, "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
    container = {"env": t.env, "image": t.image, "imagePullPolicy": "IfNotPresent", "livenessProbe": probe, "name": "app",
                 "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}], "resources": {"limits": t.limits, "requests": t.requests},
                 "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "volumeMounts": mounts}
    volumes = [{"configMap": {"defaultMode": 420, "name": f"{t.name}-config"}, "name": "config"},
               {"name": token, "projected": {"defaultMode": 420, "sources": [
                   {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                   {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}}]}}]
    if t.kind == "StatefulSet":
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}})
    running = node_name is not None
    conditions = [{"lastProbeTime": None, "lastTransitionTime": CREATED, "status": "True" if running else "False", "type": kind}
                  for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")]
    status = {"conditions": conditions, "phase": "Running" if running else "Pending", "qosClass": "Burstable"}
    if running:
        status.update(hostIP=f"10.0.{i % 250}.{i // 250 % 250}", podIP=f"10.1.{i % 250}.{i // 250 % 250}", startTime=CREATED, containerStatuses=[{
            "allocatedResources": t.requests, "containerID": f"containerd://{rng.getrandbits(256):064x}", "image": t.image,
            "imageID": f"registry.example.com/app@sha256:{i % 120:064x}", "lastState": {}, "name": "app", "ready": True,
            "resources": {"limits": t.limits, "requests": t.requests}, "restartCount": 0, "started": True, "state": {"running": {"startedAt": CREATED}}}])
    tolerations = TOLERATIONS + ([{"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"}] if t.gpus else [])
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"annotations": {"prometheus.io/port": "8080", "prometheus.io/scrape": "true"}, "creationTimestamp": CREATED,
                         "generateName": f"{t.name}-", "labels": t.labels(name), "name": name, "namespace": t.namespace,
                         "ownerReferences": [{"apiVersion": "batch/v1" if t.kind == "Job" else "apps/v1", "blockOwnerDeletion": True, "controller": True,
                                              "kind": t.kind, "name": t.name, "uid": t.owner_uid}],
                         "resourceVersion": str(10_000_000 + i), "uid": uid(rng)},
            "spec": {"affinity": t.affinity(), "containers": [container], "dnsPolicy": "ClusterFirst", "enableServiceLinks": True,
                     **({"nodeName": node_name} if running else {}), "preemptionPolicy": "PreemptLowerPriority", "priority": t.priority,
                     "restartPolicy": "Always", "schedulerName": "reprieve", "securityContext": {}, "serviceAccount": t.name,
                     "serviceAccountName": t.name, "terminationGracePeriodSeconds": 30, "tolerations": tolerations, "volumes": volumes},
            "status": status}


def items(args):
    rng = random.Random(args.seed)
    nodes = [node(i, rng) for i in range(args.nodes)]
    yield from nodes
    names = [n["metadata"]["name"] for n in nodes]
    templates = [Template(i, rng) for i in range(max(1, args.pods // 50))]
    for i in range(args.pods):
        pending = not names or i % 100 == 99
        yield pod(i, templates[i % len(templates)], None if pending else names[i % len(names)], rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compact", action="store_true")
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args()
    out = sys.stdout if args.output == "-" else open(args.output, "w")
    with out:
        if args.compact:
            out.write('{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[')
            for i, item in enumerate(items(args)):
                out.write(("," if i else "") + json.dumps(item, separators=(",", ":"), sort_keys=True))
            out.write("]}\n")
            return
        out.write('{\n    "apiVersion": "v1",\n    "items": [')
        for i, item in enumerate(items(args)):
            text = json.dumps(item, indent=4, sort_keys=True)
            out.write((",\n        " if i else "\n        ") + text.replace("\n", "\n        "))
        out.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


if __name__ == "__main__":
    main()
