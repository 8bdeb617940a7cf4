"""Tasks, plans and records for the tests of local mode."""

from __future__ import annotations

from typing import Any

from opsgym_api.kinds.evalrun import EvalRun, EvalRunSpec
from opsgym_api.records.attempt import AttemptRecord, Timings
from opsgym_api.records.outcomes import Outcome
from opsgym_api.tasks.task import Task
from opsgym_core.planning.cells import CellPlan, plan_cells
from opsgym_core.planning.trials import PlannedTrial

RUN = "demo.0123456789ab"


def make_task(task_id: str, domain: str = "itsm", **fields: Any) -> Task:
    row = {
        "task_id": task_id,
        "domain": domain,
        "user_prompt": "Do it.",
        "gym_servers_config": [{"mcp_server_name": f"gym-{domain}-mcp", "seed_database_file": "a.sql"}],
        "verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["done"]}}],
    }
    return Task.model_validate({**row, **fields})


def make_spec(*models: str, **fields: Any) -> EvalRunSpec:
    entries = [{"name": name, "inline": {"model": "replay/gold"}} for name in models or ("gold",)]
    document = {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": "demo"},
        "spec": {"suite": {"builtin": "quickstart"}, "models": entries, **fields},
    }
    return EvalRun.model_validate(document).spec


def make_cells(tasks: int, *models: str) -> list[CellPlan]:
    return plan_cells(make_spec(*models), [make_task(f"t{number}") for number in range(tasks)])


def make_attempt(planned: PlannedTrial, attempt: int, outcome: Outcome | None, **fields: Any) -> AttemptRecord:
    defaults: dict[str, Any] = {
        "run": RUN,
        "cell": planned.cell,
        "task_id": planned.task.task_id,
        "trial": planned.trial,
        "attempt": attempt,
        "outcome": outcome,
        "timings": Timings(started_at="2026-01-01T00:00:00Z", total_s=1.0),
    }
    return AttemptRecord(**{**defaults, **fields})
