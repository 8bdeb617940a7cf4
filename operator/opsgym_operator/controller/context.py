"""What the reconcilers of all namespaces share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from opsgym_core.common.clock import utc_now
from opsgym_core.kube.client import Client
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.kube.leadership import SERVED, Claim
from opsgym_operator.observability.webhooks import WebhookDispatcher
from opsgym_operator.state.baselines import Baselines
from opsgym_operator.state.turns import Turns


async def _claimed(_: str) -> Claim:
    return SERVED


@dataclass
class ControllerContext:
    """What the reconcilers of all namespaces share."""

    client: Client
    cache: ObjectCache
    stores: Stores
    config: OperatorConfig
    metrics: Metrics
    since: datetime
    """When this process started."""
    now: Callable[[], datetime] = utc_now
    turns: Turns = field(default_factory=Turns)
    """Turns to read a whole run from a store."""
    baselines: Baselines = field(default_factory=Baselines)
    """Scores of the runs that gates compare with."""
    dispatcher: WebhookDispatcher = field(default_factory=WebhookDispatcher)
    """Sends notifications; the default knows no webhooks."""
    claim: Callable[[str], Awaitable[Claim]] = _claimed
    """Claims a namespace before each reconcile. Raises ApiError while nothing may be written. The default claims every
    namespace."""
    leave: Callable[[str], None] = lambda _: None
    """Called when nothing is left of a namespace that could not be claimed."""
