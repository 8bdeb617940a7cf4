"""A gym server as a child process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Gym:
    """A running gym server."""

    url: str
    pid: int


@contextmanager
def serving(domain: str) -> Iterator[Gym]:
    """Serves a domain while the context is open."""
    with subprocess.Popen([sys.executable, "-m", "opsgym_domains.serve", domain], stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            yield Gym(json.loads(child.stdout.readline())["url"], child.pid)
        finally:
            child.terminate()
