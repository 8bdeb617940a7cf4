"""`opsgym init`: an EvalRun for a model of one's own."""

from __future__ import annotations

import re
from pathlib import Path

import click

from opsgym.exits import Exit
from opsgym.program import program
from opsgym_api.errors import InputError, Problem
from opsgym_core.planning.documents import load_documents
from opsgym_domains import registry
from opsgym_domains.editions import is_builtin

_TEXT = """\
# Written by `opsgym init`. Next:
#   {program} run {file} --dry-run     what would run, and what it may cost
#   {program} run {file}
apiVersion: opsgym.dev/v1alpha1
kind: EvalRun
metadata:
  name: {name}
spec:
  suite:
    builtin: {suite}
    # limit: 5           # the first tasks only
  models:
    - name: {name}
      inline:
        model: {model}   # a litellm id; `{program} list models WORD` finds those with a known price
{endpoint}{credentials}{prices}        maxConcurrency: 4
  agents:
    - name: react
      maxSteps: 30
  trials: 1              # 3 and more tell luck from skill
{budget}"""


def init(out: Path, model: str, url: str, key: str, suite: str) -> int:
    """Writes an EvalRun that `opsgym run` accepts.

    Args:
        out: File to write; it must not exist.
        model: litellm id.
        url: Base URL of an endpoint of one's own; empty for the provider's public one.
        key: Variable that holds the API key; empty for the provider's usual one, or for an endpoint that needs none.
        suite: Built-in suite.

    Raises:
        InputError: The file exists or cannot be written, or a value is not valid.
    """
    if not is_builtin(suite):
        raise InputError("--suite", [Problem("", f"unknown suite {suite!r}; known: {', '.join(registry.suites())}")])
    priced = not url and not model.startswith("replay/")
    text = _TEXT.format(
        program=program(),
        file=out,
        name=re.sub(r"[^a-z0-9]+", "-", model.rpartition("/")[2].lower()).strip("-")[:40] or "model",
        suite=suite,
        model=model,
        endpoint=f"        endpoints: [{{url: {url!r}}}]\n" if url else "",
        credentials=f"        credentials: {{env: {key}}}   # the variable that holds the key\n" if key else "",
        prices="        prices: {inputUsd: 0, outputUsd: 0}   # US dollars per million tokens\n" if url else "",
        budget="  budget: {maxUsd: 1}    # nothing starts once this is spent\n" if priced else "",
    )
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(str(out), [Problem("", "exists; give another name with --out")]) from None
    except OSError as error:
        raise InputError(str(out), [Problem("", f"cannot be written: {error.strerror}")]) from None
    try:
        load_documents(out)
    except InputError:
        out.unlink()
        raise
    click.echo(f"wrote {out}\n  {program()} run {out} --dry-run\n  {program()} run {out}")
    return Exit.OK
