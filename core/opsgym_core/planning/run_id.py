"""Digest of a suite, and the id of a run on one machine.

Invariant: the same work has the same id, so repeating a command resumes its run. Further runs of the same work are
numbered from 2, and the command resumes the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.tasks.digest import digest_of, task_digest
from opsgym_api.tasks.task import Task


def suite_digest(tasks: Iterable[Task]) -> str:
    """SHA-256 over the digests of all rows, in any order."""
    return digest_of_rows((task.task_id, task_digest(task)) for task in tasks)


def digest_of_rows(rows: Iterable[tuple[str, str]]) -> str:
    """SHA-256 of a suite, from pairs of task id and row digest in any order."""
    return digest_of(sorted(rows))


def prompt_digests(spec: EvalRunSpec) -> dict[str, str]:
    """Digests of the prompts that agents replace, by names of versions: `prompts:<agent>`."""
    return {f"prompts:{agent.name}": digest_of(agent.prompts) for agent in spec.agents if agent.prompts}


def run_id(name: str, spec: EvalRunSpec, suite_digest: str, versions: Mapping[str, str]) -> str:
    """Id of a run of `opsgym run`.

    Args:
        name: Name of the EvalRun.
        spec: The spec with inlined models (`documents.inline_models`), so that a changed EvalModel makes another run.
            `suspend`, `budget` and `notify` do not affect scores and may change within a run.
        suite_digest: Digest of the selected tasks.
        versions: Further inputs that affect scores, by name: the version of opsgym, digests of seed files.

    Raises:
        ValueError: A model is a ref.
    """
    refs = [entry.name for entry in spec.models if entry.inline is None]
    if refs:
        raise ValueError(f"models must be inlined, these are refs: {', '.join(refs)}")
    content = spec.model_dump(mode="json", by_alias=True, exclude={"suspend", "budget", "notify"})
    return f"{name}.{digest_of({'spec': content, 'suite': suite_digest, 'versions': dict(versions)})[:12]}"


def numbered_run_id(first: str, exists: Callable[[str], bool], *, fresh: bool) -> str:
    """Id of the run that an invocation works on, among the runs of the same work: `nightly.3f2a`, `nightly.3f2a-2`.

    Args:
        first: Id of the first run (`run_id`).
        exists: Whether a run of this id was started.
        fresh: Whether to start another run instead of resuming the last one.
    """
    ids = chain([first], (f"{first}-{number}" for number in count(2)))
    last = first
    candidate = next(ids)
    while exists(candidate):
        last, candidate = candidate, next(ids)
    return candidate if fresh else last
