"""Health of EvalRuns and EvalSchedules for GitOps tools: kstatus for Flux, Lua for Argo CD."""

from __future__ import annotations

from typing import Any

import lupa.lua51  # the version that Argo CD embeds
import pytest
import yaml
from tests.helm.charts import ROOT
from tests.operator.fleet import START

from opsgym_api.kinds.evalrun import EvalRunStatus
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.plan.status.status import REFUSED, STALLED, WAITING, ConditionUpdate, Reason, RunSummary, status_of

Manifest = dict[str, Any]
RUN = ObservedRun("nightly", "u", "team", 3, START, None)
CRD = yaml.safe_load((ROOT / "crds" / "evalruns.opsgym.dev.yaml").read_text())
NEW = CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["default"]
"""Status of an object that no operator has seen."""
BUSY = WAITING | {Reason.PREFLIGHT_RUNNING, Reason.STARTING, Reason.RUNNING}
DONE = {Reason.COMPLETE, Reason.BUDGET_SPENT}


def _evalrun(reason: Reason, gate: Reason | None = None, generation: int = 3) -> Manifest:
    """An EvalRun as the API server has it."""
    passed = {Reason.GATE_PASSED: "True", Reason.GATE_FAILED: "False"}.get(gate, "Unknown") if gate else None
    condition = ConditionUpdate("GatePassed", passed, gate, "1 of 2 conditions fails") if gate and passed else None  # type: ignore[arg-type]
    summary = RunSummary(reason, "what to fix" if reason in STALLED else "")
    status = status_of(RUN, summary, None, condition, None, START)
    return _object("EvalRun", status.model_dump(mode="json", by_alias=True, exclude_none=True), generation)


def _object(kind: str, status: Manifest, generation: int = 3, **spec: Any) -> Manifest:
    return {"kind": kind, "metadata": {"name": "nightly", "generation": generation}, "spec": spec, "status": status}


def kstatus(manifest: Manifest) -> str:
    """State of an object by kstatus' rules for kinds that it does not know.

    Source: https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus
    """
    status = manifest["status"]
    if status.get("observedGeneration", manifest["metadata"]["generation"]) != manifest["metadata"]["generation"]:
        return "InProgress"
    for condition in status.get("conditions", []):
        if (condition["type"], condition["status"]) == ("Reconciling", "True"):
            return "InProgress"
        if (condition["type"], condition["status"]) == ("Stalled", "True"):
            return "Failed"
    ready = [condition["status"] for condition in status.get("conditions", []) if condition["type"] == "Ready"]
    return "Current" if ready in ([], ["True"]) else "InProgress"


def test_flux_waits_for_a_run_until_it_is_done() -> None:
    states = {reason: kstatus(_evalrun(reason)) for reason in BUSY | DONE | STALLED | REFUSED}
    assert {reason for reason, state in states.items() if state == "InProgress"} == BUSY
    assert {reason for reason, state in states.items() if state == "Current"} == DONE
    assert {reason for reason, state in states.items() if state == "Failed"} == STALLED | REFUSED


@pytest.mark.parametrize("reason", [Reason.SUSPENDED, Reason.NOTHING_SCORED])
def test_flux_never_takes_a_run_without_scores_as_ready(reason: Reason) -> None:
    assert kstatus(_evalrun(reason)) == "InProgress"


def test_a_run_that_no_operator_has_seen_is_in_progress() -> None:
    assert EvalRunStatus.model_validate(NEW).conditions == []
    assert kstatus(_object("EvalRun", NEW, generation=1)) == "InProgress"
    assert kstatus(_evalrun(Reason.COMPLETE, generation=4)) == "InProgress"


def argocd(manifest: Manifest) -> tuple[str, str]:
    """Health and message by the Lua that `examples/argocd` adds to Argo CD."""
    patch = yaml.safe_load((ROOT / "examples" / "argocd" / "health.yaml").read_text())
    script = patch["data"][f"resource.customizations.health.opsgym.dev_{manifest['kind']}"]
    runtime = lupa.lua51.LuaRuntime(register_eval=False)
    runtime.globals().obj = runtime.table_from(manifest, recursive=True)
    health = runtime.execute(script)
    return str(health.status), str(health.message)


def test_argo_cd_shows_what_a_run_is_at() -> None:
    shown = {reason: argocd(_evalrun(reason)) for reason in Reason if reason in BUSY | DONE | STALLED | REFUSED}
    assert {reason for reason, (health, _) in shown.items() if health == "Progressing"} == BUSY
    assert {reason for reason, (health, _) in shown.items() if health == "Healthy"} == DONE
    assert {shown[reason] for reason in STALLED | REFUSED} == {("Degraded", "what to fix")}
    assert argocd(_evalrun(Reason.SUSPENDED)) == ("Suspended", "Suspended")
    assert argocd(_evalrun(Reason.NOTHING_SCORED)) == ("Degraded", "NothingScored")


def test_argo_cd_shows_a_gate_that_failed() -> None:
    assert argocd(_evalrun(Reason.COMPLETE, Reason.GATE_FAILED)) == ("Degraded", "1 of 2 conditions fails")
    assert argocd(_evalrun(Reason.COMPLETE, Reason.GATE_PASSED)) == ("Healthy", "Complete")


@pytest.mark.parametrize("kind", ["EvalRun", "EvalSchedule"])
def test_argo_cd_waits_for_the_operator(kind: str) -> None:
    for manifest in (_object(kind, NEW, generation=1), {**_object(kind, {}), "status": None}):
        assert argocd(manifest)[0] == "Progressing"


@pytest.mark.parametrize(
    ("accepted", "suspend", "expected"),
    [
        ("True", False, ("Healthy", "")),
        ("True", True, ("Suspended", "spec.suspend is true")),
        ("False", False, ("Degraded", "unknown time zone")),
    ],
)
def test_argo_cd_shows_schedules(accepted: str, suspend: bool, expected: tuple[str, str]) -> None:
    conditions = [
        {"type": "Accepted", "status": accepted, "message": "unknown time zone" if accepted == "False" else ""}
    ]
    status = {"observedGeneration": 3, "conditions": conditions}
    assert argocd(_object("EvalSchedule", status, suspend=suspend)) == expected


def test_argo_cd_shows_a_schedule_whose_run_is_refused() -> None:
    conditions = [
        {"type": "Accepted", "status": "True", "reason": "Valid", "message": ""},
        {"type": "Stalled", "status": "True", "reason": "ObjectRefused", "message": "exceeded quota"},
    ]
    status = {"observedGeneration": 3, "conditions": conditions}
    assert argocd(_object("EvalSchedule", status)) == ("Degraded", "exceeded quota")
    assert kstatus(_object("EvalSchedule", status)) == "Failed"
