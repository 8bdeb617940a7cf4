"""Entry point of the console's image: `python -m opsgym_console`."""

from __future__ import annotations

import sys

import click

from opsgym_api.errors import InputError
from opsgym_console.command import serve_command


def main() -> int:
    """Runs the command line. Returns the exit code: 0, or 2 for options that are not valid."""
    try:
        serve_command.main(prog_name="python -m opsgym_console", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except InputError as error:
        click.echo(str(error), err=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
