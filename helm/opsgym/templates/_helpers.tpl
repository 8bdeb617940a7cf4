{{/* What the release's objects are called; short enough that suffixes fit. */}}
{{- define "opsgym.fullname" -}}
{{- $name := .Release.Name }}
{{- if not (contains "opsgym" $name) }}{{ $name = printf "%s-opsgym" $name }}{{ end }}
{{- $name | trunc 45 | trimSuffix "-" }}
{{- end }}

{{/* What cluster-scoped objects are called: releases of one name may live in several namespaces. */}}
{{- define "opsgym.clusterName" -}}
{{ .Release.Namespace }}-{{ include "opsgym.fullname" . }}
{{- end }}

{{- define "opsgym.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/name: opsgym
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: opsgym
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Labels that find the pods of a component: (dict "root" $ "component" NAME). */}}
{{- define "opsgym.selector" -}}
app.kubernetes.io/name: opsgym
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of every pod that the operator makes. */}}
{{- define "opsgym.runPods" -}}
app.kubernetes.io/managed-by: opsgym-operator
app.kubernetes.io/part-of: opsgym
{{- end }}

{{/* An image in full: (dict "root" $ "name" NAME). */}}
{{- define "opsgym.image" -}}
{{- $images := .root.Values.images }}
{{- index $images .name | default (printf "%s%s:%s" $images.prefix .name $images.tag) }}
{{- end }}

{{/* Namespaces where runs live, as {"list": […]}. Cluster-wide, runs live anywhere; these get what the chart brings. */}}
{{- define "opsgym.namespaces" -}}
{{ dict "list" (.Values.namespaces | default (list .Release.Namespace) | uniq) | toJson }}
{{- end }}

{{- define "opsgym.trialSecret" -}}
{{ .Values.trialStore.secret | default (printf "%s-s3" (include "opsgym.fullname" .)) }}
{{- end }}

{{/* Every store, the trial server's included, as {"list": […]}. */}}
{{- define "opsgym.stores" -}}
{{- $stores := .Values.stores }}
{{- if .Values.trialStore.enabled }}
{{- $url := printf "http://%s-s3.%s.svc:7070" (include "opsgym.fullname" .) .Release.Namespace }}
{{- $trial := dict "name" "trial" "url" "s3://opsgym/results" "endpointUrl" $url "region" "us-east-1" "secret" (include "opsgym.trialSecret" .) }}
{{- $stores = append $stores $trial }}
{{- end }}
{{- $names := list }}
{{- range $stores }}
{{- if has .name $names }}{{ fail (printf "stores: %q is there twice; give each store its own name" .name) }}{{ end }}
{{- $names = append $names .name }}
{{- end }}
{{- if not $stores }}
{{- fail "stores: results need a place. Name a bucket in stores, or try opsgym with trialStore.enabled=true" }}
{{- end }}
{{- $default := .Values.defaultStore }}
{{- if and $default (not (has $default $names)) }}
{{- fail (printf "defaultStore: there is no store %q; stores are: %s" $default (join ", " $names)) }}
{{- end }}
{{- dict "list" $stores | toJson }}
{{- end }}

{{- define "opsgym.defaultStore" -}}
{{- with .Values.defaultStore }}{{ . }}{{ else }}{{ (first (include "opsgym.stores" . | fromJson).list).name }}{{ end }}
{{- end }}

{{/* ServiceAccount of the pods of runs. */}}
{{- define "opsgym.podsAccount" -}}
{{- $own := ternary "default" (printf "%s-task" (include "opsgym.fullname" .)) .Values.clusterWide }}
{{- .Values.pods.serviceAccountName | default $own }}
{{- end }}

{{/* The operator's configuration, as `opsgym_operator.config.OperatorConfig` reads it. */}}
{{- define "opsgym.config" -}}
{{- $images := .Values.images -}}
stores: {{ (include "opsgym.stores" . | fromJson).list | toJson }}
defaultStore: {{ include "opsgym.defaultStore" . }}
images:
  runner: {{ include "opsgym.image" (dict "root" . "name" "runner") }}
  domains: {{ include "opsgym.image" (dict "root" . "name" "domains") }}
  pullPolicy: {{ $images.pullPolicy }}
  pullSecrets: {{ $images.pullSecrets | toJson }}
gyms: {{ .Values.gyms | toJson }}
pods:
  {{- omit .Values.pods "serviceAccountName" "serviceAccountAnnotations" "resources" | toYaml | nindent 2 }}
  serviceAccountName: {{ include "opsgym.podsAccount" . }}
  runAsUser: {{ .Values.runAsUser | toJson }}
  resources:
    {{- range $container, $resources := .Values.pods.resources }}
    {{ $container }}:
      {{- range $kind, $quantities := $resources }}
      {{ $kind }}: {
        {{- range $name, $quantity := $quantities }}{{ $name | quote }}: {{ $quantity | toString | quote }}, {{ end -}}
      }
      {{- end }}
    {{- end }}
logLevel: {{ .Values.logLevel }}
{{- with .Values.tracing }}
{{- if .endpoint }}
tracing:
  endpoint: {{ .endpoint }}
  samplingRatio: {{ .samplingRatio }}
  captureContent: {{ .captureContent }}
  {{- if .headersSecret.name }}
  headersSecret: {{ .headersSecret | toJson }}
  {{- end }}
{{- end }}
{{- end }}
{{- $webhooks := list }}
{{- range .Values.notifications.webhooks }}
{{- if has .name $webhooks }}{{ fail (printf "notifications.webhooks: %q is there twice" .name) }}{{ end }}
{{- $webhooks = append $webhooks .name }}
{{- end }}
{{- range .Values.notifications.default }}
{{- if not (has . $webhooks) }}
{{- fail (printf "notifications.default: there is no webhook %q; webhooks are: %s" . (join ", " $webhooks)) }}
{{- end }}
{{- end }}
notifications: {{ .Values.notifications | toJson }}
lease: {namespace: {{ .Release.Namespace }}, name: {{ include "opsgym.fullname" . }}-operator}
watchNamespaces: {{ ternary (list) (include "opsgym.namespaces" . | fromJson).list .Values.clusterWide | toJson }}
{{- end }}

{{- define "opsgym.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ . | int64 }}
runAsGroup: {{ . | int64 }}
fsGroup: {{ . | int64 }}
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "opsgym.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Port of a URL: (dict "url" URL). */}}
{{- define "opsgym.port" -}}
{{- $port := regexFind ":[0-9]+$" (urlParse .url).host | trimPrefix ":" }}
{{- $port | default (hasPrefix "http://" .url | ternary "80" "443") }}
{{- end }}

{{/* Namespace of the Service that a URL names; empty for other hosts: (dict "url" URL). */}}
{{- define "opsgym.serviceNamespace" -}}
{{- $host := (urlParse .url).host | regexFind "^[^:]+" }}
{{- $labels := splitList "." $host }}
{{- if and (ge (len $labels) 3) (eq (index $labels 2) "svc") }}{{ index $labels 1 }}{{ end }}
{{- end }}

{{/* Any address but link-local ones, where clouds serve credentials of nodes. Some CNIs match pods by selectors only. */}}
{{- define "opsgym.anywhere" -}}
- namespaceSelector: {}
- ipBlock: {cidr: 0.0.0.0/0, except: [169.254.0.0/16]}
- ipBlock: {cidr: "::/0", except: ["fe80::/10", "fd00:ec2::/32"]}
{{- end }}

{{/*
Egress rules for URLs and ports: (dict "urls" [URLs] "ports" [numbers] "peers" [NetworkPolicyPeers]).
A CNI applies policies after a Service's port was translated to its pods' port, which no URL tells: where a URL names a
Service, any port of its namespace is allowed.
*/}}
{{- define "opsgym.egress" -}}
{{- $ports := .ports }}
{{- $namespaces := list }}
{{- range .urls }}
{{- $ports = append $ports (include "opsgym.port" (dict "url" .) | int) }}
{{- with include "opsgym.serviceNamespace" (dict "url" .) }}{{ $namespaces = append $namespaces . }}{{ end }}
{{- end }}
- ports:
    {{- range $ports | uniq }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  to:
    {{- .peers | default (include "opsgym.anywhere" . | fromYamlArray) | toYaml | nindent 4 }}
{{- if not .peers }}
{{- range $namespaces | uniq }}
- to:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: {{ . }}}
{{- end }}
{{- end }}
{{- end }}

{{/* Egress to the API server, whose address may be a link-local one. */}}
{{- define "opsgym.apiServerEgress" -}}
{{- $policy := .Values.networkPolicy -}}
- ports:
    {{- range $policy.apiServerPorts | uniq }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- with $policy.peers.apiServer }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Egress to the addresses where a cloud gives pods the credentials of their ServiceAccounts. */}}
{{- define "opsgym.identityEgress" -}}
{{- if eq . "eks" -}}
- ports:
    - {protocol: TCP, port: 80}
  to:
    - ipBlock: {cidr: 169.254.170.23/32}
    - ipBlock: {cidr: "fd00:ec2::23/128"}
{{- else -}}
- ports:
    - {protocol: TCP, port: 80}
    - {protocol: TCP, port: 988}
  to:
    - ipBlock: {cidr: 169.254.169.252/32}
    - ipBlock: {cidr: 169.254.169.254/32}
{{- end }}
{{- end }}

{{/* Egress to name servers and stores, which the operator and the pods of runs share. */}}
{{- define "opsgym.commonEgress" -}}
{{- $policy := .Values.networkPolicy -}}
- ports:
    {{- range $policy.dnsPorts | uniq }}
    - {protocol: UDP, port: {{ . }}}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- $urls := list }}
{{- range .Values.stores }}
{{- with .endpointUrl }}{{ $urls = append $urls . }}{{ end }}
{{- end }}
{{ include "opsgym.egress" (dict "urls" $urls "ports" $policy.storePorts "peers" $policy.peers.stores) }}
{{- with $policy.workloadIdentity }}
{{ include "opsgym.identityEgress" . }}
{{- end }}
{{- if .Values.trialStore.enabled }}
- ports:
    - {protocol: TCP, port: 7070}
  to:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: {{ .Release.Namespace }}}
      podSelector:
        matchLabels:
          {{- include "opsgym.selector" (dict "root" . "component" "trial-store") | nindent 10 }}
{{- end }}
{{- end }}
