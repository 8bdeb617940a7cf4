"""`opsgym run --dry-run`: what a run would do, without doing it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from statistics import fmean

import click

from opsgym.exits import Exit
from opsgym.formats.numbers import cell_name, dollars
from opsgym.local.inputs import RunInputs
from opsgym.local.plan import LocalPlan, PriorState, plan_local
from opsgym.local.record import prior_state
from opsgym_api.errors import InputError
from opsgym_api.records.attempt import Cell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.gates.baseline import find_baseline
from opsgym_core.results.load import find_run, load_rows
from opsgym_core.store.base import Store
from opsgym_core.store.sealed import without_seal


def dry_run(inputs: RunInputs, store: Store, *, as_json: bool) -> int:
    """Prints the cells and trials that would run, and what bounds their cost. Writes nothing.

    Raises:
        StoreError: The store cannot be read.
    """
    known = store.get(RunKeys(inputs.run_id).run_json) is not None
    rows = load_rows(store, inputs.run_id) if known else None
    plan = plan_local(inputs, prior_state(rows), rows.run.trials) if rows else plan_local(inputs, PriorState())
    limits = {agent.name: agent.max_steps for agent in inputs.spec.agents}
    steps = sum(limits[planned.cell.agent] for planned in plan.pending)
    budget = None if inputs.spec.budget is None else inputs.spec.budget.max_usd
    if inputs.spec.gate and inputs.spec.gate.baseline:
        find_baseline(without_seal(store), inputs.spec.gate.baseline, inputs.run_id)
    expected = _expected(store, inputs.name, plan)
    if as_json:
        dollars_given = {"budget_usd": budget, "expected_usd": None if expected is None else expected.usd}
        totals = {"trials": plan.total, "to_run": len(plan.pending), "max_steps": steps, **dollars_given}
        click.echo(json.dumps({"run": inputs.run_id, **totals, "cells": _cells(plan)}))
        return Exit.OK
    for cell in _cells(plan):
        click.echo(f"{cell['cell']}: {cell['to_run']} of {cell['trials']} trials")
    bound = "without a budget (spec.budget.maxUsd)" if budget is None else f"with a budget of {dollars(budget)}"
    trials = f"{len(plan.pending)} of {plan.total} trials would run"
    click.echo(f"run {inputs.run_id}: {trials}, at most {steps} steps, {bound}")
    if expected is not None:
        click.echo(f"expected: about {dollars(expected.usd)}, by the cost per trial of run {expected.run}")
    for task_id, message in dict.fromkeys((trial.task_id, trial.message) for trial in plan.unrunnable):
        click.echo(f"cannot run: {task_id}: {message}", err=True)
    return Exit.OK


@dataclass(frozen=True)
class _Expected:
    """Cost that an earlier run lets expect."""

    usd: float
    run: str


def _expected(store: Store, name: str, plan: LocalPlan) -> _Expected | None:
    """Cost of the pending trials by the newest run of a name; None if that has not the cost of all of their cells."""
    try:
        rows = load_rows(store, find_run(store, name))
    except InputError:
        return None
    means: dict[Cell, float] = {}
    for cell in rows.cells:
        costs = [trial.cost_usd for trial in cell.trials if trial.cost_usd is not None]
        if costs and len(costs) == len(cell.trials):
            means[cell.cell] = fmean(costs)
    if not plan.pending or not all(planned.cell in means for planned in plan.pending):
        return None
    return _Expected(sum(means[planned.cell] for planned in plan.pending), rows.run.run)


def _cells(plan: LocalPlan) -> list[dict[str, object]]:
    waiting = Counter(planned.cell for planned in plan.pending)
    return [
        {"cell": cell_name(cell), "trials": total, "to_run": waiting[cell]}
        for cell, total in plan.trials_by_cell.items()
    ]
