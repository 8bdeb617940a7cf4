"""Scripts of replay models.

Invariant: a script's replies contain one tool call each, in the recorded order, then the answer; in a task of several
days, each day's calls and then its answer. A planner or judge calls no tool: it gives its replies in order and repeats
the last one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from opsgym_api.records.outcomes import ConfigReason
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_core.common.foreign import read_json
from opsgym_core.results.transcripts import decode_record
from opsgym_runner.errors import config_error
from opsgym_runner.job import JUDGE, PLANNER
from opsgym_runner.models.prices import REPLAY

GOLD = f"{REPLAY}gold"
NOOP = f"{REPLAY}noop"
FLAKY = f"{REPLAY}flaky"
"""Plays another script with faults, over HTTP through litellm; see `replay.flaky`."""
_CLOSING = "Done."
_IDLE = "I took no action."
"""Answer of `replay/noop`: a text, because an empty reply would be requested once more, and no claim to have acted."""
_SUPPORT_ROLES = (PLANNER, JUDGE)


@dataclass(frozen=True)
class Script:
    """Replies of a replay model in one episode."""

    actions: Sequence[ToolCall | str]
    """Tool calls, and the answers that end the days before the last one."""
    answer: str
    replies: Sequence[str] = ()
    """Texts before the answer, of a planner or judge."""
    gyms: Sequence[str] = ()
    """Names of the task's gym servers, in the row's order; none for a recording."""

    def start_of(self, ended_days: int) -> int:
        """Position of the first turn after this number of days; the end if there are fewer."""
        ends = [place for place, turn in enumerate(self.actions, start=1) if isinstance(turn, str)]
        return [0, *ends, *[len(self.actions)] * ended_days][ended_days]

    def answer_after(self, position: int) -> str:
        """The answer that ends the day of a position."""
        return next((turn for turn in self.actions[position:] if isinstance(turn, str)), self.answer)


def script_for(model: str, task: Task, role: str = "") -> Script:
    """The script of a replay model for a task.

    Args:
        model: `replay/gold`, `replay/noop`, or `replay/<path of a recording>`.
        task: The row.
        role: `planner`, `judge`, or empty for the agent.

    Raises:
        NotScored: The task has no gold actions, or no recording exists.
    """
    if role in _SUPPORT_ROLES:
        return _support_script(model, task, role)
    if model == NOOP:
        return Script((), _IDLE)
    if model == GOLD:
        if task.gold_actions is None:
            message = f"task {task.task_id} has no gold_actions; {GOLD} cannot play it"
            raise config_error(ConfigReason.NO_GOLD_ACTIONS, message)
        return _gold(task, task.gold_actions)
    path = Path(model.removeprefix(REPLAY))
    script = read_recording(path).get(task.task_id)
    if script is None:
        raise config_error(ConfigReason.NO_RECORDING, f"{path} has no recording of task {task.task_id}")
    return script


def _gold(task: Task, actions: Sequence[ToolCall]) -> Script:
    answers = task.gold_answers or [*([_CLOSING] * len(task.days)), task.gold_answer or _CLOSING]
    turns: list[ToolCall | str] = []
    for day, answer in enumerate(answers, start=1):
        turns += [call for call in actions if (call.day or 1) == day]
        turns.append(answer)
    return Script(turns[:-1], answers[-1], gyms=[server.mcp_server_name for server in task.gym_servers_config])


def _support_script(model: str, task: Task, role: str) -> Script:
    """The script of a planner or judge.

    A planner without a recording lists the recorded actions as its plan.

    Raises:
        NotScored: The recording has no judge.
    """
    if model not in (GOLD, NOOP):
        path = Path(model.removeprefix(REPLAY))
        script = read_recording(path, role).get(task.task_id)
        if script is not None:
            return script
        if role == JUDGE:
            message = f"{path} has no recording of a judge for task {task.task_id}"
            raise config_error(ConfigReason.NO_RECORDING, message)
    if role == JUDGE:
        return Script(
            (), json.dumps({"mark": 10 if model == GOLD else 0, "reason": f"{model} gives every answer this mark"})
        )
    turns = () if model == NOOP else script_for(model, task).actions
    actions = [turn for turn in turns if not isinstance(turn, str)]
    steps = [f"{number}. {call.name} {json.dumps(call.arguments)}" for number, call in enumerate(actions, start=1)]
    return Script((), "\n".join([*steps, f"{len(steps) + 1}. Answer the request."]))


def read_recording(path: Path, role: str = "") -> Mapping[str, Script]:
    """Reads a recording: scripts by task id.

    Args:
        path: JSON lines `{"task_id", "tool", "arguments"}` and `{"task_id", "answer"}`, with `"by"` where a planner or
            judge answers, or a stored transcript (`.json`, `.json.zst`).
        role: `planner`, `judge`, or empty for the agent.

    Raises:
        NotScored: The file cannot be read as a recording.
    """
    try:
        content = path.read_bytes()
        if path.suffix == ".jsonl":
            return _from_lines(content.decode("utf-8-sig"), role)
        compressed = path.suffix == ".zst"
        transcript = decode_record(content, Transcript) if compressed else Transcript.model_validate_json(content)
        return _from_transcript(transcript, role)
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        message = f"{path} cannot be read as a recording: {type(error).__name__}: {error}"
        raise config_error(ConfigReason.NO_RECORDING, message) from None


def _from_lines(text: str, role: str) -> Mapping[str, Script]:
    scripts: dict[str, list[ToolCall | str]] = {}
    for line in _objects(text):
        task_id = line["task_id"]
        if line.get("by", "") != role:
            continue
        turns = scripts.setdefault(task_id, [])
        if "tool" in line:
            turns.append(ToolCall(name=line["tool"], arguments=line.get("arguments") or {}))
        else:
            turns.append(_text(line["answer"]))
    return {task_id: _script(turns, role) for task_id, turns in scripts.items()}


def _text(answer: Any) -> str:
    if not isinstance(answer, str):
        raise TypeError("an answer is not a text")
    return answer


def _script(turns: Sequence[ToolCall | str], role: str) -> Script:
    """The script of turns in order. The last answer before a call ends a day; the last one of all ends the task."""
    texts = [turn for turn in turns if isinstance(turn, str)]
    answer = texts[-1] if texts else _CLOSING
    if role in _SUPPORT_ROLES:
        return Script([], answer, texts[:-1])
    following = zip(turns, [*turns[1:], answer], strict=False)
    actions = [turn for turn, after in following if not (isinstance(turn, str) and isinstance(after, str))]
    return Script(actions, answer)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    # Not splitlines: JSON strings may hold line separators other than a newline.
    return (read_json(line) for line in text.split("\n") if line.strip())


def _from_transcript(transcript: Transcript, role: str) -> Mapping[str, Script]:
    def has_role(event: TranscriptEvent) -> bool:
        return event.by == role if role in _SUPPORT_ROLES else event.by not in _SUPPORT_ROLES

    replies = [event for event in transcript.events if event.kind == "assistant" and has_role(event)]
    if not replies and role in _SUPPORT_ROLES:
        return {}
    executed = [event for event in transcript.events if event.kind == "tool"]
    return {transcript.task_id: _script(list(_turns(replies, executed)), role)}


def _turns(replies: Sequence[TranscriptEvent], executed: Sequence[TranscriptEvent]) -> Iterator[ToolCall | str]:
    """Calls in order with the gym servers that executed them, and the texts that ended a day or all."""
    gyms: dict[tuple[int, str | None], list[str | None]] = {}
    for result in executed:
        gyms.setdefault((result.step, result.tool_name), []).append(result.gym)
    for event, after in zip(replies, [*replies[1:], None], strict=True):
        for call in event.tool_calls:
            made = gyms.get((event.step, call["name"]))
            gym = made.pop(0) if made else None
            yield ToolCall(name=call["name"], arguments=call.get("arguments") or {}, gym=gym)
        if after is None or after.day != event.day or event.by in _SUPPORT_ROLES:
            yield event.content
