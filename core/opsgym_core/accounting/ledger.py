"""The ledger of a run: outcomes and spend of its attempts, and which trials need no further attempt.

Invariant: the end of an attempt is counted once, however often it is recorded and from whatever source (a pod's
termination message or the store); until then its spend may grow. A score is never replaced. Attempts are recorded in
the order in which they ended, as far as that is known; a ledger rebuilt from the store equals the one that was lost.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from opsgym_api.records.attempt import Attempt, TrialId
from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_core.accounting.breaker import Breaker, Fault

MOST_STORE_LOSSES = 10
"""Attempts at a trial that may lose the store: an outage uses up no infra retries, but an object that is lost for good
must not be asked for without end. A pod waits five minutes for the store before it gives up."""


MOST_UNKNOWN = 3
"""Attempts of unknown cost with which a budget goes on before any cost is known."""
_FINAL = frozenset({Outcome.CONFIG_ERROR, *(outcome for outcome in Outcome if outcome.scored)})
"""Outcomes after which a trial needs no further attempt."""


@dataclass(slots=True)
class TrialState:
    """Outcome, spend and attempts of one trial."""

    outcome: Outcome | None = None
    """Outcome of the scored attempt or, without one, of the latest attempt that ended; None if no attempt has ended."""
    reason: str = ""
    """Reason of the outcome."""
    attempts: int = 0
    """Number of the next attempt."""
    latest: int = -1
    """Number of the attempt that has the outcome; -1 if no attempt has ended."""
    infra_errors: int = 0
    """Attempts that ended in `infra_error`, except those that lost the store."""
    store_losses: int = 0
    """Attempts that ended in `infra_error` because the store was lost."""
    cost_usd: float = 0.0
    """Dollars of all attempts whose cost is known."""


class AttemptLedger:
    """Outcomes and spend of the attempts of one run.

    Args:
        infra_retries: Maximum number of further attempts at a trial whose attempts ended in `infra_error`.
        store_losses: Maximum number of attempts at a trial that lose the store and have further ones.
    """

    def __init__(self, infra_retries: int, store_losses: int = MOST_STORE_LOSSES) -> None:
        self._infra_retries = infra_retries
        self._store_losses = store_losses
        self._trials: dict[TrialId, TrialState] = {}
        self._attempts: dict[tuple[TrialId, int], tuple[bool, float | None]] = {}
        """By trial and attempt: whether the attempt has ended, and its cost."""
        self._settled: set[TrialId] = set()
        """Trials that need no further attempt; a set, since every reconcile asks for every trial."""
        self._settled_by_cell: Counter[str] = Counter()
        self._outcomes: Counter[tuple[str, Outcome]] = Counter()
        """Trials by cell and outcome."""
        self._reasons: dict[str, Counter[str]] = {}
        """By cell: trials that ended without a score, by reason, or by outcome if they have no reason."""
        self._spent_by_cell: defaultdict[str, float] = defaultdict(float)
        self._unpriced_by_cell: Counter[str] = Counter()
        self._tasks: dict[tuple[str, str], tuple[int, int]] = {}
        """Passed and scored trials of a task in a cell."""
        self._rates: dict[tuple[str, str], tuple[float, int]] = {}
        """By domain and task: sum of the task's success rates in cells, and the number of cells that scored it."""
        self._success = 0.0
        """Sum over tasks of the mean of their rates."""
        self._spent = 0.0
        self._largest = 0.0
        self._unpriced = 0
        self._ended = 0
        self._durations: dict[str, tuple[float, int]] = {}
        """By cell, and of the run by the empty key: seconds of its scored attempts, and their number."""
        self._started_at: datetime | None = None
        self.breaker = Breaker()
        self.last_fault: tuple[float, Fault] | None = None
        """When the latest attempt ended as `infra_error`, in seconds since the epoch, and why; None if none has."""
        self._quotas: dict[str, Breaker] = {}
        """By model: opened by a used-up quota."""

    def record(self, attempt: Attempt, now: datetime | None = None, *, live: bool = False) -> bool:
        """Records the current state of an attempt. The end of an attempt is counted once.

        Args:
            attempt: The attempt.
            now: The time: an attempt whose node's clock is ahead has not ended later. None trusts the attempt's times.
            live: Whether the end, if it is one, has just become known: a pause of the breaker begins at `now`, since
                the clock of a node may also be behind.

        Returns:
            Whether this records the end of the attempt.
        """
        key = TrialId(sys.intern(attempt.cell.key), sys.intern(attempt.task_id), attempt.trial)
        ended, cost = self._attempts.get((key, attempt.attempt), (False, 0.0))
        state = self._trials.setdefault(key, TrialState())
        if ended:
            self._restore(key, state, attempt)
            return False
        state.attempts = max(state.attempts, attempt.attempt + 1)
        self._add_cost(key[0], state, cost, attempt.cost_usd)
        self._attempts[key, attempt.attempt] = (attempt.outcome is not None, attempt.cost_usd)
        started = datetime.fromisoformat(attempt.timings.started_at)
        if attempt.outcome is not Outcome.BUDGET_SKIPPED:
            self._started_at = min(self._started_at or started, started)
        if attempt.outcome is None:
            return False
        self._record_end(key, state, attempt, attempt.outcome)
        ended_at = started.timestamp() + attempt.timings.total_s
        if now is not None:
            ended_at = now.timestamp() if live else min(ended_at, now.timestamp())
        self._record_in_breaker(attempt, ended_at)
        return True

    def _record_in_breaker(self, attempt: Attempt, ended_at: float) -> None:
        """Records an end in the breaker, except that of an attempt that lost the store.

        A used-up quota says nothing of other models, so it is recorded for its model alone.
        """
        model = attempt.cell.model
        if attempt.outcome is Outcome.INFRA_ERROR:
            self.last_fault = ended_at, Fault(attempt.reason, attempt.message)
        if attempt.outcome is Outcome.INFRA_ERROR and attempt.reason != InfraReason.STORE_LOST:
            used_up = attempt.reason == InfraReason.MODEL_QUOTA
            breaker = self._quotas.setdefault(model, Breaker()) if used_up else self.breaker
            breaker.record(ended_at, Fault(attempt.reason, attempt.message))
        elif attempt.outcome is not None and attempt.outcome.scored:
            self.breaker.record(ended_at, None)
            if model in self._quotas:
                self._quotas[model].record(ended_at, None)

    def used_up_quotas(self, now: float) -> Mapping[str, Breaker]:
        """Open breakers of models whose quota is used up, by model.

        Args:
            now: Seconds since the epoch.
        """
        return {model: breaker for model, breaker in self._quotas.items() if breaker.is_open(now)}

    def _add_cost(self, cell: str, state: TrialState, before: float | None, now: float | None) -> None:
        """Adds the cost increase since the attempt was last recorded."""
        unpriced = (now is None) - (before is None)
        self._unpriced += unpriced
        self._unpriced_by_cell[cell] += unpriced
        increase = (now or 0.0) - (before or 0.0)
        state.cost_usd += increase
        self._spent += increase
        self._spent_by_cell[cell] += increase
        self._largest = max(self._largest, state.cost_usd)

    def _record_end(self, key: TrialId, state: TrialState, attempt: Attempt, outcome: Outcome) -> None:
        _count_infra_error(state, attempt)
        self._ended += outcome is not Outcome.BUDGET_SKIPPED
        for cell in (key.cell, "") if outcome.scored else ():
            seconds, number = self._durations.get(cell, (0.0, 0))
            self._durations[cell] = seconds + attempt.timings.total_s, number + 1
        scored_before = state.outcome is not None and state.outcome.scored
        if not scored_before and (outcome.scored or attempt.attempt >= state.latest):
            self._set_outcome(key, state, attempt, outcome)
        self._note_settled(key, state)

    def _set_outcome(self, key: TrialId, state: TrialState, attempt: Attempt, outcome: Outcome) -> None:
        """Makes the outcome of an attempt the outcome of its trial."""
        self._count(key[0], state, -1)
        state.outcome, state.reason, state.latest = outcome, sys.intern(str(attempt.reason)), attempt.attempt
        self._count(key[0], state, 1)
        if outcome.scored:
            passed, scored = self._tasks.get(key[:2], (0, 0))
            self._tasks[key[:2]] = now = (passed + (outcome is Outcome.PASSED), scored + 1)
            task = key[0].rpartition("_")[2], key[1]
            rates, cells = self._rates.get(task, (0.0, 0))
            before = passed / scored if scored else 0.0
            self._rates[task] = changed = (rates + now[0] / now[1] - before, cells + (scored == 0))
            self._success += changed[0] / changed[1] - (rates / cells if cells else 0.0)

    def _count(self, cell: str, state: TrialState, change: int) -> None:
        """Adds `change` to the counts of a trial's outcome and reason."""
        if state.outcome is None:
            return
        self._outcomes[cell, state.outcome] += change
        if not state.outcome.scored:
            self._reasons.setdefault(cell, Counter())[state.reason or state.outcome.value] += change

    def reopen(self, trials: Iterable[TrialId]) -> None:
        """Removes the outcomes of trials without a score, so that each has all of its infra retries again.

        Their spend and the numbers of their attempts stay. `opsgym run` does this when a run is repeated: the user asks
        to try these trials again, however often they failed before.
        """
        for key in trials:
            state = self._trials.get(key)
            if state is None or state.outcome is None or state.outcome.scored:
                continue
            self._count(key[0], state, -1)
            state.outcome, state.reason = None, ""
            state.infra_errors = state.store_losses = 0
            self._note_settled(key, state)

    def _restore(self, key: TrialId, state: TrialState, attempt: Attempt) -> None:
        """Restores the outcome of a reopened trial whose latest attempt is recorded again."""
        if state.outcome is not None or attempt.outcome is None or attempt.attempt != state.latest:
            return
        _count_infra_error(state, attempt)
        self._set_outcome(key, state, attempt, attempt.outcome)
        self._note_settled(key, state)

    def _note_settled(self, key: TrialId, state: TrialState) -> None:
        """Notes whether a trial whose state has changed needs no further attempt."""
        if state.outcome is Outcome.INFRA_ERROR:
            settled = state.infra_errors > self._infra_retries or state.store_losses > self._store_losses
        else:
            settled = state.outcome in _FINAL
        self._settled_by_cell[key[0]] += settled - (key in self._settled)
        if settled:
            self._settled.add(key)
        else:
            self._settled.discard(key)

    def state(self, key: TrialId) -> TrialState:
        """State of a trial; empty if it was never attempted."""
        return self._trials.get(key, _UNTRIED)

    def is_settled(self, key: TrialId) -> bool:
        """Whether a trial needs no further attempt: it is scored, cannot be scored, or has used up its retries."""
        return key in self._settled

    def unsettled(self, keys: frozenset[TrialId]) -> frozenset[TrialId]:
        """Those of some trials that need a further attempt."""
        return keys - self._settled

    def current_attempt(self, key: TrialId) -> int:
        """Number of a trial's attempt that has begun and not ended, or of its next one."""
        number = self.state(key).attempts
        ended, _ = self._attempts.get((key, number - 1), (True, None))
        return number if ended else number - 1

    def settled_in(self, cell: str) -> int:
        """Number of trials of a cell, by its key, that need no further attempt."""
        return self._settled_by_cell[cell]

    def count(self, outcome: Outcome) -> int:
        """Number of trials with an outcome, including those that may be tried again."""
        return sum(count for (_, counted), count in self._outcomes.items() if counted is outcome)

    def count_in(self, cell: str, outcome: Outcome) -> int:
        """Number of trials of a cell, by its key, with an outcome, including those that may be tried again."""
        return self._outcomes[cell, outcome]

    def ended_in(self, cell: str) -> int:
        """Number of trials of a cell, by its key, that have an outcome, including those that may be tried again."""
        return sum(self._outcomes[cell, outcome] for outcome in Outcome)

    def reasons_in(self, cell: str) -> Mapping[str, int]:
        """Number of trials of a cell, by its key, that ended without a score, by reason, or by outcome without one."""
        return {reason: count for reason, count in self._reasons.get(cell, Counter()).items() if count}

    @property
    def scored(self) -> int:
        """Number of trials that have a score."""
        return self.count(Outcome.PASSED) + self.count(Outcome.FAILED)

    @property
    def spent(self) -> float:
        """Dollars of all attempts whose cost is known."""
        return self._spent

    @property
    def unknown(self) -> int:
        """Number of attempts whose cost is unknown."""
        return self._unpriced

    @property
    def booked(self) -> float:
        """Dollars that a budget counts: those spent and, for each attempt whose cost is unknown, the largest cost of a
        trial so far. Infinite if no cost is known and those of several attempts are unknown: nothing bounds them.
        """
        if self._unpriced >= MOST_UNKNOWN and self._largest == 0:
            return math.inf
        return self._spent + self._unpriced * self._largest

    @property
    def cost_usd(self) -> float | None:
        """Dollars of all attempts; None if the cost of any is unknown."""
        return None if self._unpriced else self._spent

    def cost_in(self, cell: str) -> float | None:
        """Dollars of all attempts in a cell, by its key; None if the cost of any is unknown."""
        return None if self._unpriced_by_cell[cell] else self._spent_by_cell[cell]

    @property
    def largest(self) -> float:
        """Dollars of the most expensive trial so far."""
        return self._largest

    @property
    def any_ended(self) -> bool:
        """Whether any started attempt has ended, so that the cost of a trial is known."""
        return self._ended > 0

    def seconds_in(self, cell: str) -> float | None:
        """Mean seconds of a scored attempt in a cell, by its key; in the run if the cell has none, None without any."""
        seconds, number = self._durations.get(cell) or self._durations.get("", (0.0, 0))
        return seconds / number if number else None

    @property
    def started_at(self) -> datetime | None:
        """When the first attempt started; None if none has."""
        return self._started_at

    def scores(self) -> dict[str, dict[tuple[str, int], int]]:
        """Scores by cell key, then by task id and trial number: 1 for passed, 0 for failed."""
        scores: dict[str, dict[tuple[str, int], int]] = {}
        for (cell, task_id, trial), state in self._trials.items():
            if state.outcome is not None and state.outcome.scored:
                scores.setdefault(cell, {})[task_id, trial] = int(state.outcome is Outcome.PASSED)
        return scores

    @property
    def success(self) -> float | None:
        """Success rate as the mean over tasks, each with its mean over cells; None without a scored trial."""
        return self._success / len(self._rates) if self._rates else None


_UNTRIED: Final = TrialState()
"""State of a trial that was never attempted; shared, so never modified."""


def _count_infra_error(state: TrialState, attempt: Attempt) -> None:
    if attempt.outcome is Outcome.INFRA_ERROR:
        lost = attempt.reason == InfraReason.STORE_LOST
        state.store_losses += lost
        state.infra_errors += not lost
