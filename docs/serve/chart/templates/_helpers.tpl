{{- /* A pod adds 17 letters to the name, and a host has at most 64. */}}
{{- define "muster.name" -}}
{{- if contains "muster" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-muster" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "muster.selector" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{/* muster.check says which values are missing or do not go together. values.schema.json has what a value may be. */}}
{{- define "muster.check" -}}
{{- $v := .Values }}
{{- if not $v.publicUrl }}{{ fail "publicUrl is missing: say by which URL people reach the service, such as --set publicUrl=https://muster.example" }}{{ end }}
{{- if not (regexMatch "^https?://[^/?#\\s]+/?$" $v.publicUrl) }}{{ fail (printf "publicUrl is %s: write it with its scheme and without a path, such as https://muster.example" $v.publicUrl) }}{{ end }}
{{- if not (regexMatch "^((nats|tls|wss?)://[^\\s,]+(,(nats|tls|wss?)://[^\\s,]+)*)?$" $v.nats.url) }}{{ fail (printf "nats.url is %s: write it as nats://nats:4222, or with tls or wss, several with commas between them" $v.nats.url) }}{{ end }}
{{- if not $v.image.repository }}{{ fail "image.repository is missing: say where your image is, such as --set image.repository=ghcr.io/OWNER/muster (docs/serve/Containerfile builds it)" }}{{ end }}
{{- if not $v.image.tag }}{{ fail "image.tag is missing: say which release it is, such as --set image.tag=1.0.0" }}{{ end }}
{{- if and (not $v.nats.url) (not $v.persistence.enabled) }}{{ fail "nats.url or persistence.enabled is missing: say where rooms are kept, --set nats.url=nats://nats:4222 for many hosts, or --set persistence.enabled=true for one with a file" }}{{ end }}
{{- if and $v.nats.url $v.persistence.enabled }}{{ fail "nats.url and persistence.enabled are both set: rooms are in NATS or in a file, so leave one out" }}{{ end }}
{{- if and (gt (int $v.replicas) 1) (not $v.nats.url) }}{{ fail (printf "replicas is %d, and several hosts share their rooms through NATS: say nats.url, or replicas=1" (int $v.replicas)) }}{{ end }}
{{- if and $v.ingress.enabled (not $v.trustedProxies) }}{{ fail "trustedProxies is missing: with ingress.enabled say the addresses of the ingress controller's pods, such as --set trustedProxies={10.244.0.0/16}; otherwise all people share the limits of one address" }}{{ end }}
{{- if and $v.metrics.serviceMonitor.enabled (not $v.metrics.from) }}{{ fail "metrics.from is missing: with metrics.serviceMonitor.enabled say the network of Prometheus' pods, such as --set metrics.from={10.244.0.0/16}; others get 403" }}{{ end }}
{{- if and $v.networkPolicy.enabled (not $v.networkPolicy.proxies) }}{{ fail "networkPolicy.proxies is missing: with networkPolicy.enabled say which pods people come through, or nobody gets in" }}{{ end }}
{{- if and $v.networkPolicy.enabled $v.metrics.serviceMonitor.enabled (not $v.networkPolicy.prometheus) }}{{ fail "networkPolicy.prometheus is missing: with networkPolicy.enabled and metrics.serviceMonitor.enabled say which pods Prometheus has" }}{{ end }}
{{- if lt (int $v.drain.grace) (add (int $v.drain.wait) 10) }}{{ fail (printf "drain.grace is %d: a host needs 5 s to hand over its rooms, after drain.wait, so say %d at least" (int $v.drain.grace) (add (int $v.drain.wait) 10)) }}{{ end }}
{{- end }}

{{/* muster.text writes a setting as a variable has it: Helm reads every number as one with a fraction. */}}
{{- define "muster.text" -}}
{{- if kindIs "slice" . }}{{ join "," . }}{{ else if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}
