"""Installed domains and built-in suites, found by entry points.

Invariant: a name is listed exactly if an installed distribution declares it; its module is imported on first use, so
listing names imports no domain.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

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
    return sorted(declared(DOMAINS))


@cache
def load(name: str) -> Domain:
    """A domain by name; reading what is installed again takes longer than many a call of a tool.

    Raises:
        KeyError: No installed distribution declares the domain.
    """
    domain: Domain = declared(DOMAINS)[name].load()
    return domain


def tools_of(task: Task) -> dict[str, Tool]:
    """Tools of the installed domains of a task; of several with one name, that of the first gym server."""
    domains_of_task = [server.domain for server in task.gym_servers_config if server.domain in domains()]
    return {name: tool for domain in reversed(domains_of_task) for name, tool in load(domain).toolbox.tools.items()}


def suites() -> list[str]:
    """Names of the installed suites, sorted."""
    return sorted([*declared(SUITES), WHOLE, *SELECTIONS])


def declared(group: str) -> Mapping[str, EntryPoint]:
    """Entry points of a group by name.

    Raises:
        ValueError: Two distributions declare the same name.
    """
    return _declared(group, tuple(sys.path))


@cache  # what is installed on a path is read once: it takes tens of milliseconds, and each task asks for its domains
def _declared(group: str, _path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    declared: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        other = declared.setdefault(point.name, point)
        if other.value != point.value:
            raise ValueError(
                f"two installed distributions declare {point.name!r} in {group}: {other.value} and {point.value}; "
                "uninstall one of them"
            )
    return declared
