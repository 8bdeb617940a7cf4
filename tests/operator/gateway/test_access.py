"""What a pod may do with a key, case by case."""

from __future__ import annotations

import dataclasses

import pytest

from opsgym_api.jobs.job_spec import TrialRef
from opsgym_api.records.attempt import Cell
from opsgym_api.records.store_layout import RunKeys
from opsgym_operator.gateway.access import (
    Denied,
    Operation,
    Permission,
    PodAccess,
    SuiteAccess,
    listed,
    permission_for,
)

CELL, OTHER_CELL = (Cell(model=model, agent="react", mode="oracle", domain="itsm") for model in ("m", "n"))
KEYS, OTHER_RUN = RunKeys("team.nightly.1"), RunKeys("team.nightly.2")
OWN, SECOND = KEYS.trial(CELL, "t", 0), KEYS.trial(CELL, "u", 3)
OTHERS = (
    KEYS.trial(CELL, "t", 1),
    KEYS.trial(CELL, "u", 0),
    KEYS.trial(OTHER_CELL, "t", 0),
    OTHER_RUN.trial(CELL, "t", 0),
    RunKeys("other.nightly.1").trial(CELL, "t", 0),
)
TASK = PodAccess(
    "team.nightly.1",
    "results",
    "2026-01-01T00:00:00Z",
    CELL,
    (TrialRef(task_id="t", trial=0), TrialRef(task_id="u", trial=3)),
)
PREFLIGHT = PodAccess("team.nightly.1", "results", "2026-01-01T00:00:00Z")
SUITE = dataclasses.replace(PREFLIGHT, suite=SuiteAccess("rows", "suites/team/office/", "suites/team/office/"))
READ, LIST, REPLACE, CREATE = Operation.READ, Operation.LIST, Operation.REPLACE, Operation.CREATE


def allowed(pod: PodAccess, operation: Operation, key: str, store: str = "results") -> Permission | None:
    """The permission; None if the operation is denied."""
    try:
        return permission_for(pod, operation, store, key)
    except Denied:
        return None


@pytest.mark.parametrize("trial", [OWN, SECOND])
def test_a_task_pod_does_what_its_trials_need(trial: object) -> None:
    own = OWN if trial is OWN else SECOND
    task = "t" if own is OWN else "u"
    free = Permission()
    for key in (KEYS.control_json, KEYS.suite_task(task), KEYS.suite_seed("5eed"), KEYS.plan("p", task), own.record):
        assert allowed(TASK, READ, key) == free, key
    for key in (own.attempt(2), own.failed_transcript(0), own.transcript, own.difference("itsm")):
        assert allowed(TASK, READ, key) == free, key
    assert allowed(TASK, LIST, own.attempts) == allowed(TASK, LIST, KEYS.catalogue("d")) == free
    for key in (own.record, KEYS.plan("p", task), KEYS.catalogue("d")):
        assert allowed(TASK, CREATE, key) == free, key
    for key in (own.transcript, own.reasoning, own.state("itsm"), own.difference("itsm")):
        assert allowed(TASK, REPLACE, key) == Permission(unless_exists=own.record), key
    for key in (own.attempt(2), own.failed_transcript(2), own.failed_reasoning(2)):
        assert allowed(TASK, REPLACE, key) == Permission(own_attempt=own.attempt(2)), key


def test_a_task_pod_does_nothing_else() -> None:
    of_run = (KEYS.run_json, KEYS.gate_json, KEYS.figures_json, KEYS.chunk("j"), KEYS.suite_index, KEYS.probe)
    of_people = (
        KEYS.judged_trial("j", CELL, "t", 0),
        KEYS.person_labels("p", CELL, "t", 0),
        f"{KEYS.report}index.html",
    )
    of_tasks = (KEYS.suite_task("v"), KEYS.plan("p", "v"))
    of_trials = [key for other in OTHERS for key in (other.record, other.attempt(0), other.transcript)]
    odd = (
        "0.json",
        "run.json",
        "",
        "runs/",
        f"{OWN.base}",
        f"{OWN.attempts}x.json",
        f"{OWN.attempts}00.json",
        f"{OWN.base}/../1.json",
    )
    keys = [*of_run, *of_people, *of_tasks, *of_trials, *odd, OTHER_RUN.control_json, OTHER_RUN.suite_task("t")]
    permitted = [
        (operation.name, key)
        for key in keys
        for operation in Operation
        if allowed(TASK, operation, key) and (operation, key) != (READ, f"{OWN.attempts}x.json")
        and (operation, key) != (READ, f"{OWN.attempts}00.json")
    ]  # fmt: skip
    assert permitted == []
    for operation, key in (
        (REPLACE, OWN.record),
        (REPLACE, KEYS.control_json),
        (REPLACE, KEYS.catalogue("d")),
        (REPLACE, KEYS.plan("p", "t")),
        (REPLACE, KEYS.suite_task("t")),
        (CREATE, KEYS.suite_task("t")),
        (LIST, KEYS.cells),
        (LIST, KEYS.root),
        (LIST, OWN.base),
    ):
        assert allowed(TASK, operation, key) is None, (operation, key)


def test_a_task_pod_uses_the_store_of_its_run_only() -> None:
    assert allowed(TASK, READ, OWN.record, store="other") is None
    assert allowed(TASK, CREATE, OWN.record, store="other") is None


def test_a_preflight_pod_tries_the_store_and_freezes_the_suite_of_its_run() -> None:
    assert allowed(PREFLIGHT, REPLACE, KEYS.probe) == allowed(PREFLIGHT, CREATE, KEYS.probe) == Permission()
    for key in (KEYS.suite_index, KEYS.suite_task("t"), KEYS.suite_seed("5eed")):
        assert allowed(PREFLIGHT, REPLACE, key) == Permission(unless_exists=KEYS.run_json), key
        assert allowed(PREFLIGHT, READ, key) is None
    others = (OTHER_RUN.suite_index, OTHER_RUN.probe, KEYS.run_json, KEYS.control_json, OWN.record, OWN.attempt(0))
    assert [key for key in others for operation in Operation if allowed(PREFLIGHT, operation, key)] == []


def test_a_preflight_pod_reads_the_folder_of_its_suite() -> None:
    assert allowed(SUITE, LIST, "suites/team/office/", "rows") == Permission()
    assert allowed(SUITE, READ, "suites/team/office/tasks.json", "rows") == Permission()
    assert allowed(SUITE, REPLACE, "suites/team/office/tasks.json", "rows") is None
    assert allowed(SUITE, READ, "suites/team/office/tasks.json") is None
    for key in ("suites/team/", "suites/", "", "suites/other/office/"):
        assert allowed(SUITE, LIST, key, "rows") is None
        assert allowed(SUITE, READ, f"{key}tasks.json", "rows") is None
    assert allowed(SUITE, REPLACE, KEYS.probe) == Permission()


def test_a_suite_at_the_root_of_a_store_shows_no_run() -> None:
    pod = dataclasses.replace(PREFLIGHT, suite=SuiteAccess("results", "", ""))
    assert allowed(pod, LIST, "") == Permission()
    assert allowed(pod, READ, "tasks.json") == Permission()
    assert allowed(pod, READ, OWN.record) is None
    assert listed(pod, "results", ["runs/a/run.json", "seed.sql", "tasks.json"]) == ["seed.sql", "tasks.json"]


def test_of_a_folder_that_is_not_shared_a_pod_sees_the_shared_file() -> None:
    pod = dataclasses.replace(PREFLIGHT, suite=SuiteAccess("rows", "shared/", "shared/a.json"))
    assert allowed(pod, READ, "shared/b.json", "rows") is None
    assert listed(pod, "rows", ["shared/a.json", "shared/b.json"]) == ["shared/a.json"]
