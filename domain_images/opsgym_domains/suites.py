"""Hands built-in suites to those who cannot import them: the preflight of a run in a cluster.

Invariant: rows are written as they are kept, field by field; what is exported here is what local mode runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from opsgym_domains import registry

EXIT_CANNOT = 1
EXIT_UNKNOWN = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m opsgym_domains.suites`; the process's exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "list":
        sys.stdout.write("".join(f"{name}\n" for name in registry.suites()))
        return 0
    try:
        export(options.name, options.folder)
    except KeyError:
        known = ", ".join(registry.suites())
        sys.stderr.write(f"there is no built-in suite {options.name!r}; built in: {known}\n")
        return EXIT_UNKNOWN
    except OSError as error:
        sys.stderr.write(f"{options.folder}: cannot be written: {error.strerror}\n")
        return EXIT_CANNOT
    return 0


def export(name: str, folder: Path) -> None:
    """Writes a suite's rows to `tasks.jsonl` in a folder, which is made if need be.

    Seeds of built-in suites are built in too and named by the rows, so there are no seed files.

    Raises:
        KeyError: There is no suite of this name.
        OSError: The folder cannot be written.
    """
    rows = registry.suite_rows(name)
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    (folder / "tasks.jsonl").write_text(lines, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="opsgym_domains.suites", description="Built-in suites.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names of the built-in suites")
    exporting = commands.add_parser("export", help="write a suite's rows to FOLDER/tasks.jsonl")
    exporting.add_argument("name")
    exporting.add_argument("folder", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
