"""What trainers send and get, and the errors that they read.

Invariant: a request with an unknown field, or a value that a field does not take, is refused in words that name it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import Field, ValidationError

from opsgym_api.base import Document
from opsgym_api.kinds.evalrun import Access, Mode
from opsgym_api.kinds.variants import LAST_PUBLIC
from opsgym_api.validation import problems_of

Split = Literal["train", "test"]
Rule = Literal["all", "verifiers", "categories"]
DAY_S = 86_400

D = TypeVar("D", bound=Document)


class EpisodeRequest(Document):
    """Asks for an episode."""

    task: Annotated[str, Field(min_length=1, max_length=200)]
    """Id of a task of the suites that are served."""
    split: Split
    """The part of the tasks that the trainer means to use; refused if the task, or the token, is of the other one."""
    mode: Mode = Mode.ORACLE
    """The tool set that the agent gets."""
    variant: Annotated[int, Field(ge=0, le=LAST_PUBLIC)] = 0
    """Variant of a built-in task; 0 for the task as it is written."""
    access: Access = Access.PUBLISHED
    """How strictly gym servers enforce roles and process rules."""
    reward: Rule = "all"
    """`all`: 1 if the trial passes, else 0. `verifiers`: share of the verifiers that pass. `categories`: mean over the
    verifiers' categories of the share that passes."""
    max_steps: Annotated[int, Field(ge=1, le=1000)] = 50
    """Most steps: a tool call or an answer is one."""
    ttl_seconds: Annotated[int, Field(ge=1, le=DAY_S)] = 3600
    """Seconds after which the episode ends without a verdict, or its verdict is forgotten."""


class FinishRequest(Document):
    """Ends the agent's turn."""

    answer: Annotated[str, Field(max_length=1024 * 1024)] = ""
    """The agent's answer; without effect if the agent has answered."""


class RefusedError(Exception):
    """A request that is answered with an error.

    Attributes:
        status: HTTP status.
        reason: What kind of error it is: one word for programs.
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status = status
        self.reason = reason
        super().__init__(message)


def read_request(kind: type[D], content: bytes) -> D:
    """A request's body.

    Raises:
        RefusedError: It is not valid; the message names field and problem.
    """
    try:
        return kind.model_validate_json(content or b"{}")
    except ValidationError as error:
        problems = "; ".join(f"{p.path}: {p.message}" if p.path else p.message for p in problems_of(error, model=kind))
        raise RefusedError(400, "invalid_request", problems) from None
