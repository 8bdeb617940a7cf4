"""Known faults of published rows, detected row by row from rows, tool catalogues and query results.

Invariant: a fault is reported, never corrected: rows are imported unchanged, and the report says which scores to
distrust.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from opsgym.taskcheck.doubts import DoubtKind, Start, doubts_of
from opsgym.taskcheck.queries import QueryFailedError, RunQuery
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import Verifier
from opsgym_domains import registry
from opsgym_runner.verification.comparison import holds
from opsgym_runner.verification.verifiers import value_of


class FaultKind(StrEnum):
    """FaultKind of a fault."""

    INVALID_ROW = "invalid_row"
    """The row cannot run, for example because a verifier names a gym server that the row does not configure."""
    MISSING_SEED = "missing_seed"
    """The seed file is not in the archive."""
    UNKNOWN_TOOL = "unknown_tool"
    """None of the row's gym servers has a selected tool."""
    SHARED_VERIFIER_NAME = "shared_verifier_name"
    """Several verifiers have the same name: the published harness counts only the last of them."""
    REPEATED_VERIFIER = "repeated_verifier"
    """A verifier is listed twice."""
    REFUSED_QUERY = "refused_query"
    """The query of a verifier fails: several statements, unknown columns, or a statement other than SELECT."""
    PASSES_UNTOUCHED = "passes_untouched"
    """A verifier passes on the seed, before any action."""
    NEEDS_NO_ACTION = "needs_no_action"
    """All verifiers of a feasible row pass on the seed."""
    TEXT_FOR_NUMBER = DoubtKind.TEXT_FOR_NUMBER.value
    """The expected value is a number written as text, which the published harness never finds equal to a number."""
    RELATIVE_TIME = "relative_time"
    """The query of a verifier uses the current time, so that its verdict depends on when it runs."""
    UNFOUNDED_VALUE = DoubtKind.UNFOUNDED_VALUE.value
    """A verifier wants a text that stands in no message to the agent, in no policy, tool and seed."""
    IMPOSSIBLE_QUERY = DoubtKind.IMPOSSIBLE_QUERY.value
    """No state meets the conditions of a query, or the query never gives the expected value."""
    MIXED_TYPES = DoubtKind.MIXED_TYPES.value
    """A query compares a column of numbers with a text, or its texts are compared with a number."""
    HIDDEN_TOOL = DoubtKind.HIDDEN_TOOL.value
    """A verifier wants a change of tables that tools write, of which the agent is shown none."""
    WRONG_USER = "wrong_user"
    """Verifiers expect the rows of another user than the one the agent acts as; known of single rows, not detected."""


@dataclass(frozen=True)
class Fault:
    """A fault of a row."""

    kind: FaultKind
    mode: str
    task_id: str
    where: str
    """Field of the row, or its file if the row cannot be read."""
    detail: str


_RELATIVE = re.compile(r"['\"]now['\"]|CURRENT_(TIMESTAMP|DATE|TIME)|\bNOW\(\)", re.IGNORECASE)


def faults_of(
    task: Task, mode: str, catalogues: Mapping[str, Collection[str]], run: RunQuery | None, start: Start
) -> Iterator[Fault]:
    """Faults of one row.

    Args:
        task: The row.
        mode: Mode of the row.
        catalogues: Tool names by domain; the tools of rows with other domains are not checked.
        run: Runs queries on the seeds of the row; None if a seed or a domain is missing.
        start: What is known of the state that the row starts from.
    """

    def fault(kind: FaultKind, where: str, detail: str) -> Fault:
        return Fault(kind, mode, task.task_id, where, detail)

    yield from (fault(FaultKind.UNKNOWN_TOOL, "selected_tools", name) for name in _unknown_tools(task, catalogues))
    names = Counter(verifier.name for verifier in task.verifiers if verifier.name)
    for name, count in names.items():
        if count > 1:
            yield fault(FaultKind.SHARED_VERIFIER_NAME, "verifiers", f"{name!r} names {count} verifiers")
    yield from (
        fault(FaultKind.REPEATED_VERIFIER, f"verifiers[{index}]", "is listed before") for index in _repeated(task)
    )
    untouched: list[bool] = []
    for index, verifier in enumerate(task.verifiers):
        for kind, detail in _query_faults(task, verifier, run, untouched):
            yield fault(kind, f"verifiers[{index}] ({verifier.name or 'unnamed'})", detail)
    if {server.domain for server in task.gym_servers_config} <= set(registry.domains()):
        for doubt in doubts_of(task, start):
            yield fault(FaultKind(doubt.kind), doubt.where(task), doubt.message)
    if run is not None and task.feasible and len(untouched) == len(task.verifiers) and all(untouched):
        yield fault(FaultKind.NEEDS_NO_ACTION, "verifiers", "all of them pass before any action")


def _unknown_tools(task: Task, catalogues: Mapping[str, Collection[str]]) -> list[str]:
    domains = {server.domain for server in task.gym_servers_config}
    if not domains <= catalogues.keys():
        return []
    known = {name for domain in domains for name in catalogues[domain]}
    return [name for name in dict.fromkeys(task.selected_tools) if name not in known]


def _repeated(task: Task) -> Iterator[int]:
    seen: list[Verifier] = []
    for index, verifier in enumerate(task.verifiers):
        if verifier in seen:
            yield index
        seen.append(verifier)


def _query_faults(
    task: Task, verifier: Verifier, run: RunQuery | None, untouched: list[bool]
) -> Iterator[tuple[FaultKind, str]]:
    """Faults of a verifier's query; appends to `untouched` whether the verifier passes on the seed."""
    if verifier.verifier_type != "database_state":
        return
    check = verifier.database_state
    if _RELATIVE.search(check.query):
        yield FaultKind.RELATIVE_TIME, check.query.strip()
    if run is None or verifier.dialect != "sqlite":
        return
    gym = verifier.gym_name or task.gym_servers_config[0].mcp_server_name
    try:
        actual = value_of(run(gym, check.query))
    except QueryFailedError as error:
        yield FaultKind.REFUSED_QUERY, str(error)
        return
    passes = holds(actual, check.expected_value, check.comparison_type)
    untouched.append(passes)
    if passes:
        yield FaultKind.PASSES_UNTOUCHED, f"is {actual!r} already"
