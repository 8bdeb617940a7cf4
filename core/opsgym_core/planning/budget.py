"""The start gate of a budget: whether trials may start, and whether running trials may go on."""

from __future__ import annotations

import math

from opsgym_api.kinds.evalrun import Budget
from opsgym_api.records.run import Control


def budget_gate(budget: Budget | None, spent: float, in_flight: int, largest_trial_cost: float) -> Control:
    """Whether one more trial may start, and whether those in flight may take another step.

    Starting closes when what is spent, with a reservation of the largest trial cost for every trial in flight, reaches
    the cap; going on closes when what is spent alone reaches it. Ask before every start, with the trials just started
    counted as in flight. Then, with `n` trials in flight and `seen` the largest cost known when the last trial started,
    and `largest` the largest cost that any trial came to in the end:

        final spend <= cap + largest + n * (largest - seen)

    Proof: at that start `spent + n * seen` was below the cap, and only those `n` trials and the new one could still
    spend. Once the most expensive trial has been seen, the final spend exceeds the cap by at most one trial's cost;
    before, by at most the cost of `n + 1` trials. If trials check the gate before each step, the final spend exceeds
    the cap by at most one step of each trial in flight.

    All of it holds for what is spent as far as it is known: an attempt whose cost is unknown counts as `seen`
    (`AttemptLedger.booked`), so the spend may exceed the bound by `largest - seen` for each.

    Args:
        budget: The run's budget; None leaves the gate open.
        spent: Dollars spent by all attempts so far, including killed and running ones.
        in_flight: Number of trials that run now.
        largest_trial_cost: Dollars of the most expensive trial seen so far; 0 before the first.
    """
    if budget is None:
        return Control()
    proceed = spent < budget.max_usd
    start = proceed and spent + in_flight * largest_trial_cost < budget.max_usd
    return Control(start=start, proceed=proceed, reason="" if start else "budget")


def unknown_costs(unknown: int) -> str:
    """What is added to the message of a trial that the budget skips: how attempts of unknown cost counted."""
    advice = "see that the model's endpoint reports prompt_tokens and completion_tokens"
    return f"; {unknown} attempts of unknown cost count as the most expensive trial; {advice}" if unknown else ""


def affordable_trials(budget: Budget, spent: float, largest_trial_cost: float, most: int) -> int:
    """How many trials may start before one of them ends: as many as find the gate open, whatever is rounded.

    Args:
        budget: The run's budget.
        spent: Dollars spent by all attempts that have ended.
        largest_trial_cost: Dollars of the most expensive trial seen so far; not 0.
        most: Number of trials that are wanted.
    """
    left = max(0.0, budget.max_usd - spent)
    trials = math.ceil(min(left / largest_trial_cost, most))
    while trials > 0 and not budget_gate(budget, spent, trials - 1, largest_trial_cost).start:
        trials -= 1
    return trials
