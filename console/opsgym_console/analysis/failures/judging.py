"""What a judge model is shown of a failed trial, and which of its labels count.

Invariant: a label counts only if its mode exists and its citations exist in the trial. Nothing in a transcript decides
which form of reply is accepted: a reply is valid JSON of one schema, or it is refused. No model is called here.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.records.failure_labels import CitedLabel
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_console.analysis.failures.findings import Finding, Mode
from opsgym_console.analysis.failures.modes import definition
from opsgym_console.analysis.failures.trial import FailedTrial

PROMPT_VERSION = 1
"""Changes with the prompt and with what a judge is shown; verdicts of different versions are not mixed."""
MAX_CHARACTERS = 240_000
"""Characters of a trial that a judge is shown, some 60,000 tokens; longer texts are cut first."""
_TEXT_LIMITS = (20_000, 4_000, 1_000, 300)
"""Characters of one text, tried in this order until the trial fits."""
AGAIN = "That is not the JSON object that was asked for. Reply with nothing but that object."


class _Label(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    mode: Annotated[str, Field(max_length=100)]
    step: int
    verifier: int
    reason: Annotated[str, Field(max_length=2_000)]


class _Reply(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    labels: Annotated[list[_Label], Field(max_length=50)]


@dataclass(frozen=True)
class Verdict:
    """The labels of a valid reply."""

    labels: list[CitedLabel]
    """Labels that count, in the order of `Mode`."""
    dropped: dict[str, int]
    """Number of labels that do not count, by reason."""


def judge_id(name: str, model: str, parameters: Mapping[str, Any]) -> str:
    """Name of a judge in the store: a model with other parameters, or another prompt, is another judge."""
    identity = json.dumps([model, dict(parameters), PROMPT_VERSION, instructions()], sort_keys=True, default=str)
    return f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def instructions() -> str:
    """The judge's instructions, the same for every trial."""
    text = files("opsgym_console.analysis.failures").joinpath("judge_prompt.md").read_text(encoding="utf-8")
    modes = "\n".join(f"- `{mode.value}`: {definition(mode)}" for mode in Mode)
    return text.strip().replace("{modes}", modes)


def material(trial: FailedTrial, findings: Sequence[Finding]) -> str:
    """A trial as one JSON document of at most `MAX_CHARACTERS`, in which every text is a JSON string."""
    for limit in _TEXT_LIMITS:
        document = _document(trial, findings, limit)
        if len(document) <= MAX_CHARACTERS:
            return document
    return _document(trial, findings, _TEXT_LIMITS[-1], MAX_CHARACTERS // (8 * _TEXT_LIMITS[-1]))


def _document(trial: FailedTrial, findings: Sequence[Finding], limit: int, entries: int | None = None) -> str:
    record = trial.record
    events = trial.transcript.events
    if entries is not None and len(events) > entries:
        events = [*events[: entries // 2], *events[-entries // 2 :]]
    content = {
        "feasible": record.feasible,
        "ended_by": record.stopped_by,
        "reason": record.reason,
        "verifiers": [_verifier(verifier, limit) for verifier in record.verifiers],
        "rules": [
            {"mode": one.mode.value, "evidence": [item.as_json() for item in one.evidence[:5]]} for one in findings
        ],
        "transcript": [_event(event, limit) for event in events],
        "answer": _cut(record.answer, limit),
    }
    return json.dumps(content, ensure_ascii=False, default=str)


def _verifier(verifier: VerifierResult, limit: int) -> dict[str, Any]:
    shown = {"index": verifier.index, "name": verifier.name, "category": verifier.category, "passed": verifier.passed}
    values = {
        "expected": verifier.expected,
        "actual": verifier.actual,
        "query": verifier.query,
        "error": verifier.error,
    }
    return shown | {name: _cut(str(value), limit) for name, value in values.items() if value not in (None, "")}


def _event(event: TranscriptEvent, limit: int) -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": event.kind, "step": event.step, "text": _cut(event.content, limit)}
    if event.tool_name:
        shown |= {"tool": event.tool_name, "arguments": _cut(json.dumps(event.arguments, default=str), limit)}
    return shown | ({"is_error": True} if event.is_error else {})


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} [{len(text) - limit} characters left out]"


def verdict_of(reply: Any, trial: FailedTrial) -> Verdict | None:
    """The verdict in a reply's JSON value; None if it is not of the schema.

    Args:
        reply: The value, of any type.
        trial: The trial, in which citations must exist.
    """
    try:
        given = _Reply.model_validate(reply).labels
    except ValidationError:
        return None
    steps = {event.step for event in trial.transcript.events if event.step}
    failed = {verifier.index for verifier in trial.record.verifiers if not verifier.passed}
    dropped: Counter[str] = Counter()
    labels: dict[str, CitedLabel] = {}
    for label in given:
        problem = _problem(label, steps, failed) or ("repeated" if label.mode in labels else "")
        if problem:
            dropped[problem] += 1
        else:
            labels[label.mode] = CitedLabel(**label.model_dump())
    return Verdict([labels[mode] for mode in Mode if mode in labels], dict(dropped))


def _problem(label: _Label, steps: set[int], failed: set[int]) -> str:
    if label.mode not in set(Mode):
        return "unknown_mode"
    if label.step not in steps:
        return "unknown_step"
    return "" if label.verifier in failed else "unknown_verifier"
