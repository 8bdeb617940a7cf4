"""Plays the tool calls of a stored trial again on fresh databases, and compares what comes of it.

Invariant: no model is asked. Calls that reached a gym server are sent to it again in their order, day by day; what the
harness answered by itself is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym.runcheck.records import StoredTrial
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.kinds.profiles import Switches
from opsgym_api.records.attempt import TrialRecord, VerifierResult
from opsgym_api.records.outcomes import FailReason
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import Seed
from opsgym_domains.kit.clock import seed_time
from opsgym_runner.episode import EpisodeResult
from opsgym_runner.orchestrators import AgentResult
from opsgym_runner.rescoring import JUDGED, script_of

_QUOTED = 120
"""Characters of a result that a message quotes."""
_DATABASE_ID = re.compile(r"db_\d{13}_[0-9a-f]{9}")
"""Id of an episode's database, which some published servers show."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


@dataclass(frozen=True)
class Replayed:
    """What came of a trial's calls when they were played again."""

    record: TrialRecord
    transcript: Transcript
    states: Mapping[str, bytes]
    """Final database by gym server, as an SQLite file."""


_Result = tuple[str | None, str, bool]
"""A call's tool, the text of its result, and whether that is an error."""


def recording_of(trial: StoredTrial) -> Transcript:
    """A recording of the trial for a replay model: one call a reply, and the answers of its days."""
    record, events = trial.record, list[TranscriptEvent]()
    answers = [*record.day_answers, record.answer]
    made = _calls(trial.transcript)
    for day, answer in enumerate(answers, start=1):
        for call in (call for call in made if call.day == day):
            step = len(events) + 1
            call_of = {"id": f"call_{step}", "name": call.tool_name, "arguments": call.arguments or {}}
            events.append(TranscriptEvent(kind="assistant", step=step, day=day, tool_calls=[call_of]))
            events.append(call.model_copy(update={"step": step}))
        events.append(TranscriptEvent(kind="assistant", content=answer, day=day))
    return trial.transcript.model_copy(update={"events": events})


def replaying(agent: Agent) -> Agent:
    """The agent with the tools and answers that it had, and nothing of its own but the calls."""
    switches = {name: getattr(agent, name) for name in Switches.model_fields} | {"max_steps": 1000}
    return Agent.model_validate(
        {"name": agent.name, "profile": agent.profile, "tool_names": agent.tool_names, **switches}
    )


def replayable(task: Task) -> Task:
    """The row without what a judge model decides."""
    return task.model_copy(update={"verifiers": [one for one in task.verifiers if one.verifier_type != JUDGED]})


def needs_same_steps(trial: StoredTrial) -> bool:
    """Whether something happened in the trial by the number of its replies, of which a replay may have more."""
    by_step = trial.task.clock.seconds_per_step > 0 or any(event.after_step is not None for event in trial.task.events)
    return by_step and trial.record.steps != len(_calls(trial.transcript)) + len(trial.record.day_answers) + 1


def stands_still(seeds: Iterable[Seed]) -> bool:
    """Whether the worlds state their time; one that does not runs with real time, which its rows and results show."""
    return all(seed.sql is None or seed_time(seed.sql) is not None for seed in seeds)


def replay_problems(trial: StoredTrial, states: Mapping[str, bytes], again: Replayed, *, timed: bool) -> Iterator[str]:
    """Where the stored trial is not what its calls make.

    Args:
        trial: The trial as it is stored.
        states: Its final databases by gym server.
        again: What its calls made.
        timed: Whether times are compared; see `stands_still`.
    """
    shown = _without_database if timed else _without_times
    results = [
        [(call.tool_name, shown(call.content), call.is_error) for call in _calls(one)]
        for one in (trial.transcript, again.transcript)
    ]
    yield from _result_problems(*results)
    for gym, state in states.items():
        if gym in again.states:
            yield from _state_problems(gym, shown(script_of(state)), shown(script_of(again.states[gym])))
    yield from verdict_problems(trial, again.record.verifiers)


def _without_database(text: str) -> str:
    return _DATABASE_ID.sub("(database)", text)


def _without_times(text: str) -> str:
    return _TIME.sub("(time)", _without_database(text))


def verdict_problems(trial: StoredTrial, executed: Sequence[VerifierResult]) -> Iterator[str]:
    """Where the recorded verdict is not what verifiers say, those of a judge model taken from the record."""
    record, remaining = trial.record, iter(executed)
    if (recorded := len(record.verifiers)) != (declared := len(trial.task.verifiers)):
        yield f"verdict: {recorded} results are recorded, the row has {declared} verifiers"
        return
    if record.stopped_by not in ("answer", *FailReason):
        yield f"verdict: {record.stopped_by!r} is not a known end of an agent"
        return
    kinds = [verifier.verifier_type for verifier in trial.task.verifiers]
    results = [was if kind == JUDGED else next(remaining) for kind, was in zip(kinds, record.verifiers, strict=True)]
    for was, now in zip(record.verifiers, results, strict=True):
        if was.passed != now.passed:
            yield f"verifier {was.index} ({was.name}): recorded {_verdict(was)}, now {_verdict(now)}"
    agent = AgentResult(record.answer, "answer" if record.stopped_by == "answer" else FailReason(record.stopped_by))
    result = EpisodeResult(agent, results, {}, "")
    was_is = (record.outcome, record.reason, record.score, record.published_score)
    now_is = (result.outcome, result.reason, int(result.passed), result.published_score)
    if was_is != now_is:
        yield f"verdict: recorded {_words(*was_is)}, now {_words(*now_is)}"


def _verdict(result: VerifierResult) -> str:
    return "passed" if result.passed else "failed"


def _words(outcome: object, reason: object, score: int, published: int | None) -> str:
    return f"{outcome} ({reason or 'no reason'}), score {score}, published {'none' if published is None else published}"


def _calls(transcript: Transcript) -> list[TranscriptEvent]:
    """Results of calls that reached a gym server."""
    return [event for event in transcript.events if event.kind == "tool" and event.gym is not None]


def _result_problems(before: Sequence[_Result], after: Sequence[_Result]) -> Iterator[str]:
    """The first result that differs: those after it follow from it."""
    if len(before) != len(after):
        yield f"calls: {len(before)} are recorded, {len(after)} could be played again"
    for number, (was, now) in enumerate(zip(before, after, strict=False), start=1):
        if was != now:
            at = next((i for i, (a, b) in enumerate(zip(was[1], now[1], strict=False)) if a != b), 0)
            yield f"call {number}, {was[0]}: recorded {_part(was[1], at)}, now {_part(now[1], at)}"
            return


def _part(text: str, at: int) -> str:
    """The text around the place at which two differ."""
    begin = max(0, at - _QUOTED // 2)
    return repr(("…" if begin else "") + text[begin : begin + _QUOTED])


def _state_problems(gym: str, before: str, after: str) -> Iterator[str]:
    was, now = set(before.split("\n")), set(after.split("\n"))
    if was != now:
        first = next(iter(sorted(was - now) or sorted(now - was)))
        counts = f"{len(was - now)} stored rows are not what the calls make, {len(now - was)} that they make are absent"
        yield f"final database of {gym}: {counts}; the first: {first[: 2 * _QUOTED]}"
