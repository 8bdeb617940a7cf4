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

{{/*
An image reference with `images.registry` in place of its registry, if that is set: (dict "root" $ "image" REFERENCE). The
part before the first slash is a registry if it has a dot or a colon, or is localhost.
*/}}
{{- define "opsgym.mirrored" -}}
{{- $registry := .root.Values.images.registry }}
{{- if $registry }}
{{- $registry }}/{{ regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" .image "" }}
{{- else }}
{{- .image }}
{{- end }}
{{- end }}

{{/* An image in full: (dict "root" $ "name" NAME). */}}
{{- define "opsgym.image" -}}
{{- $images := .root.Values.images }}
{{- $digest := index $images.digests .name }}
{{- $suffix := ternary (printf ":%s" $images.tag) (printf "@%s" $digest) (empty $digest) }}
{{- $image := index $images .name | default (printf "%s%s%s" $images.prefix .name $suffix) }}
{{- include "opsgym.mirrored" (dict "root" .root "image" $image) }}
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

{{/* `true` if the release serves several namespaces, whose users need not trust each other, else empty. */}}
{{- define "opsgym.shared" -}}
{{- if or .Values.clusterWide (gt (len (include "opsgym.namespaces" . | fromJson).list) 1) }}true{{ end }}
{{- end }}

{{/* `true` if pods reach stores through the gateway, else empty. */}}
{{- define "opsgym.gatewayEnabled" -}}
{{- $enabled := .Values.storeGateway.enabled }}
{{- if kindIs "invalid" $enabled }}{{ $enabled = include "opsgym.shared" . }}{{ end }}
{{- if $enabled }}true{{ end }}
{{- end }}

{{/* Secrets with the keys of stores, by the store's name. */}}
{{- define "opsgym.storeSecrets" -}}
{{- $secrets := dict }}
{{- range (include "opsgym.stores" . | fromJson).list }}
{{- if .secret }}{{ $_ := set $secrets .name .secret }}{{ end }}
{{- end }}
{{- $secrets | toJson }}
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
{{- $root := . }}
{{- $gyms := dict }}
{{- range $domain, $gym := .Values.gyms }}
{{- $image := include "opsgym.mirrored" (dict "root" $root "image" $gym.image) }}
{{- $_ := set $gyms $domain (set (deepCopy $gym) "image" $image) }}
{{- end }}
gyms: {{ $gyms | toJson }}
proxy: {{ .Values.proxy | toJson }}
{{- with .Values.caBundle }}
{{- if and .configMap .secret }}{{ fail "caBundle: give configMap or secret, not both" }}{{ end }}
{{- if or .configMap .secret }}
caBundle: { {{- with .configMap }}configMap: {{ . }}, {{ end }}{{ with .secret }}secret: {{ . }}, {{ end }}key: {{ .key }}}
{{- end }}
{{- end }}
pods:
  {{- omit .Values.pods "serviceAccountName" "serviceAccountAnnotations" | toYaml | nindent 2 }}
  serviceAccountName: {{ include "opsgym.podsAccount" . }}
  runAsUser: {{ .Values.runAsUser | toJson }}
podProfiles: {{ .Values.podProfiles | toJson }}
logLevel: {{ .Values.logLevel }}
{{- with .Values.credentials }}
{{- if and .allowInline (not .secretNames) (not .secretPrefixes) }}
{{- fail "credentials.allowInline: users could send any Secret away; list the Secrets of models in credentials.secretNames or secretPrefixes" }}
{{- end }}
{{- end }}
credentials: {{ .Values.credentials | toJson }}
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
{{- if include "opsgym.gatewayEnabled" . }}
{{- if and .Values.storeGateway.tls.secret (not (or .Values.caBundle.configMap .Values.caBundle.secret)) }}
{{- fail "storeGateway.tls.secret: pods of runs do not trust its certificate; give the CA that issued it in caBundle" }}
{{- end }}
storeGateway: {url: "{{ ternary "https" "http" (not (empty .Values.storeGateway.tls.secret)) }}://{{ include "opsgym.fullname" . }}-store-gateway.{{ .Release.Namespace }}.svc:8080"}
{{- end }}
quotas: {{ .Values.quotas | toJson }}
{{- with .Values.history }}
history: {{ . | toJson }}
{{- end }}
{{- with .Values.heldOut.secret }}
heldOutSecret: {{ . | quote }}
{{- end }}
lease: {namespace: {{ .Release.Namespace }}, name: {{ include "opsgym.fullname" . }}-operator}
watchNamespaces: {{ ternary (list) (include "opsgym.namespaces" . | fromJson).list .Values.clusterWide | toJson }}
{{- end }}

{{/* Values of a Deployment's pods, which are spread over nodes if there are several: (dict "root" $ "pod" VALUES
"component" NAME). */}}
{{- define "opsgym.spread" -}}
{{- $pod := .pod }}
{{- if and (gt (int $pod.replicas) 1) (not $pod.topologySpreadConstraints) }}
{{- $selector := include "opsgym.selector" (dict "root" .root "component" .component) | fromYaml }}
{{- $spread := dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway" }}
{{- $_ := set $spread "labelSelector" (dict "matchLabels" $selector) }}
{{- $pod = set (deepCopy $pod) "topologySpreadConstraints" (list $spread) }}
{{- end }}
{{- $pod | toYaml }}
{{- end }}

{{/* PodDisruptionBudget of a Deployment with several pods: (dict "root" $ "pod" VALUES "component" NAME "name" NAME). */}}
{{- define "opsgym.disruptionBudget" -}}
{{- if gt (int .pod.replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "opsgym.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "opsgym.selector" (dict "root" .root "component" .component) | nindent 6 }}
{{- end }}
{{- end }}

{{/* Fields of a pod's spec that every pod of the chart has: (dict "root" $ "pod" VALUES). */}}
{{- define "opsgym.podFields" -}}
{{- $root := .root }}
{{- $pod := .pod -}}
enableServiceLinks: false
{{- with $root.Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- $user := $root.Values.runAsUser }}
  {{- $account := dict }}
  {{- with $user }}{{ $account = dict "runAsUser" (int64 .) "runAsGroup" (int64 .) "fsGroup" (int64 .) }}{{ end }}
  {{- $fixed := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
  {{- mergeOverwrite $account (deepCopy $pod.securityContext) $fixed | toYaml | nindent 2 }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "priorityClassName" "runtimeClassName" "schedulerName" }}
{{- with index $pod $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Metadata of a Deployment's pods: (dict "root" $ "pod" VALUES "component" NAME "annotations" MAP). */}}
{{- define "opsgym.podMetadata" -}}
{{- $own := include "opsgym.labels" .root | fromYaml | merge (dict "app.kubernetes.io/component" .component) }}
labels:
  {{- mergeOverwrite (deepCopy .pod.labels) $own | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy .pod.annotations) .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
Environment variables of a container that reaches stores: proxies, CA certificates, and what values add, which come last
and take the place of others: (dict "root" $ "pod" VALUES).
*/}}
{{- define "opsgym.env" -}}
{{- $values := .root.Values }}
{{- $names := list }}
{{- range .pod.env }}{{ $names = append $names .name }}{{ end }}
{{- $own := dict }}
{{- with $values.proxy }}
{{- if or .http .https }}
{{- $direct := concat (list "localhost" "127.0.0.1" "::1" ".svc" ".cluster.local") .noProxy | uniq | join "," }}
{{- range $name, $value := dict "HTTP_PROXY" .http "HTTPS_PROXY" .https "NO_PROXY" $direct }}
{{- if $value }}{{ $_ := set $own $name $value }}{{ $_ := set $own (lower $name) $value }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- if or $values.caBundle.configMap $values.caBundle.secret }}
{{- range list "SSL_CERT_FILE" "REQUESTS_CA_BUNDLE" "AWS_CA_BUNDLE" }}
{{- $_ := set $own . "/etc/opsgym/ca/bundle.crt" }}
{{- end }}
{{- end }}
{{- range $name, $value := $own }}
{{- if not (has $name $names) }}
- {{ dict "name" $name "value" $value | toJson }}
{{- end }}
{{- end }}
{{- range .pod.env }}
- {{ toJson . }}
{{- end }}
{{- end }}

{{- define "opsgym.envFrom" -}}
{{- with .envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Mounts of a container that reaches stores: CA certificates, and what values add: (dict "root" $ "pod" VALUES). */}}
{{- define "opsgym.outboundMounts" -}}
{{- with .root.Values.caBundle }}
{{- if or .configMap .secret }}
- {name: ca-bundle, mountPath: /etc/opsgym/ca, readOnly: true}
{{- end }}
{{- end }}
{{- include "opsgym.mounts" .pod }}
{{- end }}

{{/* Volumes of a pod that reaches stores. */}}
{{- define "opsgym.outboundVolumes" -}}
{{- with .root.Values.caBundle }}
{{- $items := list (dict "key" .key "path" "bundle.crt") }}
{{- if .configMap }}
- {{ dict "name" "ca-bundle" "configMap" (dict "name" .configMap "items" $items) | toJson }}
{{- else if .secret }}
- {{ dict "name" "ca-bundle" "secret" (dict "secretName" .secret "items" $items) | toJson }}
{{- end }}
{{- end }}
{{- range .pod.volumes }}
- {{ toJson . }}
{{- end }}
{{- end }}

{{/* Mounts that values add to a container. */}}
{{- define "opsgym.mounts" -}}
{{- range .volumeMounts }}
- {{ hasKey . "readOnly" | ternary . (set (deepCopy .) "readOnly" true) | toJson }}
{{- end }}
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

{{/* Egress to name servers, proxies and addresses of cloud identities, which every pod but the trial store needs. */}}
{{- define "opsgym.baseEgress" -}}
{{- $policy := .Values.networkPolicy -}}
- ports:
    {{- range $policy.dnsPorts | uniq }}
    - {protocol: UDP, port: {{ . }}}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- with compact (list .Values.proxy.http .Values.proxy.https) }}
{{- $proxies := list }}
{{- range . }}{{ $proxies = append $proxies (trimSuffix "/" .) }}{{ end }}
{{ include "opsgym.egress" (dict "urls" $proxies "ports" list "peers" list) }}
{{- end }}
{{- with $policy.workloadIdentity }}
{{ include "opsgym.identityEgress" . }}
{{- end }}
{{- end }}

{{/* Egress of pods that reach stores. */}}
{{- define "opsgym.commonEgress" -}}
{{- $policy := .Values.networkPolicy -}}
{{- include "opsgym.baseEgress" . }}
{{- $urls := list }}
{{- range .Values.stores }}
{{- with .endpointUrl }}{{ $urls = append $urls . }}{{ end }}
{{- end }}
{{ include "opsgym.egress" (dict "urls" $urls "ports" $policy.storePorts "peers" $policy.peers.stores) }}
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

{{/* Egress of pods of runs: stores, or the store gateway in their place. */}}
{{- define "opsgym.runEgress" -}}
{{- if include "opsgym.gatewayEnabled" . }}
{{- include "opsgym.baseEgress" . }}
- ports:
    - {protocol: TCP, port: 8080}
  to:
    - namespaceSelector:
        matchLabels: {kubernetes.io/metadata.name: {{ .Release.Namespace }}}
      podSelector:
        matchLabels:
          {{- include "opsgym.selector" (dict "root" . "component" "store-gateway") | nindent 10 }}
{{- else }}
{{- include "opsgym.commonEgress" . }}
{{- end }}
{{- end }}
