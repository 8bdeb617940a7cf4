"""Rules that every task and every seed of the built-in suites keeps, beyond being valid rows.

Invariant: a rule reads the row and the draft, or the seed's rows; it needs no server and plays no episode.
`python -m opsgym_suites` applies all of them and reports every violation with its task id or seed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_api.tasks.verifiers import Category, Verifier
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.tools import Tool
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.scenarios import FIRST_LOOK
from opsgym_suites.kit.world import World, key_of, last_digits, number_column

CANARY = "opsgym-canary-3f6b1c52-8d47-4e0a-b9c4-6a2e7d915f08"
"""Text in every policy, and so in every row: who collects training data can leave out what has it, and a model that
completes it has read the benchmark."""
MOST_PROMPT_CHARACTERS = 1200
"""Longest user prompt; a longer one would describe the solution."""
_ID = re.compile(r"\b[A-Z]+_\d{3}\b|\bid\b")
_POLICY_RULE = re.compile(r"\*\*((?:[A-Z]+-)?[A-Z]+-\d+)\*\*")
_CITED_RULE = re.compile(r"(?<![\w-])(?:[A-Z]+-)?[A-Z]{2,3}-\d{1,2}\b")


@dataclass(frozen=True)
class SuiteTask:
    """A task of a suite with the domains that it is of."""

    domains: Mapping[str, Domain]
    """Domains of its gym servers, by server."""
    task: Task
    """The row, with the policy's text in its system prompt."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Tools by name; of several with one name, that of the first gym server."""
        by_gym = [self.domains[server.mcp_server_name] for server in self.task.gym_servers_config]
        return {name: tool for domain in reversed(by_gym) for name, tool in domain.toolbox.tools.items()}

    def domain_of(self, call: ToolCall) -> Domain:
        """The domain whose tool a call names: that of its gym server, or of the first one that has the tool.

        Raises:
            StopIteration: No gym server of the task has the tool.
        """
        if call.gym is not None:
            return self.domains[call.gym]
        by_gym = (self.domains[server.mcp_server_name] for server in self.task.gym_servers_config)
        return next(domain for domain in by_gym if call.name in domain.toolbox.tools)

    def writes(self, call: ToolCall) -> bool:
        """Whether the tool of a call writes; unknown tools do not."""
        tools = self.tools if call.gym is None else self.domains[call.gym].toolbox.tools
        return call.name in tools and tools[call.name].writes

    @property
    def policy_rules(self) -> set[str]:
        """Numbers of the rules that the system prompt contains."""
        return set(_POLICY_RULE.findall(self.task.system_prompt))

    @property
    def enforced_rules(self) -> set[str]:
        """Numbers of the rules that the gym server enforces with access `strict`."""
        several = len(self.task.gym_servers_config) > 1
        return {
            f"{domain.name.upper()}-{rule}" if several else rule
            for domain in (self.domains[server.mcp_server_name] for server in self.task.gym_servers_config)
            if (access := domain.access) is not None
            for rule in (*access.rulebook.numbers, access.identity_rule, access.permission_rule)
        }


@dataclass(frozen=True)
class AuthoredTask(SuiteTask):
    """A task of a suite with the draft that it was written as."""

    draft: Draft


def violations(tasks: Sequence[AuthoredTask]) -> list[str]:
    """Every violated rule, as `task id: problem`."""
    by_task = [f"{task.task.task_id}: {problem}" for task in tasks for rule in TASK_RULES for problem in rule(task)]
    return [*by_task, *duplicates([facts(task) for task in tasks])]


# --- rules of one task ---------------------------------------------------------------------------------------------


def _tools(authored: AuthoredTask) -> Iterator[str]:
    selected, known = set(authored.task.selected_tools), set(authored.tools)
    if unknown := selected - known:
        yield f"selects unknown tools: {_list(unknown)}"
    if hidden := {call.name for call in authored.draft.gold} - selected:
        yield f"the reference solution calls tools that are not selected: {_list(hidden)}"
    if unreachable := {call.name for call in authored.draft.gold if not _is_first(authored, call)}:
        yield f"an agent with published tool names cannot call tools of the reference solution: {_list(unreachable)}"
    if authored.task.steps != len(authored.draft.gold):
        yield f"has {authored.task.steps} steps, but the reference solution makes {len(authored.draft.gold)} calls"


def _is_first(authored: AuthoredTask, call: ToolCall) -> bool:
    """Whether no gym server before that of a call has a tool of the name."""
    having = (gym for gym, domain in authored.domains.items() if call.name in domain.toolbox.tools)
    return call.gym in (None, next(having, call.gym))


def _reference_solution(authored: AuthoredTask) -> Iterator[str]:
    writes = [authored.writes(call) for call in authored.draft.gold]
    if not writes or writes[0]:
        yield "the reference solution does not read before it writes"
    if authored.task.feasible and not any(writes):
        yield "is feasible, but the reference solution writes nothing"
    if len(authored.task.plan or []) < 2:
        yield "has a plan of fewer than two steps"


def _prompt(authored: AuthoredTask) -> Iterator[str]:
    task = authored.task
    by_header = {header: value for gym in task.gym_servers_config for header, value in gym.headers.items()}
    identities = list(by_header.values())
    messages = "\n".join(
        [task.user_prompt, *(day.message for day in task.days), *(event.tell for event in task.events if event.tell)]
    )
    if match := _ID.search(messages):
        yield f"the user names the id {match[0]!r}, which the agent should look up"
    if any(identity in messages for identity in identities):
        yield "the user states the acting user's identity header"
    secrets = [value for header, value in by_header.items() if header.endswith("-token")]
    if any(secret in task.system_prompt for secret in secrets):
        yield "the system prompt contains the acting user's secret token"
    if len(task.user_prompt) > MOST_PROMPT_CHARACTERS:
        yield f"the user prompt has {len(task.user_prompt)} characters, more than {MOST_PROMPT_CHARACTERS}"


def _wordings(authored: AuthoredTask) -> Iterator[str]:
    prompt = authored.task.user_prompt
    for number, wording in enumerate(authored.task.user_prompts, start=2):
        if differing := differing_facts(prompt, wording):
            yield f"wording {number} of the prompt does not state the same facts: {_list(differing)}"


def differing_facts(prompt: str, wording: str) -> set[str]:
    """Facts that only one of two wordings of a prompt states."""
    return {*_missing(prompt, wording), *_missing(wording, prompt)}


def _missing(one: str, other: str) -> Iterator[str]:
    """Facts of a wording that another one does not state. A name may be in capitals in one and without in the other."""
    words = set(re.findall(r"[\w-]+", other.lower()))
    yield from (fact for fact in _facts(one) - _facts(other) if fact.lower() not in words)


def _facts(prompt: str) -> set[str]:
    """Quoted texts, numbers and names of a prompt. A word that begins a sentence is not taken for a name."""
    quoted = re.findall(r"(?<!\w)'([^']+)'(?!\w)|\"([^\"]+)\"", prompt)
    names = re.findall(r"(?<![.!?:] )(?<![.!?:]['\"] )(?<!^)(?<![\w\n-])[A-Z][\w-]+", prompt)
    return {*("".join(pair) for pair in quoted), *re.findall(r"\d[\d:.,-]*(?<=\d)", prompt), *names} - {"I"}


def _verifiers(authored: AuthoredTask) -> Iterator[str]:
    verifiers = authored.task.verifiers
    categories = {verifier.category for verifier in verifiers}
    if Category.SIDE_EFFECT not in categories:
        yield "has no verifier of side effects"
    if not authored.task.feasible and Category.REFUSAL not in categories:
        yield "is infeasible, but no verifier checks the refusal"
    for gym in authored.domains:
        if not any(_lets_nothing_else_change(verifier, gym) for verifier in verifiers):
            yield f"has no state_difference verifier with nothing_else of {gym}"
    if not authored.task.feasible and not authored.draft.evidence:
        yield "is infeasible, but its draft names no evidence that the agent must read"


def _lets_nothing_else_change(verifier: Verifier, gym: str) -> bool:
    judges = verifier.verifier_type == "state_difference" and verifier.gym_name == gym
    return judges and verifier.state_difference.nothing_else


def _cited_rules(authored: AuthoredTask) -> Iterator[str]:
    cited = {rule for verifier in authored.task.verifiers for rule in _CITED_RULE.findall(verifier.description)}
    if "REF-3" not in authored.policy_rules:
        yield "the system prompt does not contain the policy"
    if CANARY not in authored.task.system_prompt:
        yield "the system prompt does not contain the canary"
    if not cited:
        yield "no verifier cites a rule of the policy"
    if unknown := cited - authored.policy_rules:
        yield f"verifiers cite rules that are not in the system prompt: {_list(unknown)}"
    planned = {rule for step in authored.task.plan or [] for rule in _CITED_RULE.findall(step)}
    amended = {event.amend.rule for event in authored.task.events if event.amend}
    if unknown := planned - authored.policy_rules - amended:
        yield f"the plan cites rules that neither the system prompt nor an event states: {_list(unknown)}"


def _strict_access(authored: AuthoredTask) -> Iterator[str]:
    if authored.task.access is not Access.STRICT:
        return
    if missing := authored.enforced_rules - authored.policy_rules:
        yield f"the server enforces rules that are not in the system prompt: {_list(missing)}"
    if not authored.draft.negative_trajectories:
        yield "has strict access, but no negative trajectory"


def _refusals(authored: AuthoredTask) -> Iterator[str]:
    trajectories = authored.draft.negative_trajectories.values()
    expected = {*authored.draft.refused.values(), *(path.rule for path in trajectories if path.rule)}
    if unknown := expected - authored.enforced_rules:
        yield f"expects refusals by rules that the server does not enforce: {_list(unknown)}"


def _events(authored: AuthoredTask) -> Iterator[str]:
    task = authored.task
    if not task.events and not task.days:
        return
    if any(event.after_step not in {FIRST_LOOK, None} for event in task.events):
        yield "has an event that does not follow the agent's first step or a state of the database"
    if not authored.draft.negative_trajectories:
        yield "has events or several days, but no negative trajectory"


_FIGURE = re.compile(r"(?<![\w.,:/-])\d+(?:[.,:]\d+)*(?![\w]|[.,:/-]\d)")


def _exchanged_figures(authored: AuthoredTask) -> Iterator[str]:
    """An answer or a text in which two figures that are judged may change places would state something false."""
    task, draft = authored.task, authored.draft
    judged = [one.answer_match for one in task.verifiers if one.verifier_type == "answer_match"]
    answers = [*draft.day_answers, draft.answer]
    for day, answer in enumerate(answers, start=1):
        of_day = [one.patterns for one in judged if (one.day or len(answers)) == day]
        yield from _exchangeable("the answer", answer, of_day, draft.in_any_order)
    conditions = [
        [pattern]
        for one in task.verifiers
        if one.verifier_type == "state_difference"
        for pattern in _patterns(one.validation_config)
    ]
    for text in dict.fromkeys(text for call in draft.gold for text in _texts(call.arguments)):
        matching = [one for one in conditions if re.search(one[0], text)]
        yield from _exchangeable(f"the text {text!r}", text, matching, draft.in_any_order)


def _exchangeable(
    name: str, text: str, judged: Sequence[Sequence[str]], in_any_order: Collection[str]
) -> Iterator[str]:
    """Pairs of figures of a text that patterns require and that may change places.

    Args:
        name: What the text is, for the message.
        text: A text that matches.
        judged: Patterns of which one must be found, for each condition.
        in_any_order: Figures that may change places.
    """

    def passes(changed: str) -> bool:
        return all(any(re.search(pattern, changed, re.IGNORECASE) for pattern in one) for one in judged)

    required = [
        one
        for one in _FIGURE.finditer(text)
        if one[0] not in in_any_order and not passes(f"{text[: one.start()]}777777{text[one.end() :]}")
    ]
    for first, second in combinations(required, 2):
        between = text[first.end() : second.start()]
        changed = f"{text[: first.start()]}{second[0]}{between}{first[0]}{text[second.end() :]}"
        if first[0] != second[0] and passes(changed):
            yield f"{first[0]} and {second[0]} may change places in {name}: use `apart`, `span` or `paired`"


def _patterns(condition: Any) -> Iterator[str]:
    """Regular expressions in the configuration of a verifier."""
    if isinstance(condition, dict):
        for name, value in condition.items():
            yield from [value] if name == "matches" and isinstance(value, str) else _patterns(value)
    elif isinstance(condition, list):
        for value in condition:
            yield from _patterns(value)


def _texts(value: Any) -> Iterator[str]:
    """Texts anywhere in arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


TASK_RULES: tuple[Callable[[AuthoredTask], Iterable[str]], ...] = (
    _tools,
    _reference_solution,
    _prompt,
    _wordings,
    _verifiers,
    _cited_rules,
    _strict_access,
    _refusals,
    _events,
    _exchanged_figures,
)


# --- rules of all tasks together -----------------------------------------------------------------------------------


FACTS = ("id", "user prompt", "reference solution")
"""What no two tasks have in common."""


def facts(authored: AuthoredTask) -> tuple[str | None, ...]:
    """A task's `FACTS`: its id, the words of its prompt in any order, the writes of its solution if it is feasible."""
    words = " ".join(sorted(re.findall(r"[a-z]{4,}", authored.draft.prompt.lower())))
    return authored.task.task_id, words, _solution(authored)


def duplicates(tasks: Sequence[Sequence[str | None]]) -> Iterator[str]:
    """Tasks that share a fact with another one, from the `facts` of all."""
    for place, name in enumerate(FACTS):
        counts = Counter(task[place] for task in tasks)
        yield from (
            f"{task[0]}: another task has the same {name}"
            for task in tasks
            if task[place] is not None and counts[task[place]] > 1
        )


def _solution(authored: AuthoredTask) -> str | None:
    writes = [call for call in authored.draft.accepted_calls if authored.writes(call)]
    seeds = [gym.seed_database_file for gym in authored.task.gym_servers_config]
    return repr((seeds, writes)) if authored.task.feasible else None


# --- rules of a seed -----------------------------------------------------------------------------------------------


def seed_violations(world: World) -> list[str]:
    """Rows whose number ends in the digits of their id, so that an agent could guess the id without a look-up."""
    return [
        f"{kind.__tablename__}: the number {number} ends in the digits of the id {key}"
        for kind in world.kinds
        if (column := number_column(kind)) is not None
        for row in world.all(kind)
        if (number := str(getattr(row, column))).endswith(str(last_digits(key := getattr(row, key_of(kind)))))
    ]


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
