"""Exports installed suites for the preflight of a run in a cluster, whose image does not contain them.

Invariant: rows are exported as `suite_rows` has them, so a cluster runs the same tasks as local mode.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from opsgym_api.errors import InputError
from opsgym_api.kinds.variants import LAST_PUBLIC
from opsgym_api.tasks.suite import EDITION_FILE
from opsgym_core.planning.held_out import ENV_SEED, held_out_variant
from opsgym_domains import registry
from opsgym_domains.editions import UnknownSuiteError, resolved
from opsgym_domains.suite_rows import suite_rows

EXIT_CANNOT = 1
EXIT_UNKNOWN = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m opsgym_domains.suites`; the process's exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "list":
        sys.stdout.write("".join(f"{name}\n" for name in registry.suites()))
        return 0
    try:
        variant = held_out_variant(os.environ, options.name) if options.held_out else options.variant
        export(options.name, options.folder, variant)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_UNKNOWN
    except UnknownSuiteError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_UNKNOWN
    except ValueError as error:
        sys.stderr.write(f"suite {options.name!r} has no variants: {error}\n")
        return EXIT_UNKNOWN
    except OSError as error:
        sys.stderr.write(f"{options.folder}: cannot be written: {error.strerror}\n")
        return EXIT_CANNOT
    return 0


def export(name: str, folder: Path, variant: int = 0) -> None:
    """Writes a suite's rows to `tasks.jsonl`, and its edition to a file beside it, in a folder, which is created if it
    does not exist.

    Seeds of built-in suites are built in too and named by the rows, so there are no seed files.

    Raises:
        UnknownSuiteError: There is no such suite, or no such edition of it.
        ValueError: The suite has a task of which there are no variants.
        OSError: The folder cannot be written.
    """
    full = resolved(name)
    rows = suite_rows(full, variant)
    edition = full.partition("@")[2]
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    (folder / "tasks.jsonl").write_text(lines, encoding="utf-8")
    (folder / EDITION_FILE).write_text(edition, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="opsgym_domains.suites", description="Built-in suites.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names of the built-in suites")
    exporting = commands.add_parser("export", help="write a suite's rows to FOLDER/tasks.jsonl")
    exporting.add_argument("name", help="a suite, with or without an edition: hr-core, hr-core@2026-12, hr-core@next")
    exporting.add_argument("folder", type=Path)
    which = exporting.add_mutually_exclusive_group()
    which.add_argument("--held-out", action="store_true", help=f"the variant of the secret seed in {ENV_SEED}")
    which.add_argument(
        "--variant",
        type=_public_variant,
        default=0,
        metavar="NUMBER",
        help=f"variant of the suite, up to {LAST_PUBLIC}; 0 for the rows as written",
    )
    return parser


def _public_variant(text: str) -> int:
    number = int(text)
    if not 0 <= number <= LAST_PUBLIC:
        raise argparse.ArgumentTypeError(f"is not a number from 0 to {LAST_PUBLIC}; larger ones are of held-out suites")
    return number


if __name__ == "__main__":
    sys.exit(main())
