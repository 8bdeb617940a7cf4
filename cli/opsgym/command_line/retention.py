"""Commands about what stays in a store: `prune` and `pin`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from opsgym.command_line.group import STORE, cli, locates_run

if TYPE_CHECKING:
    from opsgym.commands.run_locator import RunLocator
    from opsgym_api.kinds.history import Keep


class _KeepType(click.ParamType["Keep"]):
    """How long objects stay: `30d`, `10runs`, or both, of which the longer one counts."""

    name = "TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Keep:
        """Reads a value of the command line."""
        from opsgym_api.kinds.history import MOST_DAYS, Keep

        parts = [re.fullmatch(r"([1-9]\d{0,4})(d|runs)", part) for part in str(value).split(",")]
        numbers = {part[2]: int(part[1]) for part in parts if part is not None}
        if len(numbers) < len(parts) or numbers.get("d", 0) > MOST_DAYS:
            raise click.BadParameter(
                f"{value!r} is not a time to keep; give days (30d), newest runs (10runs) or both (30d,10runs)",
                ctx,
                param,
            )
        return Keep(days=numbers.get("d"), runs=numbers.get("runs"))


@cli.command()
@click.option("--store", default="./results", show_default=True, metavar=STORE, help="Store whose runs are looked at.")
@click.option("--records", type=_KeepType(), help="Delete runs that are older, with everything they wrote.")
@click.option("--transcripts", type=_KeepType(), help="Delete transcripts, reasoning and stored reports of older runs.")
@click.option("--states", type=_KeepType(), help="Delete final databases of older runs; `rescore` needs them.")
@click.option("--yes", is_flag=True, help="Delete. Without it, print what would be deleted.")
@click.option("--dry-run", is_flag=True, help="Print what would be deleted; the default.")
def prune(
    store: str, records: Keep | None, transcripts: Keep | None, states: Keep | None, yes: bool, dry_run: bool
) -> int:
    """Delete what runs wrote and need not stay, or print what each run takes.

    TIME is an age in days (30d), a number of newest runs of each schedule or name (10runs), or both (30d,10runs), of
    which the longer counts. Runs that may be going on, runs with which a gate compares, and those of `opsgym pin` stay.
    Prints runs, objects and bytes; nothing is deleted without --yes. Interrupted, the same command goes on.

    \b
      opsgym prune --store s3://evals/nightly
      opsgym prune --store s3://evals/nightly --states 14d --transcripts 90d --records 365d,20runs
    """
    from opsgym.commands.prune import PruneRequest, print_sizes
    from opsgym.commands.prune import prune as command
    from opsgym.commands.run_locator import RunLocator
    from opsgym_api.kinds.history import History

    if yes and dry_run:
        raise click.UsageError("choose one of --yes and --dry-run")
    history = History(records=records, transcripts=transcripts, states=states)
    if history != History():
        return command(PruneRequest(history, delete=yes), RunLocator(store))
    if yes:
        raise click.UsageError("name what to delete: --records, --transcripts or --states, for example --states 30d")
    return print_sizes(RunLocator(store))


@cli.command()
@click.argument("run")
@click.option("--reason", default="", help="Why, for others; stored beside the run.")
@click.option("--remove", is_flag=True, help="Let it go again.")
@locates_run
def pin(run: str, reason: str, remove: bool, locator: RunLocator) -> int:
    """Keep RUN in its store whatever its age: `opsgym prune` leaves it alone.

    RUN is named as for `opsgym results`.
    """
    from opsgym.commands.prune import pin as command

    return command(run, reason, locator, remove=remove)
