"""Commands that read stored runs: scores, comparisons, gates, reports, exports."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from opsgym.command_line.group import cli, format_option, locates_run, out_option

if TYPE_CHECKING:
    from opsgym.commands.run_locator import RunLocator


_LIST_FORMATS = ("table", "markdown", "csv", "json")
"""Formats of the list of runs."""


@cli.command()
@click.argument("run", required=False)
@format_option(
    "table", "markdown", "csv", "json", "parquet", help="csv, json and parquet have more columns and exact numbers."
)
@click.option(
    "--by",
    type=click.Choice(["cell", "agent", "category", "horizon", "tag", "task", "trial", "variant", "verifier"]),
    help="What a row stands for. Default: cell; for parquet, trial. Without it, a table shows several breakdowns."
    " variant: runs of the store that differ from RUN in the variant of the suite only.",
)
@out_option
@locates_run
def results(run: str | None, form: str, by: str | None, out: Path | None, locator: RunLocator) -> int:
    """Print the scores of RUN, or list the runs of the store.

    RUN is the id of a run, the beginning of an id, or the name of an EvalRun, which stands for its latest run. In a
    cluster RUN is the name of an EvalRun; `kubectl opsgym` looks in the cluster unless --store is given.

    \b
      opsgym results
      opsgym results quickstart --by task
      opsgym results nightly --namespace evals --format csv --out nightly.csv
    """
    from opsgym.commands.results import list_results
    from opsgym.commands.results import results as command

    if run is None:
        if form not in _LIST_FORMATS or by is not None:
            raise click.UsageError(
                f"without a RUN, --format is one of {', '.join(_LIST_FORMATS)}, and --by is not given"
            )
        return list_results(locator, form, out)
    if form == "parquet" and out is None:
        raise click.UsageError("--format parquet needs --out FILE")
    return command(run, form, by, out, locator)


@cli.command()
@click.argument("before")
@click.argument("after")
@format_option("table", "markdown", "json")
@click.option(
    "--map",
    "names",
    multiple=True,
    metavar="PART:BEFORE=AFTER",
    help="Compare a model, agent or mode with one of another name, for example model:gpt-5=gpt-6. May be repeated.",
)
@click.option(
    "--max-regression",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 3 if the success rate fell by more than SHARE, for example 0.05, or that of a cell is shown to, and"
    " with 4 if there are too few tasks to decide.",
)
@out_option
@locates_run
def compare(locator: RunLocator, **options: Any) -> int:
    """Compare two runs trial by trial: change of success, exact permutation test, tasks that changed.

    Only trials that are scored in both runs are compared, in the cells that both runs have. Runs are named as for
    `opsgym results`.
    """
    from opsgym.commands.compare import CompareRequest, compare_runs

    return compare_runs(CompareRequest(**options), locator)


@cli.command()
@click.argument("run")
@click.option(
    "--gate",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="YAML with the fields of a gate, or with an EvalRun that has a gate. Default: the run's own gate.",
)
@format_option("text", "json", help="json: the verdict as one line.")
@click.option(
    "--plan",
    is_flag=True,
    help="Judge nothing: RUN is the file of an EvalRun, whose gate is simulated on its suite to print its power.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="With --plan: assumed success rate of the baseline.",
)
@click.option(
    "--flips",
    type=click.FloatRange(0, 0.5),
    default=0.2,
    show_default=True,
    help="With --plan: assumed share of tasks with another result in a second, unchanged run of one trial per task.",
)
@locates_run
def gate(run: str, file: Path | None, form: str, plan: bool, rate: float, flips: float, locator: RunLocator) -> int:
    """Judge the finished RUN by its gate, or by another one: GO, NO-GO (exit code 3) or INCONCLUSIVE (4).

    docs/gates.md defines the conditions. RUN is named as for `opsgym results`.

    \b
      opsgym gate nightly
      opsgym gate --plan evalrun.yaml
    """
    from opsgym.commands.gate import judge_run, plan_gate

    if plan:
        return plan_gate(Path(run), file, rate, flips)
    return judge_run(run, file, locator, as_json=form == "json")


@cli.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@format_option("table", "markdown", "csv", "json")
@click.option(
    "--faults",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="faults.json of `opsgym tasks import`: rows whose score it makes doubtful are left out, too.",
)
@out_option
@click.option(
    "--beside",
    type=click.Choice(["public-split", "main"]),
    help="Put the rows among those of a published table instead: for runs of the published rows.",
)
@locates_run
def leaderboard(
    runs: tuple[str, ...], form: str, faults: Path | None, out: Path | None, beside: str | None, locator: RunLocator
) -> int:
    """Print success rates of models by domain, in the form of the published leaderboard.

    Every model, agent and mode of every RUN is a row; the highest mean over tasks comes first. Ranks come from paired
    tests of each two rows; docs/scores.md defines them. Published rows that are known to be faulty are left out; the
    averages with them stand beside. Runs are named as for `opsgym results`.
    """
    from opsgym.commands.leaderboard import leaderboard as command
    from opsgym.commands.leaderboard_beside import leaderboard_beside

    if beside is not None:
        return leaderboard_beside(runs, beside, form, out, locator)
    return command(runs, form, out, locator, faults)


@cli.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--by",
    type=click.Choice(["agent", "task", "verifier"]),
    help="Every row of one kind. Default: what is conspicuous.",
)
@format_option("table", "markdown", "csv", "json")
@out_option
@locates_run
def items(runs: tuple[str, ...], by: str | None, form: str, out: Path | None, locator: RunLocator) -> int:
    """Print which tasks and verifiers tell the agents of RUNs apart, and how far outcomes repeat.

    Discrimination, flips between trials and intraclass correlation; tasks that every trial passed or failed; verifiers
    that fail every agent, or alone decide the near-passes of a task. Runs are named as for `opsgym results`.
    """
    from opsgym.commands.items import items as command

    return command(runs, by, form, out, locator)


@cli.command()
@click.argument("run")
@locates_run
def compact(run: str, locator: RunLocator) -> int:
    """Copy the records of RUN into few objects, so that a large run is summarised in seconds.

    The operator, and large local runs, do so by themselves. Nothing is removed. RUN is named as for `opsgym results`.
    """
    from opsgym.commands.compact import compact_run

    return compact_run(run, locator)


@cli.command()
@click.argument("run")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Folder to write to.")
@click.option("--to-store", is_flag=True, help="Write into the store, beside the records of the run, instead of --out.")
@click.option(
    "--baseline", metavar="RUN", help="Run to compare with. Default: the baseline of the run's gate, if it has one."
)
@click.option(
    "--transcripts",
    type=click.Choice(["auto", "inline", "beside", "none"]),
    default="auto",
    show_default=True,
    help="Where transcripts, verifiers and state differences go: into the page, into files beside it, or nowhere."
    " auto: into the page while they are small, else beside it; nowhere for more than 10,000 trials.",
)
@click.option(
    "--failure-modes",
    type=click.Choice(["auto", "all", "none"]),
    default="auto",
    show_default=True,
    help="Failed trials to analyse. auto: a sample of 2,000 for a page without transcripts, else all.",
)
@locates_run
def report(
    run: str,
    out: Path | None,
    to_store: bool,
    baseline: str | None,
    transcripts: str,
    failure_modes: str,
    locator: RunLocator,
) -> int:
    """Write an HTML page about RUN: scores, comparisons, failures, and the transcripts of all agents.

    The page opens from disk and loads nothing from the network. RUN is named as for `opsgym results`.

    \b
      opsgym report quickstart --out report
      opsgym report nightly --store s3://evals/opsgym --to-store
    """
    if to_store == (out is not None):
        raise click.UsageError("choose where to write: --out DIR or --to-store")
    from opsgym.commands.report import ReportRequest
    from opsgym.commands.report import report as command
    from opsgym_console.report.bundling import DetailLocation
    from opsgym_console.report.write import Analysis, ReportOptions

    options = ReportOptions(DetailLocation(transcripts), Analysis(failure_modes))
    return command(ReportRequest(run, out, baseline, options), locator)


@cli.command()
@click.argument("run")
@click.option(
    "--tasks",
    metavar="SUITE|PATH",
    help="Judge by the verifiers of these rows: a built-in suite, a file or a folder. Default: the run's own rows.",
)
@click.option(
    "--edition",
    metavar="NAME",
    help="Judge by the rows of this edition of the run's built-in suite: 2026-12, or next. Tasks that it does not have "
    "are left out; a task whose prompt, tools or world it changes must be run again.",
)
@locates_run
def rescore(run: str, tasks: str | None, edition: str | None, locator: RunLocator) -> int:
    """Verify the final states of RUN again, without any model call.

    Prints the success rates of the same trials before and after. The results become a new run beside RUN, named after
    it, which `results`, `report` and `compare` read like any other. Verdicts of a judge model are copied. RUN is named
    as for `opsgym results`.
    """
    if tasks is not None and edition is not None:
        raise click.UsageError("choose one of --tasks and --edition")
    from opsgym.commands.rescore import rescore as command

    return command(run, tasks, edition, locator)


@cli.command()
@click.argument("run")
@locates_run
def verify(run: str, locator: RunLocator) -> int:
    """Check RUN against itself: rows, seeds, prices, transcripts, verdicts.

    Compares the stored objects with each other, plays the recorded tool calls again on fresh databases, and judges what
    comes of them; no model is asked. Prints each contradiction. Exit code 0 if there is none and every scored trial
    could be verified. RUN is named as for `opsgym results`.

    \b
      opsgym verify nightly
      opsgym verify nightly --store s3://evals/published
    """
    from opsgym.commands.verify import verify as command

    return command(run, locator)


class _WithDefault(click.Group):
    """A group whose command `show` may be left out: `opsgym failures RUN` is `opsgym failures show RUN`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Names `show` where no command is named."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@cli.group(cls=_WithDefault)
def failures() -> None:
    """Why trials failed, by rules, a judge model and people.

    `opsgym failures RUN` prints what rules report of each failed trial. Failure modes are those of the literature:
    looping, missing lookups, wrong ids, missed follow-ups and others; docs/failures.md defines each.

    \b
      opsgym failures nightly
      opsgym failures --judge models.yaml --max-usd 2 nightly
      opsgym failures label nightly
      opsgym failures agreement nightly
    """


@failures.command("show")
@click.argument("run")
@format_option("table", "json")
@click.option("--trial", metavar="TASK/N", help="Print all evidence of this trial; N counts from 0.")
@click.option(
    "--judge",
    metavar="MODEL",
    help="Let a model label the failed trials: a file with one model, a model of --models, or a litellm id. Its labels"
    " are stored beside the run; the same command goes on where it stopped.",
)
@click.option(
    "--models", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="File that declares MODEL."
)
@click.option(
    "--max-usd",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    help="With --judge: no trial is judged that could bring the judge's cost for RUN above this.",
)
@locates_run
def show_failures(
    run: str,
    form: str,
    trial: str | None,
    judge: str | None,
    models: Path | None,
    max_usd: float,
    locator: RunLocator,
) -> int:
    """Print the failure modes of the failed trials of RUN: what rules report, or a judge.

    RUN is named as for `opsgym results`.
    """
    if judge is None:
        from opsgym.commands.failures import failures as command

        return command(run, trial, form, locator)
    if trial is not None:
        raise click.UsageError("--judge labels all failed trials; leave out --trial")
    from opsgym.commands.failures import judged_failures
    from opsgym.commands.failures_judge import JudgeRequest

    return judged_failures(run, form, JudgeRequest(judge, models, max_usd), locator)


@failures.command("label")
@click.argument("run")
@click.option(
    "--sample",
    type=click.IntRange(1, 10_000),
    default=150,
    show_default=True,
    help="Failed trials to label: a random sample with each cell's share, the same for everybody.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port; 0 for a free one.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File with the token for signing in, required where other machines can reach the address.",
)
@locates_run
def failures_label(run: str, sample: int, host: str, port: int, token_file: Path | None, locator: RunLocator) -> int:
    """Let people label failed trials of RUN in a browser.

    A person sees what the agent did and which verifiers failed, not what rules, a judge or other people say. Labels
    are stored once for each person and trial, beside the run. RUN is named as for `opsgym results`.
    """
    from opsgym.commands.held_out import store_of_run
    from opsgym_console.serve import ServeOptions, serve
    from opsgym_console.server.labelling import LabellingOptions

    store, record = locator.load_record(run, texts=True)
    opened = partial(store_of_run, run=record.run, environment=os.environ)
    labelling = LabellingOptions(record.run, sample, opened)
    serve(ServeOptions(store.name, None, host, port, token_file, None, (), labelling))
    return 0


@failures.command("agreement")
@click.argument("run")
@format_option("table", "json")
@locates_run
def failures_agreement(run: str, form: str, locator: RunLocator) -> int:
    """Print how far people agree on the failure modes of RUN, and rules and judges with people.

    For each mode: Cohen's kappa with its 95 % interval, and the share of failed trials corrected for the error of
    rules or judge. Modes with a kappa below 0.6 are marked as not to be published. RUN is named as for
    `opsgym results`.
    """
    from opsgym.commands.failures_agreement import agreement

    return agreement(run, form, locator)


@cli.command()
@click.argument("run")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["eops", "inspect"]),
    required=True,
    help="eops: the published harness's JSON file for each task and run. inspect: an Inspect log for each cell.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write to.")
@locates_run
def export(run: str, kind: Literal["eops", "inspect"], out: Path, locator: RunLocator) -> int:
    """Write the scored trials of RUN for other programs.

    Trials without a score are left out, because other programs would count them as failed. RUN is named as for
    `opsgym results`.
    """
    from opsgym.commands.export import export as command

    return command(run, kind, out, locator)
