"""Seeds of requests: sampling that repeats as far as the provider repeats it.

Invariant: all requests of a trial have one seed, which follows from run, task and trial number: attempts of a trial
share it, trials and runs do not. A seed that the user set is never replaced.
"""

from __future__ import annotations

import hashlib

from opsgym_runner.job import JUDGE, Job, ResolvedModel
from opsgym_runner.models.published import RESPONSES, accepts_temperature, litellm_id

SEEDED = ("openai/", "azure/", "hosted_vllm/", "openrouter/", "gemini/", "vertex_ai/gemini", "groq/", "dashscope/")
"""Providers that document a seed, by the beginning of the litellm id. OpenAI's Responses API has none."""
_BITS = 31  # DashScope and Gemini take a signed number of 32 bits


def trial_seed(run: str, task_id: str, trial: int) -> int:
    """Seed of a trial's requests.

    Args:
        run: Id of the run.
        task_id: The task.
        trial: Number of the trial.
    """
    digest = hashlib.sha256(f"{run}/{task_id}/{trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _BITS)


def request_seed(job: Job, model: ResolvedModel, role: str = "") -> int | None:
    """Seed of a job's requests to one of its models; None if they have none.

    The judge gets none: it judges a stored answer again in the same way, which belongs to no trial then. An agent
    with a command writes its requests itself.

    Args:
        job: The attempt.
        model: The agent's model, its planner or the judge.
        role: `PLANNER`, `JUDGE`, or empty for the agent.
    """
    if job.agent.command and not role:
        return None
    own = model.parameters.get("seed")
    if own is not None:
        return own if isinstance(own, int) else None
    called = litellm_id(model.model, model.parameters, job.agent)
    sampled = accepts_temperature(called, model.parameters) and f"/{RESPONSES}" not in called
    if role == JUDGE or job.agent.request_seeds == "none" or not (sampled and called.startswith(SEEDED)):
        return None
    return trial_seed(job.run, job.task.task_id, job.trial)
