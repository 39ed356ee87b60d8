"""Command lines of the control plane's programs. Nothing is started here."""

GANG_GATES = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"

# What tests need: workloads, disruption budgets, and cleaning up after deletion.
CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "job-controller",
    "disruption-controller",
    "pod-garbage-collector-controller",
    "garbage-collector-controller",
    "namespace-controller",
)

AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request  # how many replicas, how much grace
  verbs: [patch, delete]
  resources: [{group: apps, resources: [deployments/scale]}, {group: "", resources: [pods]}]
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
"""

# Of a long run the whole would fill the disk.
EVICTIONS_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  userGroups: ["system:serviceaccounts:kube-system", "system:nodes", "system:masters"]
- level: Metadata
  verbs: [create, delete]
  resources: [{group: "", resources: [pods, pods/eviction]}]
- level: None
"""

# Where answers take long, because the machine is busy, few hands cannot keep up.
MANY_AT_ONCE = [
    "--concurrent-gc-syncs=100",
    "--concurrent-deployment-syncs=20",
    "--concurrent-replicaset-syncs=20",
    "--concurrent-job-syncs=20",
]
# As it comes, KWOK starts and stops four pods of the whole cluster at a time.
KWOK_MANY_AT_ONCE = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  podPlayStageParallelism: 64
  nodePlayStageParallelism: 4
  nodeLeaseParallelism: 4
"""


def etcd(program, folder, client_url, peer_url):
    return [
        program,
        f"--data-dir={folder}",
        "--unsafe-no-fsync",
        "--log-level=error",
        "--name=e2e",
        f"--listen-client-urls={client_url}",
        f"--advertise-client-urls={client_url}",
        f"--listen-peer-urls={peer_url}",
        f"--initial-advertise-peer-urls={peer_url}",
        f"--initial-cluster=e2e={peer_url}",
        f"--quota-backend-bytes={8 << 30}",
    ]


def kube_apiserver(program, port, etcd_url, pki, token_file, signing_public):
    return [
        program,
        f"--etcd-servers={etcd_url}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={pki.certificate('kube-apiserver')}",
        f"--tls-private-key-file={pki.key('kube-apiserver')}",
        f"--client-ca-file={pki.authority}",
        f"--token-auth-file={token_file}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={signing_public}",
        f"--service-account-signing-key-file={pki.key('service-account')}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        "--profiling=false",
    ]


def apiserver_gang_flags():
    return [f"--feature-gates={GANG_GATES}", "--runtime-config=scheduling.k8s.io/v1beta1=true"]


def kube_controller_manager(program, port, kubeconfig, pki, controllers):
    return [
        program,
        f"--kubeconfig={kubeconfig}",
        f"--controllers={','.join(controllers)}",
        "--leader-elect=false",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--tls-cert-file={pki.certificate('kube-controller-manager')}",
        f"--tls-private-key-file={pki.key('kube-controller-manager')}",
        f"--service-account-private-key-file={pki.key('service-account')}",
        f"--root-ca-file={pki.authority}",
        "--kube-api-qps=2000",
        "--kube-api-burst=4000",
        "--profiling=false",
    ]


def kube_scheduler(program, port, config, pki):
    return [
        program,
        f"--config={config}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--tls-cert-file={pki.certificate('kube-scheduler')}",
        f"--tls-private-key-file={pki.key('kube-scheduler')}",
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
    ]


def kube_scheduler_config(kubeconfig, scheduler_name, content_type):
    return f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
clientConnection:
  kubeconfig: {kubeconfig}
  contentType: {content_type}
  qps: 5000
  burst: 5000
profiles:
- schedulerName: {scheduler_name}
"""


def kwok(program, port, kubeconfig, stages, lease_seconds):
    return [
        program,
        f"--kubeconfig={kubeconfig}",
        f"--config={stages}",
        f"--server-address=127.0.0.1:{port}",
        "--manage-all-nodes=false",
        "--manage-nodes-with-label-selector=e2e.reprieve.dev/kubelet!=lost",
        f"--node-lease-duration-seconds={lease_seconds}",
    ]
