"""Exceptions that end an attempt early. Invariant: each carries the outcome or reason that the record will state."""

from __future__ import annotations

from opsgym_api.records.outcomes import ConfigReason, FailReason, InfraReason, Outcome


class NotScored(Exception):
    """The attempt ends without a score: it says nothing about the agent.

    Attributes:
        outcome: One of the outcomes that are not scored.
        reason: One of `InfraReason` or `ConfigReason`, or the reason of the closed gate.
    """

    def __init__(self, outcome: Outcome, reason: str, message: str) -> None:
        self.outcome = outcome
        self.reason = reason
        super().__init__(message)


class AgentFailed(Exception):
    """The agent or its model stopped the agent's loop; the trial is scored as failed.

    Attributes:
        reason: What stopped the loop.
    """

    def __init__(self, reason: FailReason, message: str) -> None:
        self.reason = reason
        super().__init__(message)


def infra_error(reason: InfraReason, message: str) -> NotScored:
    """An infrastructure failure: another attempt may succeed."""
    return NotScored(Outcome.INFRA_ERROR, reason, message)


def config_error(reason: ConfigReason, message: str) -> NotScored:
    """A run or row that cannot be carried out as written: a user must fix it."""
    return NotScored(Outcome.CONFIG_ERROR, reason, message)
