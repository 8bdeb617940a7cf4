"""Answers judged by a model: what the judge reads, what its marks decide, and what they cost."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.runner.jobs import KEY, KEYS, MemoryStore, make_job, make_task, notes_equal, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel, refuses, says

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_api.records.outcomes import Outcome
from opsgym_api.tasks.task import Task
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.runner import Runner
from opsgym_runner.verification.judge import JudgeVerdict, verdict_in

pytestmark = pytest.mark.anyio

QUERY = "SELECT text FROM notes ORDER BY id"


def judged(query: str = QUERY, **config: Any) -> Task:
    """The task, with a verifier of its state and one of the answer."""
    check = {"sql_query": query, "comparison_prompt": "Does it tell the notes?", **config}
    verifier = {"verifier_type": "response_check", "name": "reported", "validation_config": check}
    return make_task(verifiers=[notes_equal("SELECT count(*) FROM notes", 3), verifier])


async def run(store: MemoryStore, gym_url: str, judge: StubModel | str, task: Task | None = None) -> AttemptRecord:
    """Runs the task's gold actions before a judge."""
    with ExitStack() as stack:
        if isinstance(judge, str):
            model = ResolvedModel(name="jury", model=judge)
        else:
            url = stack.enter_context(serving(judge.app))
            model = stub_model(url, name="jury", prices=Prices(input_usd=1000, output_usd=0))
        async with Runner(store, retry=RetryPolicy(total_wait_s=0)) as runner:
            return await runner.run(make_job(gym_url, task or judged(), judge=model))


@pytest.mark.parametrize(
    ("mark", "config", "passed"),
    [
        (7, {}, True),
        (6.5, {}, False),
        (10, {"minimum_comparison_value": 10}, True),
        (9, {"minimum_comparison_value": 10}, False),
        (0, {"minimum_comparison_value": 0}, True),
    ],
)
async def test_an_answer_passes_from_the_rows_own_mark_on(
    store: MemoryStore, gym_url: str, mark: float, config: dict[str, Any], passed: bool
) -> None:
    answer = json.dumps({"mark": mark, "reason": "It is so."})

    record = await run(store, gym_url, StubModel(says(answer)), judged(**config))

    trial = store.trial()
    assert trial is not None
    assert (record.outcome, trial.score, trial.published_score) == (
        (Outcome.PASSED, 1, 1) if passed else (Outcome.FAILED, 0, 0)
    )
    state, reported = trial.verifiers
    assert (state.passed, reported.passed, reported.published_passed) == (True, passed, passed)
    assert reported.expected == {"minimum_comparison_value": config.get("minimum_comparison_value", 7)}
    assert reported.actual == {"mark": mark, "reason": "It is so."}
    assert reported.query == QUERY


async def test_the_judge_reads_rows_answer_and_question_and_no_tools(store: MemoryStore, gym_url: str) -> None:
    judge = StubModel(says('{"mark": 8}'))

    await run(store, gym_url, judge)

    [request] = judge.requests
    assert not {"tools", "temperature"} & set(request)
    [message] = request["messages"]
    for part in ('"text": "done"', '"text": "second"', '"text": "more"', "Both are done.", "Does it tell the notes?"):
        assert part in message["content"]


async def test_the_judge_is_counted_separately_and_is_not_a_step(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, StubModel(says('{"mark": 8}')))

    trial = store.trial()
    assert trial is not None
    assert (record.steps, record.usage.model_calls, record.judge_usage.model_calls) == (3, 3, 1)
    assert (record.judge_usage.prompt_tokens, record.judge_cost_usd, record.cost_usd) == (1000, 1.0, 1.0)
    assert (trial.judge_usage, trial.judge_cost_usd, trial.cost_usd) == (record.judge_usage, 1.0, 1.0)
    by_judge = [(event.kind, event.step) for event in store.transcript().events if event.by == "judge"]
    assert by_judge == [("user", 3), ("assistant", 3)]


async def test_a_judges_reply_without_a_mark_is_requested_once_more(store: MemoryStore, gym_url: str) -> None:
    judge = StubModel(says("It is fine, I think."), says("```json\n{'mark': 8}\n``` or rather {\"mark\": 8}"))

    record = await run(store, gym_url, judge)

    assert (record.outcome, record.judge_usage.model_calls) == (Outcome.PASSED, 2)
    assert [message["role"] for message in judge.requests[1]["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (says("It is fine."), "judge jury: gave no mark in 2 replies; the last began: 'It is fine.'"),
        (refuses(401, f"Incorrect API key: {KEY}"), "judge jury: model jury: "),
        (refuses(503), "judge jury: model jury: "),
        (says("", finish_reason="content_filter"), "judge jury: the provider's content filter stopped the reply"),
    ],
)
async def test_a_judge_that_gives_no_mark_leaves_the_trial_unscored(
    store: MemoryStore, gym: StubGym, gym_url: str, answer: Any, message: str
) -> None:
    record = await run(store, gym_url, StubModel(answer))

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "judge_failed")
    assert message in record.message
    assert store.trial() is None
    assert gym.databases == {}
    assert KEY.encode() not in b"".join(store.objects.values())


async def test_a_refused_query_of_a_response_check_is_a_config_error(store: MemoryStore, gym_url: str) -> None:
    judge = StubModel(says('{"mark": 8}'))

    record = await run(store, gym_url, judge, judged("SELECT * FROM nowhere"))

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "invalid_row")
    assert "verifiers[1] (reported): gym notes refused its query" in record.message
    assert judge.requests == []


async def test_a_task_without_response_check_calls_no_judge(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, "replay//nowhere.jsonl", make_task())

    assert record.outcome == Outcome.PASSED


@pytest.mark.parametrize(("judge", "outcome"), [("replay/gold", "passed"), ("replay/noop", "failed")])
async def test_replay_models_judge(store: MemoryStore, gym_url: str, judge: str, outcome: str) -> None:
    assert (await run(store, gym_url, judge)).outcome == outcome


async def test_a_recorded_judge_gives_its_replies_in_their_order(
    store: MemoryStore, gym_url: str, tmp_path: Path
) -> None:
    lines = [
        {"task_id": "rename-first", "tool": "idle_0"},
        {"task_id": "rename-first", "by": "judge", "answer": "Hm."},
        {"task_id": "rename-first", "by": "judge", "answer": '{"mark": 9}'},
    ]
    recording = tmp_path / "jury.jsonl"
    recording.write_text("\n".join(map(json.dumps, lines)))

    record = await run(store, gym_url, f"replay/{recording}")

    assert (record.outcome, record.judge_usage.model_calls) == (Outcome.PASSED, 2)


async def test_a_transcript_replays_its_judge_and_its_agent_separately(
    store: MemoryStore, gym_url: str, tmp_path: Path
) -> None:
    await run(store, gym_url, StubModel(says('{"mark": 9}')))
    recording = tmp_path / "transcript.json.zst"
    recording.write_bytes(store.objects[KEYS.transcript])
    replayed = ResolvedModel(name="m", model=f"replay/{recording}")
    again = MemoryStore()
    cell = Cell(model="again", agent="react", mode="oracle", domain="notes")

    async with Runner(again) as runner:
        record = await runner.run(make_job(gym_url, judged(), cell=cell, model=replayed, judge=replayed))

    assert (record.outcome, record.tool_calls, record.judge_usage.model_calls) == (Outcome.PASSED, 2, 1)


async def test_a_recording_without_a_judge_cannot_judge(store: MemoryStore, gym_url: str, tmp_path: Path) -> None:
    recording = tmp_path / "agent.jsonl"
    recording.write_text('{"task_id": "rename-first", "answer": "Done."}')

    record = await run(store, gym_url, f"replay/{recording}")

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "no_recording")
    assert "has no recording of a judge for task rename-first" in record.message


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"mark": 8, "reason": "r"}', JudgeVerdict(8, "r")),
        ('Well: {"mark": 3} – no, {"mark": 7.5}', JudgeVerdict(7.5, "")),
        ('{"score": "9", "reasoning": "r"}', JudgeVerdict(9, "r")),
        ('{"mark": 0}', JudgeVerdict(0, "")),
        ('{"mark": 11}', None),
        ('{"mark": -1}', None),
        ('{"mark": NaN}', None),
        ('{"mark": true}', None),
        ('{"mark": null}', None),
        ('{"mark": "eight"}', None),
        ('{"mark": [8]}', None),
        ("[8]", None),
        ("8/10", None),
        ("", None),
    ],
)
def test_a_mark_is_read_from_any_surrounding_text(text: str, verdict: JudgeVerdict | None) -> None:
    assert verdict_in(text) == verdict
