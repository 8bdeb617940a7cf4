"""Checks pods against Kubernetes' Pod Security Standards, rule by rule as their documentation lists them.

Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Manifest = dict[str, Any]

CAPABILITIES = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}  # fmt: skip
"""Capabilities that `baseline` lets a container add."""
SELINUX_TYPES = {None, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
SYSCTLS = {
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}  # fmt: skip
PROFILES = {None, "RuntimeDefault", "Localhost"}
"""Types of seccomp and AppArmor profiles; None if a pod says nothing."""
VOLUMES = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret",
}  # fmt: skip
"""Types of volumes that `restricted` allows."""


def containers(spec: Manifest) -> list[Manifest]:
    """Every container of a pod, those that run first included."""
    return [*spec.get("initContainers", []), *spec["containers"], *spec.get("ephemeralContainers", [])]


def baseline(spec: Manifest, metadata: Manifest | None = None) -> list[str]:
    """What a pod has that the standard `baseline` forbids."""
    return [*_pod_baseline(spec, metadata or {}), *(f for c in containers(spec) for f in _container_baseline(c))]


def restricted(spec: Manifest, metadata: Manifest | None = None) -> list[str]:
    """What a pod has or lacks against the standard `restricted`, which includes `baseline`."""
    faults = baseline(spec, metadata)
    context = _context(spec)
    if context.get("runAsUser") == 0:
        faults.append("pod: runAsUser 0")
    for volume in spec.get("volumes", []):
        faults += [f"volume {volume['name']}: {kind}" for kind in volume.keys() - VOLUMES - {"name"}]
    return [*faults, *(f for c in containers(spec) for f in _container_restricted(c, context))]


def _context(part: Manifest) -> Manifest:
    return part.get("securityContext") or {}


def _pod_baseline(spec: Manifest, metadata: Manifest) -> Iterator[str]:
    context = _context(spec)
    yield from (f"pod: {field}" for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field))
    yield from (f"volume {volume['name']}: hostPath" for volume in spec.get("volumes", []) if "hostPath" in volume)
    yield from (f"pod: sysctl {entry['name']}" for entry in context.get("sysctls", []) if entry["name"] not in SYSCTLS)
    yield from (f"pod: {fault}" for fault in _context_baseline(context))
    for name, value in metadata.get("annotations", {}).items():
        known = value == "runtime/default" or value.startswith("localhost/")
        if name.startswith("container.apparmor.security.beta.kubernetes.io/") and not known:
            yield f"pod: annotation {name}"


def _context_baseline(context: Manifest) -> Iterator[str]:
    for field in ("seccompProfile", "appArmorProfile"):
        if (context.get(field) or {}).get("type") not in PROFILES:
            yield f"{field} {context[field]['type']}"
    selinux = context.get("seLinuxOptions") or {}
    if selinux.get("type") not in SELINUX_TYPES or selinux.get("user") or selinux.get("role"):
        yield "seLinuxOptions"
    if (context.get("windowsOptions") or {}).get("hostProcess"):
        yield "hostProcess"


def _container_baseline(container: Manifest) -> Iterator[str]:
    name, context = container["name"], _context(container)
    yield from (f"{name}: {fault}" for fault in _context_baseline(context))
    if context.get("privileged"):
        yield f"{name}: privileged"
    added = set((context.get("capabilities") or {}).get("add", []))
    yield from (f"{name}: capability {capability}" for capability in added - CAPABILITIES)
    yield from (f"{name}: hostPort" for port in container.get("ports", []) if port.get("hostPort"))
    if context.get("procMount", "Default") != "Default":
        yield f"{name}: procMount"
    probes = [container.get(probe) or {} for probe in ("startupProbe", "livenessProbe", "readinessProbe")]
    probes += (container.get("lifecycle") or {}).values()
    if any((probe.get(kind) or {}).get("host") for probe in probes for kind in ("httpGet", "tcpSocket")):
        yield f"{name}: host of a probe"


def _container_restricted(container: Manifest, pod: Manifest) -> Iterator[str]:
    name, context = container["name"], _context(container)
    if context.get("allowPrivilegeEscalation") is not False:
        yield f"{name}: allowPrivilegeEscalation"
    if context.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True:
        yield f"{name}: runAsNonRoot"
    if context.get("runAsUser") == 0:
        yield f"{name}: runAsUser 0"
    if "seccompProfile" not in {**pod, **context}:
        yield f"{name}: seccompProfile"
    capabilities = context.get("capabilities") or {}
    if "ALL" not in capabilities.get("drop", []):
        yield f"{name}: does not drop ALL capabilities"
    if set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
        yield f"{name}: adds capabilities"
