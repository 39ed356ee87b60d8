{{- /* What Reprieve may do, by feature: the same as deploy/base, each verb with its reason. */ -}}
{{- define "reprieve.rules.core" }}
# --- Read: every kind is listed once and then watched, never fetched by name.

# Where pods can run; which volumes tie them to a place; labels of namespaces for the namespace selectors of affinity.
- apiGroups: [""]
  resources: [nodes, namespaces, persistentvolumes, persistentvolumeclaims]
  verbs: [list, watch]
# Priority of pods that only name their class, and rules that stand on the class (min-runtime, preemptible).
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [list, watch]
# Whom a disruption budget protects, and how many may still go.
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
# Whether a claim waits for its first consumer; how many volumes a node can attach.
- apiGroups: [storage.k8s.io]
  resources: [storageclasses, csinodes, csidrivers, csistoragecapacities]
  verbs: [list, watch]
# Whose replicas pods of serving deployments are.
- apiGroups: [apps]
  resources: [deployments, replicasets]
  verbs: [list, watch]

# --- Pods: what decisions are about.

# list, watch: what runs and what waits.
# get: a bind that met a conflict, or a bind or eviction whose answer got lost, is looked at before it counts as failed.
# patch: take away the recorded plan once it is fulfilled; claims and deletion-cost hints of serving.
# delete: a victim in mode delete, with its UID as precondition and its own grace.
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, patch, delete]
# patch: record the plan and the nomination on the preemptor, mark victims (DisruptionTarget), say why a pod waits.
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
# create: the binding itself.
- apiGroups: [""]
  resources: [pods/binding]
  verbs: [create]
# create: a victim in mode evict, and always where budgets are strict: the API server has the last word.
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]

# --- What stands around pods.

# create: tell people what was decided and why. patch: count a repeated event up instead of writing another.
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}
{{- define "reprieve.rules.volumes" }}
# A claim that waits for its first consumer is told the node where its disk is to be made, or gets a disk that is there;
# each is read before it is written.
- apiGroups: [""]
  resources: [persistentvolumes, persistentvolumeclaims]
  verbs: [get, patch]
{{- end }}
{{- define "reprieve.rules.gangs" }}
# Gangs and topology, in the dialects of Kubernetes itself, Volcano, Koordinator and the scheduler-plugins. A cluster
# without these kinds loses nothing by the rules for them.
- apiGroups: [scheduling.k8s.io]
  resources: [podgroups, compositepodgroups]
  verbs: [list, watch]
- apiGroups: [scheduling.volcano.sh]
  resources: [podgroups]
  verbs: [list, watch]
- apiGroups: [topology.volcano.sh]
  resources: [hypernodes]
  verbs: [list, watch]
- apiGroups: [batch.volcano.sh]
  resources: [jobs]
  verbs: [list, watch]
- apiGroups: [scheduling.x-k8s.io, scheduling.sigs.k8s.io]
  resources: [podgroups]
  verbs: [list, watch]
# patch: whether a gang has its place, in the words of its own kind; that the group of a Volcano job may come in.
- apiGroups: [scheduling.k8s.io, scheduling.volcano.sh]
  resources: [podgroups/status]
  verbs: [patch]
{{- end }}
{{- define "reprieve.rules.queues" }}
- apiGroups: [scheduling.volcano.sh]
  resources: [queues]
  verbs: [list, watch]
- apiGroups: [scheduling.x-k8s.io, scheduling.sigs.k8s.io]
  resources: [elasticquotas]
  verbs: [list, watch]
# patch: what a queue was granted (annotations reprieve.dev/allocated and reprieve.dev/queue-status).
- apiGroups: [scheduling.volcano.sh]
  resources: [queues]
  verbs: [patch]
- apiGroups: [scheduling.x-k8s.io, scheduling.sigs.k8s.io]
  resources: [elasticquotas]
  verbs: [patch]
{{- end }}
{{- define "reprieve.rules.serving" }}
# Serving deployments over several planes, and the Knative revisions that can be their commits.
- apiGroups: [reprieve.dev]
  resources: [servingdeployments]
  verbs: [list, watch]
- apiGroups: [serving.knative.dev]
  resources: [revisions]
  verbs: [list, watch]
# patch: take replicas from a serving deployment of lower priority. get: whether somebody else scaled meanwhile.
- apiGroups: [apps]
  resources: [deployments/scale]
  verbs: [get, patch]
# The same for a Knative revision, whose limit is an annotation of its own.
- apiGroups: [serving.knative.dev]
  resources: [revisions]
  verbs: [get, patch]
{{- end }}
{{- define "reprieve.rules.resource-quotas" }}
# create, patch: the same as a ResourceQuota, where queueBalance has resourceQuota: true.
- apiGroups: [""]
  resources: [resourcequotas]
  verbs: [create, patch]
{{- end }}
{{- define "reprieve.rules.dra" }}
# What drivers offer, and what is claimed of it.
- apiGroups: [resource.k8s.io]
  resources: [resourceslices, deviceclasses, resourceclaims, resourceclaimtemplates, devicetaintrules]
  verbs: [list, watch]
# get: a class has configuration for its driver, which goes into the allocation; a claim is read before it is written.
- apiGroups: [resource.k8s.io]
  resources: [deviceclasses, resourceclaims]
  verbs: [get]
# update: a claim that gets devices is kept from being deleted under its user. create: the claim that stands for the
# extended resources of a pod (nvidia.com/gpu with a DeviceClass behind it).
- apiGroups: [resource.k8s.io]
  resources: [resourceclaims]
  verbs: [update, create]
# The devices of a claim and its users; the second is a right of its own since Kubernetes 1.37.
- apiGroups: [resource.k8s.io]
  resources: [resourceclaims/status, resourceclaims/binding]
  verbs: [update]
{{- end }}
