"""Recorded runs of the published benchmark as failed trials, with manual labels.

Invariant: nothing is added to a recording. It contains calls, results and whether the run passed; verdicts of
verifiers, the agent's texts and the tools that it did not call are missing, so verifiers count as not executed and the
answer is empty.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opsgym_api.records.attempt import Cell, Timings, TrialRecord, Usage, VerifierResult, Versions
from opsgym_api.records.outcomes import FailReason, Outcome
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import Verifier
from opsgym_console.analysis.failures import FailedTrial, Mode

LABELS = Path(__file__).with_name("labels.json")
RECORDING = "boazdavid_gpt5_oracle.jsonl"
_ROW = ".reconstructed"


@dataclass(frozen=True)
class Label:
    """Failure modes of a recorded run, labelled by a person."""

    task_id: str
    domain: str
    half: str
    """`tuning`: rules were tuned on it; `held_out`: they were not."""
    modes: frozenset[Mode]
    reason: str


def read_labels() -> list[Label]:
    """All labels, in the file's order."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))
    return [Label(**{**entry, "modes": frozenset(map(Mode, entry["modes"]))}) for entry in labels]


def recorded_trials(upstream: Path, domain: str) -> Mapping[str, FailedTrial]:
    """A domain's recorded runs that did not pass, by task id."""
    calls: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (upstream / "trajectories" / domain / RECORDING).read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        calls[call["task_id"]].append(call)
    tasks, _ = read_tasks(upstream / "tasks" / domain)
    return {
        task_id: _trial(task, domain, calls[task_id])
        for task in tasks
        if (task_id := task.task_id.partition(".")[0]) in calls and _failed(task)
    }


def _failed(task: Task) -> bool:
    provenance = (task.model_extra or {}).get("_provenance", {})
    return provenance.get("run_overall_success") is False


def _trial(task: Task, domain: str, calls: Sequence[Mapping[str, Any]]) -> FailedTrial:
    verifiers = [_verdict(index, verifier) for index, verifier in enumerate(task.verifiers)]
    record = TrialRecord(
        run="recorded", cell=Cell(model="recorded", agent="react", mode="oracle", domain=domain), task_id=task.task_id,
        trial=0, attempt=0, outcome=Outcome.FAILED, reason=FailReason.VERIFIERS, score=0, published_score=0,
        verifiers=tuple(verifiers), answer="", stopped_by="answer",
        usage=Usage(model_calls=len(calls) + 1), cost_usd=None,
        steps=len(calls) + 1, tool_calls=len(calls), tool_errors=sum(call["isError"] for call in calls),
        model_retries=0,
        timings=Timings(started_at=calls[0]["recorded_at"]),
        versions=Versions(opsgym="", python="", litellm="", task_digest=""),
    )  # fmt: skip
    return FailedTrial(record, _transcript(task, calls), task)


def _verdict(index: int, verifier: Verifier) -> VerifierResult:
    config = verifier.validation_config
    return VerifierResult(
        index=index, name=verifier.name, verifier_type=verifier.verifier_type, category=verifier.category.value,
        executed=False, passed=False, published_passed=False, expected=config.get("expected_value"),
        comparison=config.get("comparison_type"), query=config.get("query"), error="verdict not recorded",
    )  # fmt: skip


def _transcript(task: Task, calls: Sequence[Mapping[str, Any]]) -> Transcript:
    opening = [
        TranscriptEvent(kind="system", content=task.system_prompt),
        TranscriptEvent(kind="user", content=task.user_prompt),
    ]
    made = [
        TranscriptEvent(
            kind="tool", content=_rendered(call), step=step, tool_name=call["tool"], arguments=call["arguments"],
            is_error=call["isError"],
        )
        for step, call in enumerate(calls, start=1)
    ]  # fmt: skip
    return Transcript(task_id=task.task_id, tools=sorted({call["tool"] for call in calls}), events=[*opening, *made])


def _rendered(call: Mapping[str, Any]) -> str:
    text = call["text"] if call["json"] is None else json.dumps(call["json"])
    content = [{"type": "text", "text": text or "", "annotations": None, "meta": None}]
    return json.dumps({"content": content, "isError": call["isError"]})
