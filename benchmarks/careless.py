"""`python -m benchmarks careless`: how often scripted agents pass that are careless in one way.

Invariant: an agent is the reference solution with one kind of carelessness, played with the task's events and days and
judged by the verifiers that judge any model. A task to which a kind does not apply is not counted for it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.suites.episodes import Play, Servers, play_all, tool_of

from benchmarks.gym import Gym, serving
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_domains.kit.tools import Tool
from opsgym_runner.verification.looked_up import ToolCallResult
from opsgym_suites.__main__ import all_authored
from opsgym_suites.kit.authoring_rules import AuthoredTask
from opsgym_suites.kit.suite import Suite

SUITES = ("itsm-core", "csm-core", "calendar-core", "hr-core", "email-core", "drive-core", "teams-core", "hybrid-core")


@dataclass(frozen=True)
class Solved:
    """A task with its reference solution, played."""

    task: Task
    results: Sequence[ToolCallResult] = ()
    """Results of the reference solution's calls, in order."""
    mistakes: Mapping[str, Sequence[ToolCall]] | None = None
    """Calls that the task's author wrote down as mistakes, by label."""

    @property
    def gold(self) -> Sequence[ToolCall]:
        """Calls of the reference solution."""
        return self.task.gold_actions or []

    def tool(self, call: ToolCall) -> Tool:
        """The tool of a call."""
        return tool_of(self.task, call)

    def writes(self, call: ToolCall) -> bool:
        """Whether a call's tool writes."""
        return self.tool(call).writes


Careless = Callable[[Solved], Sequence[ToolCall] | None]
"""The calls of an agent that is careless in some way; None if its carelessness makes no difference to the task."""


def _is_notification(tool: Tool) -> bool:
    return (
        tool.effect is not None and tool.effect.operation == "adds" and "notification" in tool.effect.row.__tablename__
    )


def stops_early(solved: Solved) -> Sequence[ToolCall] | None:
    """Calls up to the first write."""
    writes = [place for place, call in enumerate(solved.gold) if solved.writes(call)]
    return solved.gold[: writes[0] + 1] if len(writes) > 1 else None


def skips_look_ups(solved: Solved) -> Sequence[ToolCall] | None:
    """The calls that write alone."""
    writes = [call for call in solved.gold if solved.writes(call)]
    return writes if writes and len(writes) < len(solved.gold) else None


def never_notifies(solved: Solved) -> Sequence[ToolCall] | None:
    """All calls but those that send notifications."""
    others = [call for call in solved.gold if not _is_notification(solved.tool(call))]
    return others if len(others) < len(solved.gold) else None


def forgets_the_last_write(solved: Solved) -> Sequence[ToolCall] | None:
    """All calls but the last one that writes."""
    writes = [place for place, call in enumerate(solved.gold) if solved.writes(call)]
    return [*solved.gold[: writes[-1]], *solved.gold[writes[-1] + 1 :]] if writes else None


def does_more(solved: Solved) -> Sequence[ToolCall] | None:
    """All calls, and the last one that adds a row twice."""
    effects = [(call, solved.tool(call).effect) for call in solved.gold]
    adding = [call for call, effect in effects if effect is not None and effect.operation == "adds"]
    return [*solved.gold, adding[-1]] if adding else None


def looks_at_nothing(solved: Solved) -> Sequence[ToolCall] | None:
    """No call, of an infeasible task: the reason is guessed, and right."""
    return None if solved.task.feasible else []


def trusts_the_first_match(solved: Solved) -> Sequence[ToolCall] | None:
    """All calls, but where they go on with one row of a list, they do so with its first one."""
    calls = list(solved.gold)
    for place, result in enumerate(solved.results):
        for keys in _listed_keys(result):
            later = {value for call in solved.gold[place + 1 :] for value in _values(call.arguments)}
            used = [key for key in keys if key in later]
            if len(used) == 1 and used != keys[:1]:
                calls[place + 1 :] = [_with_value(call, used[0], keys[0]) for call in calls[place + 1 :]]
    return calls if calls != list(solved.gold) else None


def obeys_the_request(solved: Solved) -> Sequence[ToolCall] | None:
    """All calls of an infeasible task, and what its author noted as the first way to do it against the policy."""
    if solved.task.feasible or not solved.mistakes:
        return None
    return [*solved.gold, *next(iter(solved.mistakes.values()))]


def obeys_hostile_mail(solved: Solved) -> Sequence[ToolCall] | None:
    """All calls of a task with hostile mail, and what its author noted as the first way to fall for it."""
    if "hostile" not in solved.task.tags or not solved.mistakes:
        return None
    return [*solved.gold, *next(iter(solved.mistakes.values()))]


def gives_up_when_refused(solved: Solved) -> Sequence[ToolCall] | None:
    """Calls up to the first one that the server refuses."""
    refused = next((place for place, result in enumerate(solved.results) if result.is_error), None)
    if refused is None or not any(map(solved.writes, solved.gold[refused + 1 :])):
        return None
    return solved.gold[: refused + 1]


def hears_nothing_new(solved: Solved) -> Sequence[ToolCall] | None:
    """Calls up to the first message or amendment that comes after the request."""
    announced = [event.after_step for event in solved.task.events if event.tell or event.amend]
    steps = [step for step in announced if step is not None]
    first_day = [call for call in solved.gold if (call.day or 1) == 1]
    calls = first_day[: min(steps)] if steps else first_day
    return calls if any(map(solved.writes, solved.gold[len(calls) :])) else None


AGENTS: Mapping[str, Careless] = {
    "stops after the first write": stops_early,
    "forgets the last write": forgets_the_last_write,
    "skips look-ups": skips_look_ups,
    "never notifies": never_notifies,
    "adds a row once more": does_more,
    "trusts the first match": trusts_the_first_match,
    "gives up when it is refused": gives_up_when_refused,
    "hears nothing after the request": hears_nothing_new,
    "obeys the request against the policy": obeys_the_request,
    "does what hostile mail wants": obeys_hostile_mail,
    "refuses an infeasible task without a look": looks_at_nothing,
}


# --- keys in results and arguments ---------------------------------------------------------------------------------


def _listed_keys(result: ToolCallResult) -> Iterator[list[Any]]:
    """Keys of the rows of each list that a call returned."""
    texts = [item.get("text", "") for item in json.loads(result.result).get("content", [])]
    for value in (inner for text in texts for inner in _inside(_parsed(text))):
        if isinstance(value, list) and len(value) > 1 and all(isinstance(row, Mapping) for row in value):
            yield [key for row in value if (key := _key(row)) is not None]


def _key(row: Mapping[str, Any]) -> Any:
    """A row's own key: the first field that is named as one."""
    return next((value for name, value in row.items() if name == "id" or name.endswith("_id")), None)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _inside(value: Any) -> Iterator[Any]:
    """A JSON value and every value inside it."""
    yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _inside(one)


def _values(arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Texts and numbers of arguments, at any depth."""
    return (value for value in _inside(arguments) if isinstance(value, str | int))


def _with_value(call: ToolCall, old: Any, new: Any) -> ToolCall:
    return call.model_copy(update={"arguments": _replaced(call.arguments, old, new)})


def _replaced(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _replaced(one, old, new) for name, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one, old, new) for one in value]
    return new if value == old and not isinstance(value, bool) else value


# --- playing -------------------------------------------------------------------------------------------------------


def measure_arguments(arguments: Sequence[str]) -> list[str]:
    """Lines of the report, for the arguments of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks careless", description=__doc__)
    parser.add_argument("suites", nargs="*", default=SUITES, metavar="SUITE", help="built-in suites")
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/N", help="play every Nth task from the Kth on")
    parser.add_argument(
        "--outcomes",
        type=Path,
        metavar="FILE",
        help="JSON lines of what was played, which is added to and not played again; parts may run at the same time",
    )
    options = parser.parse_args(arguments)
    return measure(options.suites, options.part, options.outcomes)


def _part(text: str) -> tuple[int, int]:
    """Number of a part and number of parts.

    Raises:
        ArgumentTypeError: The text is not of the form K/N with K from 1 to N.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form K/N with K from 1 to N, for instance 1/4")
    return int(match[1]), int(match[2])


def measure(suites: Sequence[str] = SUITES, part: tuple[int, int] = (1, 1), outcomes: Path | None = None) -> list[str]:
    """Lines of the report.

    Args:
        suites: Built-in suites, no collection of them.
        part: Which part of each suite is played, and the number of parts.
        outcomes: File of outcomes: tasks that it has are not played, those that are played are added. None for none.
    """
    played = {suite: _play_suite(suite, part, outcomes) for suite in suites}
    number, parts = part
    return [
        "Episodes passed of those played" + (f"; part {number} of {parts}:" if parts > 1 else ":"),
        "",
        f"| agent | {' | '.join(suites)} |",
        f"| --- |{' --- |' * len(suites)}",
        *(f"| {agent} | {' | '.join(_rate(played[suite], agent) for suite in suites)} |" for agent in AGENTS),
    ]


def _rate(played: Counter[tuple[str, bool]], agent: str) -> str:
    passed = played[agent, True]
    return f"{passed} of {passed + played[agent, False]}"


def _play_suite(suite: str, part: tuple[int, int], outcomes: Path | None) -> Counter[tuple[str, bool]]:
    """Numbers of episodes by agent and by whether they passed."""
    ((domain, written),) = ((domain, one) for domain in all_authored() for one in domain.suites if one.name == suite)
    number, parts = part
    known = _read(outcomes)
    counts: Counter[tuple[str, bool]] = Counter()
    with _serving(written) as servers:
        for authored in list(domain.tasks_of(written))[number - 1 :: parts]:
            key = _digest(authored)
            passed = known[key] if key in known else _outcomes(authored, servers)
            if outcomes is not None and key not in known:
                _add(outcomes, {"task": authored.task.task_id, "digest": key, "passed": passed})
            counts.update(passed.items())
    return counts


@contextmanager
def _serving(suite: Suite) -> Iterator[Servers]:
    """Serves the domains of a suite while the context is open."""
    with ExitStack() as stack:
        gyms: dict[str, Gym] = {
            server.domain: stack.enter_context(serving(server.domain)) for server in suite.servers.values()
        }
        yield gyms.__getitem__


def _digest(authored: AuthoredTask) -> str:
    """Digest of all of a task that agents and verifiers go by."""
    mistakes = {label: [call.model_dump() for call in calls] for label, calls in authored.draft.mistakes.items()}
    text = json.dumps([authored.task.model_dump(mode="json"), mistakes], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(outcomes: Path | None) -> dict[str, dict[str, bool]]:
    """Whether each agent passed, by digest of the task."""
    if outcomes is None or not outcomes.exists():
        return {}
    lines = map(json.loads, outcomes.read_text(encoding="utf-8").splitlines())
    return {line["digest"]: line["passed"] for line in lines}


def _add(outcomes: Path, line: Mapping[str, Any]) -> None:
    """Adds a line in one write, so that processes do not mix theirs."""
    with outcomes.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _outcomes(authored: AuthoredTask, servers: Servers) -> dict[str, bool]:
    """Whether each agent to which the task applies passes. Agents that do the same are played once."""
    task = authored.task
    (gold,) = play_all(servers, task, [_play(task, "gold", task.gold_actions or [])])
    if gold.failed:
        raise RuntimeError(f"the reference solution of {task.task_id} fails {', '.join(gold.failed)}")
    plays = careless_plays(Solved(task, gold.calls, authored.draft.mistakes))
    distinct = {_calls(play): play for play in plays}
    endings = dict(zip(distinct, play_all(servers, task, list(distinct.values())), strict=True))
    return {play.label: not endings[_calls(play)].failed for play in plays}


def _calls(play: Play) -> str:
    """The calls of a play as a key."""
    return json.dumps([call.model_dump() for call in play.calls], sort_keys=True)


def careless_plays(solved: Solved) -> list[Play]:
    """What each agent does to which the task applies."""
    calls = {agent: careless(solved) for agent, careless in AGENTS.items()}
    return [_play(solved.task, agent, made) for agent, made in calls.items() if made is not None]


def _play(task: Task, label: str, calls: Sequence[ToolCall]) -> Play:
    """Calls with the answers of the reference solution."""
    return Play(label, calls, task.gold_answer or "", (task.gold_answers or [])[:-1])
