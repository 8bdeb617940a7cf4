"""A task: one row of a suite, in the interchange format of the published benchmark.

Invariant: a row is read as it is. What the published harness tolerates is tolerated (see `row`); what could not be
scored is refused with the row and the field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from opsgym_api.kinds.evalrun import Access, Mode
from opsgym_api.patterns import pattern
from opsgym_api.tasks.days import Day, WorldClock, day_problems, event_problems
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.expected_difference import reference_problems
from opsgym_api.tasks.published_servers import DOMAINS_BY_SERVER
from opsgym_api.tasks.row import Row, decoded
from opsgym_api.tasks.verifiers import Verifier

_OF_ROWS = "letters, digits, '.', '_' and '-', a letter or digit first"
_SERVER_NAME = pattern(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", f"at most 100 {_OF_ROWS}")
_TASK_ID = pattern(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$", f"at most 200 {_OF_ROWS}")
_TAG = pattern(r"^\S{1,60}$", "1 to 60 characters without blanks")


class GymServer(Row):
    """A gym server the task needs, with the state its database starts from."""

    mcp_server_name: Annotated[str, Field(pattern=_SERVER_NAME)]
    """Name that verifiers use; also says the domain."""
    mcp_server_url: str = ""
    """Where the published harness expects it; opsgym brings its own."""
    seed_database_file: str = ""
    """SQL file, looked up under `suite.seedPath`, or `builtin:NAME` for a seed that ships with the domain."""
    context: dict[str, str] | None = None
    """Identity headers; null sends none."""

    @property
    def domain(self) -> str:
        """Domain by the server's name: a published one, or one that contains the domain, as `gym-itsm-mcp` does."""
        published = DOMAINS_BY_SERVER.get(self.mcp_server_name.lower())
        if published is not None:
            return published
        words = [word for word in self.mcp_server_name.lower().split("-") if word not in _NOT_A_DOMAIN]
        return "-".join(words) or self.mcp_server_name.lower()

    @property
    def headers(self) -> dict[str, str]:
        """Identity headers; a plain key `user_id` becomes `x-user-id`, as the published client has it."""
        named = ((key.strip().lower(), value) for key, value in (self.context or {}).items())
        return {key if key.startswith("x-") else f"x-{key.replace('_', '-')}": value for key, value in named}


_NOT_A_DOMAIN = frozenset({"gym", "sn", "mcp", "server", "internal"})


class ToolCall(Row):
    """One call of a tool."""

    name: Annotated[str, Field(min_length=1)]
    """Tool."""
    arguments: dict[str, Any] = {}
    """Arguments by name."""
    gym: str | None = None
    """Gym server of a gold action; the first one that has the tool if absent."""
    day: int | None = None
    """Day of a gold action in a task of several days, counted from 1; the first one if absent."""


class Task(Row):
    """One row of a suite."""

    task_id: Annotated[str, Field(pattern=_TASK_ID)]
    """Unique in a suite. A row without one takes its file's name, without `.json` or `.jsonl`."""
    domain: str = ""
    """Domain; derived from the gym servers if absent, `hybrid` if they are of several."""
    system_prompt: str = ""
    """Policy the agent must obey."""
    user_prompt: Annotated[str, Field(min_length=1)]
    """What the agent is asked."""
    user_prompts: list[Annotated[str, Field(min_length=1)]] = []
    """Further wordings of `user_prompt` that state the same facts; variants of a built-in suite use them in turn."""
    selected_tools: Annotated[list[str], BeforeValidator(decoded)] = []
    """The oracle tool set; all tools if empty."""
    mode_tools: Annotated[dict[Mode, list[str]], BeforeValidator(decoded)] = {}
    """Tool sets that the row brings itself, by mode; for other modes distractors are added to `selected_tools`."""
    restricted_tools: Annotated[list[str], BeforeValidator(decoded)] = []
    """Tools never shown."""
    gym_servers_config: Annotated[list[GymServer], BeforeValidator(decoded), Field(min_length=1)]
    """Gym servers, in order: the first that has a tool of some name gets its calls."""
    verifiers: Annotated[list[Verifier], BeforeValidator(decoded), Field(min_length=1)]
    """All must pass."""
    plan: list[str] | None = None
    """Human-written steps."""
    gold_actions: list[ToolCall] | None = None
    """Tool calls that solve the task."""
    gold_answer: str | None = None
    """Final answer that goes with `gold_actions`."""
    gold_answers: list[str] | None = None
    """Answers of every day that go with `gold_actions`, in a task of several days."""
    feasible: bool = True
    """Whether the task can be done; if not, right is to change nothing and to say why."""
    horizon: Annotated[int, Field(ge=0)] | None = None
    """Steps an expert needs; the number of gold actions if absent."""
    tags: list[Annotated[str, Field(pattern=_TAG)]] = []
    """Marks by which results show scores with and without the task, as `hostile`."""
    variant: Annotated[int, Field(ge=0)] = 0
    """Variant of a built-in suite that the row belongs to; 0 for a row as it was written."""
    events: Annotated[list[Event], BeforeValidator(decoded)] = []
    """What happens without the agent, in the order in which it happens if several are due at once."""
    clock: Annotated[WorldClock, BeforeValidator(decoded)] = WorldClock()
    """How the world's clock shows and moves."""
    days: Annotated[list[Day], BeforeValidator(decoded)] = []
    """Days after the first one, which begins with `user_prompt`. An answer ends a day; the last day's ends the task."""
    access: Access = Access.PUBLISHED
    """How strictly its gym servers judge calls; in a run with `suite.access: strict` every task is judged so."""

    @model_validator(mode="after")
    def _gyms_known(self) -> Task:
        names = [gym.mcp_server_name for gym in self.gym_servers_config]
        named = {f"verifiers[{index}].gym_name": verifier.gym_name for index, verifier in enumerate(self.verifiers)}
        named |= {f"events[{index}].gym": event.gym for index, event in enumerate(self.events)}
        named |= {f"events[{index}].when_gym": event.when_gym for index, event in enumerate(self.events)}
        named |= {f"gold_actions[{index}].gym": call.gym for index, call in enumerate(self.gold_actions or [])}
        for field, name in named.items():
            if name and name not in names:
                raise ValueError(f"{field}: unknown gym server {name!r}; the task has {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _named_rows_exist(self) -> Task:
        problems = [
            problem
            for gym in self.gym_servers_config
            for day in (None, *range(1, len(self.days) + 1))
            for problem in reference_problems(
                {
                    f"verifiers[{index}].validation_config": verifier.state_difference
                    for index, verifier in self.state_differences(gym.mcp_server_name, day)
                }
            )
        ]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @model_validator(mode="after")
    def _days_and_events_fit(self) -> Task:
        named = {f"gold_actions[{index}].day": call.day for index, call in enumerate(self.gold_actions or [])}
        for index, verifier in enumerate(self.verifiers):
            if verifier.verifier_type == "answer_match":
                named[f"verifiers[{index}].validation_config.day"] = verifier.answer_match.day
            if verifier.verifier_type == "state_difference":
                named[f"verifiers[{index}].validation_config.day"] = verifier.state_difference.day
        problems = [*day_problems(self.days, self.gold_answers, named), *event_problems(self.events)]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def state_differences(self, gym: str, day: int | None = None) -> list[tuple[int, Verifier]]:
        """Verifiers of type `state_difference` of a gym server, which are judged together, with their positions: those
        of a day before the last one, or of the end.
        """
        first = self.gym_servers_config[0].mcp_server_name
        return [
            (index, verifier)
            for index, verifier in enumerate(self.verifiers)
            if verifier.verifier_type == "state_difference"
            and (verifier.gym_name or first) == gym
            and self.day_of(verifier) == day
        ]

    def day_of(self, verifier: Verifier) -> int | None:
        """Day at whose end a `state_difference` verifier judges; None for the last one."""
        day = verifier.state_difference.day
        return None if day == len(self.days) + 1 else day

    @property
    def needs_clock(self) -> bool:
        """Whether its gym servers need clocks: it has days, steps that take time, or events in time."""
        moves = bool(self.days) or self.clock.seconds_per_step > 0
        return moves or any(event.needs_clock for event in self.events)

    def access_in(self, run: Access) -> Access:
        """How strictly its gym servers judge calls in a run: strictly if either of the two asks for it."""
        return Access.STRICT if Access.STRICT in (self.access, run) else Access.PUBLISHED

    def tools_in(self, mode: Mode) -> Sequence[str]:
        """The tools that the row names for a mode: the mode's own set, or the oracle one."""
        return self.mode_tools.get(mode, self.selected_tools)

    @property
    def only_mode(self) -> Mode | None:
        """The mode of a row that was published for one mode: its selected tools contain that mode's distractors. None
        for other rows.
        """
        modes = [mode for mode, tools in self.mode_tools.items() if tools == self.selected_tools]
        return modes[0] if len(self.mode_tools) == 1 and modes and self.selected_tools else None

    @property
    def domain_name(self) -> str:
        """The row's domain, or the one its gym servers imply, written as names in store keys and labels are."""
        domains = {gym.domain for gym in self.gym_servers_config}
        domain = self.domain or (domains.pop() if len(domains) == 1 else "hybrid")
        return re.sub(r"[^a-z0-9.]+", "-", domain.lower()).strip("-.")[:63] or "unnamed"

    @property
    def steps(self) -> int | None:
        """Horizon, or the number of gold actions; None when neither is known."""
        if self.horizon is not None:
            return self.horizon
        return len(self.gold_actions) if self.gold_actions is not None else None
