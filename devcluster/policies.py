"""Enforces network policies in the test cluster: `python -m devcluster.policies`, started with it.

Invariant: what the kernel filters is a function of the pods, namespaces and policies that the API server has, computed
anew whenever one of them changes. The first packet of a connection decides; answers always pass, and so does the node's
own traffic to pods, which is how the kubelet probes them.

A pod is filtered from the moment the API server knows its address, so a test of a refusal waits for it.
"""

from __future__ import annotations

import ipaddress
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import httpx

from devcluster.kube import Kube, KubeError, Manifest
from devcluster.places import FAMILIES, PKI

CHAIN = "opsgym-policies"
IPTABLES = {4: "iptables", 6: "ip6tables"}
"""The kernel's filter for each version of IP: a packet passes one of them."""
SIDES = (("Egress", "egress", "to", "-s", "-d"), ("Ingress", "ingress", "from", "-d", "-s"))
"""Policy type, its rules' field, their peers' field, and the options that match the pod and its peer."""
Network = TypeVar("Network", ipaddress.IPv4Network, ipaddress.IPv6Network)
SETTLE = 0.1
"""Seconds in which further changes are waited for: pods come in groups."""


@dataclass(frozen=True)
class World:
    """What policies are about."""

    pods: Sequence[Manifest]
    namespaces: Mapping[str, Mapping[str, str]]
    """Labels by name."""
    policies: Sequence[Manifest]


def in_version(pods: Sequence[Manifest], version: int) -> list[Manifest]:
    """Pods with the address that they have in a version of IP as their only one; without one if they have none."""
    return [{**pod, "status": {**pod.get("status", {}), "podIP": _address_in(pod, version)}} for pod in pods]


def _address_in(pod: Manifest, version: int) -> str | None:
    addresses = [entry["ip"] for entry in pod.get("status", {}).get("podIPs") or []]
    return next((address for address in addresses if ipaddress.ip_address(address).version == version), None)


def chains(world: World) -> dict[str, list[str]]:
    """What each chain of the kernel's filter holds; the main one calls one for each isolated pod and direction."""
    made: dict[str, list[str]] = {CHAIN: ["-m conntrack --ctstate ESTABLISHED,RELATED -j RETURN"]}
    if any(":" in (_address(pod) or "") for pod in world.pods):
        made[CHAIN].append("-p ipv6-icmp -j RETURN")  # neighbours are asked for their addresses by it, as by ARP
    for pod in filter(_address, world.pods):
        for kind, field, peers, own, other in SIDES:
            policies = [policy for policy in world.policies if _applies(policy, kind, pod)]
            if not policies:
                continue
            address = _address(pod)
            name = f"opsgym-{field}-{address}"
            made[CHAIN].append(f"{own} {address} -j {name}")
            allowed = [f"{other} {address}"]  # a pod always reaches itself
            for rule in itertools.chain.from_iterable(policy["spec"].get(field) or [] for policy in policies):
                allowed += _matches(world, rule, pod, peers, other)
            # One of two policies may allow what the other does, too.
            made[name] = [f"{match} -j RETURN".strip() for match in dict.fromkeys(allowed)] + ["-j DROP"]
    return made


def restore_script(made: Mapping[str, Sequence[str]], old: Sequence[str]) -> str:
    """What `iptables-restore` reads to replace the old chains by the new ones in one step."""
    gone = [name for name in old if name not in made]
    declared = [f":{name} - [0:0]" for name in (*made, *gone)]
    rules = [f"-A {name} {rule}" for name, content in made.items() for rule in content]
    return "\n".join(["*mangle", *declared, *rules, *(f"-X {name}" for name in gone), "COMMIT", ""])


def _applies(policy: Manifest, kind: str, pod: Manifest) -> bool:
    same = policy["metadata"]["namespace"] == pod["metadata"]["namespace"]
    return same and kind in policy["spec"]["policyTypes"] and selects(policy["spec"]["podSelector"], _labels(pod))


def selects(selector: Manifest, labels: Mapping[str, str]) -> bool:
    """Whether a label selector selects an object with these labels."""
    required = selector.get("matchLabels") or {}
    return required.items() <= labels.items() and all(
        _holds(expression, labels) for expression in selector.get("matchExpressions") or []
    )


def _holds(expression: Manifest, labels: Mapping[str, str]) -> bool:
    value = labels.get(expression["key"])
    return {
        "In": value in expression.get("values", []),
        "NotIn": value not in expression.get("values", []),
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }[expression["operator"]]


def _matches(world: World, rule: Manifest, pod: Manifest, field: str, other: str) -> Iterator[str]:
    """What packets a rule lets through: every peer with every port."""
    for options, peer in _peers(world, rule.get(field), pod, other):
        # A port by name is one of the pod that is connected to.
        target = pod if field == "from" else peer
        for port in rule.get("ports") or [{}]:
            match = _port(port, target)
            if match is not None:
                yield f"{options} {match}".strip()


def _peers(
    world: World, peers: Sequence[Manifest] | None, pod: Manifest, other: str
) -> Iterator[tuple[str, Manifest | None]]:
    """Options that match a peer's address, and the pod that it is, if it is one."""
    if not peers:
        yield "", None
    for peer in peers or []:
        if "ipBlock" in peer:
            yield from ((f"{other} {network}", None) for network in networks(peer["ipBlock"], _address(pod)))
        else:
            pods = filter(_address, world.pods)
            yield from ((f"{other} {_address(item)}", item) for item in pods if _is_peer(world, peer, pod, item))


def _is_peer(world: World, peer: Manifest, pod: Manifest, other: Manifest) -> bool:
    namespace = other["metadata"]["namespace"]
    if "namespaceSelector" in peer:
        near = selects(peer["namespaceSelector"], world.namespaces.get(namespace, {}))
    else:
        near = namespace == pod["metadata"]["namespace"]
    return near and selects(peer.get("podSelector") or {}, _labels(other))


def networks(block: Manifest, address: str | None) -> list[str]:
    """Networks that an ipBlock leaves when its exceptions are taken out; none of another family than an address."""
    if (":" in block["cidr"]) != (":" in (address or "")):
        return []
    if ":" in block["cidr"]:
        return [str(network) for network in _left(block, ipaddress.IPv6Network)]
    return [str(network) for network in _left(block, ipaddress.IPv4Network)]


def _left(block: Manifest, family: type[Network]) -> list[Network]:
    left = [family(block["cidr"], strict=False)]
    for text in block.get("except") or []:
        hole = family(text, strict=False)
        left = [part for network in left for part in _without(network, hole)]
    return sorted(left)


def _without(network: Network, hole: Network) -> list[Network]:
    if network.subnet_of(hole):
        return []
    return list(network.address_exclude(hole)) if hole.subnet_of(network) else [network]


def _port(port: Manifest, target: Manifest | None) -> str | None:
    """Options that match a port; None if the port is named and the pod has none of that name."""
    protocol = port.get("protocol", "TCP").lower() if port else ""
    number = port.get("port")
    if isinstance(number, str):
        number = _named(number, protocol, target)
        if number is None:
            return None
    if number is None:
        return f"-p {protocol}" if protocol else ""
    last = port.get("endPort", number)
    return f"-p {protocol} --dport {number}:{last}"


def _named(name: str, protocol: str, pod: Manifest | None) -> int | None:
    spec = {} if pod is None else pod["spec"]
    containers = [*spec.get("containers", []), *spec.get("initContainers", [])]
    ports = [port for container in containers for port in container.get("ports", [])]
    numbers = [
        int(port["containerPort"])
        for port in ports
        if port.get("name") == name and port.get("protocol", "TCP").lower() == protocol
    ]
    return next(iter(numbers), None)


def _address(pod: Manifest) -> str | None:
    """Address of a pod that lives and has one of its own."""
    status = pod.get("status", {})
    ended = status.get("phase") in ("Succeeded", "Failed")
    return None if ended or pod["spec"].get("hostNetwork") else status.get("podIP")


def _labels(pod: Manifest) -> Mapping[str, str]:
    labels: Mapping[str, str] = pod["metadata"].get("labels") or {}
    return labels


class Mirror:
    """Objects of a kind, as the API server has them now."""

    def __init__(self, kind: str, changed: threading.Event) -> None:
        self.kind = kind
        self.changed = changed
        self.objects: dict[str, Manifest] = {}
        self.complete = threading.Event()
        threading.Thread(target=self._follow, name=kind, daemon=True).start()

    def _follow(self) -> None:
        while True:
            try:
                with Kube(PKI / "policies.kubeconfig") as kube:
                    self._watch(kube)
            except (KubeError, httpx.HTTPError) as error:
                print(f"{self.kind}: {error}; trying again", file=sys.stderr, flush=True)
                time.sleep(0.5)

    def _watch(self, kube: Kube) -> None:
        path = kube.path(self.kind)
        listed = kube.raw("GET", path).json()
        self.objects = {item["metadata"]["uid"]: item for item in listed["items"]}
        self.complete.set()
        self.changed.set()
        for event in kube.watch(path, listed["metadata"]["resourceVersion"]):
            item = event["object"]
            if event["type"] == "ERROR":
                return
            if event["type"] == "DELETED":
                self.objects.pop(item["metadata"]["uid"], None)
            else:
                self.objects[item["metadata"]["uid"]] = item
            self.changed.set()


def main() -> None:
    """Keeps the kernel's filter as the API server's policies say."""
    changed = threading.Event()
    pods, namespaces, policies = (Mirror(kind, changed) for kind in ("Pod", "Namespace", "NetworkPolicy"))
    for mirror in (pods, namespaces, policies):
        mirror.complete.wait()
    current: dict[int, dict[str, list[str]]] = {version: {} for version in FAMILIES}
    while True:
        changed.clear()
        labels = {item["metadata"]["name"]: _labels(item) for item in list(namespaces.objects.values())}
        seen = World(list(pods.objects.values()), labels, list(policies.objects.values()))
        for version, old in current.items():
            made = chains(replace(seen, pods=in_version(seen.pods, version)))
            if made != old:
                restore(IPTABLES[version], restore_script(made, list(old)))
                if not old:
                    hook(IPTABLES[version])
                current[version] = made
        changed.wait()
        time.sleep(SETTLE)


def restore(iptables: str, script: str) -> None:
    """Hands chains to the kernel."""
    done = subprocess.run(
        [f"{iptables}-restore", "--noflush", "--wait"], input=script, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{done.stderr}\n{json.dumps(script.splitlines(), indent=1)}")


def hook(iptables: str) -> None:
    """Has the kernel ask the chains about what pods send to each other and to the node.

    The table `mangle` comes before `filter`, where kube-proxy lets some packets through at once.
    """
    for place in ("FORWARD", "INPUT"):
        table = [iptables, "--wait", "--table", "mangle"]
        known = subprocess.run([*table, "--check", place, "--jump", CHAIN], capture_output=True, check=False)
        if known.returncode != 0:
            subprocess.run([*table, "--insert", place, "--jump", CHAIN], check=True)


if __name__ == "__main__":
    main()
