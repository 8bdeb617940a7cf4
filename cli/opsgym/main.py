"""The command line: arguments, exit codes, and how failures are told.

Invariant: nothing heavy is imported to print help, and no user sees a traceback that was not asked for.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from opsgym.exits import Exit

if TYPE_CHECKING:
    from opsgym.commands.where import Where

_EXITS = """\b
Exit codes:
  0   every trial is scored, and the gate, if there is one, says GO
  1   some trials are not scored, or the surroundings failed
  2   a file, row, argument or variable has to be mended
  3   the gate says NO-GO
  4   the gate says INCONCLUSIVE: too few trials to tell
  130 Ctrl-C; 143 SIGTERM: the same command goes on where it stopped
  70  a fault of opsgym itself"""

_store = click.option(
    "--store", default="./results", show_default=True, metavar="DIR|s3://BUCKET/PREFIX", help="Where results are."
)

_PLUGIN = "kubectl opsgym"


def _where(command: Callable[..., int]) -> Callable[..., int]:
    """Adds the options that say where results are; together they become `Where`."""
    options = (
        click.option(
            "--store", metavar="DIR|s3://BUCKET/PREFIX",
            help="Where results are. Default: ./results, or, for a RUN that is not there, where the EvalRun of that"
            " name in kubectl's current context keeps its results.",
        ),
        click.option("-n", "--namespace", help="Look for the EvalRun RUN in this namespace of the cluster."),
        click.option("--context", metavar="NAME", help="Look for the EvalRun RUN in the cluster of this kube context."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _chosen(store: str | None, namespace: str | None, context: str | None) -> Where:
    from opsgym.cluster import Cluster
    from opsgym.commands.where import Where

    if store is not None and (namespace is not None or context is not None):
        raise click.UsageError("--store already says where results are; --namespace and --context go without it")
    asked = click.get_current_context().find_root().info_name == _PLUGIN or namespace is not None or context is not None
    return Where(store, Cluster(namespace, context) if asked and store is None else None)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, epilog=_EXITS)
@click.version_option(package_name="opsgym")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected failure.")
def cli(debug: bool) -> None:
    """Measure whether LLM agents can do office work: tasks in real databases, tools over MCP, SQL verifiers."""


@cli.command(epilog=_EXITS)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@_store
@click.option(
    "--concurrency", type=click.IntRange(1, 1000), metavar="N",
    help="Episodes at the same time. Default: what the models' maxConcurrency allows together, 8 at most.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON line, and nothing else, on stdout.")
@click.option(
    "--metrics-port", type=click.IntRange(0, 65535), metavar="PORT",
    help="Serve metrics for Prometheus at http://127.0.0.1:PORT/metrics while the run lasts; 0 picks a free port.",
)  # fmt: skip
@click.option(
    "--metrics-file", type=click.Path(path_type=Path), metavar="PATH",
    help="Write the metrics to PATH when the run has ended, for instance for node_exporter.",
)  # fmt: skip
@click.option(
    "--log-file", type=click.Path(path_type=Path, dir_okay=False), metavar="PATH",
    help="Also write log lines to the end of PATH, one JSON object a line; OPSGYM_LOG_LEVEL says from which level up.",
)  # fmt: skip
@click.option(
    "--webhook-env", "webhook", metavar="NAME",
    help="Tell the address that the environment variable NAME holds how the run ended: Slack, or whatever takes JSON."
    " OPSGYM_WEBHOOK_SECRET signs it.",
)  # fmt: skip
@click.option("--from", "source", metavar="RUN", help="Instead of FILE: repeat one trial of this run, see --trial.")
@click.option(
    "--from-store", metavar="DIR|s3://BUCKET/PREFIX",
    help="Where RUN is. Default: in --store, or, for a RUN that is not there, where the EvalRun of that name in"
    " kubectl's current context keeps its results.",
)  # fmt: skip
@click.option("--trial", metavar="TASK[/N]", help="With --from: the task, and the trial's number, 0 by default.")
@click.option("--cell", metavar="MODEL[/AGENT[/MODE[/DOMAIN]]]", help="With --from: whose trial, if several ran TASK.")
@click.option("--step", is_flag=True, help="With --from: wait for Enter before each step.")
@click.option("--recorded", is_flag=True, help="With --from: play what the agent did then; no model is asked.")
def run(file: Path | None, store: str, concurrency: int | None, **options: Any) -> int:
    """Run the EvalRun in FILE on this machine.

    Starts a gym server with its own Postgres for every domain the tasks need, runs every trial that has no score yet,
    and prints the score table. Interrupted or not, the same command later runs only what is still without a score.
    With spec.suspend nothing is started; the exit code then tells whether everything had been scored before.

    With --from, runs one trial of any run again, of one in a cluster too, and shows what is said as it is said. Keys of
    Secrets are then looked for in the providers' usual variables.
    """
    source, as_json, log_file = options.pop("source"), options.pop("as_json"), options.pop("log_file")
    port, metrics_file, webhook = options.pop("metrics_port"), options.pop("metrics_file"), options.pop("webhook")
    if source is not None:
        if port is not None or metrics_file is not None or webhook is not None:
            raise click.UsageError("--metrics-port, --metrics-file and --webhook-env go with FILE, not with --from")
        return _repeat(file, source, store, log_file, options)
    given = [name for name, value in options.items() if value]
    if given:
        raise click.UsageError(f"--{given[0].replace('_', '-')} goes with --from RUN")
    if file is None:
        raise click.UsageError("name the FILE with the EvalRun, or a RUN to repeat a trial --from")
    from opsgym.commands.run import Request
    from opsgym.commands.run import run as command
    from opsgym.local.metrics import Exposition

    return command(Request(file, store, concurrency, as_json, Exposition(port, metrics_file), log_file, webhook))


def _repeat(file: Path | None, source: str, store: str, log_file: Path | None, options: Mapping[str, Any]) -> int:
    from opsgym.commands.repeat import Repeat, repeat
    from opsgym.commands.where import Where

    if file is not None:
        raise click.UsageError("give FILE or --from, not both")
    if options["trial"] is None:
        raise click.UsageError("--from repeats one trial: name it with --trial TASK/N")
    default = click.get_current_context().get_parameter_source("store") is ParameterSource.DEFAULT
    where = Where(options["from_store"] or (None if default else store))
    request = Repeat(source, options["trial"], options["cell"], options["step"], options["recorded"], store, log_file)
    return repeat(request, where)


_out = click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write to FILE, not to stdout."
)


@cli.command()
@click.argument("run", required=False)
@click.option(
    "--format", "form", type=click.Choice(["table", "markdown", "csv", "json", "parquet"]), default="table",
    show_default=True, help="csv, json and parquet have more columns, and numbers as they are.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(["cell", "agent", "category", "horizon", "task", "trial", "verifier"]),
    help="What a row is. Default: cell; of parquet, trial. A table shows several breakdowns if none is named.",
)  # fmt: skip
@_out
@_where
def results(
    run: str | None, form: str, by: str | None, out: Path | None,
    store: str | None, namespace: str | None, context: str | None,
) -> int:  # fmt: skip
    """Print the scores of RUN, or list the runs of the store.

    RUN is a run's id, the beginning of one, or the name of an EvalRun, which means its latest run. In a cluster it is
    the name of an EvalRun; with `kubectl opsgym` a cluster is meant unless --store is given.
    """
    from opsgym.commands.results import list_results
    from opsgym.commands.results import results as command

    where = _chosen(store, namespace, context)
    if run is None:
        if form != "table" or by is not None or out is not None:
            raise click.UsageError("name the RUN that --format, --by and --out are about")
        return list_results(where)
    if form == "parquet" and out is None:
        raise click.UsageError("--format parquet goes with --out FILE")
    return command(run, form, by, out, where)


@cli.command()
@click.argument("before")
@click.argument("after")
@click.option("--format", "form", type=click.Choice(["table", "markdown", "json"]), default="table", show_default=True)
@click.option(
    "--map", "names", multiple=True, metavar="PART:BEFORE=AFTER",
    help="Compare a model, agent or mode with one of another name, for instance model:gpt-5=gpt-6. May be repeated.",
)  # fmt: skip
@click.option(
    "--max-regression", type=click.FloatRange(0, 1), metavar="SHARE",
    help="End with exit code 3 if a cell's success rate fell by more, for instance by more than 0.05, and with 4 if"
    " there are too few tasks to tell.",
)  # fmt: skip
@_out
@_where
def compare(
    before: str, after: str, form: str, names: tuple[str, ...], max_regression: float | None, out: Path | None,
    store: str | None, namespace: str | None, context: str | None,
) -> int:  # fmt: skip
    """Compare two runs trial by trial: change of success, exact McNemar test, tasks that changed.

    Only trials that are scored in both are compared, in the cells that both have. Runs are named as for `results`.
    """
    from opsgym.commands.compare import Request, compare_runs

    return compare_runs(Request(before, after, form, names, max_regression, out), _chosen(store, namespace, context))


@cli.command()
@click.argument("run")
@click.option(
    "--gate", "file", type=click.Path(path_type=Path), metavar="FILE",
    help="YAML with the fields of a gate, or with an EvalRun that has one. Default: the run's own gate.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print what the gate says as one JSON line.")
@_where
def gate(
    run: str, file: Path | None, as_json: bool, store: str | None, namespace: str | None, context: str | None
) -> int:
    """Judge the finished RUN by its gate, or by another: GO, NO-GO (exit code 3) or INCONCLUSIVE (4).

    docs/gates.md says how conditions are judged. RUN is what it is for `results`.
    """
    from opsgym.commands.gate import judge_run

    return judge_run(run, file, _chosen(store, namespace, context), as_json=as_json)


@cli.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--format", "form", type=click.Choice(["table", "markdown", "csv", "json"]), default="table", show_default=True
)
@_out
@_where
def leaderboard(
    runs: tuple[str, ...], form: str, out: Path | None, store: str | None, namespace: str | None, context: str | None
) -> int:
    """Print success rates of models by domain, as the published leaderboard does.

    Every model, agent and mode of every RUN is a row, best mean over domains first. Runs are named as for `results`.
    """
    from opsgym.commands.leaderboard import leaderboard as command

    return command(runs, form, out, _chosen(store, namespace, context))


@cli.command()
@click.argument("run")
@_where
def compact(run: str, store: str | None, namespace: str | None, context: str | None) -> int:
    """Repeat the records of RUN in few objects, so that a large run is summarised in seconds.

    Clusters and large local runs do so by themselves. Nothing is removed. RUN is what it is for `results`.
    """
    from opsgym.commands.compact import compact_run

    return compact_run(run, _chosen(store, namespace, context))


@cli.command()
@click.argument("run")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Folder to write to.")
@click.option("--to-store", is_flag=True, help="Instead of --out: write it into the store, beside the run's records.")
@click.option(
    "--baseline", metavar="RUN",
    help="Compare with this run. Default: the one that the run's gate compared with, if it did.",
)  # fmt: skip
@click.option(
    "--transcripts", type=click.Choice(["auto", "inline", "beside", "none"]), default="auto", show_default=True,
    help="Put transcripts, verifiers and differences of trials into the page, into files beside it, or nowhere."
    " auto: into the page while they are small, else beside it, and nowhere for more than 10,000 trials.",
)  # fmt: skip
@click.option(
    "--failure-modes", type=click.Choice(["auto", "all", "none"]), default="auto", show_default=True,
    help="Failed trials to look into. auto: of a page without transcripts a sample of 2,000, else all.",
)  # fmt: skip
@_where
def report(
    run: str, out: Path | None, to_store: bool, baseline: str | None, transcripts: str, failure_modes: str,
    store: str | None, namespace: str | None, context: str | None,
) -> int:  # fmt: skip
    """Write an HTML page about RUN: scores, comparisons, failures, and what every agent said and did.

    The page opens from disk and fetches nothing from anywhere else. RUN is what it is for `results`.
    """
    if to_store == (out is not None):
        raise click.UsageError("say where to write: --out DIR or --to-store")
    from opsgym.commands.report import Request
    from opsgym.commands.report import report as command
    from opsgym.report.packing import Place
    from opsgym.report.write import Analysis, Choices

    choices = Choices(Place(transcripts), Analysis(failure_modes))
    return command(Request(run, out, baseline, choices), _chosen(store, namespace, context))


@cli.command("serve")
@click.option(
    "--store", default="./results", show_default=True, metavar="DIR|s3://BUCKET/PREFIX",
    help="Store whose runs are shown.",
)  # fmt: skip
@click.option(
    "--config", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="In a cluster: the operator's configuration, for all its stores and the EvalRuns of its namespaces.",
)  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port; 0 for a free one.")
@click.option(
    "--token-file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="File with the token that people sign in with. The variable OPSGYM_CONSOLE_TOKEN may hold it instead.",
)  # fmt: skip
@click.option(
    "--trust-header", metavar="NAME",
    help="Header by which a sign-in proxy says who somebody is, for instance X-Forwarded-User of oauth2-proxy.",
)  # fmt: skip
@click.option(
    "--trusted-proxies", multiple=True, metavar="CIDR",
    help="Addresses of that proxy; from anywhere else the header means nothing. May be repeated.",
)  # fmt: skip
def serve_console(
    store: str, config: Path | None, host: str, port: int, token_file: Path | None, trust_header: str | None,
    trusted_proxies: tuple[str, ...],
) -> int:  # fmt: skip
    """Show runs in a browser, live: a list of all runs, and the page of `opsgym report` for each.

    Nothing can be changed there. On this machine nobody signs in; to listen on another address, say how people do:

    \b
      opsgym serve                                        runs of ./results, for this machine
      opsgym serve --store s3://evals/opsgym              runs of a bucket
      opsgym serve --host 0.0.0.0 --token-file token      for everybody who knows the token
      opsgym serve --host 0.0.0.0 --trust-header X-Forwarded-User --trusted-proxies 10.0.0.0/8
                                                          for everybody whom a proxy there lets in

    Programs read /api/runs and /api/runs/RUN/page with the header `Authorization: Bearer TOKEN`.
    """
    from opsgym.commands.serve import Request, serve

    return serve(Request(store, config, host, port, token_file, trust_header, trusted_proxies))


@cli.command()
@click.argument("run")
@click.option(
    "--tasks", metavar="SUITE|PATH",
    help="Judge by the verifiers of these rows: a built-in suite, a file or a folder. Default: the run's own rows.",
)  # fmt: skip
@_where
def rescore(run: str, tasks: str | None, store: str | None, namespace: str | None, context: str | None) -> int:
    """Verify the final states of RUN anew, without any model call.

    The findings become a run of their own beside RUN, named after it, which `results`, `report` and `compare` read like
    any other. Verdicts that a judge model gave are kept. RUN is what it is for `results`.
    """
    from opsgym.commands.rescore import rescore as command

    return command(run, tasks, _chosen(store, namespace, context))


@cli.command()
@click.argument("run")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--trial", metavar="TASK/N", help="Show all evidence of this trial; N counts from 0.")
@_where
def failures(
    run: str, form: str, trial: str | None, store: str | None, namespace: str | None, context: str | None
) -> int:
    """Tell in which ways the failed trials of RUN failed.

    Modes are those of the literature: looping, missing lookups, wrong ids, missed follow-ups and others;
    docs/failures.md says what each looks at and how well it is found. RUN is what it is for `results`.
    """
    from opsgym.commands.failures import failures as command

    return command(run, trial, form, _chosen(store, namespace, context))


@cli.command()
@click.argument("run")
@click.option(
    "--format", "kind", type=click.Choice(["eops", "inspect"]), required=True,
    help="eops: the published harness's JSON file for each task and run. inspect: an Inspect log for each cell.",
)  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write to.")
@_where
def export(
    run: str,
    kind: Literal["eops", "inspect"],
    out: Path,
    store: str | None,
    namespace: str | None,
    context: str | None,
) -> int:
    """Write the scored trials of RUN for other programs.

    Trials without a score are left out: elsewhere they would count as failed. RUN is what it is for `results`.
    """
    from opsgym.commands.export import export as command

    return command(run, kind, out, _chosen(store, namespace, context))


@cli.group()
def tasks() -> None:
    """Work on task rows."""


@tasks.command()
@click.argument("path", type=click.Path(path_type=Path))
def validate(path: Path) -> int:
    """Check the task rows in PATH, a file or folder; name row and field of everything that is wrong."""
    from opsgym.commands.tasks import validate as command

    return command(path)


@cli.group()
def models() -> None:
    """Work on models."""


@models.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write to instead of stdout.")
def import_models(files: tuple[Path, ...], out: Path | None) -> int:
    """Turn model configurations of the published harness (JSON) into EvalModels (YAML).

    A list in a file becomes one model with several endpoints. Keys are never copied: the documents name the variable
    and the Secret that are to hold them.
    """
    from opsgym.commands.models import import_models as command

    return command(files, out)


@tasks.command(name="import")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True), metavar="SOURCE...")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Suite folder to write.")
@click.option(
    "--seeds", type=click.Path(path_type=Path, exists=True), metavar="ZIP|DIR",
    help="Seed files: the published archive gym_dbs.zip, or a folder.",
)  # fmt: skip
@click.option(
    "--tools", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of files DOMAIN.json with what tools/list of a published server gives, to check tools of rows.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON line.")
def import_(sources: tuple[Path, ...], out: Path, seeds: Path | None, tools: Path | None, as_json: bool) -> int:
    """Make a suite folder of published rows: the data set's Parquet files, JSON, JSON lines, or folders of these.

    Rows are kept as they are, apart by mode; what is known to be wrong with such rows is reported: missing seeds, tools
    that no server has, verifiers that hold before anybody acted, names shared by verifiers, queries that fail.
    """
    from opsgym.commands.tasks import Import, import_rows

    return import_rows(Import(sources, out, seeds, tools, as_json))


@cli.group()
def gym() -> None:
    """Work with gym servers."""


@gym.command()
@click.argument("domain")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; a free one by default.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
def serve(domain: str, port: int, host: str) -> int:
    """Serve the tools of DOMAIN over MCP, with an embedded Postgres, until stopped.

    Prints one JSON line with its address when it is ready.
    """
    from opsgym.commands.gym import serve as command

    return command(domain, port, host)


@gym.command()
@click.argument("domain")
@click.option("--seed", help="Built-in seed the database starts from. Default: the domain's first, quickstart.")
@click.option("--seed-file", type=click.Path(path_type=Path), metavar="FILE", help="SQL file to start from instead.")
@click.option(
    "--access",
    type=click.Choice(["published", "strict"]),
    default="published",
    show_default=True,
    help="How strictly calls are judged: roles, organisations and process rules hold in strict.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; a free one by default.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
def explore(
    domain: str, seed: str | None, seed_file: Path | None, access: str, port: int, host: str, open_browser: bool
) -> int:
    """Show DOMAIN in a page: browse its tables, tools and policy, call a tool by hand, try a verifier's query.

    Starts a server with an embedded Postgres and one seeded database, and prints the page's address.
    """
    from opsgym.commands.gym import Exploration
    from opsgym.commands.gym import explore as command
    from opsgym_api.evalrun import Access

    return command(Exploration(domain, host, port, seed, seed_file, Access(access), open_browser))


def main() -> None:
    """Entry point of the program `opsgym`."""
    sys.exit(invoke(sys.argv[1:]))


def plugin() -> None:
    """Entry point of `kubectl opsgym`."""
    sys.exit(invoke(sys.argv[1:], _PLUGIN))


def invoke(arguments: Sequence[str], program: str = "opsgym") -> int:
    """Runs a command line; its exit code."""
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
        # Whoever read our output has enough of it; Python's own flush at exit must not complain about that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:  # noqa: BLE001 - the outermost layer: told in one line instead of a traceback
        return _told(error, debug="--debug" in arguments)
    return int(result) if isinstance(result, int) else Exit.OK


def _told(error: Exception, *, debug: bool) -> int:
    """Tells a user why a command ended; its exit code."""
    from opsgym.cluster import ClusterError
    from opsgym_api.errors import InputError
    from opsgym_api.store import StoreError

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
    said = str(error).splitlines()[:1]
    click.echo(
        f"opsgym failed unexpectedly: {type(error).__name__}{': ' + said[0] if said else ''} (details: {log.name})",
        err=True,
    )
    return Exit.FAULT


if __name__ == "__main__":
    main()
