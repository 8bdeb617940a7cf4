"""The checker of the Pod Security Standards finds what each standard forbids."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.support.pod_security import baseline, restricted

GOOD: dict[str, Any] = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "volumes": [{"name": "tmp", "emptyDir": {}}],
    "containers": [
        {"name": "a", "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}
    ],
}

OF_BASELINE = [
    ({"hostNetwork": True}, "pod: hostNetwork"),
    ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, "volume v: hostPath"),
    ({"securityContext": {"sysctls": [{"name": "kernel.msgmax"}]}}, "pod: sysctl kernel.msgmax"),
    ({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "pod: seccompProfile Unconfined"),
    ({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}, "pod: appArmorProfile Unconfined"),
    ({"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}, "pod: seLinuxOptions"),
    ({"securityContext": {"windowsOptions": {"hostProcess": True}}}, "pod: hostProcess"),
    ({"containers": {"securityContext": {"privileged": True}}}, "a: privileged"),
    ({"containers": {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}}, "a: capability SYS_ADMIN"),
    ({"containers": {"ports": [{"hostPort": 80}]}}, "a: hostPort"),
    ({"containers": {"securityContext": {"procMount": "Unmasked"}}}, "a: procMount"),
    ({"containers": {"livenessProbe": {"httpGet": {"host": "10.0.0.1"}}}}, "a: host of a probe"),
]
OF_RESTRICTED = [
    ({"volumes": [{"name": "v", "nfs": {}}]}, "volume v: nfs"),
    ({"securityContext": {"runAsNonRoot": None}}, "a: runAsNonRoot"),
    ({"securityContext": {"runAsUser": 0}}, "pod: runAsUser 0"),
    ({"containers": {"securityContext": {"allowPrivilegeEscalation": None}}}, "a: allowPrivilegeEscalation"),
    ({"containers": {"securityContext": {"runAsUser": 0}}}, "a: runAsUser 0"),
    ({"containers": {"securityContext": {"capabilities": {"drop": []}}}}, "a: does not drop ALL capabilities"),
    ({"containers": {"securityContext": {"capabilities": {"add": ["CHOWN"]}}}}, "a: adds capabilities"),
]


def _changed(change: dict[str, Any]) -> dict[str, Any]:
    pod = copy.deepcopy(GOOD)
    for field, value in change.items():
        if field == "containers":
            container = pod["containers"][0]
            security = {**container["securityContext"], **value.get("securityContext", {})}
            pod["containers"] = [{**container, **value, "securityContext": security}]
        elif field == "securityContext":
            pod[field] = {**pod[field], **value}
        else:
            pod[field] = value
    return pod


def test_a_pod_that_meets_the_standards_has_no_fault() -> None:
    assert restricted(GOOD) == baseline(GOOD) == []


@pytest.mark.parametrize(("change", "fault"), OF_BASELINE)
def test_what_baseline_forbids_is_found(change: dict[str, Any], fault: str) -> None:
    assert fault in baseline(_changed(change))


@pytest.mark.parametrize(("change", "fault"), OF_RESTRICTED)
def test_what_restricted_forbids_is_found(change: dict[str, Any], fault: str) -> None:
    assert fault in restricted(_changed(change))
    assert baseline(_changed(change)) == []


def test_a_pod_without_seccomp_profile_is_not_restricted() -> None:
    pod = {**GOOD, "securityContext": {"runAsNonRoot": True}}
    assert restricted(pod) == ["a: seccompProfile"]
    assert baseline(pod) == []
