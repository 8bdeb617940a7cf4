"""Commands around tasks, models and gym servers: `tasks`, `models` and `gym`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opsgym.command_line.group import cli, format_option, store_option

if TYPE_CHECKING:
    from opsgym.commands.tasks_export import ExportFormat

_host = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
_port = click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. Default: a free port."
)


@cli.group()
def tasks() -> None:
    """Write, check, list, import and export task rows."""


@tasks.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--seeds",
    "seed_path",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Folder of seed files. Default: the folder of the rows and `seeds` beside or above it, as in a run.",
)
@click.option("--prove", "proof", is_flag=True, help="Also play each task on gym servers; needs gold_actions.")
def validate(path: Path, seed_path: Path | None, proof: bool) -> int:
    """Check the task rows in PATH, a file or folder; print row and field of every problem.

    Checks fields, domains, seeds, acting users, tools, arguments of gold actions, tables and columns, and runs the
    verifiers' queries on the seeds. Rows of a run's suite in a store are read too.

    With --prove, plays the gold actions, which must pass, and an agent that does nothing, which must fail, and looks
    for a state that makes each verifier fail.

    \b
      opsgym tasks validate tasks
      opsgym tasks validate task.json --prove
    """
    from opsgym.commands.tasks_validate import validate as command

    return command(path, seed_path, proof=proof)


@tasks.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True))
def build(path: Path) -> int:
    """Build the rows of the task files in PATH, a YAML file or a folder; each row is written beside its file.

    Plays the solution on gym servers, resolves its references, derives the verifiers from what has changed, and proves
    them: the solution and other right ways pass, doing nothing and the mistakes fail. Refuses an argument whose value
    an agent could not know.

    \b
      opsgym tasks build tasks/assign-printer.yaml
    """
    from opsgym.commands.tasks_build import build as command

    return command(path)


@tasks.command(name="new")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--domain", default="itsm", show_default=True, help="Domain of the task.")
@click.option("--like", metavar="TASK", help="Built-in task to start from. Default: the domain's shortest.")
def new_task(file: Path, domain: str, like: str | None) -> int:
    """Write FILE with a row to edit: a valid copy of a built-in task, and policy.md beside it.

    \b
      opsgym tasks new tasks/reset-password.json
      opsgym tasks new tasks/refund.json --domain csm
    """
    from opsgym.commands.tasks_new import new_task as command

    return command(file, domain, like)


@tasks.command(name="show")
@click.argument("task")
@click.option("--suite", help="Built-in suite, file or folder that TASK is in. Default: all built-in suites.")
@click.option("--policy", "with_policy", is_flag=True, help="Print the system prompt too.")
@format_option("text", "json", help="json: the row.")
def show_task(task: str, suite: str | None, with_policy: bool, form: str) -> int:
    """Print TASK, the id of a task or a file with one row: request, tools, reference solution, verifiers."""
    from opsgym.commands.tasks_show import show_task as command

    return command(task, suite, as_json=form == "json", with_policy=with_policy)


@tasks.command(name="list")
@click.argument("suite", required=False)
@format_option("table", "markdown", "json", help="json: one line.")
def list_tasks(suite: str | None, form: str) -> int:
    """List the tasks of SUITE, a built-in suite or a path, with the estimated difficulty of each.

    The estimate counts, in the reference solution, calls that write, writing tools, and values that must be looked up,
    and adds for events, days, unused tools and infeasible tasks. A row without reference solution has none.
    """
    from opsgym.commands.tasks_list import list_tasks as command
    from opsgym_domains import registry

    if suite is None:
        raise click.UsageError(f"name a SUITE: {', '.join(registry.suites())}, or a path")
    return command(suite, form)


@tasks.command(name="import")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True), metavar="SOURCE...")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Suite folder to write.")
@click.option(
    "--seeds",
    type=click.Path(path_type=Path, exists=True),
    metavar="ZIP|DIR",
    help="Seed files: the published archive gym_dbs.zip, or a folder.",
)
@click.option(
    "--tools",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of files DOMAIN.json with the tools/list result of a published server, to check the tools of rows.",
)
@format_option("text", "json", help="json: the findings as one line.")
def import_tasks(form: str, **options: Any) -> int:
    """Make a suite folder from published rows: Parquet files of the data set, JSON, JSON lines, or folders of these.

    Rows are copied unchanged, into one folder for each mode. Known defects of such rows are reported: missing seeds,
    unknown tools, verifiers that pass before any action, names shared by verifiers, queries that fail or that no agent
    can satisfy, values that no agent can know, tools that are needed and not shown.
    """
    from opsgym.commands.tasks_import import ImportRequest, import_rows

    return import_rows(ImportRequest(**options, as_json=form == "json"))


@tasks.command(name="export")
@click.argument("suite")
@click.option(
    "--format",
    "form",
    type=click.Choice(["published", "jsonl", "parquet"]),
    required=True,
    help="published: what the published harness runs. jsonl, parquet: the whole rows, a file for each domain.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write.")
@click.option(
    "--seeds",
    type=click.Path(path_type=Path, exists=True),
    metavar="ZIP|DIR",
    help="Seed files that rows name; built-in seeds need none.",
)
def export_tasks(suite: str, form: ExportFormat, out: Path, seeds: Path | None) -> int:
    """Write the rows of SUITE, a built-in suite or a path, and their seeds, for other programs.

    \b
    opsgym tasks export opsgym-1150 --format parquet --out data

    writes whole rows as the published data set is laid out: data/oracle/<domain>-00000-of-00001.parquet. A field is a
    column; lists and objects are JSON text, but for lists of texts. With jsonl, each line is a row.

    \b
    opsgym tasks export itsm-core --format published --out published

    writes what the published harness runs: a JSON file for each task to published/oracle and the seeds to
    published/seeds. Verifiers of type state_difference become SQL queries with the same verdict. What the published
    form cannot say is left out, and printed for each task: patterns for the answer, looked_up, regular expressions.
    Tasks with events or several days are not exported. published/left_out.json has the same list.
    """
    from opsgym.commands.tasks_export import export_tasks as command

    return command(suite, form, out, seeds)


@cli.command(name="play")
@click.argument("task")
@click.option("--suite", help="Built-in suite, file or folder that TASK is in. Default: all built-in suites.")
@click.option("--all-tools", is_flag=True, help="Get all tools of the gym servers, not only those that the task needs.")
@store_option
def play_task(task: str, suite: str | None, all_tools: bool, store: str) -> int:
    """Play TASK yourself: its request, policy and tools in the terminal, calls and an answer from you.

    Prints what the verifiers say, and keeps the trial in the store as one of the model `person`. Reads lines from
    standard input, so a session can be repeated from a file.

    \b
      opsgym play itsm-qs-002-escalate-tracking-outage
      opsgym play itsm-qs-002-escalate-tracking-outage < session.txt
    """
    from opsgym.commands.play import play as command

    return command(task, suite, store, "all_tools" if all_tools else "oracle")


@cli.group()
def models() -> None:
    """Import model configurations, and check models before a run."""


@models.command("check")
@click.argument("target", metavar="FILE|ID")
def check_models(target: str) -> int:
    """Send one tool turn to each model of FILE (EvalModels, or an EvalRun with inline models), or to a litellm ID.

    \b
    opsgym models check models.yaml
    opsgym models check openai/gpt-5

    shows key, price, tool limit, context length, tool calls, parallel calls, reasoning, cost and rate limits. The check
    costs a few hundred tokens. Exit codes: 0 all is well, 1 an endpoint does not answer now, 2 a model must be
    corrected.
    """
    from opsgym.commands.models_check import check_models as command

    return command(target)


@models.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write to instead of stdout.")
def import_models(files: tuple[Path, ...], out: Path | None) -> int:
    """Convert model configurations of the published harness (JSON) to EvalModels (YAML).

    A list in a file becomes one model with several endpoints. API keys are never copied: the documents name the
    environment variable and the Secret that hold them.
    """
    from opsgym.commands.models import import_models as command

    return command(files, out)


@cli.group()
def prompts() -> None:
    """Import prompts of agents."""


@prompts.command("import")
@click.argument("checkout", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write to instead of stdout.")
def import_prompts(checkout: Path, out: Path | None) -> int:
    """Write agents (YAML, for spec.agents) with the original prompts of the published harness.

    CHECKOUT is your own copy of ServiceNow/EnterpriseOps-Gym, whose code is read and not executed. The agents have
    profile: published; a run records the digests of their prompts.
    """
    from opsgym.commands.prompts import import_prompts as command

    return command(checkout, out)


class _WithDomains(click.Command):
    """A command whose help ends with the values of DOMAIN."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Writes the installed domains, without importing one."""
        from importlib.metadata import entry_points

        with formatter.section("DOMAIN"):
            formatter.write_text(", ".join(sorted(point.name for point in entry_points(group="opsgym.domains"))))


@cli.group()
def gym() -> None:
    """Serve and explore gym servers on this machine."""


@gym.command(cls=_WithDomains)
@click.argument("domain")
@_port
@_host
def serve(domain: str, port: int, host: str) -> int:
    """Serve the tools of DOMAIN over MCP, with an embedded Postgres, until Ctrl-C.

    Prints one JSON line with the server's URL when it is ready.
    """
    from opsgym.commands.gym import serve as command

    return command(domain, port, host)


@gym.command(cls=_WithDomains)
@click.argument("domain")
@click.option("--seed", help="Built-in seed of the database. Default: the first seed of the domain, quickstart.")
@click.option("--seed-file", type=click.Path(path_type=Path), metavar="FILE", help="SQL file to use as seed instead.")
@click.option(
    "--access",
    type=click.Choice(["published", "strict"]),
    default="published",
    show_default=True,
    help="Access rules of tool calls: strict enforces roles, organisations and process rules.",
)
@_port
@_host
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
def explore(access: str, **options: Any) -> int:
    """Show DOMAIN in a page: browse its tables, tools and policy, call tools by hand, try a verifier's query.

    Starts a server with an embedded Postgres and one seeded database, and prints the URL of the page.
    """
    from opsgym.commands.gym import ExploreRequest
    from opsgym.commands.gym import explore as command
    from opsgym_api.kinds.evalrun import Access

    return command(ExploreRequest(access=Access(access), **options))
