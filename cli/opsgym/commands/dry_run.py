"""`opsgym run --dry-run`: what a run would do, without doing it."""

from __future__ import annotations

import json
from collections import Counter

import click

from opsgym.exits import Exit
from opsgym.formats.numbers import cell_name, dollars
from opsgym.local.inputs import RunInputs
from opsgym.local.plan import LocalPlan, PriorState, plan_local
from opsgym.local.record import prior_state
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.load import load_rows
from opsgym_core.store.base import Store


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
    if as_json:
        totals = {"trials": plan.total, "to_run": len(plan.pending), "max_steps": steps, "budget_usd": budget}
        click.echo(json.dumps({"run": inputs.run_id, **totals, "cells": _cells(plan)}))
        return Exit.OK
    for cell in _cells(plan):
        click.echo(f"{cell['cell']}: {cell['to_run']} of {cell['trials']} trials")
    bound = "without a budget (spec.budget.maxUsd)" if budget is None else f"with a budget of {dollars(budget)}"
    trials = f"{len(plan.pending)} of {plan.total} trials would run"
    click.echo(f"run {inputs.run_id}: {trials}, at most {steps} steps, {bound}")
    for task_id, message in dict.fromkeys((trial.task_id, trial.message) for trial in plan.unrunnable):
        click.echo(f"cannot run: {task_id}: {message}", err=True)
    return Exit.OK


def _cells(plan: LocalPlan) -> list[dict[str, object]]:
    waiting = Counter(planned.cell for planned in plan.pending)
    return [
        {"cell": cell_name(cell), "trials": total, "to_run": waiting[cell]}
        for cell, total in plan.trials_by_cell.items()
    ]
