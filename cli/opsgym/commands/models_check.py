"""`opsgym models check`: one tool turn against a model's real endpoint, before a run spends.

Invariant: what needs no request is checked first; a model that fails there is not called. No key is printed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import click

from opsgym.exits import Exit
from opsgym.formats.grid import Grid, GridColumn
from opsgym.formats.numbers import dollars
from opsgym.formats.score_table import console
from opsgym.local.models import ModelResolver
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import ModelSpec, Prices
from opsgym_api.records.outcomes import InfraReason
from opsgym_core.planning.documents import load_models
from opsgym_runner.clock import Clock
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.calls_in_text import CALLS_IN_TEXT
from opsgym_runner.models.checks import missing_key, tool_limit
from opsgym_runner.models.prices import REPLAY, known_prices, reports_cost
from opsgym_runner.models.probe import Probe, context_length, probe
from opsgym_runner.models.retry import ModelFailure

Verdict = Literal["ok", "note", "FAILED"]
_USERS_FAULT = {
    InfraReason.MODEL_AUTH,
    InfraReason.MODEL_NOT_FOUND,
    InfraReason.MODEL_QUOTA,
    InfraReason.MODEL_REFUSED_REQUEST,
}
"""Reasons that a user must correct; after others the same command may succeed later."""


class Line(NamedTuple):
    """One checked property of a model."""

    check: str
    verdict: Verdict
    detail: str


def check_models(target: str) -> int:
    """Checks the models of a file, or a litellm id, and prints a table for each.

    Returns:
        `OK`; `BAD_INPUT` if a model must be corrected; `NOT_SCORED` if an endpoint does not answer now.

    Raises:
        InputError: The file is not valid.
    """
    is_file = Path(target).is_file()
    if not is_file and Path(target).suffix in (".yaml", ".yml", ".json"):
        message = "does not exist; give a file with EvalModels or an EvalRun, or a litellm id"
        raise InputError(target, [Problem("", message)])
    specs = load_models(Path(target)) if is_file else {target: ModelSpec(model=target, allow_unpriced=True)}
    codes = [_check(target, name, spec, Path(target).parent if is_file else Path()) for name, spec in specs.items()]
    return max(codes, default=Exit.OK)


def _check(source: str, name: str, spec: ModelSpec, folder: Path) -> Exit:
    click.echo(f"{name}: {spec.model}")
    if spec.model.startswith(REPLAY):
        click.echo("  replay models need no check\n")
        return Exit.OK
    try:
        resolver = ModelResolver(folder, os.environ, known_prices, missing_key)
        model = resolver.resolve_one(source, name, spec)
    except InputError as error:
        _print([Line("configuration", "FAILED", str(problem)) for problem in error.problems])
        return Exit.BAD_INPUT
    try:
        lines = [*free_lines(model), *probe_lines(asyncio.run(probe(model, Clock())))]
        code = Exit.BAD_INPUT if any(line.verdict == "FAILED" for line in lines) else Exit.OK
    except ModelFailure as failure:
        lines = [*free_lines(model), Line("tool turn", "FAILED", f"{failure.reason}: {failure}")]
        code = Exit.BAD_INPUT if failure.reason in _USERS_FAULT else Exit.NOT_SCORED
    except AgentFailed as failure:
        lines, code = [*free_lines(model), Line("tool turn", "FAILED", str(failure))], Exit.BAD_INPUT
    _print(lines)
    return code


def free_lines(model: ResolvedModel) -> Iterator[Line]:
    """What is known of a model without a request."""
    yield Line("price", *_price(model))
    limit = tool_limit(model.model, model.endpoints)
    yield Line("tool limit", "ok", f"{limit} tools in a request" if limit else "none known")
    size = context_length(model.model)
    yield Line("context length", "ok" if size else "note", f"{size:,} tokens" if size else "not in litellm's map")


def _price(model: ResolvedModel) -> tuple[Verdict, str]:
    if reports_cost(model.model):
        return "ok", "stated by the provider for each reply"
    if model.prices is None:
        return "note", "unknown: the cost of a run is unknown, and its budget cannot be kept; give prices"
    return "ok", _price_text(model.prices)


def _price_text(prices: Prices) -> str:
    tiers = ", ".join(f"{tier.above_tokens:,}" for tier in prices.tiers)
    text = f"{dollars(prices.input_usd)} in, {dollars(prices.output_usd)} out per million tokens"
    return f"{text}; other prices above {tiers} prompt tokens" if tiers else text


def probe_lines(shown: Probe) -> Iterator[Line]:
    """What a tool turn showed."""
    yield Line("key and endpoint", "ok", "the endpoint answers")
    if shown.calls == 0:
        without = f"the first reply has no tool call ({shown.finishes[0]})"
        yield Line("tool calls", "FAILED", f"the model {CALLS_IN_TEXT}" if shown.call_in_text else without)
    else:
        yield Line("tool calls", "ok", f"finish reasons: {', '.join(shown.finishes)}")
        several = "several calls in one reply" if shown.calls > 1 else "one call in a reply"
        yield Line("parallel calls", "ok" if shown.calls > 1 else "note", several)
        used = "the answer uses the tool's result" if shown.answered else "the answer does not use the tool's result"
        yield Line("answer", "ok" if shown.answered else "note", used)
    yield Line("reasoning", *_reasoning(shown))
    yield Line("cost of this check", "ok" if shown.cost_usd is not None else "note", dollars(shown.cost_usd))
    limits = ", ".join(f"{name} {value}" for name, value in sorted(shown.rate_limit_headers.items()))
    yield Line("rate limits", "ok" if limits else "note", limits or "the endpoint states none")


def _reasoning(shown: Probe) -> tuple[Verdict, str]:
    tokens = shown.usage.reasoning_tokens
    if shown.reasoning:
        return "ok", f"goes back into the conversation ({tokens} tokens counted)"
    if tokens:
        return "note", f"{tokens} tokens, but the endpoint sends none that could go back"
    return "ok", "none"


def _print(lines: list[Line]) -> None:
    table = Grid((GridColumn("check"), GridColumn("result"), GridColumn("detail", prose=True)))
    for line in lines:
        table.add_row(*line)
    table.print(console())
    click.echo()
