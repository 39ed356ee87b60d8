{{- define "reprieve.labels" -}}
app.kubernetes.io/name: reprieve
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "reprieve.selector" -}}
app.kubernetes.io/name: reprieve
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* Cluster-wide names carry the namespace where there may be two installations. */ -}}
{{- define "reprieve.cluster" -}}
{{- if eq .Release.Namespace "reprieve-system" }}reprieve{{ else }}reprieve-{{ .Release.Namespace }}{{ end }}
{{- end }}

{{- define "reprieve.subject" -}}
- kind: ServiceAccount
  name: {{ .Values.serviceAccount.name }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* A ClusterRole and its binding: (dict "root" $ "name" "gangs" "rules" text) */ -}}
{{- define "reprieve.role" -}}
{{- $name := printf "%s%s" (include "reprieve.cluster" .root) (ternary "" (printf "-%s" .name) (eq .name "")) -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $name }}
  labels:
    {{- include "reprieve.labels" .root | nindent 4 }}
rules:
{{ .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
  labels:
    {{- include "reprieve.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
{{ include "reprieve.subject" .root }}
{{- end }}
