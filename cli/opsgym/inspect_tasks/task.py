"""The Inspect task: a sample for each row, seeded before the solver, judged by the row's verifiers after it.

Invariant: a sample is scored by the end state of its own fresh databases, as an episode of `opsgym run` is. Rows that
need more than a solver's loop of model and tool calls (events, days, a judge) are left out by name, never played
without.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from inspect_ai import Task as InspectTask
from inspect_ai import task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.tool import Tool, ToolSource

from opsgym.inspect_tasks.episodes import Episode, current_episode, end_episode, episode_of, start_episode
from opsgym.local.inputs import read_suite, resolve_seeds, seed_finder
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Access, Mode, Suite
from opsgym_api.tasks.task import Task
from opsgym_core.results.explanation import shortfalls
from opsgym_domains.editions import is_builtin

log = logging.getLogger(__name__)


@task
def opsgym(
    suite: str = "quickstart", mode: str = "oracle", access: str = "published", message_limit: int = 100
) -> InspectTask:
    """A suite, with `generate` and its loop of tool calls as the solver; replace it with `--solver`.

    Args:
        suite: Name of a built-in suite, or a path to task rows.
        mode: The tool set shown: `oracle`, `plus_5_tools`, `plus_10_tools`, `plus_15_tools`, `all_tools`.
        access: How strictly gym servers judge calls: `published` or `strict`.
        message_limit: Most messages of a sample; the state at the limit is judged.

    Raises:
        InputError: The suite cannot be read, or none of its rows can run.
    """
    chosen = Suite(builtin=suite) if is_builtin(suite) else Suite(path=suite)
    rows, bad_rows = read_suite("suite", chosen, Path.cwd(), os.environ)
    seeds, unrunnable = resolve_seeds(rows, seed_finder(chosen, Path.cwd()))
    left_out = {
        **{bad.task_id: bad.message for bad in bad_rows},
        **{task_id: problem.message for task_id, problem in unrunnable.items()},
        **{row.task_id: problem for row in rows if (problem := _unsupported(row, Mode(mode)))},
    }
    playable = [row for row in rows if row.task_id not in left_out]
    if not playable:
        raise InputError(suite, [Problem(task_id, problem) for task_id, problem in left_out.items()])
    for task_id, problem in left_out.items():
        log.warning("task %s is left out: %s", task_id, problem)
    episodes = {row.task_id: Episode(row, seeds[row.task_id], Mode(mode), Access(access)) for row in playable}
    return InspectTask(
        dataset=MemoryDataset([_sample(row) for row in playable], name=suite),
        setup=seeded(episodes),
        solver=generate(),
        cleanup=end_episode,
        scorer=verifiers(),
        message_limit=message_limit,
        metadata={"suite": suite, "mode": mode, "left_out": left_out},
    )


def gym_tools() -> ToolSource:
    """The tools of the current sample, for agents that are given tools by name: `react(tools=[gym_tools()])`."""
    return _GymTools()


class _GymTools:
    async def tools(self) -> list[Tool]:
        """Tools of the sample that is being solved.

        Raises:
            LookupError: No sample of this task is being solved.
        """
        return current_episode().tools()


@solver
def seeded(episodes: dict[str, Episode]) -> Solver:
    """Seeds the sample's databases and gives the solver its tools."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 Inspect's signature
        episode = await start_episode(state.uuid, episodes[str(state.sample_id)])
        state.tools = [*state.tools, *episode.tools()]
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()], name="opsgym")
def verifiers() -> Scorer:
    """Executes the row's verifiers: correct if every one passes."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 Inspect's signature
        answer = state.output.completion
        results = await episode_of(state.uuid).verify(answer)
        failed = [result for result in results if not result.passed]
        return Score(
            value=INCORRECT if failed else CORRECT,
            answer=answer,
            explanation="; ".join(f"{r.name}: {', '.join(shortfalls(r))}" for r in failed),
            metadata={"verifiers": [result.to_dict() for result in results]},
        )

    return score


def _sample(row: Task) -> Sample:
    prompts = [ChatMessageSystem(content=row.system_prompt)] if row.system_prompt else []
    return Sample(
        id=row.task_id,
        input=[*prompts, ChatMessageUser(content=row.user_prompt)],
        metadata={
            "domain": row.domain,
            "feasible": row.feasible,
            "horizon": row.steps,
            "variant": row.variant,
            "tags": row.tags,
        },
    )


def _unsupported(row: Task, mode: Mode) -> str:
    """Why a row cannot be a sample; empty if it can."""
    needs: Sequence[tuple[bool, str]] = (
        (bool(row.events), "has scenario events, which happen between steps of opsgym's own agents"),
        (bool(row.days), "lasts several days"),
        (any(one.verifier_type == "response_check" for one in row.verifiers), "needs a judge (response_check)"),
        (row.only_mode not in (None, mode), f"is published for mode {row.only_mode} only"),
    )
    return "; ".join(problem for needed, problem in needs if needed)
