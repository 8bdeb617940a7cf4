"""One tool turn with each model of a run before its first attempt spends anything else.

Invariant: a model is checked once, however many attempts wait for it. Only what no attempt could escape stops the
model: a fault that passes by, or a filter that does not like the question, decides nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

import structlog

from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import InfraReason
from opsgym_runner.clock import Clock
from opsgym_runner.errors import AgentFailed, NotScored, infra_error
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.calls_in_text import CALLS_IN_TEXT
from opsgym_runner.models.probe import Probe, probe
from opsgym_runner.models.retry import ModelFailure

log = structlog.get_logger()


class ModelPreflight:
    """Checks models.

    Args:
        models: Names of the models that are checked.
        clock: Source of time.
    """

    def __init__(self, models: Collection[str], clock: Clock) -> None:
        self._models = models
        self._clock = clock
        self._checks: dict[str, asyncio.Task[Probe | None]] = {}

    async def check(self, model: ResolvedModel, pay: Callable[[Usage, float | None], None]) -> None:
        """Checks a model, or waits for its check.

        Args:
            model: The model.
            pay: Takes usage and cost of the check, from the first caller.

        Raises:
            NotScored: Every attempt with the model would end in this way.
        """
        if model.name not in self._models:
            return
        first = model.name not in self._checks
        if first:
            self._checks[model.name] = asyncio.create_task(self._probe(model))
        shown = await asyncio.shield(self._checks[model.name])
        if shown is not None and first:
            pay(shown.usage, shown.cost_usd)
        if shown is not None and shown.call_in_text:
            raise infra_error(InfraReason.MODEL_CALLS_IN_TEXT, f"model {model.name} {CALLS_IN_TEXT}")

    async def _probe(self, model: ResolvedModel) -> Probe | None:
        try:
            shown = await probe(model, self._clock)
        except ModelFailure as failure:
            if failure.transient:
                return None
            raise failure.final() from None
        except (AgentFailed, NotScored):
            return None
        if not shown.calls and not shown.call_in_text:
            log.warning("the model answers a question that needs a tool without a call", model=model.name)
        return shown
