"""Command lines and configuration of the cluster's components: pure values, no side effects.

Invariant: what is unusual about a setting stands beside it. The cluster runs on machines without systemd, Docker, a
registry or the right to lower an OOM score, so it differs from a production node in those respects and in no other.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from devcluster.places import (
    ADMIN,
    AUDIT,
    CACHE,
    CONF,
    CONTAINERD,
    DNS_IP,
    EVERYWHERE,
    GROUP,
    NODE,
    NODE_IP,
    NODE_IPS,
    PAUSE_IMAGE,
    PKI,
    POD_NETS,
    ROOT,
    S3_ACCESS_KEY,
    S3_DATA,
    S3_PORT,
    S3_REGION,
    S3_SECRET_KEY,
    SERVICE_NETS,
    STATE,
)

ETCD_URL = "http://127.0.0.1:2379"
ETCD_PEER_URL = "http://127.0.0.1:2380"
QUICK = ("--kube-api-qps=200", "--kube-api-burst=400")
"""Defaults are for clusters that share an API server with many others."""

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}

NETWORK = {
    "cniVersion": "0.4.0",
    "name": "pods",
    "plugins": [
        {
            "type": "bridge",
            "bridge": "cni0",
            "isGateway": True,
            "ipMasq": False,
            "hairpinMode": True,
            "ipam": {
                "type": "host-local",
                "dataDir": "/run/opsgym-addresses",
                "ranges": [[{"subnet": net}] for net in POD_NETS],
                "routes": [{"dst": "::/0" if ":" in net else "0.0.0.0/0"} for net in POD_NETS],
            },
        },
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ],
}

DNS = """.:53 {
    errors
    health :8080
    ready :8181
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
    }
    cache 5
    reload
}
"""


def etcd() -> list[str]:
    """The database of the API server."""
    return [
        "etcd",
        f"--data-dir={STATE / 'etcd' / 'data'}",
        f"--listen-client-urls={ETCD_URL}",
        f"--advertise-client-urls={ETCD_URL}",
        f"--listen-peer-urls={ETCD_PEER_URL}",
        f"--initial-advertise-peer-urls={ETCD_PEER_URL}",
        f"--initial-cluster=default={ETCD_PEER_URL}",
        "--logger=zap",
        "--log-level=warn",
    ]


def apiserver(program: Path) -> list[str]:
    """The API server, with an audit log of every request."""
    return [
        str(program),
        f"--etcd-servers={ETCD_URL}",
        "--secure-port=6443",
        f"--bind-address={EVERYWHERE}",
        f"--advertise-address={NODE_IP}",
        f"--service-cluster-ip-range={','.join(SERVICE_NETS)}",
        f"--client-ca-file={PKI / 'ca.crt'}",
        f"--tls-cert-file={PKI / 'apiserver.crt'}",
        f"--tls-private-key-file={PKI / 'apiserver.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={PKI / 'accounts.pub'}",
        f"--service-account-signing-key-file={PKI / 'accounts.key'}",
        f"--kubelet-client-certificate={PKI / 'apiserver-kubelet.crt'}",
        f"--kubelet-client-key={PKI / 'apiserver-kubelet.key'}",
        f"--kubelet-certificate-authority={PKI / 'ca.crt'}",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--audit-policy-file={CONF / 'audit.yaml'}",
        f"--audit-log-path={AUDIT}",
        "--allow-privileged=true",
        "--profiling=false",
        # etcd of Debian 12 cannot stream lists. Without the offer clients list as before; with it some wait.
        "--feature-gates=WatchList=false",
    ]


def controller_manager(program: Path) -> list[str]:
    """Controllers, among them that of Jobs."""
    return [
        str(program),
        *_identity("controller-manager"),
        *QUICK,
        f"--service-account-private-key-file={PKI / 'accounts.key'}",
        f"--root-ca-file={PKI / 'ca.crt'}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--cluster-cidr={','.join(POD_NETS)}",
        "--allocate-node-cidrs=false",
        "--concurrent-job-syncs=10",
    ]


def scheduler(program: Path) -> list[str]:
    """The scheduler."""
    return [str(program), *_identity("scheduler"), *QUICK, "--leader-elect=false", "--bind-address=127.0.0.1"]


def _identity(name: str) -> list[str]:
    config = PKI / f"{name}.kubeconfig"
    return [
        f"--kubeconfig={config}",
        f"--authentication-kubeconfig={config}",
        f"--authorization-kubeconfig={config}",
        "--authentication-skip-lookup=true",
    ]


def kubelet(program: Path) -> list[str]:
    """The node's agent."""
    return [
        str(program),
        f"--config={CONF / 'kubelet.yaml'}",
        f"--kubeconfig={PKI / 'kubelet.kubeconfig'}",
        f"--root-dir={STATE / 'kubelet'}",
        f"--hostname-override={NODE}",
        f"--node-ip={','.join(NODE_IPS)}",
    ]


def kubelet_config() -> dict[str, Any]:
    """Configuration of the kubelet."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": EVERYWHERE,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(PKI / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(PKI / "kubelet-server.crt"),
        "tlsPrivateKeyFile": str(PKI / "kubelet-server.key"),
        "containerRuntimeEndpoint": f"unix://{CONTAINERD}",
        "clusterDNS": [DNS_IP],
        "clusterDomain": "cluster.local",
        # The machine's own may name servers that cannot be reached from here, and search domains that would be tried.
        "resolvConf": str(CONF / "resolv.conf"),
        # No systemd; and Kubernetes 1.35 and later refuse version 1 of control groups by default.
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{GROUP}",
        "failCgroupV1": False,
        "failSwapOn": False,
        # The right to lower an OOM score may be missing.
        "oomScoreAdj": 0,
        # No registry could give a removed image back; and how full a developer's disk is says nothing about the tests.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "maxPods": 200,
        "podPidsLimit": -1,
        "registryPullQPS": 0,
        "serializeImagePulls": False,
        "kubeAPIQPS": 200,
        "kubeAPIBurst": 400,
        "volumePluginDir": str(STATE / "volumeplugins"),
        "podLogsDir": str(STATE / "podlogs"),
        "staticPodPath": "",
    }


def proxy(program: Path) -> list[str]:
    """What makes Services reachable."""
    return [str(program), f"--config={CONF / 'proxy.yaml'}"]


def proxy_config() -> dict[str, Any]:
    """Configuration of kube-proxy. Connection tracking limits are the machine's, so they stay as they are."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(PKI / "proxy.kubeconfig")},
        "mode": "iptables",
        "clusterCIDR": ",".join(POD_NETS),
        "hostnameOverride": NODE,
        "bindAddress": NODE_IP,
        "oomScoreAdj": 0,
        "metricsBindAddress": "127.0.0.1:10249",
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }


def policies() -> list[str]:
    """What makes network policies hold."""
    return ["env", f"PYTHONPATH={ROOT}", f"OPSGYM_CACHE={CACHE}", sys.executable, "-m", "devcluster.policies"]


def containerd() -> list[str]:
    """The container runtime."""
    return ["containerd", "--config", str(CONF / "containerd.toml"), "--log-level", "info"]


def containerd_config(runtime: str, plugins: str) -> str:
    """Configuration of containerd 1.6 and later.

    Args:
        runtime: The runc program.
        plugins: Folder of the network plugins.
    """
    return f"""version = 2
root = "{STATE / "containerd"}"
state = "/run/containerd"
oom_score = 0
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.opt",
]
[grpc]
  address = "{CONTAINERD}"
[ttrpc]
  address = "{CONTAINERD}.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  # Kubernetes wants the score of a pause container lowered; without the right to do that every pod would fail.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{CONF / "cni"}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "oci"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.oci]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.oci.options]
        # crun of Debian 12 does not start where both versions of control groups are in use.
        BinaryName = "{runtime}"
        SystemdCgroup = false
"""


def s3(program: Path) -> list[str]:
    """The S3 server. It runs on the node, outside every pod, as a store outside the cluster would."""
    return [
        "env",
        f"ROOT_ACCESS_KEY={S3_ACCESS_KEY}",
        f"ROOT_SECRET_KEY={S3_SECRET_KEY}",
        str(program),
        "--port",
        f":{S3_PORT}",
        "--region",
        S3_REGION,
        "--quiet",
        "posix",
        str(S3_DATA),
    ]


def enter_script(init: int, programs: str) -> str:
    """A shell script that runs a command as an administrator of the cluster sees it.

    Args:
        init: Process id of the first process of the namespaces.
        programs: Folders of kubectl and helm, as in PATH.
    """
    return f"""#!/bin/sh
# Runs a command in the network of the test cluster, with its kubectl and its administrator's rights.
export KUBECONFIG="{ADMIN}" PATH="{programs}:$PATH"
exec nsenter --net=/proc/{init}/ns/net -- "$@"
"""
