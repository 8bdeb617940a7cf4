"""What a check of a task row has found."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass

from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_api.tasks.task import GymServer


@dataclass(frozen=True)
class Finding:
    """One thing in a row that is wrong, or that its author may not have meant."""

    where: str
    """Path of the field in the row: `verifiers[0].categry`."""
    message: str
    """What is wrong, and what is allowed or similar."""
    is_problem: bool = True
    """False for a warning: the row can run, and its score means what it says."""

    def __str__(self) -> str:
        return f"{'' if self.is_problem else 'warning: '}{self.where}: {self.message}"


def unknown(kind: str, name: str, known: Collection[str], lists: str = "") -> str:
    """A message for a name that is not known, with the similar one if there is one.

    Args:
        kind: What the name should be: `tool`.
        name: The name.
        known: Known names.
        lists: Where all of them can be read; empty if the message may list them.
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    if near:
        return f"unknown {kind} {name!r}; did you mean {near[0]}?"
    return f"unknown {kind} {name!r}; {lists or 'known: ' + (', '.join(sorted(known)) or 'none')}"


def unknown_server(server: GymServer, domains: Collection[str]) -> str:
    """A message for a gym server whose domain is not known.

    Args:
        server: The gym server.
        domains: Known domains.
    """
    names = [published.name for domain, published in PUBLISHED_SERVERS.items() if domain in domains]
    own = sorted(set(domains) - PUBLISHED_SERVERS.keys())
    known = f"published names: {', '.join(names)}" + (f"; other domains: {', '.join(own)}" if own else "")
    near = difflib.get_close_matches(server.mcp_server_name, names, n=1)
    advice = f"did you mean {near[0]}?" if near else known
    return f"unknown gym server {server.mcp_server_name!r} (no domain {server.domain!r} is installed); {advice}"
