"""What the chart brings for Prometheus and Grafana, object by object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.helm.charts import OLDEST, OPSGYM, STORE, Manifest, helm, one, refusal, rendered
from tests.monitoring.boards import FILES

LEAST: Mapping[str, Any] = {"stores": [STORE]}
OPERATOR = {
    "app.kubernetes.io/name": "opsgym",
    "app.kubernetes.io/instance": "opsgym",
    "app.kubernetes.io/component": "operator",
}
KINDS = {"serviceMonitor": ("ServiceMonitor", "endpoints"), "podMonitor": ("PodMonitor", "podMetricsEndpoints")}


def _dashboards(manifests: list[Manifest]) -> dict[str, Manifest]:
    return {
        name: manifest
        for manifest in manifests
        if manifest["kind"] == "ConfigMap"
        for name in manifest["data"]
        if name.endswith(".json")
    }


def _with(**sections: Any) -> list[Manifest]:
    return rendered({**LEAST, **sections})


@pytest.mark.parametrize("value", KINDS)
def test_a_monitor_reads_the_operators_port_and_keeps_the_namespaces_of_runs(value: str) -> None:
    kind, endpoints = KINDS[value]
    given = {"enabled": True, "labels": {"release": "prometheus"}, "interval": "15s"}
    monitor = one(_with(metrics={value: given}), kind, "opsgym-operator")
    assert monitor["spec"] == {
        "selector": {"matchLabels": OPERATOR},
        endpoints: [{"port": "metrics", "interval": "15s", "honorLabels": True}],
    }
    assert monitor["metadata"]["labels"]["release"] == "prometheus"


def test_monitors_find_what_they_select() -> None:
    manifests = _with()
    service = one(manifests, "Service", "opsgym-operator")
    pod = one(manifests, "Deployment", "opsgym-operator")["spec"]["template"]
    assert service["metadata"]["labels"].items() >= OPERATOR.items()
    assert pod["metadata"]["labels"].items() >= OPERATOR.items()
    assert [port["name"] for port in service["spec"]["ports"]] == ["metrics"]
    assert [port["name"] for port in pod["spec"]["containers"][0]["ports"]] == ["metrics"]


def test_monitors_are_left_out_unless_asked_for() -> None:
    assert not {"ServiceMonitor", "PodMonitor"} & {manifest["kind"] for manifest in _with()}


def test_two_monitors_at_once_are_refused() -> None:
    both = {value: {"enabled": True} for value in KINDS}
    assert "metrics: serviceMonitor and podMonitor would both" in refusal({**LEAST, "metrics": both})


def test_dashboards_are_in_config_maps_that_grafanas_sidecar_finds() -> None:
    dashboards = _dashboards(_with())
    assert set(dashboards) == {f"opsgym-{path.name}" for path in FILES}
    for path in FILES:
        manifest = dashboards[f"opsgym-{path.name}"]
        assert json.loads(manifest["data"][f"opsgym-{path.name}"]) == json.loads(path.read_text())
        assert manifest["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert manifest["metadata"]["annotations"] == {"grafana_folder": "opsgym"}


def test_labels_and_annotations_of_dashboards_may_be_others() -> None:
    given = {"labels": {"grafana_dashboard": None, "boards": "yes"}, "annotations": {"grafana_folder": "Evals"}}
    for manifest in _dashboards(_with(monitoring={"dashboards": given})).values():
        assert manifest["metadata"]["labels"]["boards"] == "yes"
        assert "grafana_dashboard" not in manifest["metadata"]["labels"]
        assert manifest["metadata"]["annotations"] == {"grafana_folder": "Evals"}


def test_dashboards_may_be_left_out() -> None:
    assert not _dashboards(_with(monitoring={"dashboards": {"enabled": False}}))


def test_dashboards_of_two_releases_are_one_file_each_for_grafana() -> None:
    first, second = (rendered(LEAST, release=release) for release in ("one", "two"))
    assert set(_dashboards(first)) == set(_dashboards(second))
    names = [{item["metadata"]["name"] for item in _dashboards(manifests).values()} for manifests in (first, second)]
    assert not names[0] & names[1]


def test_no_config_map_is_larger_than_a_cluster_takes() -> None:
    for manifest in _dashboards(_with()).values():
        assert len(json.dumps(manifest)) < 256 * 1024  # kubectl apply keeps a copy in an annotation of that size


def test_helm_finds_no_fault_with_everything_on() -> None:
    values = {**LEAST, "metrics": {"podMonitor": {"enabled": True}}, "monitoring": {"rules": {"enabled": True}}}
    done = helm("lint", "--strict", "--kube-version", OLDEST, str(OPSGYM), values=values)
    assert done.returncode == 0, done.stdout + done.stderr
