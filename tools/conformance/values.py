"""Values that public verifiers gave where they were recorded, and what the same queries give here after the same calls.

Invariant: every recorded value is compared, by value and JSON type, and not the verdict alone. A value that differs is
unknowable only if its query names what no call of the run shows; anything else is a difference.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.support.gym import Gym, GymDatabase
from tools.conformance.corpus import headers_of
from tools.conformance.documents import document_world, rerun_of_document
from tools.conformance.published import Rerun, rerun_of
from tools.conformance.recordings import Recording, read_recordings
from tools.conformance.replay import Harness
from tools.conformance.verifiers import PublishedVerifier, evidence_of

from opsgym_domains import registry

_TEXT = re.compile(r"'((?:[^']|'')*)'")
_NUMBERED = re.compile(r"\b(\w+_id)\s*=\s*(\d+)\b")


@dataclass(frozen=True)
class RecordedValue:
    """What a verifier's query gave at the end of a recorded run."""

    task_id: str
    query: str
    value: Any
    """First column of the only row; a list of rows if there was another number of them."""


@dataclass(frozen=True)
class ComparedValue:
    """A recorded value beside ours."""

    recorded: RecordedValue
    actual: Any
    unknown: str | None = None
    """Why ours cannot be known; None if it can."""

    @property
    def equal(self) -> bool:
        """Whether both are the same value of the same JSON type."""
        return json.dumps(self.recorded.value) == json.dumps(self.actual)

    def __str__(self) -> str:
        shown = f"recorded {self.recorded.value!r}, actual {self.actual!r}"
        return f"{self.recorded.task_id} {shown}: {self.unknown or self.recorded.query}"


def value_domains(upstream: Path) -> list[str]:
    """Domains of which recorded values are there."""
    return sorted(path.stem for path in (upstream / "verifier-results").glob("*.jsonl"))


def read_values(upstream: Path, domain: str) -> list[RecordedValue]:
    """The recorded values of a domain, in the file's order."""
    text = (upstream / "verifier-results" / f"{domain}.jsonl").read_text(encoding="utf-8")
    lines = map(json.loads, text.splitlines())
    return [RecordedValue(line["task_id"], line["query"], line["actual"]) for line in lines]


def compare_values(gym: Gym, domain: str, upstream: Path) -> list[ComparedValue]:
    """Replays each recorded run that has values, and runs its queries on what the run left.

    Args:
        gym: A server of the domain.
        domain: Name of the domain.
        upstream: Facts of the published benchmark.
    """
    recordings = read_recordings(upstream / "trajectories" / domain)
    run_of = _reruns(domain, recordings, upstream)
    by_task: dict[str, list[RecordedValue]] = {}
    for value in read_values(upstream, domain):
        by_task.setdefault(value.task_id, []).append(value)
    return [one for task, values in by_task.items() for one in _of_task(gym, domain, run_of(task), values)]


@dataclass(frozen=True)
class _Run:
    """A recorded run that can be made again, and what its calls show."""

    recording: Recording
    rerun: Rerun
    columns: frozenset[tuple[str, str]] | None
    """Tables and columns of which a row shows a value; None for a domain whose answers are documents."""

    def hides(self, verifier: PublishedVerifier) -> Iterator[str]:
        """What a query names and no call shows."""
        shown = json.dumps([[call.arguments, call.result] for call in self.recording.calls], ensure_ascii=False)
        texts = [text.replace("''", "'").strip("%") for text in _TEXT.findall(verifier.query)]
        yield from (text for text in texts if text not in shown)
        numbers = [f'"{column}": {number}' for column, number in _NUMBERED.findall(verifier.query)]
        yield from (number for number in numbers if not re.search(rf"{number}\b", shown))
        if self.columns is not None:
            yield from (".".join(read) for read in sorted(evidence_of(verifier).columns - self.columns))


def _reruns(domain: str, recordings: Sequence[Recording], upstream: Path) -> Callable[[str], _Run | None]:
    """The run of a task that can be made again; values are of the first recording of a task."""
    by_task = {recording.task_id: recording for recording in reversed(recordings)}
    loaded, headers = registry.load(domain), headers_of(upstream, domain)
    harness, world_of = Harness(loaded, recordings), document_world(domain)

    def run_of(task: str) -> _Run | None:
        recording = by_task.get(task)
        if recording is None:
            return None
        if world_of is not None:
            return _Run(recording, rerun_of_document(loaded, recording, world_of(recording, recordings)), None)
        plan = harness.plan(recording, headers.get(task))
        rows = plan.findings.rows.values()
        columns = frozenset((row.table, column) for row in rows for column in [*row.initial, *row.current])
        return _Run(recording, rerun_of(harness, plan), columns)

    return run_of


def _of_task(gym: Gym, domain: str, run: _Run | None, values: Sequence[RecordedValue]) -> Iterator[ComparedValue]:
    if run is None:
        yield from (ComparedValue(value, None, "no call of the run is recorded") for value in values)
        return
    database = gym.database(run.rerun.seed, **run.rerun.headers)
    run.rerun.replay(database)
    for value in values:
        compared = ComparedValue(value, _value(database, value.query))
        hidden = run.hides(PublishedVerifier(value.task_id, domain, value.query, None))
        missing = [] if compared.equal else list(dict.fromkeys(hidden))
        yield replace(compared, unknown=f"no call shows {', '.join(missing)}" if missing else None)
    gym.drop(database)


def _value(database: GymDatabase, query: str) -> Any:
    rows = database.rows(query)
    return next(iter(rows[0].values())) if len(rows) == 1 else rows


def render_values(by_domain: Mapping[str, Sequence[ComparedValue]]) -> str:
    """Counts by domain, then every value that differs or cannot be known."""
    lines = []
    for domain, values in by_domain.items():
        counted = Counter(_verdict(one) for one in values)
        numbers = ", ".join(f"{counted[verdict]} {verdict}" for verdict in ("equal", "different", "cannot be known"))
        lines.append(f"{domain:9} {len(values):4} recorded values: {numbers}")
    unequal = [one for values in by_domain.values() for one in values if _verdict(one) != "equal"]
    return "\n".join([*lines, *(f"  {_verdict(one)}: {one}" for one in unequal)])


def _verdict(one: ComparedValue) -> str:
    return "cannot be known" if one.unknown else "equal" if one.equal else "different"
