"""The cells of a run: model, agent, mode and domain, each with its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import Cell
from opsgym_core.planning.select import R


@dataclass(frozen=True)
class CellPlan(Generic[R]):
    """A cell and the tasks it runs."""

    cell: Cell
    tasks: tuple[R, ...]


def plan_cells(spec: EvalRunSpec, tasks: Sequence[R]) -> list[CellPlan[R]]:
    """The run's cells, each with its tasks: by model, agent, mode and domain, in the order the spec lists them.

    Domains that the spec does not list follow in the order of their first task. A domain without tasks has no cell.
    """
    by_domain: dict[str, list[R]] = {domain: [] for domain in spec.suite.domains}
    for task in tasks:
        by_domain.setdefault(task.domain_name, []).append(task)
    return [
        CellPlan(Cell(model=model.name, agent=agent.name, mode=mode.value, domain=domain), tuple(of_domain))
        for model, agent, mode, (domain, of_domain) in product(
            spec.models, spec.agents, spec.suite.modes, by_domain.items()
        )
        if of_domain
    ]
