"""Episodes with `state_difference` and `looked_up` verifiers: requests, errors, results, and rescoring."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import zstandard
from starlette.responses import JSONResponse
from tests.runner.jobs import KEYS, ROW, MemoryStore, make_job, make_task
from tests.runner.servers import serving
from tests.runner.stub_gym import SEED, StubGym

from opsgym_api.records.attempt import AttemptRecord, TrialRecord
from opsgym_api.records.outcomes import ConfigReason, Outcome
from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import LookedUp
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.errors import NotScored
from opsgym_runner.rescoring import read_saved_trial
from opsgym_runner.runner import Runner
from opsgym_runner.verification.looked_up import ToolCallResult, not_looked_up

pytestmark = pytest.mark.anyio

RENAMED = RowDifference(change="changed", key={"id": 1}, before={"text": "first"}, after={"text": "done"})
ADDED = RowDifference(change="added", key={"id": 3}, after={"id": 3, "text": "more", "author": None})
DIFFERENCE = StateDifference(tables=[TableDifference(table="notes", added=1, changed=1, rows=[RENAMED, ADDED])])
EXPECTS_RENAMED = {"table": "notes", "change": "changed", "keys": [{"id": 1}], "values": {"text": "done"}}
EXPECTS_ADDED = {"table": "notes", "change": "added", "values": {"text": "more"}, "may": ["id"]}


def expects(
    *rows: dict[str, Any], name: str = "", gym: str | None = None, nothing_else: bool = False
) -> dict[str, Any]:
    config = {"rows": rows, "nothing_else": nothing_else}
    return {"verifier_type": "state_difference", "name": name, "gym_name": gym, "validation_config": config}


def task(*verifiers: dict[str, Any], **fields: Any) -> Task:
    return make_task(verifiers=verifiers, **fields)


def answer(difference: StateDifference) -> JSONResponse:
    return JSONResponse(difference.model_dump())


async def run(store: MemoryStore, gym_url: str, row: Task, **fields: Any) -> AttemptRecord:
    async with Runner(store) as runner:
        return await runner.run(make_job(gym_url, row, **fields))


def scored(store: MemoryStore) -> TrialRecord:
    trial = store.trial()
    assert trial is not None
    return trial


async def test_all_verifiers_of_a_gym_share_one_request(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.difference = answer(DIFFERENCE)
    row = task(expects(EXPECTS_RENAMED), expects(EXPECTS_ADDED), expects(nothing_else=True))
    assert (await run(store, gym_url, row)).outcome == Outcome.PASSED
    assert gym.asked_for == ["whole=true", ""]  # the second is the record's


async def test_a_failed_verifier_says_what_differs(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.difference = answer(DIFFERENCE)
    wrong = EXPECTS_RENAMED | {"values": {"text": "gone"}}
    row = task(expects(wrong, name="renamed"), expects(name="the rest", nothing_else=True))
    assert (await run(store, gym_url, row)).outcome == Outcome.FAILED
    renamed, rest = scored(store).verifiers
    assert (renamed.passed, renamed.published_passed, renamed.executed) == (False, False, True)
    assert renamed.expected == {"rows": 1, "nothing_else": False}
    assert renamed.actual == {"unmet": ["notes 1: column text is 'done', expected 'gone'"], "unexpected": []}
    assert rest.actual == {"unmet": [], "unexpected": ["notes 3: was added, unexpected"]}


async def test_results_stay_short(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    rows = [RowDifference(change="removed", key={"id": number}, before={"id": number}) for number in range(30)]
    gym.difference = answer(StateDifference(tables=[TableDifference(table="notes", removed=30, rows=rows)]))
    await run(store, gym_url, task(expects(nothing_else=True)))
    (result,) = scored(store).verifiers
    assert len(result.actual["unexpected"]) == 21
    assert result.actual["unexpected"][-1] == "and 10 more"


async def test_each_gym_is_judged_by_its_own_verifiers(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.difference = answer(DIFFERENCE)
    other = StubGym(difference=answer(StateDifference()))
    servers = [{"mcp_server_name": "notes"}, {"mcp_server_name": "birds"}]
    verifiers = [expects(EXPECTS_RENAMED, EXPECTS_ADDED, nothing_else=True), expects(gym="birds", nothing_else=True)]
    row = task(*verifiers, gym_servers_config=servers)
    with serving(other.app) as other_url:
        fields: dict[str, Any] = {"gyms": {"notes": gym_url, "birds": other_url}}
        fields["seeds"] = {"notes": Seed(sql=SEED), "birds": Seed(sql=SEED)}
        assert (await run(store, gym_url, row, **fields)).outcome == Outcome.PASSED
    assert gym.asked_for == other.asked_for == ["whole=true", ""]


async def test_a_truncated_difference_is_a_config_error(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.difference = answer(DIFFERENCE.model_copy(update={"truncated": True}))
    record = await run(store, gym_url, task(expects(EXPECTS_RENAMED, name="renamed")))
    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "unsupported")
    assert record.message == "verifiers[0] (renamed): gym notes truncated its state difference, so it cannot be judged"


async def test_a_gym_without_differences_is_a_config_error(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, task(expects(EXPECTS_RENAMED)))
    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "unsupported")
    assert "verifiers[0] (unnamed): gym notes has no /api/state-difference" in record.message


async def test_an_ambiguous_row_is_a_config_error(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.difference = answer(DIFFERENCE)
    eithers = [
        {"either": [[EXPECTS_ADDED], [EXPECTS_ADDED | {"may": ["id", f"column{number}"]}]]} for number in range(13)
    ]
    record = await run(store, gym_url, task(expects(*eithers)))
    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "invalid_row")
    assert "too many alternatives and named rows of gym notes" in record.message


# What rescoring reads


async def test_a_whole_difference_is_stored_where_the_records_is_truncated(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    gym.difference = answer(DIFFERENCE)
    row = task(expects(EXPECTS_RENAMED))
    await run(store, gym_url, row)
    trial = scored(store)
    assert KEYS.difference("notes") not in store.objects
    assert read_saved_trial(store, trial_run(store), trial, row).differences == {"notes": DIFFERENCE}
    # As after an episode whose record keeps a part only.
    bounded = {"notes": DIFFERENCE.model_copy(update={"truncated": True})}
    store.put(KEYS.difference("notes"), zstandard.compress(DIFFERENCE.model_dump_json().encode()))
    cut = TrialRecord.from_dict(trial.to_dict() | {"state_differences": {"notes": bounded["notes"].model_dump()}})
    assert read_saved_trial(store, trial_run(store), cut, row).differences == {"notes": DIFFERENCE}
    store.put(KEYS.difference("notes"), b"no archive")
    with pytest.raises(NotScored, match="is damaged"):
        read_saved_trial(store, trial_run(store), cut, row)
    del store.objects[KEYS.difference("notes")]
    assert read_saved_trial(store, trial_run(store), cut, row).differences == {}


def trial_run(store: MemoryStore) -> str:
    return scored(store).run


# Looking up

NOTE_READ_FIRST = {
    "verifier_type": "looked_up",
    "name": "looked",
    "validation_config": {"rows": [{"column": "id", "value": 1}], "writes": True},
}


def call(tool: str, result: object = None, *, is_error: bool = False, **arguments: Any) -> ToolCallResult:
    content = [{"type": "text", "text": json.dumps(result)}]
    return ToolCallResult(tool, arguments, json.dumps({"content": content}), is_error)


READ = call("find_cases", {"cases": [{"owner": {"case_id": 423}}]}, text="freezer")
WRITE = call("update_case", {"case_id": 423}, case_id="423", status="closed")


@pytest.mark.parametrize(
    ("calls", "passes"),
    [
        ([READ, WRITE], True),
        ([WRITE], False),
        ([WRITE, READ, WRITE], False),
        ([WRITE, WRITE], False),
        ([], True),
        ([READ], True),
        ([call("update_case", is_error=True, case_id=423), READ, WRITE], True),
        ([call("find_cases", {"case_id": 423}, is_error=True), WRITE], False),
        ([call("find_cases", {"case_id": "423"}), WRITE], True),
        ([call("find_cases", {"case_id": 424, "parent": 423}), WRITE], False),
        ([call("find_cases", "case_id 423"), WRITE], False),
        ([READ, call("link_cases", cases=[{"case_id": 423}])], True),
        ([call("link_cases", cases=[{"case_id": 423}])], False),
        ([call("count_cases", case_id=423), READ, WRITE], True),
        ([ToolCallResult("find_cases", {}, json.dumps({"structuredContent": {"case_id": 423}}), is_error=False), WRITE],
            True),
        ([ToolCallResult("find_cases", {}, "[" * 100_000, is_error=False), WRITE], False),
    ],
)  # fmt: skip
async def test_a_row_is_looked_up_before_it_is_written(calls: list[ToolCallResult], passes: bool) -> None:
    config = {"rows": [{"column": "case_id", "value": 423}], "writing_tools": ["update_case", "link_cases"]}
    assert (not_looked_up(LookedUp.model_validate(config), calls) == []) == passes


LINK = ToolCallResult("link_cases", {"case_id": 423}, json.dumps({}), is_error=False, gym="cases")
SEEN = replace(READ, gym="cases")


@pytest.mark.parametrize(
    ("calls", "passes"),
    [
        ([SEEN, LINK], True),
        ([LINK], False),
        ([replace(LINK, result=READ.result), LINK], False),
        ([replace(LINK, tool="find_links")], True),
        ([replace(LINK, gym="other")], True),
    ],
)
async def test_every_tool_that_its_gym_server_says_writes_is_a_writing_tool(
    calls: list[ToolCallResult], passes: bool
) -> None:
    check = LookedUp.model_validate({"rows": [{"column": "case_id", "value": 423}], "writes": True})
    assert (not_looked_up(check, calls, {"cases": ["link_cases"], "other": []}) == []) == passes


@pytest.mark.parametrize(
    ("calls", "passes"),
    [([READ], True), ([], False), ([call("find_cases", {"case_id": 423}, is_error=True)], False)],
)
async def test_without_writing_tools_a_row_must_have_been_looked_up_at_all(
    calls: list[ToolCallResult], passes: bool
) -> None:
    check = LookedUp.model_validate({"rows": [{"column": "case_id", "value": 423}]})
    assert (not_looked_up(check, calls) == []) == passes


@pytest.mark.parametrize(
    ("value", "arguments", "named"),
    [
        (7, {"case_id": 7}, True),
        (7, {"caseId": "7"}, True),
        (7, {"parent_case_ids": [3, 7]}, True),
        ("7", {"links": {"caseIds": [7]}}, True),
        (7, {"case_id": 3, "limit": 7, "group_id": 7, "showcase_id": 7, "case_id_of": 7}, False),
        ("CASE_7", {"anything": "CASE_7"}, True),
        ("7a", {"anything": ["7A", "7a"]}, True),
    ],
)
async def test_a_number_names_a_row_only_in_an_argument_that_is_named_after_its_column(
    value: str | int, arguments: dict[str, Any], named: bool
) -> None:
    config = {"rows": [{"column": "case_id", "value": value}], "writing_tools": ["update_case"]}
    missing = not_looked_up(LookedUp.model_validate(config), [call("update_case", **arguments)])
    assert bool(missing) == named


async def test_a_boolean_identifies_no_row() -> None:
    check = LookedUp.model_validate({"rows": [{"column": "case_id", "value": 1}], "writing_tools": ["update_case"]})
    assert not_looked_up(check, [call("update_case", case_id=True)]) == []


async def test_looking_up_is_judged_from_the_calls_of_the_episode(store: MemoryStore, gym_url: str) -> None:
    config = {"rows": [{"column": "id", "value": 1}], "writing_tools": ["rename_note"]}
    check = {"verifier_type": "looked_up", "name": "looked", "validation_config": config}
    assert (await run(store, gym_url, task(check))).outcome == Outcome.FAILED
    (result,) = scored(store).verifiers
    assert (result.passed, result.published_passed, result.expected) == (False, False, {"looked_up": ["id 1"]})
    assert result.actual == {"not_looked_up": ["id 1: rename_note (call 1) wrote it before any result showed it"]}


async def test_a_gym_server_says_which_tools_write(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    gym.writing = ["rename_note"]
    assert (await run(store, gym_url, task(NOTE_READ_FIRST))).outcome == Outcome.FAILED
    (result,) = scored(store).verifiers
    assert result.actual == {"not_looked_up": ["id 1: rename_note (call 1) wrote it before any result showed it"]}


async def test_a_gym_server_that_does_not_say_which_tools_write_is_named(store: MemoryStore, gym_url: str) -> None:
    ended = await run(store, gym_url, task(NOTE_READ_FIRST))
    assert (ended.outcome, ended.reason) == (Outcome.CONFIG_ERROR, ConfigReason.UNSUPPORTED)
    assert "verifiers[0] (looked): gym notes does not say which tools write" in ended.message


async def test_a_result_of_another_tool_is_a_look_up(store: MemoryStore, gym_url: str) -> None:
    config = {"rows": [{"column": "id", "value": 3}], "writing_tools": ["rename_note"]}
    check = {"verifier_type": "looked_up", "name": "looked", "validation_config": config}
    gold = [ROW["gold_actions"][1], {"name": "rename_note", "arguments": {"id": 3, "text": "done"}}]
    assert (await run(store, gym_url, task(check, gold_actions=gold))).outcome == Outcome.PASSED
