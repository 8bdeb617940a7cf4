"""The published recordings and tasks of a domain, and what they are replayed on.

Invariant: every recording has a database of its own, seeded with its own world.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.gym import Gym
from tools.conformance.documents import WorldOf, rerun_of_document
from tools.conformance.published import Published, Verdict, judge, rerun_of
from tools.conformance.recordings import Recording, read_recordings
from tools.conformance.replay import Harness, Judgement, Plan
from tools.conformance.report import Judged

from opsgym_domains import registry
from opsgym_domains.kit.domain import Domain


def recordings_of(upstream: Path, domain: str) -> list[Recording]:
    """The recordings of a domain; none if there are none."""
    return read_recordings(upstream / "trajectories" / domain)


def headers_of(upstream: Path, domain: str) -> dict[str, str]:
    """Value of the identity header by task, of tasks that name one."""
    judgements: dict[str, str] = {}
    header = registry.load(domain).identity_header
    for path in sorted((upstream / "tasks" / domain).glob("task_*.json")):
        for server in json.loads(path.read_text(encoding="utf-8"))["gym_servers_config"]:
            context: Mapping[str, Any] = server.get("context") or {}
            if header in context:
                judgements[path.name.split(".")[0]] = context[header]
    return judgements


def replay_all(gym: Gym, domain: str, recordings: Sequence[Recording], headers: Mapping[str, str]) -> list[Judged]:
    """Replays recordings, each in a world of its own; what came of every call.

    Args:
        gym: A server of the domain.
        domain: Name of the domain.
        recordings: What to replay.
        headers: Value of the identity header by task, where it is known.
    """
    harness = Harness(registry.load(domain), recordings)
    judged: list[Judged] = []
    for recording in recordings:
        try:
            plan = harness.plan(recording, headers.get(recording.task_id))
        except (LookupError, TypeError, AttributeError) as error:
            judgements = _impossible(recording, f"its world cannot be made: {error!r}")
        else:
            judgements = _replayed(gym, harness, plan)
        judged += [Judged(recording.task_id, recording.source, judgement) for judgement in judgements]
    return judged


def _impossible(recording: Recording, reason: str) -> list[Judgement]:
    return [Judgement(index, call, "impossible", reason) for index, call in enumerate(recording.calls)]


def _replayed(gym: Gym, harness: Harness, plan: Plan) -> list[Judgement]:
    """What came of a plan's calls; all are impossible to judge if its world is refused."""
    try:
        desk = gym.database(plan.seed, **harness.headers(plan))
    except AssertionError as refused:
        return _impossible(plan.recording, f"its world is refused: {refused}")
    judgements = harness.replay(plan, desk)
    gym.drop(desk)
    return judgements


async def verdicts_of(
    gym: Gym, domain: str, recordings: Sequence[Recording], headers: Mapping[str, str], tasks: Sequence[Published]
) -> list[Verdict]:
    """Verdicts of every task that has a recorded one, after its run was replayed.

    Args:
        gym: A server of the domain.
        domain: Name of the domain.
        recordings: All recordings of the domain.
        headers: Value of the identity header by task, where it is known.
        tasks: The published tasks.
    """
    harness = Harness(registry.load(domain), recordings)
    return [
        await judge(gym, task, rerun_of(harness, harness.plan(recording, headers.get(recording.task_id))))
        for task, recording in runs_of(tasks, recordings)
    ]


async def document_verdicts_of(
    gym: Gym, domain: Domain, recordings: Sequence[Recording], world_of: WorldOf, tasks: Sequence[Published]
) -> list[Verdict]:
    """Verdicts as `verdicts_of`, of a domain whose answers are documents.

    Args:
        gym: A server of the domain.
        domain: The domain.
        recordings: All recordings of the domain.
        world_of: Makes the world of a recording.
        tasks: The published tasks.
    """
    return [
        await judge(gym, task, rerun_of_document(domain, recording, world_of(recording, recordings)))
        for task, recording in runs_of(tasks, recordings)
    ]


def runs_of(tasks: Sequence[Published], recordings: Sequence[Recording]) -> list[tuple[Published, Recording]]:
    """Tasks that have a recorded verdict, each with the recording of the run that it is of."""
    return [(task, recording) for task in tasks for recording in recordings if task.is_run(recording)]
