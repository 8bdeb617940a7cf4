"""Postgres of a task pod: `bake` creates its data when the image is built, `run` starts it on a copy of the data.

Invariant: once a trial has a database, its Postgres does not start again. What it did is lost when the server ends, so
that a restarted one would show an episode the seed instead of its state. A server that ended before any gym server made
a database is replaced: nothing is lost, and a pod whose agent has not started could not report that it gives up. It
listens only on a Unix socket, so that access to the socket's folder controls access to Postgres.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from opsgym_domains.kit.embedded import SETTINGS, PostgresError, reachable_binaries, server_command
from opsgym_domains.kit.errors import DatabaseLost
from opsgym_domains.postgres_data import copy_data
from opsgym_domains.postgres_restarts import PostgresRefusedError, PostgresSupervisor

EXIT_CANNOT = 1
EXIT_RAN_BEFORE = 3
BAKED = Path("/var/lib/opsgym/postgres")
"""Folder of the baked data in the image."""
ENV_DOMAINS = "OPSGYM_POSTGRES_DOMAINS"
"""Environment variable with the domains of the pod, separated by commas: templates of others are not copied."""
POD_SETTINGS = SETTINGS | {
    # The WAL uses the pod's memory and is never read.
    "max_wal_size": "16MB",
    "min_wal_size": "2MB",
    # After a crash the databases have lost their state: the server ends, and the attempt is an infra error.
    "restart_after_crash": "off",
}


class RanBeforeError(Exception):
    """A trial's database is lost: the container was restarted within its pod."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m opsgym_domains.postgres`; the process's exit code. `run` becomes Postgres instead."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "bake":
            bake(options.folder)
            return 0
        domains = [name for name in os.environ.get(ENV_DOMAINS, "").split(",") if name]
        if options.restartable:
            return run_restartable(options.data, options.socket, options.baked, domains)
        run(options.data, options.socket, options.baked, domains)
    except RanBeforeError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_RAN_BEFORE
    except (PostgresError, DatabaseLost, OSError) as error:
        sys.stderr.write(f"cannot {options.command}: {error}\n")
    return EXIT_CANNOT


def bake(folder: Path) -> None:
    """Creates the data folder of all installed domains, see `baking.bake`."""
    # Imported here, because `run` starts in every pod and needs no domain.
    from opsgym_domains import registry
    from opsgym_domains.baking import bake as bake_domains

    bake_domains(folder, [registry.load(name) for name in registry.domains()])


def run(data: Path, socket_folder: Path, baked: Path = BAKED, domains: Sequence[str] = ()) -> None:
    """Copies the baked data and replaces this process by Postgres; does not return.

    Args:
        data: The pod's volume for databases; data are copied to its folder `postgres`.
        socket_folder: Folder of the Unix socket, which gym servers use as host.
        baked: Folder that `bake` created.
        domains: Domains of the pod; all if empty.

    Raises:
        RanBeforeError: An earlier server of the pod had a database of a trial.
        PostgresError: The baked data or the binaries are missing.
        OSError: The volume is full or not writable.
    """
    copy = data / "postgres"
    if _has_more_databases(copy, baked):
        raise RanBeforeError(
            f"{copy} has a database of a trial: Postgres ran in this pod before, and the state of the episode is lost. "
            "It is not started again; the attempt ends as an infra error and is retried in another pod."
        )
    if copy.exists():
        shutil.rmtree(copy)
    command = _prepared(baked, copy, socket_folder, domains)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def _has_more_databases(copy: Path, baked: Path) -> bool:
    """Whether a copy of the baked data has a database that was made since. Postgres names their folders by number."""
    databases = {entry.name for entry in (copy / "base").glob("[0-9]*")}
    return not databases <= {entry.name for entry in (baked / "base").glob("[0-9]*")}


def run_restartable(data: Path, socket_folder: Path, baked: Path = BAKED, domains: Sequence[str] = ()) -> int:
    """Runs Postgres on a copy of the baked data, and replaces both when a gym server asks; the process's exit code.

    Args:
        data: The pod's volume for databases.
        socket_folder: Folder of the Unix sockets.
        baked: Folder that `bake` created.
        domains: Domains of the pod; all if empty.

    Raises:
        PostgresError: The baked data or the binaries are missing, or Postgres does not start.
        OSError: The volume is full or not writable.
    """
    try:
        start = partial(_prepared, baked, socket_folder=socket_folder, domains=domains)
        return PostgresSupervisor(data, socket_folder, start).run()
    except PostgresRefusedError as error:
        raise PostgresError(str(error)) from None


def _prepared(baked: Path, copy: Path, socket_folder: Path, domains: Sequence[str]) -> list[str]:
    """Copies the baked data of the pod's domains; returns the command of a server on the copy."""
    if not (baked / "PG_VERSION").is_file():
        raise PostgresError(
            f"{baked} contains no data; create them with `python -m opsgym_domains.postgres bake {baked}`"
        )
    command = server_command(reachable_binaries(), copy, socket_folder, POD_SETTINGS)
    copy_data(baked, copy, domains)
    return command


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="opsgym_domains.postgres", description="Postgres of a task pod.")
    commands = parser.add_subparsers(dest="command", required=True)
    baking = commands.add_parser("bake", help="create the data folder that pods start from")
    baking.add_argument("folder", type=Path)
    running = commands.add_parser("run", help="copy the baked data and run Postgres on them")
    running.add_argument("--data", type=Path, required=True, help="the pod's volume for databases")
    running.add_argument("--socket", type=Path, required=True, help="folder of the Unix socket")
    running.add_argument(
        "--restartable",
        action="store_true",
        help="replace Postgres and its data when a gym server asks, between trials",
    )
    running.add_argument("--baked", type=Path, default=BAKED, help="folder that `bake` created (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
