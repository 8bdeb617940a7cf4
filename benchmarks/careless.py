"""`python -m benchmarks careless [SUITE …] [--every N]`: how often scripted agents pass that are careless in one way.

Invariant: an agent is the reference solution with one kind of carelessness, played by the same runner and judged by the
same verifiers as any model. A task to which a kind does not apply is not counted for it.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.gym import serving
from opsgym_api.kinds.evalrun import Access, Agent, Limits, Mode
from opsgym_api.records.attempt import Cell
from opsgym_api.records.outcomes import Outcome
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_core.common.logs import ENV_LEVEL, configure_logs
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.store.local import LocalStore
from opsgym_domains import registry
from opsgym_domains.kit.tools import Tool
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.prices import FREE
from opsgym_runner.runner import Runner

CONCURRENCY = 4
SUITES = ("itsm-core", "csm-core")
Tools = Mapping[str, Tool]
Careless = Callable[[Task, Tools], Sequence[ToolCall] | None]
"""The calls of an agent that is careless in some way; None if its carelessness makes no difference to the task."""


def _is_notification(tool: Tool) -> bool:
    return (
        tool.effect is not None and tool.effect.operation == "adds" and "notification" in tool.effect.row.__tablename__
    )


def stops_early(task: Task, tools: Tools) -> Sequence[ToolCall] | None:
    """Calls up to the first write."""
    gold = task.gold_actions or []
    writes = [place for place, call in enumerate(gold) if tools[call.name].writes]
    return gold[: writes[0] + 1] if len(writes) > 1 else None


def skips_look_ups(task: Task, tools: Tools) -> Sequence[ToolCall] | None:
    """The calls that write alone."""
    gold = task.gold_actions or []
    writes = [call for call in gold if tools[call.name].writes]
    return writes if writes and len(writes) < len(gold) else None


def never_notifies(task: Task, tools: Tools) -> Sequence[ToolCall] | None:
    """All calls but those that send notifications."""
    gold = task.gold_actions or []
    others = [call for call in gold if not _is_notification(tools[call.name])]
    return others if len(others) < len(gold) else None


def forgets_the_last_write(task: Task, tools: Tools) -> Sequence[ToolCall] | None:
    """All calls but the last one that writes."""
    gold = task.gold_actions or []
    writes = [place for place, call in enumerate(gold) if tools[call.name].writes]
    return [*gold[: writes[-1]], *gold[writes[-1] + 1 :]] if writes else None


def does_more(task: Task, tools: Tools) -> Sequence[ToolCall] | None:
    """All calls, and the last one that adds a row twice."""
    gold = task.gold_actions or []
    adding = [call for call in gold if (effect := tools[call.name].effect) is not None and effect.operation == "adds"]
    return [*gold, adding[-1]] if adding else None


def looks_at_nothing(task: Task, _tools: Tools) -> Sequence[ToolCall] | None:
    """No call, of an infeasible task: the reason is guessed, and right."""
    return None if task.feasible else []


AGENTS: Mapping[str, Careless] = {
    "stops after the first write": stops_early,
    "forgets the last write": forgets_the_last_write,
    "skips look-ups": skips_look_ups,
    "never notifies": never_notifies,
    "adds a row once more": does_more,
    "refuses an infeasible task without a look": looks_at_nothing,
}


def measure_arguments(arguments: Sequence[str]) -> list[str]:
    """Lines of the report, for the arguments of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks careless", description=__doc__)
    parser.add_argument("suites", nargs="*", default=SUITES, metavar="SUITE", help="built-in suites of one domain each")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="play one task in N")
    options = parser.parse_args(arguments)
    return asyncio.run(measure(options.suites, options.every))


async def measure(suites: Sequence[str] = SUITES, every: int = 1) -> list[str]:
    """Lines of the report.

    Args:
        suites: Built-in suites, of one domain each.
        every: One task in so many is played.
    """
    configure_logs({ENV_LEVEL: "WARNING"})
    load_litellm()
    passed = {suite: await _play_suite(suite, every) for suite in suites}
    return [
        f"Episodes passed of those played; one task in {every}:" if every > 1 else "Episodes passed of those played:",
        "",
        f"| agent | {' | '.join(suites)} |",
        f"| --- |{' --- |' * len(suites)}",
        *(f"| {agent} | {' | '.join(_rate(passed[suite], agent) for suite in suites)} |" for agent in AGENTS),
    ]


def _rate(outcomes: Counter[tuple[str, Outcome]], agent: str) -> str:
    played = sum(count for (name, _), count in outcomes.items() if name == agent)
    return f"{outcomes[agent, Outcome.PASSED]} of {played}"


async def _play_suite(suite: str, every: int) -> Counter[tuple[str, Outcome]]:
    tasks = registry.load_suite(suite)[::every]
    domain = tasks[0].gym_servers_config[0].domain
    episodes = list(careless_tasks(tasks, registry.load(domain).toolbox.tools))
    places = asyncio.Semaphore(CONCURRENCY)
    with serving(domain) as gym, tempfile.TemporaryDirectory() as folder:
        async with Runner(LocalStore(Path(folder))) as runner:

            async def play(number: int, agent: str, task: Task) -> tuple[str, Outcome]:
                async with places:
                    record = await runner.run(_job(task, number, domain, gym.url))
                if record.outcome not in (Outcome.PASSED, Outcome.FAILED):
                    raise RuntimeError(f"{agent}, {task.task_id}: {record.outcome} {record.reason} {record.message}")
                return agent, record.outcome

            played = (play(number, agent, task) for number, (agent, task) in enumerate(episodes))
            return Counter(await asyncio.gather(*played))


def careless_tasks(tasks: Sequence[Task], tools: Tools) -> Iterator[tuple[str, Task]]:
    """Each task with the calls of each agent in place of its reference solution."""
    for task in tasks:
        for agent, careless in AGENTS.items():
            calls = careless(task, tools)
            if calls is not None:
                yield agent, task.model_copy(update={"gold_actions": list(calls)})


def _job(task: Task, number: int, domain: str, url: str) -> Job:
    return Job(
        run="careless",
        cell=Cell(model="gold", agent="react", mode="oracle", domain=domain),
        task=task,
        trial=number,
        attempt=0,
        model=ResolvedModel(name="gold", model="replay/gold", prices=FREE),
        agent=Agent(name="react"),
        mode=Mode.ORACLE,
        limits=Limits(),
        access=Access.PUBLISHED,
        gyms={domain: url},
        seeds={
            server.mcp_server_name: Seed(builtin=server.seed_database_file.removeprefix("builtin:"))
            for server in task.gym_servers_config
        },
    )
