"""Network policies hold in the test cluster, and what the enforcer makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from devcluster.kube import Kube, Manifest
from devcluster.places import API_SERVICE_IP, FAMILIES, NODE_IPS, S3_PORT
from devcluster.policies import CHAIN, World, chains, in_version, networks, restore_script, selects
from devcluster.processes import until
from tests.cluster.workloads import pod, pod_addresses, shell

NAMESPACES = {"here": {"team": "a"}, "there": {"team": "b"}}


def at(address: str, namespace: str, ports: tuple[dict[str, Any], ...] = (), **labels: str) -> Manifest:
    """A running pod with an address."""
    container = shell("main", "", ports=list(ports))
    return {**pod(namespace, address, container, labels=labels), "status": {"phase": "Running", "podIP": address}}


def policy(selector: Manifest | None = None, namespace: str = "here", **rules: list[Manifest]) -> Manifest:
    """A policy of the directions that it has rules for."""
    spec = {"podSelector": selector or {}, "policyTypes": [name.capitalize() for name in rules], **rules}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": "policy", "namespace": namespace}, "spec": spec}  # fmt: skip


A = at("10.0.0.1", "here", app="a")
B = at(
    "10.0.0.2",
    "here",
    ({"name": "web", "containerPort": 80}, {"name": "dns", "containerPort": 53, "protocol": "UDP"}),
    app="b",
)
C = at("10.0.0.3", "there", app="a")


def made(*items: Manifest, pods: tuple[Manifest, ...] = (A, B, C)) -> dict[str, list[str]]:
    """What each isolated pod's chain holds."""
    rules = chains(World(pods, NAMESPACES, items))
    assert len(rules.pop(CHAIN)) == 1 + len(rules)
    return rules


def rules_of(rule: Manifest) -> list[str]:
    """What pod A may send by one egress rule, besides to itself."""
    first, *allowed, last = made(policy({"matchLabels": {"app": "a"}}, egress=[rule]))["opsgym-egress-10.0.0.1"]
    assert (first, last) == ("-d 10.0.0.1 -j RETURN", "-j DROP")
    return [text.removesuffix(" -j RETURN") for text in allowed]


def test_without_policies_nothing_is_filtered() -> None:
    assert made() == {}


def test_a_policy_isolates_the_pods_that_it_selects_in_its_namespace_and_directions_alone() -> None:
    assert set(made(policy({"matchLabels": {"app": "a"}}, egress=[]))) == {"opsgym-egress-10.0.0.1"}
    assert set(made(policy(ingress=[]))) == {"opsgym-ingress-10.0.0.1", "opsgym-ingress-10.0.0.2"}


def test_pods_that_have_ended_or_share_the_node_s_network_are_left_alone() -> None:
    ended = {**A, "status": {"phase": "Succeeded", "podIP": "10.0.0.1"}}
    host = {**B, "spec": {**B["spec"], "hostNetwork": True}}
    assert made(policy(ingress=[]), pods=(ended, host, at("", "here"))) == {}


def test_a_packet_passes_if_any_policy_lets_it() -> None:
    both = made(policy(ingress=[]), policy({"matchLabels": {"app": "b"}}, ingress=[{}]))
    assert both["opsgym-ingress-10.0.0.1"] == ["-s 10.0.0.1 -j RETURN", "-j DROP"]
    assert both["opsgym-ingress-10.0.0.2"] == ["-s 10.0.0.2 -j RETURN", "-j RETURN", "-j DROP"]


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ({}, ["-j RETURN"]),
        ({"to": [{"podSelector": {}}]}, ["-d 10.0.0.2"]),
        ({"to": [{"namespaceSelector": {"matchLabels": {"team": "b"}}}]}, ["-d 10.0.0.3"]),
        ({"to": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "b"}}}]}, ["-d 10.0.0.2"]),
        ({"to": [{"ipBlock": {"cidr": "10.9.0.0/24"}}]}, ["-d 10.9.0.0/24"]),
        ({"ports": [{"port": 443}]}, ["-p tcp --dport 443:443"]),
        ({"ports": [{"port": 1, "endPort": 9, "protocol": "UDP"}]}, ["-p udp --dport 1:9"]),
        ({"ports": [{"protocol": "UDP"}]}, ["-p udp"]),
        ({"to": [{"podSelector": {}}], "ports": [{"port": "web"}]}, ["-d 10.0.0.2 -p tcp --dport 80:80"]),
        ({"to": [{"podSelector": {}}], "ports": [{"port": "dns"}]}, []),
    ],
)
def test_a_rule_lets_through_its_peers_at_its_ports(rule: Manifest, allowed: list[str]) -> None:
    assert rules_of(rule) == allowed


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({}, True),
        ({"matchLabels": {"app": "a"}}, True),
        ({"matchLabels": {"app": "a", "tier": "web"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}, False),
    ],
)
def test_a_selector_selects_as_kubernetes_does(selector: Manifest, selected: bool) -> None:
    assert selects(selector, {"app": "a"}) is selected


def test_exceptions_are_taken_out_of_a_block() -> None:
    pod = "10.0.0.9"
    assert networks({"cidr": "10.0.0.0/30", "except": ["10.0.0.1/32"]}, pod) == ["10.0.0.0/32", "10.0.0.2/31"]
    assert networks({"cidr": "10.0.0.0/30", "except": ["10.0.0.0/8"]}, pod) == []
    assert networks({"cidr": "0.0.0.0/0", "except": []}, pod) == ["0.0.0.0/0"]
    assert networks({"cidr": "fd00::/127", "except": ["fd00::1/128"]}, "fd44::9") == ["fd00::/128"]


def test_a_block_of_the_other_address_family_matches_nothing() -> None:
    assert networks({"cidr": "::/0", "except": ["fd00::/8"]}, "10.0.0.9") == []
    assert networks({"cidr": "0.0.0.0/0"}, "fd44::9") == []


def test_pods_with_ipv6_addresses_may_always_ask_for_neighbours() -> None:
    pod = at("fd44::1", "here")
    made = chains(World([pod], NAMESPACES, [policy(egress=[])]))
    assert "-p ipv6-icmp -j RETURN" in made[CHAIN]
    assert made["opsgym-egress-fd44::1"] == ["-d fd44::1 -j RETURN", "-j DROP"]


def test_each_version_of_ip_filters_the_addresses_that_pods_have_in_it() -> None:
    addresses = [{"ip": "10.0.0.1"}, {"ip": "fd44::1"}]
    both = {**A, "status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": addresses}}
    one = {**B, "status": {"phase": "Running", "podIP": "10.0.0.2", "podIPs": [{"ip": "10.0.0.2"}]}}
    first, second = (
        chains(World(in_version([both, one], version), NAMESPACES, [policy(ingress=[])])) for version in (4, 6)
    )
    assert set(first) == {CHAIN, "opsgym-ingress-10.0.0.1", "opsgym-ingress-10.0.0.2"}
    assert set(second) == {CHAIN, "opsgym-ingress-fd44::1"}


def test_chains_of_pods_that_are_gone_are_removed_in_the_same_step() -> None:
    script = restore_script({CHAIN: ["-j RETURN"]}, [CHAIN, "opsgym-egress-10.0.0.1"])
    assert script.splitlines() == [
        "*mangle",
        f":{CHAIN} - [0:0]",
        ":opsgym-egress-10.0.0.1 - [0:0]",
        f"-A {CHAIN} -j RETURN",
        "-X opsgym-egress-10.0.0.1",
        "COMMIT",
    ]


def addresses(kube: Kube, namespace: str, name: str) -> list[str]:
    """Addresses of a pod, one of each version of IP that the cluster has."""
    seen = kube.wait("Pod", name, namespace, lambda seen: bool(seen["status"].get("podIPs")))
    known = pod_addresses(seen)
    assert len(known) == len(FAMILIES)
    return known


def test_policies_hold_between_real_pods_and_towards_the_node(kube: Kube, namespace: str) -> None:
    kube.create(pod(namespace, "server", shell("main", "nc -ll -p 8080 -e echo hello"), labels={"app": "server"}))
    servers = addresses(kube, namespace, "server")
    tries = [*(("server", address, 8080) for address in servers), *(("s3", address, S3_PORT) for address in NODE_IPS)]
    script = f"""
    try() {{ nc -w 1 $2 $3 -e true 2>/dev/null && echo "$1 yes" || echo "$1 no"; }}
    while true; do
      {"; ".join(f"try {name} {address} {port}" for name, address, port in [*tries, ("api", API_SERVICE_IP, 443)])}
      echo; sleep 0.2
    done
    """
    kube.create(pod(namespace, "client", shell("main", script), labels={"app": "client"}))
    addresses(kube, namespace, "client")

    def reached(server: str, s3: str, api: str) -> bool:
        expected = [*(server for _ in servers), *(s3 for _ in NODE_IPS), api]

        def check() -> bool:
            rounds = kube.logs("client", namespace, "main").split("\n\n")[:-1]
            return bool(rounds) and rounds[-1].split("\n") == expected

        return until(check, 20)

    assert reached("server yes", "s3 yes", "api yes")
    kube.create(policy(namespace=namespace, ingress=[], egress=[]))
    assert reached("server no", "s3 no", "api no")
    node = [f"{address}/{128 if ':' in address else 32}" for address in NODE_IPS]
    to_store = {"to": [{"ipBlock": {"cidr": cidr}} for cidr in node], "ports": [{"port": S3_PORT}]}
    to_server = {"to": [{"podSelector": {"matchLabels": {"app": "server"}}}]}
    opened = policy({"matchLabels": {"app": "client"}}, namespace, egress=[to_store, to_server])
    opened["metadata"]["name"] = "opened"
    kube.create(opened)
    assert reached("server no", "s3 yes", "api no")  # the server still takes nothing in
    welcome = policy({"matchLabels": {"app": "server"}}, namespace, ingress=[{"from": [{"podSelector": {}}]}])
    welcome["metadata"]["name"] = "welcome"
    kube.create(welcome)
    assert reached("server yes", "s3 yes", "api no")
    for name in ("policy", "opened", "welcome"):
        kube.delete("NetworkPolicy", name, namespace)
    assert reached("server yes", "s3 yes", "api yes")
