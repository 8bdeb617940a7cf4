"""Records what an operator leaves behind in the middle of a run: objects of the API server, and of the store.

    python -m tests.operator.record_state > tests/operator/older_state.json

The recording in the repository is of an operator before `trialsPerPod`, rounds, the store gateway, pod profiles and
liveness probes, and `test_skew` has this version go on with it. A release records its own state for the next one.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.operator.fleet import CONFIG, Fleet, SimRun, entry, model

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import TrialId
from opsgym_operator.config import OperatorConfig

TASKS = 20
SPEC: dict[str, Any] = {
    "suite": {"builtin": "quickstart"},
    "models": [{"name": "gold", "ref": "gold"}],
    "limits": {"infraRetries": 1},
    "gate": {"minSuccessRate": 0.5},
    "budget": {"maxUsd": 2.0},
    "trials": 2,
}
DIGEST = "sha256:" + "a" * 64


def installation() -> OperatorConfig:
    """An installation with a gym server of others and resources of its own."""
    config = CONFIG.model_dump(mode="json", by_alias=True)
    pods = {"domains": {"csm": {"resources": {"gym": {"limits": {"memory": "1Gi"}}}}}, "databaseMegabytes": 200}
    gyms = {"csm": {"image": "published:1", "port": 8005}}
    return OperatorConfig.model_validate({**config, "pods": {**config["pods"], **pods}, "gyms": gyms})


def half_way() -> tuple[Fleet, SimRun]:
    """A run of which some trials are scored, and some have pods."""
    fleet = Fleet(config=installation())
    fleet.image_ids = {"runner": f"docker.io/library/runner@{DIGEST}"}
    fleet.models["gold"] = model("gold", max_concurrency=2)
    domains = ("itsm", "csm")
    run = fleet.apply(
        "nightly", EvalRunSpec.model_validate(SPEC), [entry(f"t{n}", domains[n % 2]) for n in range(TASKS)]
    )
    fleet.plan()
    for _ in range(5):
        assert fleet.end_one()
        fleet.plan()
    return fleet, run


def recorded(fleet: Fleet, run: SimRun) -> dict[str, Any]:
    """The state as the API server and the store hold it."""
    assert run.record is not None
    assert run.index is not None
    return {
        "status": run.status.model_dump(mode="json", by_alias=True, exclude_none=True),
        "spec": run.spec.model_dump(mode="json", by_alias=True, exclude_none=True),
        "run.json": run.record.model_dump(mode="json"),
        "index.json": run.index.model_dump(mode="json"),
        "control.json": run.control.model_dump(mode="json") if run.control else None,
        "jobs": {
            name: {"manifest": job.manifest, "completed": sorted(job.completed), "pods": sorted(job.pods)}
            for name, job in fleet.jobs.items()
        },
        "job.json": {name: job.order.model_dump(mode="json") for name, job in fleet.jobs.items()},
        "next_numbers": run.next_numbers,
        "scored": sorted(
            [planned.cell.key, task, trial]
            for planned in run.record.cells
            for task in planned.task_ids
            for trial in range(run.record.trials)
            if (outcome := run.ledger.state(TrialId(planned.cell.key, task, trial)).outcome) is not None
            and outcome.scored
        ),
    }


if __name__ == "__main__":
    parts = (f'"{name}": {json.dumps(part, sort_keys=True)}' for name, part in recorded(*half_way()).items())
    sys.stdout.write("{\n" + ",\n".join(parts) + "\n}\n")
