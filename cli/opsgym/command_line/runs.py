"""Commands that run evaluations and show them while they run: `run` and `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from opsgym.command_line.group import EXIT_CODES, STORE, cli, format_option, store_option
from opsgym_console.command import serve_command

_WITH_FILE = frozenset(
    {"name", "fresh", "dry_run", "no_model_check", "form", "metrics_port", "metrics_file", "webhook"}
)
"""Options of `opsgym run FILE` only."""
_WITH_FROM = frozenset({"from_store", "trial", "cell", "step", "recorded"})
"""Options of `opsgym run --from RUN` only."""


@cli.command(epilog=EXIT_CODES)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@store_option
@click.option("--name", metavar="NAME", help="Name of the run, instead of the EvalRun's name.")
@click.option("--fresh", is_flag=True, help="Start another run of the same FILE, instead of resuming the last one.")
@click.option(
    "--no-model-check",
    is_flag=True,
    help="Play no tool turn with a model before the first of its trials; models with fewer than 20 get none.",
)
@click.option("--dry-run", is_flag=True, help="Print cells, trials and what bounds the cost; run and write nothing.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Episodes at the same time. Default: the sum of the models' maxConcurrency, at most 8.",
)
@format_option("table", "json", help="json: only the result on stdout, as one line.")
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve Prometheus metrics at http://127.0.0.1:PORT/metrics during the run; 0 for a free port.",
)
@click.option(
    "--metrics-file",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write the metrics to PATH when the run ends, for example for node_exporter.",
)
@click.option(
    "--log-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Append log lines to PATH, one JSON object a line; OPSGYM_LOG_LEVEL sets the level.",
)
@click.option(
    "--webhook-env",
    "webhook",
    metavar="NAME",
    help="Notify the webhook whose URL is in the environment variable NAME when the run ends. Slack URLs get Slack"
    " messages, others JSON, signed with OPSGYM_WEBHOOK_SECRET if that is set.",
)
@click.option("--from", "source", metavar="RUN", help="Repeat one trial of RUN instead of running a FILE; see --trial.")
@click.option(
    "--from-store",
    metavar=STORE,
    help="Store of RUN. Default: --store; for a RUN that is not in it, the store that the EvalRun of that name in"
    " kubectl's current context names.",
)
@click.option("--trial", metavar="TASK[/N]", help="With --from: task and number of the trial; N defaults to 0.")
@click.option(
    "--cell", metavar="MODEL[/AGENT[/MODE[/DOMAIN]]]", help="With --from: cell of the trial, if several cells ran TASK."
)
@click.option("--step", is_flag=True, help="With --from: wait for Enter before each step.")
@click.option("--recorded", is_flag=True, help="With --from: replay the transcript instead of calling the model.")
def run(file: Path | None, store: str, source: str | None, **options: Any) -> int:
    """Run the EvalRun in FILE on this machine.

    Starts a gym server with its own Postgres for each domain of the tasks, runs every trial that has no score yet, and
    prints the score table. After an interruption, the same command runs the trials that are still without a score;
    with --fresh it starts another run of the same FILE.
    With spec.suspend nothing starts; the exit code says whether all trials have a score already.

    With --from, runs one trial of a stored run again, also of a run in a cluster, and prints its transcript as it
    grows. API keys are read from the providers' usual environment variables.

    \b
      opsgym run evalrun.yaml
      opsgym run evalrun.yaml --store s3://evals/opsgym --concurrency 4
      opsgym run --from nightly --trial itsm-0042/1 --step
    """
    source_of = click.get_current_context().get_parameter_source
    given = {name for name in options if source_of(name) is not ParameterSource.DEFAULT}
    if source is None:
        if misplaced := sorted(given & _WITH_FROM):
            raise click.UsageError(f"--{misplaced[0].replace('_', '-')} goes with --from RUN")
        if file is None:
            raise click.UsageError("name the FILE with the EvalRun, or the RUN to repeat a trial --from")
        return _run_file(file, store, options)
    if given & _WITH_FILE:
        raise click.UsageError(
            "--name, --fresh, --dry-run, --no-model-check, --format, --metrics-port, --metrics-file and --webhook-env"
            " go with FILE, not with --from"
        )
    if file is not None:
        raise click.UsageError("give FILE or --from, not both")
    if options["trial"] is None:
        raise click.UsageError("--from repeats one trial: name it with --trial TASK/N")
    return _repeat_trial(source, store, options)


def _run_file(file: Path, store: str, options: dict[str, Any]) -> int:
    from opsgym.commands.run import RunRequest, run
    from opsgym.local.metrics import MetricsOptions

    request = RunRequest(
        file=file,
        store=store,
        concurrency=options["concurrency"],
        as_json=options["form"] == "json",
        metrics=MetricsOptions(options["metrics_port"], options["metrics_file"]),
        log_file=options["log_file"],
        name=options["name"],
        fresh=options["fresh"],
        webhook=options["webhook"],
        dry_run=options["dry_run"],
        check_models=not options["no_model_check"],
    )
    return run(request)


def _repeat_trial(source: str, store: str, options: dict[str, Any]) -> int:
    from opsgym.commands.repeat import RepeatRequest, repeat
    from opsgym.commands.run_locator import RunLocator

    store_given = click.get_current_context().get_parameter_source("store") is not ParameterSource.DEFAULT
    locator = RunLocator(options["from_store"] or (store if store_given else None))
    request = RepeatRequest(
        run=source,
        trial=options["trial"],
        cell=options["cell"],
        step=options["step"],
        recorded=options["recorded"],
        store=store,
        log_file=options["log_file"],
    )
    return repeat(request, locator)


cli.add_command(serve_command)
