"""Outcomes of a trial. Scored outcomes are `passed` and `failed`; nothing else ever counts in a success rate."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import assert_never


class Outcome(StrEnum):
    """How an attempt at a trial ended."""

    PASSED = "passed"
    FAILED = "failed"
    INFRA_ERROR = "infra_error"
    CONFIG_ERROR = "config_error"
    BUDGET_SKIPPED = "budget_skipped"
    CANCELLED = "cancelled"

    @property
    def scored(self) -> bool:
        """Whether the attempt says something about the agent, and so ends its trial."""
        return self in (Outcome.PASSED, Outcome.FAILED)


class FailReason(StrEnum):
    """Why a scored attempt failed."""

    VERIFIERS = "verifiers"
    STEP_LIMIT = "step_limit"
    TASK_TIMEOUT = "task_timeout"
    CONTEXT_OVERFLOW = "context_overflow"
    CONTENT_FILTER = "content_filter"
    """The provider's content filter stopped a reply."""
    REQUEST_FILTER = "request_filter"
    """The provider's content filter refused a request."""
    UNKNOWN_TOOL = "unknown_tool"
    """The agent called a tool that does not exist, and its switch `unknownTools` is `fail`."""
    MALFORMED_REPLY = "malformed_reply"
    """The provider could not read what its model wrote, twice."""
    CONVERSATION_REFUSED = "conversation_refused"
    """The provider refused to continue a conversation of which it had answered a part, and answers others."""
    AGENT_ERROR = "agent_error"
    """The agent's program ended with an error and without an answer."""
    NO_MODEL_CALLS = "no_model_calls"
    """The agent's program asked nothing of its model."""

    @property
    def verdict(self) -> Verdict:
        """What the final state decides after this end; a new reason must say so here."""
        match self:
            case FailReason.VERIFIERS | FailReason.STEP_LIMIT | FailReason.AGENT_ERROR:
                return Verdict.STATE
            case FailReason.CONTENT_FILTER | FailReason.MALFORMED_REPLY:
                return Verdict.STATE_IF_PUBLISHED
            case FailReason.TASK_TIMEOUT:
                return Verdict.NONE_IF_PUBLISHED
            case (
                FailReason.CONTEXT_OVERFLOW
                | FailReason.REQUEST_FILTER
                | FailReason.UNKNOWN_TOOL
                | FailReason.CONVERSATION_REFUSED
                | FailReason.NO_MODEL_CALLS
            ):
                return Verdict.FAILED
            case _:
                assert_never(self)


class Verdict(Enum):
    """Who decides whether an attempt passed that did not end by an answer."""

    STATE = "state"
    """The verifiers."""
    STATE_IF_PUBLISHED = "state if published"
    """It failed; the published harness verifies the state all the same."""
    NONE_IF_PUBLISHED = "none if published"
    """It failed; the published harness has no such end, so no published score."""
    FAILED = "failed"
    """It failed, in the published harness too."""


class FinishReason(StrEnum):
    """How a model's reply ended."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    """Cut off by the limit of its tokens."""
    CONTENT_FILTER = "content_filter"
    """Stopped by the provider."""
    REFUSAL = "refusal"
    """The model declines; its text is an answer."""
    CONTEXT_OVERFLOW = "context_overflow"
    """Cut off by the end of the model's context."""
    MALFORMED = "malformed"
    """The provider could not read what its model wrote, or the reply ended for an unknown reason."""
    CALL_IN_TEXT = "call_in_text"
    """No tool call, but the text of one: the server's parser of calls is off or does not fit the model."""
    EMPTY = "empty"
    """Neither text nor tool calls."""


class InfraReason(StrEnum):
    """Which part of the surroundings kept an attempt from being scored."""

    MODEL_AUTH = "model_auth"
    MODEL_NOT_FOUND = "model_not_found"
    MODEL_RATE_LIMITED = "model_rate_limited"
    MODEL_QUOTA = "model_quota"
    MODEL_UNAVAILABLE = "model_unavailable"
    MODEL_UNREACHABLE = "model_unreachable"
    MODEL_REFUSED_REQUEST = "model_refused_request"
    """The endpoint answers no request with this key and these parameters."""
    MODEL_CALLS_IN_TEXT = "model_calls_in_text"
    """The model has written all its tool calls as text: the server's parser of calls is off or does not fit."""
    GYM_LOST = "gym_lost"
    STORE_LOST = "store_lost"
    JUDGE_FAILED = "judge_failed"
    PLAN_FAILED = "plan_failed"
    """The planner cannot write a plan for the task."""
    HUNG = "hung"
    """The runner made no progress, so the kubelet ended it."""
    RUNNER_ERROR = "runner_error"


class ConfigReason(StrEnum):
    """Why a trial cannot be scored until the user fixes its configuration."""

    INVALID_ROW = "invalid_row"
    UNPRICED_MODEL = "unpriced_model"
    NO_GOLD_ACTIONS = "no_gold_actions"
    NO_RECORDING = "no_recording"
    NO_PLAN = "no_plan"
    NO_JUDGE = "no_judge"
    SEED_NOT_FOUND = "seed_not_found"
    SEED_REFUSED = "seed_refused"
    UNKNOWN_GYM = "unknown_gym"
    TOO_MANY_TOOLS = "too_many_tools"
    CONVERSATION_REFUSED = "conversation_refused"
    """The provider refuses a conversation and answers others: its first request, or with `refusedConversations:
    unscored` a later one."""
    UNSUPPORTED = "unsupported"
    AGENT_NOT_STARTED = "agent_not_started"
    """The agent's program cannot be started."""
    UNREADABLE_RECORD = "unreadable_record"
    HELD_OUT_SEED = "held_out_seed"
    """The run's objects are sealed with another held-out seed than the one that is given."""
