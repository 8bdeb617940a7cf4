"""Recorded sessions: calls on a known seed, with the values that change from run to run marked, and the final tables.

Invariant: a session is replayed call by call on a database of its own with the clock at the recorded times; identifiers
that an earlier answer gave are taken from our own answer. Everything outside the marked paths is compared, types, order
and names included; where ids are marked, a list sorted by them is compared without regard to order. Times count by
instant in tables.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from tests.support.gym import Gym, GymDatabase, Outcome
from tools.conformance.compare import differences
from tools.conformance.raw import RawResult, raw_problems, read_raw_results

from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.schema import load_order

WHOLE = "result.content[0].text"
"""Mark of a text that changes as a whole."""
_MASK = "*"


@dataclass(frozen=True)
class SessionCall:
    """One recorded call."""

    step: int
    headers: Mapping[str, str | None]
    tool: str
    arguments: Any
    """Object of arguments; anything else as it was sent; None if the member was left out."""
    text: str
    recorded_at: datetime
    marked: Sequence[str]
    refs: Mapping[str, Mapping[str, Any]]
    raw: RawResult | None = None
    """Form of the result, where it was recorded."""


@dataclass(frozen=True)
class Session:
    """The calls of one session, and the tables after the last one."""

    name: str
    seed: str
    """Script in SQLite's dialect."""
    calls: Sequence[SessionCall]
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    marked: Sequence[str]


@dataclass(frozen=True)
class CallVerdict:
    """What came of a call."""

    session: str
    call: SessionCall
    actual: str
    equal: bool
    form: Sequence[str] = ()
    """How the form of the result differs."""

    def __str__(self) -> str:
        place = f"{self.session}/{self.call.step} {self.call.tool} {_short(json.dumps(self.call.arguments))}"
        return "\n    ".join([place, *map(_short, [*self.form, *_differing(self.call, self.actual)][:2])])


@dataclass(frozen=True)
class SessionVerdict:
    """What came of a session: its calls, and the cells of the final tables that differ."""

    name: str
    calls: Sequence[CallVerdict]
    cells: Sequence[str] = field(default=())


def read_sessions(upstream: Path, domain: str) -> list[Session]:
    """The sessions of a domain; none if there are none."""
    folder = upstream / "trajectories" / domain
    if not (folder / "sessions.jsonl.gz").exists():
        return []
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for line in _lines(folder / "sessions.jsonl.gz"):
        lines.setdefault(line["session"], []).append(line)
    states = {state["session"]: state for state in _lines(folder / "states.jsonl.gz")}
    raw = read_raw_results(upstream, domain)
    seeds = {name: _seed(upstream, domain, name) for name in {rows[0]["seed"] for rows in lines.values()}}
    return [
        Session(
            name,
            seeds[rows[0]["seed"]],
            [_call(row, raw.get((name, row["step"]))) for row in rows],
            states[name]["tables"] if name in states else {},
            states[name]["volatile"] if name in states else (),
        )
        for name, rows in lines.items()
    ]


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _seed(upstream: Path, domain: str, name: str) -> str:
    return (upstream / "seeds" / domain / f"{name}.sql").read_text(encoding="utf-8")


def _call(row: Mapping[str, Any], raw: RawResult | None) -> SessionCall:
    return SessionCall(
        step=row["step"],
        headers=row["headers"],
        tool=row["tool"],
        arguments=row.get("arguments", {}),
        text=row["result"]["content"][0]["text"],
        recorded_at=datetime.fromisoformat(row["recorded_at"]).astimezone(UTC).replace(tzinfo=None),
        marked=row.get("volatile", ()),
        refs=row.get("refs") or {},
        raw=raw,
    )


def replay_session(gym: Gym, domain: Domain, session: Session) -> SessionVerdict:
    """Replays a session and compares every answer and the final tables."""
    gym.client.post(
        "/api/seed-database", json={"database_id": session.name, "sql_content": session.seed}
    ).raise_for_status()
    database = GymDatabase(gym.client, session.name)
    answers: dict[int, Any] = {}
    verdicts: list[CallVerdict] = []
    for call in session.calls:
        database.set_clock(call.recorded_at.isoformat())
        text, raw = _answer(database, call, answers)
        answers[call.step] = _data(text)
        form = list(raw_problems(call.raw, raw)) if raw else []
        equal = is_same(call.text, text, call.marked) and not form
        verdicts.append(CallVerdict(session.name, call, text, equal, form))
    cells = list(_different_cells(database, domain, session))
    gym.drop(database)
    return SessionVerdict(session.name, verdicts, cells)


def _answer(
    database: GymDatabase, call: SessionCall, answers: Mapping[int, Any]
) -> tuple[str, Mapping[str, Any] | None]:
    """Text and result object of our answer; no object, and the reason as text, if there is no result."""
    arguments = call.arguments
    for path, source in call.refs.items():
        arguments = _with(arguments, _parts(path), _value(answers[source["step"]], _parts(source["path"])))
    headers = {name: value for name, value in call.headers.items() if value is not None}
    if "x-database-id" in call.headers and call.headers["x-database-id"] is None:
        headers["x-database-id"] = ""
    try:
        outcome: Outcome = database.call_with(call.tool, arguments, **({"x-none": "1"} | headers))
    except (AssertionError, KeyError, httpx.LocalProtocolError) as refused:  # the latter: a header that no client sends
        return f"no tool result: {refused}", None
    return outcome.text, outcome.raw


def is_same(recorded: str, actual: str, marked: Sequence[str]) -> bool:
    """Whether an answer is the recorded one outside the marked paths."""
    if recorded == actual:
        return True
    left, right = _data(recorded), _data(actual)
    if WHOLE in marked:
        return isinstance(left, str) == isinstance(right, str)
    paths = [_parts(path.removeprefix(f"{WHOLE}|$")) for path in marked]
    if isinstance(left, str) or isinstance(right, str) or not paths:
        return False
    if json.dumps(_masked(left, paths)) == json.dumps(_masked(right, paths)):
        return True
    anywhere = [tuple(part for part in path if isinstance(part, str)) for path in paths]
    return json.dumps(_sorted(left, anywhere)) == json.dumps(_sorted(right, anywhere))


def _masked(data: Any, paths: Iterable[tuple[str | int, ...]]) -> Any:
    for path in paths:
        if _value(data, path, MISSING) is not MISSING:
            data = _with(data, path, _MASK)
    return data


def _sorted(data: Any, paths: Sequence[tuple[str, ...]], at: tuple[str, ...] = ()) -> Any:
    """Data with lists in a fixed order, and with what is marked in any item masked in all."""
    if at in paths:
        return _MASK
    if isinstance(data, dict):
        return {name: _sorted(value, paths, (*at, name)) for name, value in data.items()}
    if isinstance(data, list):
        return sorted((_sorted(item, paths, at) for item in data), key=json.dumps)
    return data


class _Missing:
    pass


MISSING = _Missing()


def _data(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _parts(path: str) -> tuple[str | int, ...]:
    return tuple(int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", path))


def _value(data: Any, path: Sequence[str | int], default: Any = None) -> Any:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return default
    return data


def _with(data: Any, path: Sequence[str | int], value: Any) -> Any:
    """A copy of the data in which the value at a path is another one."""
    if not path:
        return value
    copy = data.copy()
    copy[path[0]] = _with(data[path[0]], path[1:], value)
    return copy


# --- tables ----------------------------------------------------------------------------------------------------------


def _different_cells(database: GymDatabase, domain: Domain, session: Session) -> Iterator[str]:
    for table in load_order(domain.metadata):
        recorded = session.tables.get(table.name, [])
        columns = [column.name for column in table.columns]
        names = ", ".join(f'"{name}"' for name in columns)
        actual = database.rows(f'SELECT {names} FROM "{table.name}" ORDER BY rowid')  # noqa: S608 - names of our tables
        if len(recorded) != len(actual):
            yield f"{table.name}: recorded {len(recorded)} rows, actual {len(actual)}"
            continue
        for index, (left, right) in enumerate(zip(recorded, actual, strict=True)):
            for name in columns:
                marked = f"{table.name}[{index}].{name}" in session.marked
                if not marked and _instant(left[name]) != _instant(right[name]):
                    yield f"{table.name}[{index}].{name}: recorded {left[name]!r}, actual {right[name]!r}"


_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*")


def _instant(value: Any) -> Any:
    if not isinstance(value, str) or _TIME.fullmatch(value) is None:
        return value
    time = datetime.fromisoformat(value)
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


# --- report ----------------------------------------------------------------------------------------------------------


def render_sessions(verdicts: Sequence[SessionVerdict], *, examples: int = 5) -> str:
    """Equal and different calls by tool, the first differences of each tool, and the tables that differ."""
    calls = [call for verdict in verdicts for call in verdict.calls]
    total, equal = Counter(c.call.tool for c in calls), Counter(c.call.tool for c in calls if c.equal)
    width = max(map(len, total), default=0)
    lines = [_counts(tool, total[tool], equal[tool], width) for tool in sorted(total)]
    lines.append(_counts("all", total.total(), equal.total(), width))
    for tool in sorted(total):
        different = [call for call in calls if call.call.tool == tool and not call.equal]
        lines += ["", f"{tool}: {len(different)} different", *map(str, different[:examples])] if different else []
    wrong = [verdict for verdict in verdicts if verdict.cells]
    lines += ["", f"final tables: {len(verdicts) - len(wrong)} of {len(verdicts)} sessions equal"]
    for verdict in wrong:
        shown = [f"    {_short(cell)}" for cell in verdict.cells[:examples]]
        lines += [f"{verdict.name}: {len(verdict.cells)} differences", *shown]
    return "\n".join(lines)


def _counts(name: str, calls: int, equal: int, width: int) -> str:
    share = equal / calls if calls else 1.0
    return f"{name:{width}} {calls:6} calls, equal {equal:6}, different {calls - equal:5} {share:8.2%}"


def _differing(call: SessionCall, actual: str) -> list[str]:
    """Where an answer differs outside the marked paths."""
    left, right = _data(call.text), _data(actual)
    if isinstance(left, str) or isinstance(right, str):
        return [f"recorded {_short(call.text)}", f"actual   {_short(actual)}"]
    marked = {path.removeprefix(f"{WHOLE}|$.") for path in call.marked}
    return [str(difference) for difference in differences(left, right, None) if difference.path not in marked]


def _short(text: str) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= 300 else f"{text[:297]}…"
