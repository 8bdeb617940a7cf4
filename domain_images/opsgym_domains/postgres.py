"""The Postgres of a task pod: `bake` makes its data when the image is built, `run` starts from a copy of them.

Invariant: a pod's Postgres runs once. Its databases are gone when it ends, so a second start would show an episode an
empty world; it is refused instead. It listens on a Unix socket only: who may open the socket's folder may use it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from opsgym_domains.kit.embedded import SETTINGS, PostgresError, reachable_binaries, server_command
from opsgym_domains.kit.errors import DatabaseLost

EXIT_CANNOT = 1
EXIT_RAN_BEFORE = 3
BAKED = Path("/var/lib/opsgym/postgres")
"""Where the image has the baked data."""
POD_SETTINGS = SETTINGS | {
    # The log of changes lies in the pod's memory, and nobody reads it.
    "max_wal_size": "16MB",
    "min_wal_size": "2MB",
    # After a crash a server of this pod would be another world; it ends, and the episode is an infra error.
    "restart_after_crash": "off",
}


class RanBeforeError(Exception):
    """There are data already: the container was restarted within its pod."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m opsgym_domains.postgres`; the process's exit code. `run` becomes Postgres instead."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "bake":
            bake(options.folder)
            return 0
        run(options.data, options.socket, options.baked)
    except RanBeforeError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_RAN_BEFORE
    except (PostgresError, DatabaseLost, OSError) as error:
        sys.stderr.write(f"cannot {options.command}: {error}\n")
    return EXIT_CANNOT


def bake(folder: Path) -> None:
    """Makes the data folder of all domains, see `baking.bake`."""
    # Imported here: `run` starts in every pod and needs none of it.
    from opsgym_domains import registry
    from opsgym_domains.baking import bake as bake_domains

    bake_domains(folder, [registry.load(name) for name in registry.domains()])


def run(data: Path, socket_folder: Path, baked: Path = BAKED) -> None:
    """Copies the baked data and turns this process into Postgres; returns only by raising.

    Args:
        data: The pod's volume for databases; the copy is made in its folder `postgres`.
        socket_folder: Folder that the gym servers are given as host.
        baked: What `bake` made.

    Raises:
        RanBeforeError: There is a copy already.
        PostgresError: There is nothing baked, or there are no binaries.
        OSError: The volume is full, or not ours to write.
    """
    copy = data / "postgres"
    if copy.exists():
        raise RanBeforeError(
            f"{copy} exists: Postgres ran in this pod before, and what it held for the episode is lost. "
            "It does not start again; the attempt ends as an infra error and is made anew in another pod."
        )
    if not (baked / "PG_VERSION").is_file():
        raise PostgresError(f"{baked} holds no data; make them with `python -m opsgym_domains.postgres bake {baked}`")
    command = server_command(reachable_binaries(), copy, socket_folder, POD_SETTINGS)
    _copy(baked, copy)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def _copy(baked: Path, copy: Path) -> None:
    # Made by us, and so ours, whoever the baked files belong to: Postgres insists on owning its data.
    copy.mkdir(mode=0o700)
    for folder, folders, files in os.walk(baked):
        target = copy / Path(folder).relative_to(baked)
        for name in folders:
            (target / name).mkdir(mode=0o700)
        for name in files:
            shutil.copyfile(Path(folder, name), target / name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="opsgym_domains.postgres", description="The Postgres of a task pod.")
    commands = parser.add_subparsers(dest="command", required=True)
    baking = commands.add_parser("bake", help="make the data folder that pods start from")
    baking.add_argument("folder", type=Path)
    running = commands.add_parser("run", help="copy the baked data and run Postgres on them")
    running.add_argument("--data", type=Path, required=True, help="the pod's volume for databases")
    running.add_argument("--socket", type=Path, required=True, help="folder of the Unix socket")
    running.add_argument("--baked", type=Path, default=BAKED, help="what `bake` made (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
