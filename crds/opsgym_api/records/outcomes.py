"""Outcomes of a trial. Scored outcomes are `passed` and `failed`; nothing else ever counts in a success rate."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import assert_never


class Outcome(StrEnum):
    """How an attempt at a trial ended."""

    PASSED = "passed"
    """Every verifier of the task passed."""
    FAILED = "failed"
    """A verifier did not pass, or the agent ended in a way that fails; its reason is a `FailReason`."""
    INFRA_ERROR = "infra_error"
    """Something around the agent failed; tried again `limits.infraRetries` times. Its reason is an `InfraReason`."""
    CONFIG_ERROR = "config_error"
    """The trial cannot be scored until a user corrects something. Its reason is a `ConfigReason`."""
    BUDGET_SKIPPED = "budget_skipped"
    """The budget left no room for the trial."""
    CANCELLED = "cancelled"
    """Stopped from outside: Ctrl-C, a suspended run, a pod that was evicted."""

    @property
    def scored(self) -> bool:
        """Whether the attempt says something about the agent, and so ends its trial."""
        return self in (Outcome.PASSED, Outcome.FAILED)


class FailReason(StrEnum):
    """Why a scored attempt failed."""

    VERIFIERS = "verifiers"
    """The final state, or the answer, is not what the task asks for."""
    STEP_LIMIT = "step_limit"
    """The agent used all of its `maxSteps`, and the state was not right by then."""
    TASK_TIMEOUT = "task_timeout"
    """The agent took longer than `limits.taskTimeoutSeconds`; waits for a provider do not count."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The conversation became longer than the model's context."""
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
    """The model was done: its text is an answer."""
    TOOL_CALLS = "tool_calls"
    """The model asks for tools."""
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
    """The endpoint refuses the key."""
    MODEL_NOT_FOUND = "model_not_found"
    """The endpoint does not know the model."""
    MODEL_RATE_LIMITED = "model_rate_limited"
    """The provider refused requests as too many for longer than opsgym waits."""
    MODEL_QUOTA = "model_quota"
    """The quota or credit of the account is used up."""
    MODEL_UNAVAILABLE = "model_unavailable"
    """The provider answered with errors of its own, or with what cannot be read as an answer."""
    MODEL_UNREACHABLE = "model_unreachable"
    """Nothing answers at the model's address."""
    MODEL_REFUSED_REQUEST = "model_refused_request"
    """The endpoint answers no request with this key and these parameters."""
    MODEL_CALLS_IN_TEXT = "model_calls_in_text"
    """The model has written all its tool calls as text: the server's parser of calls is off or does not fit."""
    GYM_LOST = "gym_lost"
    """A gym server or its Postgres failed, or did not answer in time."""
    STORE_LOST = "store_lost"
    """The result store could not be read or written; does not use up `limits.infraRetries`."""
    JUDGE_FAILED = "judge_failed"
    """The judge cannot be reached, or has twice given no mark."""
    PLAN_FAILED = "plan_failed"
    """The planner cannot write a plan for the task."""
    HUNG = "hung"
    """The runner made no progress, so the kubelet ended it."""
    RUNNER_ERROR = "runner_error"
    """A fault of opsgym, or a reply that its client cannot read."""


class ConfigReason(StrEnum):
    """Why a trial cannot be scored until the user fixes its configuration."""

    INVALID_ROW = "invalid_row"
    """The task row cannot be played."""
    UNPRICED_MODEL = "unpriced_model"
    """No price of the model is known."""
    NO_GOLD_ACTIONS = "no_gold_actions"
    """The model is `replay/gold`, and the row has no reference solution."""
    NO_RECORDING = "no_recording"
    """The model is a recording without actions for the task."""
    NO_PLAN = "no_plan"
    """The agent is to be shown the row's plan, and the row has none."""
    NO_JUDGE = "no_judge"
    """A verifier asks a judge, and the run names none."""
    SEED_NOT_FOUND = "seed_not_found"
    """The seed that the row names does not exist."""
    SEED_REFUSED = "seed_refused"
    """The gym server refuses the seed."""
    UNKNOWN_GYM = "unknown_gym"
    """The row names a gym server that is not known."""
    TOO_MANY_TOOLS = "too_many_tools"
    """The model's provider takes fewer tools than the mode shows."""
    CONVERSATION_REFUSED = "conversation_refused"
    """The provider refuses a conversation and answers others: its first request, or with `refusedConversations:
    unscored` a later one."""
    UNSUPPORTED = "unsupported"
    """The row, the agent or the gym server asks for something that this version, or that server, does not have."""
    AGENT_NOT_STARTED = "agent_not_started"
    """The agent's program cannot be started."""
    UNREADABLE_RECORD = "unreadable_record"
    """A record of the trial cannot be read: it is damaged, or a newer opsgym wrote it."""
    HELD_OUT_SEED = "held_out_seed"
    """The run's objects are sealed with another held-out seed than the one that is given."""
