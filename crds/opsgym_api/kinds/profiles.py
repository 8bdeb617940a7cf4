"""Profiles of agents: what an agent does where opsgym and the published harness differ.

Invariant: every difference that an agent can follow is one switch, which has a default in each profile and which an
agent may set alone. `docs/fidelity-differences.md` lists the published behaviour of each switch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from opsgym_api.base import Document

Profile = Literal["opsgym", "published"]
Algorithm = Literal["opsgym", "published"]


def _without_default(schema: dict[str, Any]) -> None:
    """Leaves the default out of a schema: an API server that filled it in would override the profile."""
    schema.pop("default", None)


_SWITCH = Field(json_schema_extra=_without_default)


class Switches(Document):
    """The switches of a profile. The defaults here are those of profile `opsgym`."""

    tool_schemas: Annotated[Literal["gym", "published"], _SWITCH] = "gym"
    """Schemas of tools: as the gym server has them, or simplified as the published harness does (no `null` types, no
    alternatives at the top). The profile's if absent."""
    strict_tools: Annotated[Literal["disabled", "unset"], _SWITCH] = "disabled"
    """Strict mode of tools for OpenAI and Azure models that reason: disabled, so that optional arguments may be
    left out, or left to the provider. The profile's if absent."""
    openai_api: Annotated[Literal["litellm", "published"], _SWITCH] = "litellm"
    """API for OpenAI models with `reasoning_effort`: as litellm chooses, or always Responses. The profile's if
    absent."""
    sampling: Annotated[Literal["parameters", "published"], _SWITCH] = "parameters"
    """Sampling: the model's `parameters` only, or temperature 0.0 and 4096 tokens unless these set them. The profile's
    if absent."""
    tool_errors: Annotated[Literal["shown", "published"], _SWITCH] = "shown"
    """What the agent reads of a call that the gym server refused outside the tool: the error, or `null` and `{}`. The
    profile's if absent."""
    malformed_calls: Annotated[Literal["answered", "end"], _SWITCH] = "answered"
    """A tool call whose arguments are not a JSON object: answered with the problem, or dropped, which ends the loop if
    it was the only one. The profile's if absent."""
    unusable_replies: Annotated[Literal["requested_again", "taken"], _SWITCH] = "requested_again"
    """A reply that is empty, or that the provider could not read: requested once more, or taken as it is, which ends
    the loop. The profile's if absent."""
    refused_conversations: Annotated[Literal["failed", "unscored"], _SWITCH] = "failed"
    """A conversation that the provider refuses to continue although it had answered a part of it: failed, or left out
    of the score. The profile's if absent."""
    unknown_tools: Annotated[Literal["answered", "fail", "first_gym"], _SWITCH] = "answered"
    """A call of a tool that does not exist: answered with the names of the tools, fails the trial, or is sent to the
    first gym server. The profile's if absent."""
    max_steps: Annotated[int, Field(ge=1, le=1000), _SWITCH] = 50
    """Maximum number of model calls, counted as `stepLimit` says. The profile's if absent: 50, and 25 for
    `decomposing` of profile `published`."""
    step_limit: Annotated[Literal["episode", "conversation"], _SWITCH] = "episode"
    """What `maxSteps` bounds: all model calls of an episode, the planner's included, or those of each conversation. The
    profile's if absent."""
    answers: Annotated[Literal["all_text", "published"], _SWITCH] = "all_text"
    """The agent's answer: all text of its last reply, or the first text block, and at the step limit the last tool
    result. The profile's if absent."""
    request_seeds: Annotated[Literal["derived", "none"], _SWITCH] = "derived"
    """Seed of requests to models whose provider takes one: derived from run, task and trial number, or none. The
    model's own `parameters.seed` goes first. The profile's if absent."""
    streaming: Annotated[Literal["model", "never"], _SWITCH] = "model"
    """Whether answers are streamed: as the model's `stream` says, or never. The profile's if absent."""
    time_limit: Annotated[Literal["enforced", "none"], _SWITCH] = "enforced"
    """Whether `limits.taskTimeoutSeconds` ends an episode. The profile's if absent."""
    sample_retries: Annotated[int, Field(ge=0, le=10), _SWITCH] = 0
    """How often an episode that an error ended, such as an overflow, a refused conversation or an unknown tool, is
    played again before it fails; each time costs money. The profile's if absent."""
    algorithm: Annotated[Algorithm, _SWITCH] = "opsgym"
    """Algorithm and prompts of `planner_react` and `decomposing`: opsgym's, or the published ones with prompts of our
    own wording. The profile's if absent."""


OPSGYM = Switches()
PUBLISHED = Switches(
    tool_schemas="published",
    openai_api="published",
    sampling="published",
    tool_errors="published",
    malformed_calls="end",
    unusable_replies="taken",
    unknown_tools="fail",
    step_limit="conversation",
    answers="published",
    request_seeds="none",
    streaming="never",
    time_limit="none",
    sample_retries=4,
    algorithm="published",
)
PUBLISHED_DECOMPOSING = PUBLISHED.model_copy(update={"max_steps": 25, "unknown_tools": "first_gym"})
"""In the published harness the agents of `decomposing` have 25 iterations each and a tool routing of their own."""


def switches_of(profile: Profile, orchestrator: str) -> Switches:
    """Default switches of a profile."""
    if profile == "opsgym":
        return OPSGYM
    return PUBLISHED_DECOMPOSING if orchestrator == "decomposing" else PUBLISHED


def with_defaults(agent: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of an agent, by name or alias, with the switches of its profile where it sets none.

    Args:
        agent: The fields as they were written, not validated yet.
    """
    if agent.get("profile") != "published":
        return dict(agent)
    defaults = switches_of("published", str(agent.get("orchestrator", "")))
    missing = {
        name: getattr(defaults, name)
        for name, field in Switches.model_fields.items()
        if name not in agent and field.alias not in agent
    }
    return {**missing, **agent}
