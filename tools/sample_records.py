"""Writes a store with one record of each kind: `tests/records/v<version>`, which every later version must read.

Invariant: a written folder is never written again. Every field has a value other than its default, so that a reader
that loses one is noticed.

    python -m tools.sample_records
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from opsgym_api.base import Stored
from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.records.attempt import (
    AttemptRecord,
    Cell,
    FinishCounts,
    Timings,
    TrialRecord,
    Usage,
    VerifierResult,
    Versions,
)
from opsgym_api.records.gate import GateCheck, GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, PlanRecord, RunRecord
from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import (
    CatalogueRecord,
    ModelCall,
    Reasoning,
    RefusedCall,
    StepReasoning,
    Transcript,
    TranscriptEvent,
)
from opsgym_api.records.version import RECORD_VERSION
from opsgym_core.results.compaction import compact
from opsgym_core.results.transcripts import encode_record
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "records"
RUN = "nightly.0123456789ab"
CELL = Cell(model="gpt", agent="react", mode="oracle", domain="itsm")
DIGEST = "5d41402abc4b2a76b9719d911017c592"
_STARTED = "2026-01-05T08:00:00Z"
_USAGE = Usage(
    model_calls=2, prompt_tokens=2100, completion_tokens=310, cached_tokens=900, cache_write_tokens=200,
    reasoning_tokens=120,
)  # fmt: skip
_TIMINGS = Timings(
    started_at=_STARTED, seed_s=0.1, connect_s=0.2, model_s=3.5, wait_s=0.5, tools_s=0.4, verify_s=0.3, total_s=4.6
)


def main() -> int:
    """Writes the folder of the current version; returns 2 if there is one already."""
    folder = FOLDER / f"v{RECORD_VERSION}"
    if folder.exists():
        sys.stderr.write(f"{folder} exists; records of a version are written once\n")
        return 2
    write(LocalStore(folder))
    sys.stdout.write(f"{folder}\n")
    return 0


def write(store: Store) -> None:
    """Writes a run with a scored trial, an attempt without a score, and a chunk of a second trial."""
    keys = RunKeys(RUN)
    objects: dict[str, Stored] = {
        keys.run_json: _run(),
        keys.gate_json: _gate(),
        keys.plan("planner", "first"): _plan(),
        keys.catalogue(DIGEST): CatalogueRecord(digest=DIGEST, tools=[_TOOL]),
    }
    store.put(keys.trial(CELL, "second", 0).record, _trial("second").to_json())
    compact(store, _run())
    for key, record in objects.items():
        store.put(key, record.model_dump_json().encode())
    of_trial = keys.trial(CELL, "first", 0)
    store.put(of_trial.record, _trial("first").to_json())
    for attempt in (_lost(), _ended()):
        store.put(of_trial.attempt(attempt.attempt), attempt.to_json())
    store.put(of_trial.transcript, encode_record(_transcript()))
    store.put(of_trial.reasoning, encode_record(_reasoning()))


_TOOL = {
    "type": "function",
    "function": {
        "name": "get_incident",
        "description": "Show an incident.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    },
}


def _run() -> RunRecord:
    return RunRecord(
        run=RUN,
        name="nightly",
        spec={"suite": {"builtin": "itsm-core"}, "models": [{"name": "gpt", "inline": {"model": "openai/gpt"}}]},
        task_ids=["first", "second"],
        cells=[PlannedCell(cell=CELL, task_ids=["first", "second"])],
        trials=1,
        suite_digest="0a1b",
        opsgym="0.1.0",
        versions={"seed itsm/harbour": "0c1d"},
        created_at=_STARTED,
        schedule="nightly",
        rescored_from="",
    )


def _gate() -> GateRecord:
    check = GateCheck(condition="minSuccessRate", verdict="NO-GO", message="0.0 is below 0.5")
    return GateRecord(
        run=RUN, verdict="NO-GO", checks=[check], baseline="nightly.1", anchor="nightly.0", regression=0.25,
        success=0.5, decided_at=_STARTED,
    )  # fmt: skip


def _plan() -> PlanRecord:
    return PlanRecord(planner="planner", task_id="first", text="1. Look.", usage=_USAGE, cost_usd=0.01)


def _trial(task_id: str) -> TrialRecord:
    difference = StateDifference(
        tables=[
            TableDifference(
                table="incident",
                changed=1,
                rows=[RowDifference(change="changed", key={"id": "I1"}, before={"state": 1}, after={"state": 2})],
            )
        ]
    )
    return TrialRecord(
        run=RUN, cell=CELL, task_id=task_id, trial=0, attempt=1, profile="published", outcome=Outcome.FAILED,
        reason="verifiers", message="", usage=_USAGE, planner_usage=Usage(model_calls=1, prompt_tokens=100),
        judge_usage=Usage(model_calls=1, prompt_tokens=50), cost_usd=0.04, judge_cost_usd=0.01, steps=2, tool_calls=1,
        tool_errors=1, model_retries=1, rate_limits=1, finish_reasons=FinishCounts(length=1), timings=_TIMINGS, score=0,
        published_score=1, feasible=False, horizon=3, variant=2, verifiers=(_verifier(),), answer="Done.",
        day_answers=("First day done.",), stopped_by="answer", prices=Prices(input_usd=1.0, output_usd=10.0),
        versions=Versions(
            opsgym="0.1.0", python="3.11", litellm="1.106.2", task_digest="0e1f", catalogue_digest=DIGEST,
            model_snapshot="gpt-2026-01-05",
        ),
        database_times={"gym-itsm-mcp": _STARTED}, state_differences={"gym-itsm-mcp": difference},
        resources={"agent": {"requests": {"cpu": "100m"}}},
    )  # fmt: skip


def _verifier() -> VerifierResult:
    return VerifierResult(
        index=0, name="state", verifier_type="database_state", category="integrity", executed=True, passed=False,
        published_passed=True, gym_name="gym-itsm-mcp", expected="2", actual=2, comparison="equals", query="SELECT 2",
        error="none",
    )  # fmt: skip


def _ended() -> AttemptRecord:
    return AttemptRecord.of(RUN, _trial("first"))


def _lost() -> AttemptRecord:
    message = "The gym server is gone."
    return replace(_ended(), attempt=0, outcome=Outcome.INFRA_ERROR, reason="gym_lost", message=message)


def _transcript() -> Transcript:
    call = ModelCall(
        usage=_USAGE, cost_usd=0.03, model="gpt-2026-01-05", fingerprint="fp_1", request_id="req_1", retries=1,
        rate_limits=1,
    )  # fmt: skip
    refused = RefusedCall(name="get_incident", raw='{"id": ', problem="the arguments are not valid JSON")
    request = {"id": "call_1", "name": "get_incident", "arguments": {"id": "I1"}}
    events = [
        TranscriptEvent(kind="system", content="Obey."),
        TranscriptEvent(kind="user", content="Close I1.", origin="tell", day=2),
        TranscriptEvent(
            kind="assistant", by="sub-goal 1", content="I look.", day=2, step=1, seconds=1.5, tool_calls=[request],
            finish_reason="tool_calls", replaced="empty", call=call, refused_calls=[refused],
        ),
        TranscriptEvent(
            kind="tool", content='{"content": []}', day=2, step=1, tool_name="get_incident", gym="gym-itsm-mcp",
            arguments={"id": "I1"}, is_error=True, seconds=0.2,
        ),
        TranscriptEvent(kind="note", content="the agent answered", day=2, step=2),
    ]  # fmt: skip
    return Transcript(task_id="first", tools=["get_incident"], catalogue_digest=DIGEST, events=events)


def _reasoning() -> Reasoning:
    step = StepReasoning(event=2, text="Look first.", parts=[{"type": "thinking", "signature": "c2ln"}])
    return Reasoning(task_id="first", steps=[step])


if __name__ == "__main__":
    sys.exit(main())
