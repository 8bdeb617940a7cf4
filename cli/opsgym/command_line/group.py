"""The command group `opsgym`, and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from opsgym.commands.run_locator import RunLocator

PLUGIN = "kubectl opsgym"
"""Name of the program when kubectl runs it as a plugin."""

STORE = "DIR|s3://BUCKET/PREFIX"
EXIT_CODES = """\b
Exit codes:
  0   every trial is scored, and the gate, if there is one, says GO
  1   some trials are not scored, or a store, gym server or cluster failed
  2   a file, row, argument or environment variable must be corrected
  3   the gate says NO-GO
  4   the gate says INCONCLUSIVE: too few trials to decide
  5   a model's quota or credit is used up: some trials were not run
  130 Ctrl-C, or 143 SIGTERM: the same command continues the run
  70  a bug in opsgym"""

Command = Callable[..., int]
F = TypeVar("F", bound=Callable[..., Any])


SECTIONS = {
    "Run": ("run", "serve", "episodes"),
    "Read results": (
        "results",
        "report",
        "failures",
        "items",
        "compare",
        "leaderboard",
        "gate",
        "rescore",
        "verify",
        "export",
    ),
    "Tasks, models and gym servers": ("tasks", "play", "models", "prompts", "gym"),
    "Look after runs in a cluster": ("status", "why", "logs"),
    "Keep results": ("compact", "pin", "prune"),
    "This installation": ("init", "list", "doctor", "version"),
}
"""Commands by section of the help, in this order."""


class Sectioned(click.Group):
    """A group whose help lists its commands by section."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Writes the sections."""
        width = max(map(len, self.commands))
        limit = formatter.width - width - 6
        for title, names in SECTIONS.items():
            with formatter.section(title):
                rows = [(name.ljust(width), self.commands[name].get_short_help_str(limit)) for name in names]
                formatter.write_dl(rows)


@click.group(
    cls=Sectioned, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=EXIT_CODES
)
@click.version_option(package_name="opsgym")
@click.option("--debug", is_flag=True, help="Print the traceback of an unexpected error.")
def cli(debug: bool) -> None:
    """Evaluate LLM agents on office work: tasks in real databases, tools over MCP, SQL verifiers.

    \b
      opsgym run evalrun.yaml                  run the EvalRun of a file on this machine
      opsgym results                           list the runs of ./results
      opsgym results quickstart                print the scores of a run
      opsgym report quickstart --out report    write its HTML page
      opsgym compare before after              compare two runs trial by trial
    """


store_option = click.option(
    "--store", default="./results", show_default=True, metavar=STORE, help="Store that results are written to."
)


def format_option(*formats: str, help: str | None = None) -> Callable[[F], F]:  # noqa: A002 - click's name
    """Adds `--format`, the argument `form`: the form of what a command prints on stdout.

    Args:
        formats: Its values; the first is the default, which people read.
        help: What differs between them, if that is not obvious.
    """
    return click.option(
        "--format", "form", type=click.Choice(formats), default=formats[0], show_default=True, help=help
    )


out_option = click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write to FILE instead of stdout."
)

_LOCATION = (
    click.option(
        "--store",
        metavar=STORE,
        help="Store of the run. Default: ./results; for a RUN that is not in it, the store that the EvalRun of that"
        " name in kubectl's current context names.",
    ),
    click.option("-n", "--namespace", help="Look up the EvalRun RUN in this namespace of the cluster."),
    click.option("--context", metavar="NAME", help="Look up the EvalRun RUN in the cluster of this kube context."),
)


def locates_run(command: Command) -> Command:
    """Adds the options that locate a run; the command receives them as one `RunLocator`, its argument `locator`."""

    @wraps(command)
    def with_locator(store: str | None, namespace: str | None, context: str | None, **options: Any) -> int:
        return command(locator=_locator(store, namespace, context), **options)

    for option in reversed(_LOCATION):
        with_locator = option(with_locator)
    return with_locator


def _locator(store: str | None, namespace: str | None, context: str | None) -> RunLocator:
    from opsgym.cluster import Cluster
    from opsgym.commands.run_locator import RunLocator

    cluster_given = namespace is not None or context is not None
    if store is not None and cluster_given:
        raise click.UsageError("--store cannot be combined with --namespace or --context")
    is_plugin = click.get_current_context().find_root().info_name == PLUGIN
    use_cluster = store is None and (cluster_given or is_plugin)
    return RunLocator(store, Cluster(namespace, context) if use_cluster else None)
