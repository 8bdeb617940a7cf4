"""Help of every command."""

from __future__ import annotations

import click

import opsgym.main  # noqa: F401 - it adds the commands
from opsgym.command_line.group import cli


def commands_page() -> str:
    """A section for each command."""
    return _command(cli, ("opsgym",))


def _command(one: click.Command, path: tuple[str, ...]) -> str:
    """Sections of a command and of those below it, with the help that `--help` prints at 100 columns."""
    context = click.Context(one, info_name=" ".join(path), terminal_width=100, help_option_names=["-h", "--help"])
    text = f"\n## {' '.join(path)}\n\n```text\n{one.get_help(context).rstrip()}\n```\n"
    below = one.commands if isinstance(one, click.Group) else {}
    return text + "".join(_command(part, (*path, name)) for name, part in sorted(below.items()) if not part.hidden)
