"""Values of a webhook notification: where it goes, one request, and the result of one delivery attempt.

Invariant: no value but `WebhookAddress` holds the webhook's URL, so that results can be logged and stored in a status.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from opsgym_api.kinds.evalrun import NotificationEvent


@dataclass(frozen=True)
class WebhookAddress:
    """URL of a webhook and the key that signs requests to it."""

    url: str
    secret: bytes | None
    """Signing key; None sends requests unsigned."""


@dataclass(frozen=True)
class DeliveryResult:
    """Result of one attempt to deliver a notification."""

    id: str
    """Id of the notification."""
    attempt: int
    """Number of the attempt, from 1."""
    outcome: Literal["sent", "again", "failed"]
    """`again`: another attempt may succeed."""
    problem: str = ""
    """Why the notification was not delivered; empty if it was. Never contains the URL."""
    retry_after: float = 0.0
    """Seconds that the receiver asked to wait before the next attempt."""


@dataclass(frozen=True)
class WebhookRequest:
    """One attempt to deliver a notification."""

    webhook: str
    """Name of the webhook."""
    id: str
    """Id of the notification."""
    event: NotificationEvent
    attempt: int
    """Number of the attempt, from 1."""
    body: bytes

    def result(
        self, outcome: Literal["sent", "again", "failed"], problem: str = "", retry_after: float = 0.0
    ) -> DeliveryResult:
        """The result of this attempt."""
        return DeliveryResult(self.id, self.attempt, outcome, problem, retry_after)
