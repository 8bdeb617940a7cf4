"""`opsgym prompts import`: agents with the prompts of the published harness."""

from __future__ import annotations

from pathlib import Path

import click
import yaml

from opsgym.exits import Exit
from opsgym.modelimport.prompts import read_prompts
from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.digest import digest_of


def import_prompts(checkout: Path, out: Path | None) -> int:
    """Writes the field `agents` of an EvalRun, with an agent for each orchestrator that has prompts in a checkout.

    Raises:
        InputError: The checkout lacks a prompt, or the output exists already or cannot be written.
    """
    if out is not None and out.exists():
        raise InputError(str(out), [Problem("", "exists already; name another file or remove it")])
    prompts = read_prompts(checkout)
    agents = [
        {"name": f"{name.replace('_', '-')}-original", "orchestrator": name, "profile": "published", "prompts": texts}
        for name, texts in prompts.items()
    ]
    lines = ["Agents with prompts of the published harness, for spec.agents of an EvalRun. Digests:"]
    lines += [f"  {name}: {digest_of(texts)}" for name, texts in prompts.items()]
    comments = "".join(f"# {line}\n" for line in lines)
    text = comments + yaml.safe_dump({"agents": agents}, sort_keys=False, allow_unicode=True, width=120)
    if out is None:
        click.echo(text, nl=False)
        return Exit.OK
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(str(out), [Problem("--out", f"cannot be written: {error.strerror}")]) from None
    return Exit.OK
