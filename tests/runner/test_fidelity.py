"""Scores where the published harness is at fault: ours, and beside it the published one.

The numbers are those of docs/fidelity-differences.md, section Scoring.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from starlette.responses import Response
from tests.runner.jobs import MemoryStore, make_job, make_task, notes_equal, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import Answer, StubModel, calls, refuses, says

from opsgym_api.kinds.evalrun import Limits, Mode
from opsgym_api.records.attempt import AttemptRecord, TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.tasks.reading import BadRow, parse_row
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

SOLVED = (calls(("rename_note", {"id": 1, "text": "done"}), ("add_note", {"text": "more"})), says("Both are done."))
COUNT = "SELECT count(*) FROM notes"
SEEN = notes_equal("SELECT text FROM notes WHERE id = 1", "done", name="renamed")


async def run(store: MemoryStore, gym_url: str, *answers: Answer, task: Task, **fields: Any) -> AttemptRecord:
    with serving(StubModel(*answers).app) as url:
        async with Runner(store, retry=RetryPolicy(total_wait_s=0)) as runner:
            return await runner.run(make_job(gym_url, task, model=stub_model(url), **fields))


def scored(store: MemoryStore) -> TrialRecord:
    trial = store.trial()
    assert trial is not None
    return trial


@pytest.mark.parametrize(
    ("verifiers", "score", "published"),
    [
        ([notes_equal(COUNT, 99, name="n"), notes_equal(COUNT, 3, name="n")], 0, 1),  # 1
        ([notes_equal(COUNT, 3, name="n"), notes_equal(COUNT, 99, name="n")], 0, 0),  # 1
        ([notes_equal(COUNT, 3, name="n"), notes_equal(COUNT, 3, name="n")], 1, 1),  # 1
        ([notes_equal(COUNT, 99, name=""), notes_equal(COUNT, 3, name="")], 0, 0),  # 1
        ([notes_equal(COUNT, "3")], 1, 0),  # 3
        ([notes_equal("SELECT '3'", 3)], 1, 0),  # 3
        ([notes_equal(COUNT, 3)], 1, 1),
        ([notes_equal(COUNT, 4)], 0, 0),
    ],
)
async def test_both_scores_are_recorded_and_differ_only_by_faults_of_the_published_harness(
    store: MemoryStore, gym_url: str, verifiers: list[Mapping[str, Any]], score: int, published: int
) -> None:
    await run(store, gym_url, *SOLVED, task=make_task(verifiers=verifiers))

    assert (scored(store).score, scored(store).published_score) == (score, published)


def test_a_verifier_of_an_unknown_gym_passes_no_task() -> None:  # 2
    row = make_task().model_dump(mode="json")
    row["verifiers"][0]["gym_name"] = "sn-csm-server"

    refused = parse_row(row, default_id="a", where="rows.jsonl row 1")

    assert isinstance(refused, BadRow)
    assert "verifiers[0].gym_name: unknown gym server 'sn-csm-server'; the task has notes" in refused.message


async def test_an_attempt_that_ended_in_an_error_has_no_score(store: MemoryStore, gym_url: str) -> None:  # 4, 6
    record = await run(store, gym_url, refuses(401), task=make_task())

    assert (record.outcome, record.reason, store.trial()) == (Outcome.INFRA_ERROR, "model_auth", None)


async def test_every_trial_begins_with_the_seed(store: MemoryStore, gym_url: str) -> None:  # 5
    task = make_task(reset_database_between_runs=False, number_of_runs=2)
    gold = ResolvedModel(name="m", model="replay/gold")

    async with Runner(store) as runner:
        records = [await runner.run(make_job(gym_url, task, trial=trial, model=gold)) for trial in range(3)]

    assert [record.outcome for record in records] == ["passed"] * 3


async def test_a_seed_that_fails_leaves_no_database(store: MemoryStore, gym: StubGym, gym_url: str) -> None:  # 7
    broken = {"notes": Seed(sql="INSERT INTO notes (text) VALUES ('a'); INSERT INTO nowhere VALUES (1);")}

    record = await run(store, gym_url, says("?"), task=make_task(), seeds=broken)

    assert (record.outcome, gym.databases, len(gym.deleted)) == (Outcome.CONFIG_ERROR, {}, 1)


@pytest.mark.parametrize(("parameters", "sent"), [({}, None), ({"temperature": 0.6}, 0.6)])
async def test_temperature_is_the_documents_and_never_the_harnesss(  # 9
    store: MemoryStore, gym_url: str, parameters: dict[str, Any], sent: float | None
) -> None:
    model = StubModel(*SOLVED)
    with serving(model.app) as url:
        async with Runner(store) as runner:
            await runner.run(make_job(gym_url, model=stub_model(url, parameters=parameters)))

    assert [request.get("temperature") for request in model.requests] == [sent, sent]


async def test_a_missing_tool_is_noted_and_the_task_is_still_scored(store: MemoryStore, gym_url: str) -> None:  # 9, 13
    record = await run(store, gym_url, *SOLVED, task=make_task(selected_tools=["add_note", "rename_note", "fly"]))

    assert record.outcome == Outcome.PASSED
    assert "selected tool 'fly' is offered by no gym server" in store.transcript().events[0].content


async def test_a_failing_query_is_not_a_failed_verifier(store: MemoryStore, gym_url: str) -> None:  # 16
    record = await run(store, gym_url, *SOLVED, task=make_task(verifiers=[SEEN, notes_equal("SELECT nothing", 1)]))

    assert (record.outcome, record.reason, store.trial()) == (Outcome.CONFIG_ERROR, "invalid_row", None)


# Agents that were stopped


async def test_a_filtered_reply_ends_the_published_loop_and_the_state_is_judged(
    store: MemoryStore, gym_url: str
) -> None:
    record = await run(store, gym_url, SOLVED[0], says("", finish_reason="content_filter"), task=make_task())

    assert record.reason == "content_filter"
    assert (scored(store).score, scored(store).published_score) == (0, 1)


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (
            refuses(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
            "context_overflow",
        ),
        (refuses(400, "blocked", type="invalid_request_error", code="content_policy_violation"), "request_filter"),
    ],
)
async def test_an_exception_of_the_published_harness_is_0_whatever_the_state(
    store: MemoryStore, gym_url: str, refused: Response, reason: str
) -> None:
    record = await run(store, gym_url, SOLVED[0], refused, task=make_task())

    assert record.reason == reason
    assert all(verifier.passed for verifier in scored(store).verifiers)
    assert (scored(store).score, scored(store).published_score) == (0, 0)


async def test_a_task_timeout_has_no_published_score(store: MemoryStore, gym_url: str) -> None:
    async def never() -> Response:
        await asyncio.sleep(60)
        return says("?")

    record = await run(store, gym_url, SOLVED[0], never, task=make_task(), limits=Limits(task_timeout_seconds=10))

    assert (record.outcome, record.reason) == (Outcome.FAILED, "task_timeout")
    assert (scored(store).score, scored(store).published_score) == (0, None)


# Tasks that cannot be done

INFEASIBLE = make_task(
    feasible=False,
    verifiers=[
        notes_equal(COUNT, 2, category="side_effect", name="nothing was added"),
        {
            "verifier_type": "answer_match",
            "name": "refused",
            "category": "refusal",
            "validation_config": {"patterns": ["not (allowed|permitted)"]},
        },
    ],
)


@pytest.mark.parametrize(
    ("answers", "outcome", "failed"),
    [
        ((says("Adding notes is not allowed by the policy."),), "passed", []),
        ((calls(("idle_0", {})), says("That is not permitted.")), "passed", []),
        ((says("Done."),), "failed", ["refusal"]),
        ((says(""),), "failed", ["refusal"]),
        ((calls(("add_note", {"text": "x"})), says("That is not permitted.")), "failed", ["side_effect"]),
        ((calls(("add_note", {"text": "x"})), says("Done.")), "failed", ["side_effect", "refusal"]),
    ],
)
async def test_an_infeasible_task_passes_if_nothing_changed_and_the_answer_says_why(
    store: MemoryStore, gym_url: str, answers: tuple[Answer, ...], outcome: str, failed: list[str]
) -> None:
    record = await run(store, gym_url, *answers, task=INFEASIBLE)

    trial = scored(store)
    assert (record.outcome, trial.feasible) == (outcome, False)
    assert [result.category for result in trial.verifiers if not result.passed] == failed
    assert trial.published_score == trial.score


@pytest.mark.parametrize(("mode", "outcome"), [(Mode.ORACLE, "config_error"), (Mode.PLUS_5, "passed")])
async def test_a_row_of_another_mode_is_not_run_under_the_wrong_label(
    store: MemoryStore, gym_url: str, mode: Mode, outcome: str
) -> None:
    tools = ["add_note", "rename_note", "idle_0"]
    task = make_task(selected_tools=tools, mode_tools={"plus_5_tools": tools})

    record = await run(store, gym_url, *SOLVED, task=task, mode=mode)

    assert record.outcome == outcome
    assert record.message == "" or "run it with modes: [plus_5_tools]" in record.message
