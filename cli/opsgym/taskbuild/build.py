"""Builds the row of a task file.

Invariant: a row is built only if its solution passes, doing nothing fails, every other right way passes and every
mistake fails, each on databases of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx

from opsgym.taskbuild.derived import Derivation
from opsgym.taskbuild.playing import Played, Player, again
from opsgym.taskcheck.findings import unknown
from opsgym.taskcheck.queries import SeedDatabases
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Access
from opsgym_api.records.attempt import VerifierResult
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_api.tasks.references import ReferenceFaultError, resolved
from opsgym_api.tasks.task import GymServer, Task
from opsgym_api.tasks.task_file import Other, Step, TaskFile
from opsgym_core.results.explanation import shortfalls
from opsgym_domains import registry
from opsgym_runner.gyms.seeds import BUILTIN, SeedFinder, SeedNotFoundError
from opsgym_runner.verification.verifiers import Trajectory, verify

_NOTHING = {"verifier_type": "state_difference", "validation_config": {"nothing_else": True}}
"""Stands for the verifiers until they are derived."""


@dataclass(frozen=True)
class Builder:
    """Builds rows on running gym servers.

    Args:
        http: Connections to them.
        urls: Their URLs, by domain.
        now: Time that queries for acting users read.
    """

    http: httpx.AsyncClient
    urls: Mapping[str, str]
    now: datetime

    async def build(self, path: Path, file: TaskFile) -> dict[str, Any]:
        """The row of a task file.

        Raises:
            InputError: The task cannot be solved as the file says, or its verifiers do not tell right from wrong.
            NotScored: A gym server is lost, or an event cannot happen.
        """
        fields, player = self.prepared(path, file)
        row = player.row
        played = await player.solution()
        answer = _answer(path, file, played)
        fields |= self._of_play(file, played, answer)
        more = await player.with_optional_calls(played)
        try:
            fields["verifiers"] = Derivation(file, row, played, more).verifiers()
        except (ReferenceFaultError, ValueError) as error:
            raise InputError(str(path), [Problem("report, evidence or accept", str(error))]) from None
        task = Task.model_validate({**fields, "system_prompt": row.system_prompt})
        await self._prove(path, file, _Judge(player, task, played, answer))
        return fields

    def prepared(self, path: Path, file: TaskFile) -> tuple[dict[str, Any], Player]:
        """What the row says before the task is played, and what plays it.

        Raises:
            InputError: The world, its users or the policy are not as the file says.
        """
        finder = SeedFinder(path.parent, None)
        fields = self._fields(path, file, finder)
        row = Task.model_validate({**fields, "system_prompt": self.policy(path, file), "verifiers": [_NOTHING]})
        try:
            seeds = {server.mcp_server_name: finder.seed_for(server) for server in row.gym_servers_config}
        except SeedNotFoundError as error:
            raise InputError(str(path), [Problem("world", str(error))]) from None
        urls = {server.mcp_server_name: self.urls[server.domain] for server in row.gym_servers_config}
        return fields, Player(str(path), file, row, self.http, urls, seeds)

    def _fields(self, path: Path, file: TaskFile, finder: SeedFinder) -> dict[str, Any]:
        """What the row says before the task is played."""
        domains = [domain for domain, _seed in file.worlds]
        if missing := [domain for domain in domains if domain not in registry.domains()]:
            raise InputError(str(path), [Problem("world", unknown("domain", missing[0], registry.domains()))])
        return {
            "task_id": file.id,
            "domain": domains[0] if len(domains) == 1 else "hybrid",
            "system_prompt": f"{{{{include {file.policy}}}}}" if file.policy else self.policy(path, file),
            "user_prompt": file.request.strip(),
            **({"user_prompts": file.wordings} if file.wordings else {}),
            "gym_servers_config": [self._server(path, file, domain, seed, finder) for domain, seed in file.worlds],
            "feasible": file.feasible,
            **({"access": file.access.value} if file.access is not Access.PUBLISHED else {}),
            **({"tags": file.tags} if file.tags else {}),
            **({"plan": file.plan} if file.plan else {}),
            **(
                {"events": [e.of_row.model_dump(mode="json", exclude_defaults=True) for e in file.events]}
                if file.events
                else {}
            ),
            **({"days": [{"message": day.message, "begins_at": day.at} for day in file.days]} if file.days else {}),
        }

    def _server(self, path: Path, file: TaskFile, domain: str, seed: str, finder: SeedFinder) -> dict[str, Any]:
        published = PUBLISHED_SERVERS.get(domain)
        name = published.name if published else f"gym-{domain}-mcp"
        stored = seed if seed.endswith(".sql") else f"{BUILTIN}{seed}"
        header = registry.load(domain).identity_header
        identity = self.identity(path, file, domain, stored, finder)
        return {"mcp_server_name": name, "seed_database_file": stored, "context": {header: identity}}

    def identity(self, path: Path, file: TaskFile, domain: str, seed: str, finder: SeedFinder) -> str:
        """The value by which the gym server knows the acting user.

        Raises:
            InputError: No or several users have the name.
        """
        known = registry.load(domain)
        if seed.startswith(BUILTIN) and seed.removeprefix(BUILTIN) not in known.seeds:
            raise InputError(
                str(path), [Problem("world", unknown(f"seed of {domain}", seed.removeprefix(BUILTIN), known.seeds))]
            )
        databases = SeedDatabases(
            lambda one: finder.seed_for(GymServer(mcp_server_name="seed", seed_database_file=one)).sql, self.now
        )
        actors = databases.rows(domain, seed, known.actors) if known.actors else []
        matching = [str(actor["identity"]) for actor in actors if file.actor in (actor["name"], actor["identity"])]
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise InputError(
                str(path),
                [
                    Problem(
                        "actor",
                        f"{len(matching)} users of {domain} are called {file.actor}; give one of {', '.join(matching)}",
                    )
                ],
            )
        advice = f"`opsgym gym explore {domain}` lists the users that may act"
        raise InputError(
            str(path), [Problem("actor", unknown("user", file.actor, [str(actor["name"]) for actor in actors], advice))]
        )

    def policy(self, path: Path, file: TaskFile) -> str:
        """The instructions of the agent.

        Raises:
            InputError: The file's policy cannot be read.
        """
        if file.policy:
            try:
                return (path.parent / file.policy).read_text(encoding="utf-8")
            except OSError as error:
                raise InputError(
                    str(path), [Problem("policy", f"{file.policy} cannot be read: {error.strerror}")]
                ) from None
        names = ("policy.md", "policy-strict.md") if file.access is Access.STRICT else ("policy.md",)
        parts = [f"You are the assistant of {file.actor}. The following policy applies to everything you do."]
        for domain, _seed in file.worlds:
            here = files(f"opsgym_domains.{domain}")
            parts += (
                here.joinpath(name).read_text(encoding="utf-8") for name in names if here.joinpath(name).is_file()
            )
        return "\n\n".join(parts)

    def _of_play(self, file: TaskFile, played: Played, answer: str) -> dict[str, Any]:
        """What the row says of the solution."""
        calls = [call.model_dump(mode="json", exclude_none=True) for call in played.calls]
        tools = list(dict.fromkeys([*(call.name for call in played.calls), *file.tools]))
        early = [str(resolved(day.answer, played.named)) for day in file.days]
        answers = {"gold_answers": [*early, answer]} if file.days else {}
        return {"selected_tools": tools, "gold_actions": calls, "gold_answer": answer, **answers, "horizon": len(calls)}

    async def _prove(self, path: Path, file: TaskFile, judge: _Judge) -> None:
        problems = []
        if failed := await judge.failed(file.steps()):
            problems.append(Problem("solution", f"does not pass its own verifiers: {failed}"))
        if not await judge.failed([], idle=True):
            problems.append(Problem("report", "an agent that does nothing passes; name facts to report, or evidence"))
        for label, other in file.also.items():
            if failed := await judge.failed(file.steps(other), other):
                problems.append(Problem(f"also.{label}", f"does not pass: {failed}"))
        for label, other in file.wrong.items():
            try:
                failed = await judge.failed(file.steps(other), other)
            except _NotRefusedError as error:
                problems.append(Problem(f"wrong.{label}.refused", str(error)))
                continue
            if not failed:
                problems.append(
                    Problem(f"wrong.{label}", "passes; report the fact, or name the evidence, that tells it from right")
                )
        if problems:
            raise InputError(str(path), problems)


@dataclass(frozen=True)
class _Judge:
    """Judges ways through a task by its verifiers."""

    player: Player
    task: Task
    played: Played
    answer: str

    async def failed(self, steps: Sequence[Step], other: Other | None = None, *, idle: bool = False) -> str:
        """What fails of a way; empty if it passes.

        Raises:
            _NotRefusedError: No call is refused by the rule that the way names.
        """
        async with self.player.databases() as gyms:
            played = await self.player.play(gyms, steps, again(self.played), strict=False)
            trajectory = Trajectory(played.results, *self._answers(other, played, idle=idle), played.by_day)
            results = await verify(self.task, gyms, trajectory, differences=played.differences)
        if other is not None and other.refused and other.refused not in played.read:
            raise _NotRefusedError(f"no call is refused by {other.refused}")
        return "; ".join(_shortfall(result) for result in results if not result.passed)

    def _answers(self, other: Other | None, played: Played, *, idle: bool) -> tuple[str, list[str]]:
        """The final answer, and those of the days before."""
        days = self.player.file.days
        if idle:
            return "", [""] * len(days)
        given = None if other is None else other.answer
        final = self.answer if given is None else str(resolved(given, played.named))
        early = None if other is None else other.day_answers
        texts = [day.answer for day in days] if early is None else early
        return final, [str(resolved(text, self.played.named)) for text in texts]


class _NotRefusedError(Exception):
    """A call is carried out that a rule should have refused; the message is one sentence."""


def _shortfall(result: VerifierResult) -> str:
    return f"{result.name}: {'; '.join(shortfalls(result))}"


def _answer(path: Path, file: TaskFile, played: Played) -> str:
    try:
        return str(resolved(file.answer, played.named))
    except ReferenceFaultError as error:
        raise InputError(str(path), [Problem("answer", str(error))]) from None
