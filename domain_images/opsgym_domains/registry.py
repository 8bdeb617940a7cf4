"""Installed domains and built-in suites, found by entry points.

Invariant: a name is listed exactly if an installed distribution declares it; its module is imported on first use, so
listing names imports no domain.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from opsgym_domains.data_files import read_data
from opsgym_domains.includes import complete

if TYPE_CHECKING:
    # Gym servers need no task rows, and commands that only list names need no SQLAlchemy, which takes most of a second.
    from opsgym_api.tasks.task import Task
    from opsgym_domains.kit.domain import Domain
    from opsgym_domains.kit.tools import Tool

DOMAINS = "opsgym.domains"
"""Entry point group of domains: the name of the domain, and its `Domain` object as `module:attribute`."""
SUITES = "opsgym.suites"
"""Entry point group of suites: the name of the suite, and the package whose folder `data` holds its rows."""
WHOLE = "opsgym-1150"
"""The suite of all domains' large suites."""
PARTS = (
    "calendar-core", "csm-core", "drive-core", "email-core", "hr-core", "hybrid-core", "itsm-core", "teams-core"
)  # fmt: skip
"""The suites whose rows it has, in order."""
SELECTIONS = (f"{WHOLE}-mini", f"{WHOLE}-hard")
"""Suites that have some of its rows. `opsgym_suites.kit.selections` says which; a data file lists their ids."""


def domains() -> list[str]:
    """Names of the installed domains, sorted."""
    return sorted(_declared(DOMAINS))


@cache
def load(name: str) -> Domain:
    """A domain by name; reading what is installed again takes longer than many a call of a tool.

    Raises:
        KeyError: No installed distribution declares the domain.
    """
    domain: Domain = _declared(DOMAINS)[name].load()
    return domain


def tools_of(task: Task) -> dict[str, Tool]:
    """Tools of the installed domains of a task; of several with one name, that of the first gym server."""
    domains_of_task = [server.domain for server in task.gym_servers_config if server.domain in domains()]
    return {name: tool for domain in reversed(domains_of_task) for name, tool in load(domain).toolbox.tools.items()}


def suites() -> list[str]:
    """Names of the installed suites, sorted."""
    return sorted([*_declared(SUITES), WHOLE, *SELECTIONS])


def _declared(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group by name.

    Raises:
        ValueError: Two distributions declare the same name.
    """
    declared: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        other = declared.setdefault(point.name, point)
        if other.value != point.value:
            raise ValueError(
                f"two installed distributions declare {point.name!r} in {group}: {other.value} and {point.value}; "
                "uninstall one of them"
            )
    return declared


def suite_rows(name: str, variant: int = 0) -> list[dict[str, Any]]:
    """Rows of a suite in order, with included files (`{{include FILE}}`) replaced by their text.

    Args:
        name: The suite.
        variant: Variant of the rows and their seeds; 0 for the rows as they are written.

    Raises:
        KeyError: No installed distribution declares the suite.
        ValueError: The suite has a task of which there are no variants.
    """
    if name == WHOLE:
        return [row for part in PARTS for row in suite_rows(part, variant)]
    if name in SELECTIONS:
        chosen = frozenset(read_data("opsgym_domains", f"{name}.txt").split())
        return [row for part in PARTS for row in _rows_of(part, variant, chosen)]
    return _rows_of(name, variant)


def _rows_of(name: str, variant: int, chosen: Collection[str] | None = None) -> list[dict[str, Any]]:
    """Rows of a declared suite, or those with the chosen ids."""
    package = _declared(SUITES)[name].module
    rows: list[dict[str, Any]] = [json.loads(line) for line in read_data(package, f"{name}.jsonl").splitlines()]
    rows = [
        row | {"system_prompt": complete(row["system_prompt"], package)}
        for row in rows
        if chosen is None or row["task_id"] in chosen
    ]
    if not variant:
        return rows
    # Imports SQLAlchemy, as a domain does.
    from opsgym_domains.variants.companies import rewriting_of
    from opsgym_domains.variants.tasks import varied_rows

    return varied_rows(rows, variant, rewriting_of)


@cache
def load_suite(name: str, variant: int = 0) -> tuple[Task, ...]:
    """Tasks of a suite, in order.

    Raises:
        KeyError: No installed distribution declares the suite.
        ValueError: The suite has a task of which there are no variants.
    """
    from opsgym_api.tasks.task import Task

    return tuple(Task.model_validate(row) for row in suite_rows(name, variant))
