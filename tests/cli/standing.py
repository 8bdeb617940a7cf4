"""Gym servers that are running already, in the place of those that a command starts.

As a program, it is the command on such servers: `python standing.py URLS ARGUMENT…`, where URLS is a JSON object of
base URL by domain. A server takes longer to start than a task to run.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any, Self


class StandingGyms:
    """Stands in for the gym servers of a run, by servers that go on running.

    Args:
        urls: Base URL by domain.
        domains: Domains that the run asks for.
        note: Receives no message, since no server ends.
    """

    def __init__(self, urls: Mapping[str, str], domains: Iterable[str], note: Callable[[str], None]) -> None:
        self.urls = {domain: urls[domain] for domain in domains}
        self.admin_tokens: Mapping[str, str] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Leaves the servers to other tests."""

    async def start(self) -> None:
        """Has nothing to start."""

    async def ready(self, domains: Iterable[str]) -> None:
        """Has nothing to wait for."""


def replacements(
    urls: Mapping[str, str], names: Iterable[str] = ("local.run", "commands.rescore", "commands.verify")
) -> Iterator[tuple[ModuleType, str, Any]]:
    """What to set so that commands use servers that are running: module, name and value."""
    for name in names:
        yield importlib.import_module(f"opsgym.{name}"), "GymServers", partial(StandingGyms, urls)


if __name__ == "__main__":
    from opsgym.main import main

    for module, name, value in replacements(json.loads(sys.argv.pop(1)), ["local.run"]):
        setattr(module, name, value)
    main()
