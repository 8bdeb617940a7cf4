"""Commands for trainers: `episodes`."""

from __future__ import annotations

from pathlib import Path

import click

from opsgym.command_line.group import cli


@cli.group()
def episodes() -> None:
    """Serve episodes to agents that a trainer runs."""


@episodes.command()
@click.argument("suites", nargs=-1, required=True, metavar="SUITE...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. Default: a free port.")
@click.option(
    "--test-tasks",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File with the ids of the tasks of split test, one a line. Default: one task in five, by its id.",
)
@click.option(
    "--most",
    type=click.IntRange(1, 10_000),
    default=64,
    show_default=True,
    metavar="N",
    help="Most episodes at the same time.",
)
def serve(suites: tuple[str, ...], host: str, port: int, test_tasks: Path | None, most: int) -> int:
    """Serve episodes of the tasks of each SUITE, a built-in suite or a path, until a signal ends it.

    A trainer starts an episode by POST /episodes, its agent calls the tools by MCP, and POST /episodes/ID/finish
    returns verdict and reward. Trainers' tokens are read from OPSGYM_TRAIN_TOKEN and OPSGYM_TEST_TOKEN; with neither,
    a token for split train is made and printed.

    \b
      opsgym episodes serve quickstart --port 8200
    """
    from opsgym.commands.episodes import ServeRequest
    from opsgym.commands.episodes import serve as command

    return command(ServeRequest(suites, host, port, test_tasks, most))
