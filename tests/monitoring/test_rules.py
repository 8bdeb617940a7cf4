"""Rules and alerts as the chart renders them, judged by Prometheus' own tool."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.helm.charts import ROOT, STORE, one, refusal, rendered
from tests.monitoring.watched import RULES
from tests.support.prometheus import program

CASES = sorted((Path(__file__).parent / "rules").glob("*.yaml"))


def _promtool(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [program("promtool"), *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _groups(**rules: Any) -> list[dict[str, Any]]:
    values = {"stores": [STORE], "monitoring": {"rules": {"enabled": True, **rules}}}
    groups: list[dict[str, Any]] = one(rendered(values), "PrometheusRule", "opsgym")["spec"]["groups"]
    return groups


def _alerts(groups: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (rule for group in groups for rule in group["rules"] if "alert" in rule)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where promtool finds the rules of a release with the default values as `rules.yaml`."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": _groups()}))
    return folder


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_rules_do_what_their_unit_tests_say(case: Path, folder: Path) -> None:
    (folder / case.name).write_text(case.read_text())
    assert "SUCCESS" in _promtool("test", "rules", case.name, folder=folder)


def test_promtool_finds_no_fault_in_rendered_and_plain_rules(folder: Path) -> None:
    _promtool("check", "rules", "--lint-fatal", "rules.yaml", *map(str, RULES), folder=folder)


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    fires: dict[str, set[bool]] = {}
    for case in CASES:
        for test in yaml.safe_load(case.read_text())["tests"]:
            for check in test.get("alert_rule_test", ()):
                fires.setdefault(check["alertname"], set()).add(bool(check["exp_alerts"]))
    assert fires == {rule["alert"]: {True, False} for rule in _alerts(_groups())}


def test_by_default_the_chart_renders_the_plain_rule_files_as_they_are() -> None:
    assert _groups() == [group for path in RULES for group in yaml.safe_load(path.read_text())["groups"]]


@pytest.mark.parametrize(
    ("value", "given", "alert", "field", "ends"),
    [
        ("infraErrorRatio", 0.25, "OpsgymInfraErrorRateHigh", "expr", "> 0.25"),
        ("budgetRatio", 0.5, "OpsgymBudgetNear", "expr", "> 0.5"),
        ("successDropRatio", 0.02, "OpsgymSuccessDropped", "expr", "> 0.02"),
        ("scheduleLateSeconds", 3600, "OpsgymScheduleMissed", "expr", "> 3600"),
        ("stalledFor", "30m", "OpsgymRunStalled", "for", "30m"),
    ],
)
def test_a_threshold_changes_its_alert_and_nothing_else(
    value: str, given: Any, alert: str, field: str, ends: str
) -> None:
    before, after = _groups(), _groups(thresholds={value: given})
    changed = [
        (new["alert"], key)
        for old, new in zip(_alerts(before), _alerts(after), strict=True)
        for key in new
        if old[key] != new[key]
    ]
    assert changed == [(alert, field)]
    (rule,) = (rule for rule in _alerts(after) if rule["alert"] == alert)
    assert rule[field].endswith(ends)


def test_every_alert_says_what_to_do_and_leads_to_its_place_in_the_runbook() -> None:
    page = (ROOT / "docs" / "monitoring.md").read_text()
    anchors = {heading.lower() for heading in re.findall(r"^#+ (\w+)$", page, re.MULTILINE)}
    base = "https://git.example/opsgym/blob/main"
    for rule in _alerts(_groups(runbookBaseUrl=f"{base}/")):
        assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
        assert rule["labels"]["severity"] in {"critical", "warning"}
        url, _, anchor = rule["annotations"]["runbook_url"].partition("#")
        assert (url, anchor) == (f"{base}/docs/monitoring.md", rule["alert"].lower())
        assert anchor in anchors


def test_rules_are_left_out_unless_asked_for() -> None:
    assert not [manifest for manifest in rendered({"stores": [STORE]}) if manifest["kind"] == "PrometheusRule"]


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"thresholds": {"infraErrorRatio": 2}}, "/monitoring/rules/thresholds/infraErrorRatio"),
        ({"thresholds": {"budgetRatio": 0}}, "/monitoring/rules/thresholds/budgetRatio"),
        ({"thresholds": {"scheduleLateSeconds": 1}}, "/monitoring/rules/thresholds/scheduleLateSeconds"),
        ({"thresholds": {"stalledFor": "soon"}}, "/monitoring/rules/thresholds/stalledFor"),
        ({"thresholds": {"typo": 1}}, "'typo' not allowed"),
        ({"runbookBaseUrl": "docs"}, "/monitoring/rules/runbookBaseUrl"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused_by_name(rules: Mapping[str, Any], named: str) -> None:
    assert named in refusal({"stores": [STORE], "monitoring": {"rules": rules}})
