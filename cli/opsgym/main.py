"""Entry points of the command `opsgym`, and how errors are printed.

Invariant: printing help imports nothing slow, and a traceback is printed only with `--debug`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import Any

import click

from opsgym.command_line import (  # noqa: F401 - they add their commands
    cluster_runs,
    episodes,
    installation,
    results,
    retention,
    runs,
    tasks,
)
from opsgym.command_line.group import PLUGIN, cli
from opsgym.exits import Exit
from opsgym.streams import prepare_streams


def main() -> None:
    """Entry point of the program `opsgym`."""
    prepare_streams()
    sys.exit(invoke(sys.argv[1:]))


def plugin() -> None:
    """Entry point of `kubectl opsgym`."""
    prepare_streams()
    sys.exit(invoke(sys.argv[1:], PLUGIN))


def invoke(arguments: Sequence[str], program: str = "opsgym") -> int:
    """Runs a command line and returns its exit code."""
    try:
        result: Any = cli.main(args=list(arguments), prog_name=program, standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return Exit.BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has closed the pipe; Python's own flush at exit must not report that again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:  # noqa: BLE001 - the outermost layer prints one line instead of a traceback
        return _print_error(error, debug="--debug" in arguments)
    return int(result) if isinstance(result, int) else Exit.OK


def _print_error(error: Exception, *, debug: bool) -> int:
    """Prints why a command failed and returns its exit code."""
    from opsgym.cluster import ClusterError
    from opsgym_api.errors import InputError
    from opsgym_core.store.base import StoreError

    if isinstance(error, InputError | StoreError | ClusterError):
        for text in (str(error), *getattr(error, "__notes__", ())):
            click.echo(text, err=True)
        return Exit.BAD_INPUT if isinstance(error, InputError) else Exit.NOT_SCORED
    details = "".join(traceback.format_exception(error))
    if debug:
        click.echo(details, err=True)
        return Exit.FAULT
    with tempfile.NamedTemporaryFile("w", prefix="opsgym-", suffix=".log", delete=False, errors="replace") as log:
        log.write(details)
    message = "".join(f": {line}" for line in str(error).splitlines()[:1])
    click.echo(f"opsgym failed unexpectedly: {type(error).__name__}{message} (details: {log.name})", err=True)
    return Exit.FAULT


if __name__ == "__main__":
    main()
