"""What is known of a run's attempts: outcomes, spend, and what is left to do.

Invariant: an attempt is booked once, however often it is noted and by whomever (a pod's termination message, or its
record in the store); its spend may grow until it has ended. A score is never replaced. Notes come in the order in which
attempts ended, as far as that is known; a book made anew from the store says the same as the one that was lost.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from opsgym_api.outcomes import Outcome
from opsgym_api.records import Cell
from opsgym_operator.breaker import Breaker, Fault
from opsgym_operator.plan import TrialKey


class Timed(Protocol):
    """When an attempt ran."""

    @property
    def started_at(self) -> str:
        """UTC, RFC 3339."""
        ...

    @property
    def total_s(self) -> float:
        """Seconds it took, or has taken so far."""
        ...

    @property
    def wait_s(self) -> float:
        """Seconds it waited for its model without a request under way."""
        ...


class Attempted(Protocol):
    """An attempt as `AttemptSummary`, `AttemptRecord` and `StoredAttempt` tell it."""

    @property
    def cell(self) -> Cell:
        """Cell of the trial."""
        ...

    @property
    def task_id(self) -> str:
        """Task of the trial."""
        ...

    @property
    def trial(self) -> int:
        """Number of the trial."""
        ...

    @property
    def attempt(self) -> int:
        """Number of the attempt."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """None while it runs, and for ever if it was killed."""
        ...

    @property
    def reason(self) -> str:
        """Why it ended so."""
        ...

    @property
    def message(self) -> str:
        """The same for people."""
        ...

    @property
    def cost_usd(self) -> float | None:
        """Spend so far; None if it is not known."""
        ...

    @property
    def steps(self) -> int:
        """Model calls answered to the agent."""
        ...

    @property
    def tool_calls(self) -> int:
        """Tool calls of the agent."""
        ...

    @property
    def model_retries(self) -> int:
        """Requests to models that were sent again."""
        ...

    @property
    def rate_limits(self) -> int:
        """Requests that models refused as too many."""
        ...

    @property
    def usage(self) -> object:
        """Tokens by the names of `Usage`."""
        ...

    @property
    def timings(self) -> Timed:
        """When it started and how long it took; phases by the names of `Timings`."""
        ...


@dataclass(slots=True)
class TrialState:
    """What is known of one trial that was attempted."""

    outcome: Outcome | None = None
    """Of its score, or else of the latest attempt that ended; None if none has."""
    reason: str = ""
    """Why it ended so."""
    attempts: int = 0
    """Number of the next attempt."""
    latest: int = -1
    """Number of the attempt that `outcome` is of."""
    infra_errors: int = 0
    """Attempts that ended in `infra_error`."""
    cost_usd: float = 0.0
    """Dollars of all attempts, as far as they are known."""


class Book:
    """Attempts of one run.

    Args:
        infra_retries: Further attempts at a trial that ended in `infra_error`.
    """

    def __init__(self, infra_retries: int) -> None:
        self._infra_retries = infra_retries
        self._trials: dict[TrialKey, TrialState] = {}
        self._attempts: dict[tuple[TrialKey, int], tuple[bool, float | None]] = {}
        """By attempt: whether it has ended, and its cost."""
        self._settled: Counter[str] = Counter()
        self._outcomes: Counter[tuple[str, Outcome]] = Counter()
        """Trials by cell and outcome."""
        self._tasks: dict[tuple[str, str], tuple[int, int]] = {}
        """Passed and scored trials of a task in a cell."""
        self._rates: dict[str, tuple[float, int]] = {}
        """By cell: sum of its tasks' success rates, and how many tasks that are."""
        self._spent = 0.0
        self._largest = 0.0
        self._unpriced = 0
        self._ended = 0
        self._started_at: datetime | None = None
        self.breaker = Breaker()

    def note(self, attempt: Attempted) -> bool:
        """Takes what an attempt says of itself.

        Returns:
            Whether it is the first to say that this attempt has ended.
        """
        key = (sys.intern(attempt.cell.key), sys.intern(attempt.task_id), attempt.trial)
        ended, cost = self._attempts.get((key, attempt.attempt), (False, 0.0))
        if ended:
            return False
        state = self._trials.setdefault(key, TrialState())
        state.attempts = max(state.attempts, attempt.attempt + 1)
        self._pay(state, cost, attempt.cost_usd)
        self._attempts[key, attempt.attempt] = (attempt.outcome is not None, attempt.cost_usd)
        started = datetime.fromisoformat(attempt.timings.started_at)
        if attempt.outcome is not Outcome.BUDGET_SKIPPED:
            self._started_at = min(self._started_at or started, started)
        if attempt.outcome is None:
            return False
        self._end(key, state, attempt, attempt.outcome)
        self._tell_breaker(started.timestamp() + attempt.timings.total_s, attempt)
        return True

    def _pay(self, state: TrialState, before: float | None, now: float | None) -> None:
        """Books what an attempt cost more than it had when last noted."""
        self._unpriced += (now is None) - (before is None)
        more = (now or 0.0) - (before or 0.0)
        state.cost_usd += more
        self._spent += more
        self._largest = max(self._largest, state.cost_usd)

    def _end(self, key: TrialKey, state: TrialState, attempt: Attempted, outcome: Outcome) -> None:
        settled = self._is_settled(state)
        state.infra_errors += outcome is Outcome.INFRA_ERROR
        self._ended += outcome is not Outcome.BUDGET_SKIPPED
        scored_before = state.outcome is not None and state.outcome.scored
        if not scored_before and (outcome.scored or attempt.attempt >= state.latest):
            self._replace(key, state, attempt, outcome)
        self._settled[key[0]] += self._is_settled(state) - settled

    def _replace(self, key: TrialKey, state: TrialState, attempt: Attempted, outcome: Outcome) -> None:
        """Lets an attempt speak for its trial."""
        if state.outcome is not None:
            self._outcomes[key[0], state.outcome] -= 1
        self._outcomes[key[0], outcome] += 1
        state.outcome, state.reason, state.latest = outcome, sys.intern(attempt.reason), attempt.attempt
        if outcome.scored:
            passed, scored = self._tasks.get(key[:2], (0, 0))
            self._tasks[key[:2]] = now = (passed + (outcome is Outcome.PASSED), scored + 1)
            rates, tasks = self._rates.get(key[0], (0.0, 0))
            before = passed / scored if scored else 0.0
            self._rates[key[0]] = (rates + now[0] / now[1] - before, tasks + (scored == 0))

    def _tell_breaker(self, at: float, attempt: Attempted) -> None:
        if attempt.outcome is Outcome.INFRA_ERROR:
            self.breaker.note(at, Fault(attempt.reason, attempt.message))
        elif attempt.outcome is not None and attempt.outcome.scored:
            self.breaker.note(at, None)

    def _is_settled(self, state: TrialState) -> bool:
        if state.outcome is Outcome.INFRA_ERROR:
            return state.infra_errors > self._infra_retries
        return state.outcome is Outcome.CONFIG_ERROR or (state.outcome is not None and state.outcome.scored)

    def state(self, key: TrialKey) -> TrialState:
        """What is known of a trial."""
        return self._trials.get(key, _UNTRIED)

    def settled(self, key: TrialKey) -> bool:
        """Whether a trial needs no further attempt: it is scored, cannot be, or has used up its retries."""
        return self._is_settled(self.state(key))

    def settled_in(self, cell: str) -> int:
        """Trials of a cell, by its key, that need no further attempt."""
        return self._settled[cell]

    def count(self, outcome: Outcome) -> int:
        """Trials that ended so; those that may be tried again included."""
        return sum(count for (_, found), count in self._outcomes.items() if found is outcome)

    def count_in(self, cell: str, outcome: Outcome) -> int:
        """The same of a cell, by its key."""
        return self._outcomes[cell, outcome]

    @property
    def scored(self) -> int:
        """Trials that have a score."""
        return self.count(Outcome.PASSED) + self.count(Outcome.FAILED)

    @property
    def spent(self) -> float:
        """Dollars of all attempts, as far as they are known."""
        return self._spent

    @property
    def cost_usd(self) -> float | None:
        """Dollars of all attempts; None if one of them is not known."""
        return None if self._unpriced else self._spent

    @property
    def largest(self) -> float:
        """Dollars of the dearest trial so far."""
        return self._largest

    @property
    def any_ended(self) -> bool:
        """Whether any attempt that was started has ended, so that a trial's cost is known."""
        return self._ended > 0

    @property
    def started_at(self) -> datetime | None:
        """When the first attempt started."""
        return self._started_at

    def scores(self) -> dict[str, dict[tuple[str, int], int]]:
        """Scored trials by cell key, then by task and number: 1 or 0."""
        found: dict[str, dict[tuple[str, int], int]] = {}
        for (cell, task_id, trial), state in self._trials.items():
            if state.outcome is not None and state.outcome.scored:
                found.setdefault(cell, {})[task_id, trial] = int(state.outcome is Outcome.PASSED)
        return found

    @property
    def success(self) -> float | None:
        """Success rate over all cells: mean over tasks; None when nothing is scored."""
        tasks = sum(count for _, count in self._rates.values())
        return sum(rates for rates, _ in self._rates.values()) / tasks if tasks else None


_UNTRIED: Final = TrialState()
"""What is known of a trial that was never attempted; not to be changed."""
