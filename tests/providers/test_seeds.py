"""Seeds of requests: sent where the provider takes one, the same for every request of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import SecretStr
from tests.providers.conftest import KEY, TOOL
from tests.providers.stubs import Stub, anthropic_messages, gemini_generate, openai_chat, openai_responses
from tests.providers.test_errors import AZURE, CONVERSATION
from tests.runner.jobs import NO_JITTER, FakeTime, make_job

from opsgym_api.kinds.evalrun import Agent
from opsgym_runner.clients import ModelRegistry
from opsgym_runner.job import JUDGE, Job, ModelEndpoint, ResolvedModel
from opsgym_runner.models.seeds import request_seed, trial_seed

pytestmark = pytest.mark.anyio


def groq_chat() -> tuple[dict[str, Any], ...]:
    """Chat completions of Groq, which name the service tier."""
    return tuple({**body, "service_tier": "on_demand"} for body in openai_chat())


PUBLISHED = Agent(name="a", profile="published")
TAKEN: dict[str, tuple[str, str, tuple[dict[str, Any], ...], dict[str, Any]]] = {
    "OpenAI": ("openai/gpt-4o", "/v1", openai_chat(), {}),
    "Azure": ("azure/gpt-4.1", "", openai_chat(), AZURE),
    "vLLM": ("hosted_vllm/qwen3", "/v1", openai_chat(), {}),
    "OpenRouter": ("openrouter/qwen/qwen3", "/v1", openai_chat(), {}),
    "DashScope": ("dashscope/qwen-plus", "/v1", openai_chat(), {}),
    "Groq": ("groq/llama-3.3-70b-versatile", "/openai/v1", groq_chat(), {}),
    "Gemini": ("gemini/gemini-2.5-pro", "", gemini_generate(), {}),
}
NOT_TAKEN: dict[str, tuple[str, str, tuple[dict[str, Any], ...], dict[str, Any]]] = {
    "OpenAI, a model with fixed sampling": ("openai/gpt-5", "/v1", openai_chat(), {}),
    "OpenAI Responses": ("openai/responses/gpt-4o", "/v1", openai_responses(), {}),
    "Anthropic": ("anthropic/claude-sonnet-4-5", "", anthropic_messages(), {}),
    "DeepSeek": ("deepseek/deepseek-chat", "", openai_chat(), {}),
}
"""litellm id, what the URL ends with, replies and parameters, by provider."""


async def seeds_sent(
    case: tuple[str, str, tuple[dict[str, Any], ...], Mapping[str, Any]], role: str = "", **fields: Any
) -> tuple[list[int | None], Job, ResolvedModel]:
    """Seeds of two requests as they came over the wire."""
    model, base, bodies, parameters = case
    stub, clients = Stub(bodies[1:]), ModelRegistry(NO_JITTER, FakeTime().clock)
    job = make_job("http://gym", **fields)
    with stub.serving() as url:
        endpoint = ModelEndpoint(url + base, SecretStr(KEY))
        resolved = ResolvedModel("m", model, (endpoint,), {"timeout": 20, **parameters})
        async with clients.client_of(resolved, job, role) as client:
            for _ in range(2):
                await client.complete(CONVERSATION, [TOOL])
        await clients.close()
    return (
        [seen.body.get("seed", seen.body.get("generationConfig", {}).get("seed")) for seen in stub.seen],
        job,
        resolved,
    )


@pytest.mark.parametrize("case", TAKEN)
async def test_every_request_of_a_trial_has_the_trials_seed(case: str) -> None:
    seeds, job, model = await seeds_sent(TAKEN[case])

    expected = trial_seed(job.run, job.task.task_id, job.trial)
    assert seeds == [expected, expected]
    assert request_seed(job, model) == expected


@pytest.mark.parametrize("case", NOT_TAKEN)
async def test_a_provider_without_seeds_gets_none(case: str) -> None:
    seeds, job, model = await seeds_sent(NOT_TAKEN[case])

    assert (seeds, request_seed(job, model)) == ([None, None], None)


async def test_a_seed_of_the_user_goes_first_and_is_recorded() -> None:
    model, base, bodies, _ = TAKEN["OpenAI"]

    seeds, job, resolved = await seeds_sent((model, base, bodies, {"seed": 7}), agent=PUBLISHED)

    assert (seeds, request_seed(job, resolved)) == ([7, 7], 7)


@pytest.mark.parametrize("fields", [{"agent": PUBLISHED}, {"agent": Agent(name="a", request_seeds="none")}])
async def test_the_published_profile_and_the_switch_send_no_seed(fields: dict[str, Any]) -> None:
    seeds, job, model = await seeds_sent(TAKEN["OpenAI"], **fields)

    assert (seeds, request_seed(job, model)) == ([None, None], None)


async def test_a_judge_gets_no_seed() -> None:
    seeds, _, _ = await seeds_sent(TAKEN["OpenAI"], JUDGE)

    assert seeds == [None, None]


def test_trials_tasks_and_runs_have_seeds_of_their_own_in_31_bits() -> None:
    names = [(run, task, trial) for run in ("a", "b") for task in ("s", "t") for trial in range(50)]

    seeds = [trial_seed(*name) for name in names]

    assert len(set(seeds)) == len(names)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seeds == [trial_seed(*name) for name in names]
