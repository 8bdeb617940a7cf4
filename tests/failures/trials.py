"""Failed trials made up for tests, call by call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.cli.runs import CELL, STARTED, verifier

from opsgym_api.records.attempt import TrialRecord, Usage, VerifierResult, Versions
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_api.tasks.task import Task
from opsgym_console.analysis.failures import FailedTrial, Finding, Mode, analyse

POLICY = "Obey."
REQUEST = "Hand the incident INC-000012 over to Nadia."


def rendered(data: Any, *, is_error: bool = False) -> str:
    """A tool's result as the model sees it."""
    text = data if isinstance(data, str) else json.dumps(data)
    return json.dumps({"content": [{"type": "text", "text": text}], "isError": is_error})


def call(tool: str, arguments: Mapping[str, Any], result: Any = None, *, refused: bool = False) -> TranscriptEvent:
    """A call and what it came to."""
    return TranscriptEvent(
        kind="tool",
        tool_name=tool,
        arguments=dict(arguments),
        content=rendered(result, is_error=refused),
        is_error=refused,
    )


FIND = call("find_incident_by_number", {"number": "INC-000012"}, {"incident_id": "INC_012", "status": "new"})
WHO = call("get_user_using_name", {"first_name": "Nadia"}, [{"user_id": "USER_008"}, {"user_id": "USER_009"}])
ASSIGN = call("update_incident", {"incident_id": "INC_012", "assigned_to": "USER_008"}, {"incident_id": "INC_012"})
NOTIFY = call("send_notification", {"incident_id": "INC_012", "type": "update"}, {"notification_id": "NOTIF_001"})


def gold(*events: TranscriptEvent) -> list[dict[str, Any]]:
    """Gold actions that make these calls."""
    return [{"name": event.tool_name, "arguments": event.arguments} for event in events]


def task(actions: Sequence[Mapping[str, Any]] | None = None, **fields: Any) -> Task:
    """A row."""
    config = {"query": "SELECT 1", "expected_value": 1}
    row = {
        "task_id": "t",
        "user_prompt": REQUEST,
        "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp"}],
        "verifiers": [{"verifier_type": "database_state", "validation_config": config}],
        "gold_actions": actions,
        **fields,
    }
    return Task.model_validate(row)


def failed(
    *calls: TranscriptEvent,
    row: Task | None = None,
    verifiers: Sequence[VerifierResult] | None = None,
    answer: str = "Done.",
    states: Mapping[str, bytes] | None = None,
    policy: str = POLICY,
    **fields: Any,
) -> FailedTrial:
    """A trial that failed."""
    numbered = [event.model_copy(update={"step": step}) for step, event in enumerate(calls, start=1)]
    opening = [TranscriptEvent(kind="system", content=policy), TranscriptEvent(kind="user", content=REQUEST)]
    record = {
        "run": "demo.0", "cell": CELL, "task_id": "t", "trial": 0, "attempt": 0, "outcome": Outcome.FAILED,
        "reason": "verifiers", "score": 0, "published_score": 0, "answer": answer, "stopped_by": "answer",
        "verifiers": [verifier(passed=False)] if verifiers is None else list(verifiers),
        "feasible": True if row is None else row.feasible,
        "usage": Usage(), "cost_usd": 0.0, "steps": len(calls) + 1, "tool_calls": len(calls), "tool_errors": 0,
        "model_retries": 0, "timings": STARTED,
        "versions": Versions(opsgym="0", python="3", litellm="1", task_digest="0"), **fields,
    }  # fmt: skip
    transcript = Transcript(task_id="t", tools=[], events=[*opening, *numbered])
    return FailedTrial(TrialRecord.from_dict(record), transcript, row, states or {})


def asks(query: str, expected: Any = 1, **fields: Any) -> VerifierResult:
    """A database check that failed."""
    return verifier(passed=False, query=query, expected=expected, comparison="equals", **fields)


def modes_of(trial: FailedTrial) -> set[Mode]:
    """Detected modes."""
    return {finding.mode for finding in analyse(trial)}


def finding(trial: FailedTrial, mode: Mode) -> Finding:
    """The only finding of a mode."""
    (result,) = (one for one in analyse(trial) if one.mode is mode)
    return result
