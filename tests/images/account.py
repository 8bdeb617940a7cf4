"""Runs the pod's Postgres as the pod does: as a user who is not root and owns only the volumes."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from opsgym_domains.kit.embedded import reachable_binaries

USER = 10001
UNPRIVILEGED = "nobody"
_AS_USER = """
import os, sys
from opsgym_domains import postgres
if os.geteuid() == 0:
    os.setgroups([]); os.setgid({user}); os.setuid({user})
sys.exit(postgres.main(sys.argv[1:]))
"""
"""Imports first: the checkout may lie in a folder that only root reads, the image's code does not."""


def command(*arguments: str | Path) -> list[str]:
    """Command line of `python -m opsgym_domains.postgres` by the account."""
    return [sys.executable, "-c", _AS_USER.format(user=USER), *map(str, arguments)]


def environment() -> dict[str, str]:
    """Environment for `command`: binaries that the account may read."""
    account = pwd.getpwnam(UNPRIVILEGED) if os.geteuid() == 0 else None
    return {**os.environ, "OPSGYM_POSTGRES_BIN": str(reachable_binaries(account))}


def volume(folder: Path) -> Path:
    """An empty folder as a pod's volume is: the account may write it."""
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@contextmanager
def running(baked: Path, data: Path, socket: Path, domains: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """A Postgres of a pod of some domains, all if empty, answering; ended and waited for at the end."""
    arguments = command("run", "--baked", baked, "--data", data, "--socket", socket)
    variables = {**environment(), "OPSGYM_POSTGRES_DOMAINS": domains}
    probe: list[str | Path] = [Path(variables["OPSGYM_POSTGRES_BIN"]) / "pg_isready", "-q", "-h", socket]
    with subprocess.Popen(arguments, env=variables, stderr=subprocess.DEVNULL) as process:
        try:
            until(
                lambda: process.poll() is not None or subprocess.run(probe, check=False).returncode == 0,
                "Postgres answers or ends",
                every_s=0.1,  # each is a process
            )
            yield process
        finally:
            process.kill()


def until(condition: Callable[[], bool], what: str, seconds: float = 60, every_s: float = 0.01) -> None:
    """Polls a condition until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(every_s)
