"""`replay/flaky`: faults at given rates, the same ones every time, and what the runner makes of each."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from tests.runner.jobs import MemoryStore, make_job, make_task
from tests.runner.stub_gym import StubGym

from opsgym_api.records.attempt import AttemptRecord
from opsgym_core.common.backoff import Backoff
from opsgym_runner.errors import NotScored
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.replay.flaky import Fault, Faults, FlakyParameters, faults_of, flaky_problems, malformed
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

SWIFT = RetryPolicy(Backoff(initial_s=0.001, maximum_s=0.002))
EVERYTHING = {fault.value: 0.05 for fault in Fault}


def flaky(**parameters: Any) -> ResolvedModel:
    return ResolvedModel(name="m", model="replay/flaky", parameters={"retry_after": 0.01, "timeout": 0.3, **parameters})


def draws(parameters: FlakyParameters, attempt: str, count: int) -> list[Fault | None]:
    faults = Faults(parameters, attempt)
    return [faults.draw().fault for _ in range(count)]


def test_faults_come_at_their_rates() -> None:
    drawn = Counter(draws(FlakyParameters.model_validate({"rates": EVERYTHING}), "a", 20_000))

    for fault in Fault:
        assert drawn[fault] == pytest.approx(1000, rel=0.12), fault
    assert drawn[None] == pytest.approx(14_000, rel=0.02)


def test_faults_depend_on_the_attempt_only() -> None:
    parameters = FlakyParameters.model_validate({"rates": EVERYTHING})
    other_seed = FlakyParameters.model_validate({"rates": EVERYTHING, "seed": 1})

    assert draws(parameters, "a", 50) == draws(parameters, "a", 50)
    assert draws(parameters, "a", 50) != draws(parameters, "b", 50)
    assert draws(parameters, "a", 50) != draws(other_seed, "a", 50)


def test_every_part_of_an_attempts_name_decides() -> None:
    def first(job: Job, by: str = "") -> list[float]:
        faults = faults_of(flaky(rates=EVERYTHING), job, by)
        return [faults.draw().chance for _ in range(3)]

    job = make_job("http://gym")
    others = [first(make_job("http://gym", trial=1)), first(make_job("http://gym", attempt=1))]
    others += [first(make_job("http://gym", make_task(task_id="other"))), first(job, "planner")]
    assert first(job) == first(make_job("http://elsewhere"))
    assert first(job) not in others


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"rates": {"timeout": -0.1}}, "rates.timeout: must be greater than or equal to 0, found -0.1"),
        ({"rates": {"timeout": 0.6, "cut_stream": 0.6}}, "rates: a request meets one fault at most"),
        ({"rates": {"teapot": 0.1}}, "rates.teapot: is not a field here"),
        ({"of": "gpt"}, "of: 'gpt' is not allowed; allowed: 'gold' or 'noop'"),
        ({"temperature": 0}, "temperature: is not a field here"),
        ({"timeout": 0}, "timeout: must be greater than 0"),
        ({"seed": "x"}, "seed: must be"),
    ],
)
def test_invalid_parameters_are_refused(parameters: dict[str, Any], problem: str) -> None:
    (actual,) = flaky_problems("replay/flaky", parameters)
    assert str(actual).startswith(problem)
    with pytest.raises(NotScored, match="parameters") as refused:
        faults_of(ResolvedModel(name="m", model="replay/flaky", parameters=parameters), make_job("http://gym"))
    assert refused.value.outcome == "config_error"


def test_parameters_of_other_models_are_ignored() -> None:
    assert flaky_problems("openai/gpt-5", {"temperature": 0}) == []


@pytest.mark.parametrize("chance", [0.0, 0.4, 0.9])
def test_a_malformed_call_cannot_be_executed(chance: float) -> None:
    call = {"id": "call_0", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    broken = malformed({"role": "assistant", "content": None, "tool_calls": [call]}, chance)["tool_calls"][0]
    try:
        usable = isinstance(json.loads(broken["function"]["arguments"]), dict) and broken["function"]["name"] == "t"
    except ValueError:
        usable = False
    assert not usable
    assert broken["id"] == "malformed_call_0"


async def attempt(store: MemoryStore, gym_url: str, model: ResolvedModel, **fields: Any) -> AttemptRecord:
    async with Runner(store, retry=SWIFT) as runner:
        return await runner.run(make_job(gym_url, model=model, **fields))


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.MALFORMED_TOOL_CALL])
async def test_a_request_that_meets_a_fault_is_sent_again(store: MemoryStore, gym_url: str, fault: Fault) -> None:
    record = await attempt(store, gym_url, flaky(rates={fault.value: 0.5}, seed=3, timeout=0.2))

    assert record.outcome == "passed"
    assert record.model_retries > 0


async def test_malformed_calls_are_reported_to_the_model_which_repeats_them_correctly(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    record = await attempt(store, gym_url, flaky(rates={"malformed_tool_call": 0.5}, seed=1))

    assert record.outcome == "passed"
    assert len(gym.calls) == 2
    trial = store.trial()
    assert trial is not None
    assert trial.tool_errors == record.tool_calls - 2 > 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("rate_limit", "model_rate_limited"),
        ("rate_limit_retry_after", "model_rate_limited"),
        ("server_error", "model_unavailable"),
        ("cut_stream", "model_unavailable"),
        ("timeout", "model_unavailable"),
    ],
)
async def test_a_persistent_fault_is_an_infra_error_with_its_reason(
    store: MemoryStore, gym_url: str, fault: str, reason: str
) -> None:
    swift = RetryPolicy(Backoff(initial_s=0.001, maximum_s=0.002), total_wait_s=0.004)
    async with Runner(store, retry=swift) as runner:
        record = await runner.run(make_job(gym_url, model=flaky(rates={fault: 1}, timeout=0.1, retry_after=0.003)))

    assert (record.outcome, record.reason) == ("infra_error", reason)


async def test_an_attempt_that_is_run_again_goes_the_same_way(
    gym_url: str,
) -> None:
    model = flaky(rates={"rate_limit": 0.2, "server_error": 0.2, "malformed_tool_call": 0.2}, seed=5)
    first, second = [await attempt(MemoryStore(), gym_url, model) for _ in range(2)]

    assert (first.model_retries, first.tool_calls) == (second.model_retries, second.tool_calls)
    assert first.model_retries + first.tool_calls > 2


async def test_a_flaky_model_around_noop_does_nothing(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    record = await attempt(store, gym_url, flaky(of="noop"))

    assert (record.outcome, gym.calls) == ("failed", [])
