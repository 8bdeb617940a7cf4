"""Start gate of a local run: closes when the run's budget is spent.

Invariant: the attempt ledger is the only source of what is spent, so the gate closes as soon as a step has cost too
much, not seconds later.
"""

from __future__ import annotations

from opsgym_api.kinds.evalrun import Budget
from opsgym_api.records.run import Control
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.planning.budget import budget_gate


class BudgetGate:
    """Whether trials may start and episodes may continue under a budget.

    Args:
        ledger: Attempts of the run.
        budget: Budget of the run; None never closes the gate.
    """

    def __init__(self, ledger: AttemptLedger, budget: Budget | None) -> None:
        self._ledger = ledger
        self._budget = budget

    def control_with(self, in_flight: int) -> Control:
        """The gate for one more trial, asked by the scheduler.

        Args:
            in_flight: Trials that run now; the largest cost of a trial is reserved for each.
        """
        return budget_gate(self._budget, self._ledger.booked, in_flight, self._ledger.largest)

    async def control(self) -> Control:
        """The gate for running episodes, asked by the runner.

        Starts are not decided again here: the scheduler asked before it counted the trial as in flight.
        """
        proceed = self.control_with(in_flight=0).proceed
        return Control(start=proceed, proceed=proceed, reason="" if proceed else "budget")
