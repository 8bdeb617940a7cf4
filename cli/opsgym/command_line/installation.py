"""Commands about this installation: `init`, `list`, `doctor` and `version`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from opsgym.command_line.group import cli, format_option, store_option

_LISTED = ("suites", "domains", "tools", "models", "runs")


@cli.command()
@click.option(
    "--model", help="litellm id: openai/gpt-5-mini, anthropic/claude-sonnet-5, openai/NAME with --url, replay/gold."
)
@click.option("--url", help="Base URL of an endpoint of your own that speaks OpenAI's protocol.")
@click.option("--key", default="", help="Variable that holds the API key. Default: the provider's usual one.")
@click.option("--suite", default="quickstart", show_default=True, help="Built-in suite.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default="evalrun.yaml", show_default=True)
def init(model: str | None, url: str | None, key: str, suite: str, out: Path) -> int:
    """Write an EvalRun for a model of yours; what is not given is a question on a terminal.

    \b
      opsgym init --model openai/gpt-5-mini
      opsgym init --model openai/qwen3 --url http://localhost:8000/v1
    """
    from opsgym.commands.init import init as command

    if sys.stdin.isatty() and model is None:
        model = click.prompt("Model, as a litellm id", default="replay/gold")
        url = click.prompt("URL of its endpoint, empty for the provider's own", default=url or "")
        key = click.prompt("Variable with its key, empty for the usual one", default=key)
    if not model:
        raise click.UsageError("name a model: --model openai/gpt-5-mini")
    return command(out, model, url or "", key, suite)


@cli.command(name="list")
@click.argument("kind", type=click.Choice(_LISTED))
@click.argument("word", default="")
@format_option("table", "json", help="json: one line.")
@store_option
def list_kind(kind: str, word: str, form: str, store: str) -> int:
    """List suites, domains, tools, models with a known price, or runs; WORD chooses lines that have it.

    \b
      opsgym list suites
      opsgym list tools incident
      opsgym list models gpt-5
    """
    if kind == "runs":
        from opsgym.commands.results import list_results
        from opsgym.commands.run_locator import RunLocator

        return list_results(RunLocator(store), form, None)
    from opsgym.commands.catalogue import print_list

    return print_list(kind, word, as_json=form == "json")


@cli.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@store_option
def doctor(file: Path | None, store: str) -> int:
    """Look whether this machine can run an evaluation, and FILE with an EvalRun if it is given.

    Starts a Postgres, writes to the store, and names the keys that are set, never their values. Calls no model;
    `opsgym models check` does.
    """
    from opsgym.commands.doctor import doctor as command

    return command(file, store)


@cli.command()
@format_option("text", "json", help="json: one line.")
def version(form: str) -> int:
    """Print the versions, and edition and digest of every built-in suite."""
    from opsgym.commands.catalogue import print_version

    return print_version(as_json=form == "json")
