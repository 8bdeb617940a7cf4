"""What a cluster has besides Kubernetes itself: names for Services, and a Service for the S3 server.

Invariant: everything here is a plain manifest, applied as an administrator would.
"""

from __future__ import annotations

from devcluster.certificates import CLIENTS
from devcluster.components import DNS
from devcluster.kube import Manifest
from devcluster.places import COREDNS_IMAGE, DNS_IP, FAMILIES, NODE_IPS, S3_PORT

STORAGE_NAMESPACE = "storage"
S3_SERVICE_PORT = {"name": "http", "port": S3_PORT, "protocol": "TCP"}
POLICIES = "opsgym-test-policies"
DNS_LABELS = {"k8s-app": "kube-dns"}


def manifests() -> list[Manifest]:
    """All of it, in the order it is applied."""
    return [*rights(), *dns_rights(), dns_config(), dns_service(), dns_deployment(), *storage()]


def rights() -> list[Manifest]:
    """Lets kube-proxy read Services, and the enforcer of network policies what they are about."""
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": POLICIES}}
    rules = [
        {"apiGroups": [""], "resources": ["pods", "namespaces"], "verbs": ["list", "watch"]},
        {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": ["list", "watch"]},
    ]
    return [
        _binding("opsgym-test-proxy", "system:node-proxier", {"kind": "User", "name": "system:kube-proxy"}),
        {**role, "rules": rules},
        _binding(POLICIES, POLICIES, {"kind": "User", "name": CLIENTS["policies"][0]}),
    ]


def dns_rights() -> list[Manifest]:
    """CoreDNS's account, which may read Services and their endpoints."""
    rules = [
        {"apiGroups": [""], "resources": ["endpoints", "services", "pods", "namespaces"], "verbs": ["list", "watch"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
    ]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "coredns"}}
    account = {"kind": "ServiceAccount", "name": "coredns", "namespace": "kube-system"}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _system("coredns")},
        {**role, "rules": rules},
        _binding("coredns", "coredns", account),
    ]


def dns_config() -> Manifest:
    """CoreDNS's configuration."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _system("coredns"), "data": {"Corefile": DNS}}


def dns_service() -> Manifest:
    """The address that every pod's resolv.conf names."""
    ports = [{"name": f"dns-{name.lower()}", "port": 53, "protocol": name} for name in ("UDP", "TCP")]
    spec = {"clusterIP": DNS_IP, "selector": DNS_LABELS, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _system("kube-dns"), "spec": spec}


def dns_deployment() -> Manifest:
    """CoreDNS on port 53, as network policies expect it."""
    container = {
        "name": "coredns",
        "image": COREDNS_IMAGE,
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [{"containerPort": 53, "protocol": protocol} for protocol in ("UDP", "TCP")],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
        },
        "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns"}],
    }
    pod = {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": 1,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "coredns"}}],
    }
    template = {"metadata": {"labels": DNS_LABELS}, "spec": pod}
    spec = {"replicas": 1, "selector": {"matchLabels": DNS_LABELS}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _system("coredns"), "spec": spec}


def storage() -> list[Manifest]:
    """A Service without pods, whose endpoints are the S3 server's on the node: `http://s3.storage:7070`."""
    spec = {"ports": [S3_SERVICE_PORT], "ipFamilyPolicy": "PreferDualStack"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": STORAGE_NAMESPACE}},
        {"apiVersion": "v1", "kind": "Service", "metadata": _storage("s3"), "spec": spec},
        *(_s3_endpoint(version, address) for version, address in zip(FAMILIES, NODE_IPS, strict=True)),
    ]


def _s3_endpoint(version: int, address: str) -> Manifest:
    labels = {"kubernetes.io/service-name": "s3"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {**_storage(f"s3-ipv{version}"), "labels": labels},
        "addressType": f"IPv{version}",
        "ports": [S3_SERVICE_PORT],
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
    }


def _storage(name: str) -> Manifest:
    return {"name": name, "namespace": STORAGE_NAMESPACE}


def _system(name: str) -> Manifest:
    return {"name": name, "namespace": "kube-system"}


def _binding(name: str, role: str, subject: Manifest) -> Manifest:
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": group, **subject} if subject["kind"] == "User" else subject],
    }
