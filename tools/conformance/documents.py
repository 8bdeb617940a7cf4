"""Replay of recorded calls whose answers are documents: nested objects, with generated identifiers inside of texts.

Invariant: everything in an answer is compared, types and order of lists included. Two things may differ: an identifier
that the run generated, which is the same one in every later call and answer, and a time that the run wrote, of which
the form counts, without fractions of a second.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.support.gym import Gym, GymDatabase
from tools.conformance.compare import Difference, differences
from tools.conformance.published import Rerun
from tools.conformance.raw import raw_problems
from tools.conformance.recordings import Call, Recording, data_of

from opsgym_domains.kit.domain import Domain

RUN = timedelta(hours=12)
"""Longest a recorded run takes: a time farther than that from it was not written by it."""
_GENERATED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{16}|\b\d{13}\b")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)?")


@dataclass(frozen=True)
class DocumentWorld:
    """What a recording starts from."""

    seed: str
    """Script in SQLite's dialect."""
    identity: str
    """Value of the identity header."""


WorldOf = Callable[[Recording, Sequence[Recording]], DocumentWorld]
"""The world of a recording, from its calls and from those of all recordings."""


def document_world(domain: str) -> WorldOf | None:
    """How a domain whose answers are documents makes worlds (`tests/<domain>/recorded_world.py`); None for another."""
    name = f"tests.{domain}.recorded_world"
    if importlib.util.find_spec(f"tests.{domain}") is None or importlib.util.find_spec(name) is None:
        return None
    world_of: WorldOf = importlib.import_module(name).world_of
    return world_of


@dataclass(frozen=True)
class DocumentVerdict:
    """What came of a call."""

    task_id: str
    index: int
    call: Call
    problems: Sequence[str]
    """How the answer differs; empty if it is equal."""
    fault: bool = False
    """Whether the recorded server failed, so that its answer is none to be equal to."""

    def __str__(self) -> str:
        shown = json.dumps(self.call.arguments)
        return f"{self.task_id} call {self.index} {self.call.tool} {shown[:200]}: {'; '.join(self.problems[:3])}"


def replay_documents(
    gym: Gym, domain: Domain, recordings: Sequence[Recording], world_of: WorldOf
) -> list[DocumentVerdict]:
    """Replays recordings, each in a world of its own; what came of every call."""
    verdicts: list[DocumentVerdict] = []
    for recording in recordings:
        try:
            world = world_of(recording, recordings)
            database = gym.database(world.seed, **{domain.identity_header: world.identity})
        except (AssertionError, LookupError, TypeError) as error:
            problem = f"its world cannot be made: {error!r}"
            verdicts += [
                DocumentVerdict(recording.task_id, index, call, [problem]) for index, call in enumerate(recording.calls)
            ]
            continue
        verdicts += _replayed(recording, world, database)
        gym.drop(database)
    return verdicts


def rerun_of_document(domain: Domain, recording: Recording, world: DocumentWorld) -> Rerun:
    """A recorded run, made again in its world."""
    headers = {domain.identity_header: world.identity}
    # Which further rows the recorded database had is unknown, so a row that a query names excuses nothing.
    return Rerun(world.seed, headers, lambda database: _replayed(recording, world, database), lambda _query: ())


def _replayed(recording: Recording, world: DocumentWorld, database: GymDatabase) -> list[DocumentVerdict]:
    """What came of every call, made on a database with the world."""
    if recording.around is not None:
        database.set_clock(recording.around.isoformat())
    return list(_Run(recording, database, world.seed).judge_all())


@dataclass
class _Run:
    recording: Recording
    database: GymDatabase
    seed: str
    own_ids: dict[str, str] = field(default_factory=dict)
    """Our identifier by the recorded one."""

    def judge_all(self) -> Iterator[DocumentVerdict]:
        for index, call in enumerate(self.recording.calls):
            problems = [call.unreadable] if call.unreadable else list(self._judged(call))
            fault = call.is_error and "argument after **" in str(call.result)
            yield DocumentVerdict(self.recording.task_id, index, call, problems, fault)

    def _judged(self, call: Call) -> Iterator[str]:
        try:
            outcome = self.database.call_with(call.tool, self._in_our_words(call.arguments))
        except (AssertionError, KeyError) as refused:
            yield f"no tool result: {refused}"
            return
        yield from self._problems(call, data_of(outcome.text), is_error=outcome.is_error)
        yield from raw_problems(call.raw, outcome.raw)

    def _problems(self, call: Call, actual: Any, *, is_error: bool) -> Iterator[str]:
        if call.is_error != is_error:
            yield f"recorded {_short(call.result)}, actual {_short(actual)}"
            return
        self._pair(call.result, actual)
        recorded = self._timeless(self._in_our_words(call.result))
        yield from map(str, _notable(differences(recorded, self._timeless(actual), None)))

    def _pair(self, recorded: Any, actual: Any) -> None:
        """Learns which of our identifiers are the recorded ones: those at the same place of both answers."""
        if isinstance(recorded, Mapping) and isinstance(actual, Mapping):
            for name in recorded.keys() & actual.keys():
                self._pair(recorded[name], actual[name])
        elif isinstance(recorded, list) and isinstance(actual, list):
            for left, right in zip(recorded, actual, strict=False):
                self._pair(left, right)
        elif isinstance(recorded, str) and isinstance(actual, str):
            for left, right in zip(_GENERATED.findall(recorded), _GENERATED.findall(actual), strict=False):
                if left not in self.seed:
                    self.own_ids.setdefault(left, right)

    def _in_our_words(self, data: Any) -> Any:
        """Recorded data with our identifiers in place of the recorded ones."""
        if isinstance(data, Mapping):
            return {name: self._in_our_words(value) for name, value in data.items()}
        if isinstance(data, list):
            return [self._in_our_words(item) for item in data]
        if not isinstance(data, str):
            return data
        return _GENERATED.sub(lambda match: self.own_ids.get(match[0], match[0]), data)

    def _timeless(self, data: Any) -> Any:
        """Data in which times that the run wrote are replaced by their form."""
        if isinstance(data, Mapping):
            return {name: self._timeless(value) for name, value in data.items()}
        if isinstance(data, list):
            return [self._timeless(item) for item in data]
        match = _TIME.fullmatch(data) if isinstance(data, str) else None
        if match is None or self.recording.around is None:
            return data
        is_of_run = abs(datetime.fromisoformat(match[1]) - self.recording.around) < RUN
        return f"a time of the run{'T' if 'T' in data else ' '}{match[2] or ''}" if is_of_run else data


def _notable(listed: Iterator[Difference]) -> Iterator[Difference]:
    """Differences but those of a number by which a row is counted, as `id` of an integer is."""
    return (one for one in listed if not (one.path == "id" and isinstance(one.recorded, int)))


def _short(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 160 else f"{text[:157]}…"


def render_documents(verdicts: Sequence[DocumentVerdict]) -> str:
    """Equal and different calls by tool, and every difference."""
    judged = [verdict for verdict in verdicts if not verdict.fault]
    total, equal = Counter(v.call.tool for v in judged), Counter(v.call.tool for v in judged if not v.problems)
    width = max(map(len, total), default=0)
    lines = [f"{tool:{width}} {total[tool]:4} calls, equal {equal[tool]:4}" for tool in sorted(total)]
    share = equal.total() / total.total() if judged else 1.0
    lines.append(f"{'all':{width}} {total.total():4} calls, equal {equal.total():4} {share:8.2%}")
    lines.append(f"not judged, since the recorded server failed: {len(verdicts) - len(judged)}")
    return "\n".join([*lines, "", *(str(verdict) for verdict in judged if verdict.problems)])
