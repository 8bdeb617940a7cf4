"""Whose an error is: the account's, the endpoint's, the conversation's or the model's.

Invariant: after an answered request of the same conversation, with the same key and parameters, only a status of its
own (401, 402) or a second witness blames key, quota or address; without one the conversation caused the refusal.
"""

from __future__ import annotations

from dataclasses import dataclass

from opsgym_api.records.outcomes import ConfigReason, FailReason, InfraReason
from opsgym_runner.models.provider_errors import TOO_LARGE, ProviderError, Subject, is_same, subject_of

_OF_THE_ACCOUNT = {
    Subject.KEY: InfraReason.MODEL_AUTH,
    Subject.QUOTA: InfraReason.MODEL_QUOTA,
    Subject.ADDRESS: InfraReason.MODEL_NOT_FOUND,
    Subject.SERVER: InfraReason.MODEL_REFUSED_REQUEST,
    Subject.REQUEST: InfraReason.MODEL_REFUSED_REQUEST,
}
_CERTAIN = (401, 402)
"""HTTP statuses that say themselves that it is the account's."""
_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True)
class Position:
    """What was answered before the request that failed."""

    model: bool
    """Whether the endpoint has answered any request with the same key and parameters."""
    conversation: int
    """Answered requests of the same conversation."""


@dataclass(frozen=True)
class Refusal:
    """What an error means for the attempt."""

    reason: InfraReason | FailReason | ConfigReason
    transient: bool = False
    """Whether the same request may succeed later."""


def needs_witness(error: ProviderError, position: Position) -> bool:
    """Whether a small request of another conversation has to show whose the error is."""
    subject = subject_of(error)
    if subject is Subject.OVERFLOW:
        return (error.status or 0) >= 500
    if subject is Subject.SERVER:
        return False
    return subject in _OF_THE_ACCOUNT and error.status not in _CERTAIN and position.model


def confirms(error: ProviderError, witness: ProviderError | None) -> bool:
    """Whether a small request of another conversation shows that an error is not the conversation's.

    Args:
        error: The error.
        witness: The small request's error; None if it was answered.
    """
    if witness is None:
        return False
    return subject_of(error) is Subject.OVERFLOW or is_same(error, witness)


def refusal_of(error: ProviderError, position: Position, *, witnessed: bool) -> Refusal:
    """What an error means, other than one about what the model wrote.

    Args:
        error: The error.
        position: Where in the run it came.
        witnessed: Whether a witness confirmed that it is not the conversation's, or none was needed.
    """
    subject = subject_of(error)
    if subject is Subject.RATE_LIMIT:
        return Refusal(InfraReason.MODEL_RATE_LIMITED, transient=True)
    if subject is Subject.OVERFLOW and not (witnessed and needs_witness(error, position)):
        return Refusal(FailReason.CONTEXT_OVERFLOW)
    if subject is Subject.FILTER:
        return Refusal(FailReason.REQUEST_FILTER)
    # A server that has answered may recover; one that never did is refused at once, whatever it says of itself.
    if subject not in _OF_THE_ACCOUNT or (subject is Subject.SERVER and position.model):
        return Refusal(InfraReason.MODEL_UNAVAILABLE, transient=True)
    if witnessed:
        return Refusal(_OF_THE_ACCOUNT[subject])
    if error.status == _TOO_MANY_REQUESTS:
        return Refusal(InfraReason.MODEL_RATE_LIMITED, transient=True)
    if subject is Subject.QUOTA and error.status == TOO_LARGE:  # one request beyond the account's tokens of a minute
        return Refusal(InfraReason.MODEL_RATE_LIMITED)
    scored = position.conversation > 0
    return Refusal(FailReason.CONVERSATION_REFUSED if scored else ConfigReason.CONVERSATION_REFUSED)
