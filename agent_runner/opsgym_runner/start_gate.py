"""The start gate of a run: whether episodes may start or continue.

Invariant: a closed gate stops an episode between steps, never inside one.
"""

from __future__ import annotations

import asyncio
import json
from typing import Protocol

from pydantic import ValidationError

from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_api.records.run import Control
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.base import Store
from opsgym_runner.clock import Clock
from opsgym_runner.errors import NotScored, infra_error

READ_EVERY_S = 3.0
"""Minimum seconds between two reads of `control.json`; a step of an episode takes about as long."""


class StartGate(Protocol):
    """Source of a run's `Control`."""

    async def control(self) -> Control:
        """Whether episodes may start and continue now."""
        ...


class StoreStartGate:
    """Start gate of a run, read from its `control.json`; open while the file does not exist.

    Args:
        store: Store of the run.
        run: The run.
        clock: Source of time.
        read_every_s: Minimum seconds between two reads; 0 reads each time.
    """

    def __init__(self, store: Store, run: str, clock: Clock, read_every_s: float = READ_EVERY_S) -> None:
        self._store = store
        self._key = RunKeys(run).control_json
        self._clock = clock
        self._read_every_s = read_every_s
        self._read_at: float | None = None
        """Monotonic time of the latest read; None before the first."""
        self._control = Control()

    async def control(self) -> Control:
        """The gate's state, at most `read_every_s` old.

        Raises:
            StoreError: The store cannot be read.
            NotScored: `control.json` was not written by opsgym.
        """
        now = self._clock.monotonic()
        if self._read_at is None or now - self._read_at >= self._read_every_s:
            self._read_at = now
            self._control = self._parse(await asyncio.to_thread(self._store.get, self._key))
        return self._control

    def _parse(self, content: bytes | None) -> Control:
        if content is None:
            return Control()
        try:
            return Control.model_validate(json.loads(content))
        except (ValidationError, ValueError):
            message = f"{self._store.name}: {self._key} is not a gate that opsgym wrote; delete it to open the gate"
            raise infra_error(InfraReason.STORE_LOST, message) from None


def require_open(control: Control, *, starting: bool) -> None:
    """Checks that an episode may start, or take its next step.

    Raises:
        NotScored: The gate is closed: `budget_skipped` if the budget is the reason, `cancelled` for any other reason.
    """
    if control.proceed and (control.start or not starting):
        return
    skipped = control.reason in ("", "budget")
    message = "the run's budget is spent" if skipped else f"the run's gate is closed: {control.reason}"
    raise NotScored(Outcome.BUDGET_SKIPPED if skipped else Outcome.CANCELLED, control.reason or "budget", message)
