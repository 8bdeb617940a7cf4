"""Replay models: what they play, and that they play it over HTTP without a memory of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from tests.runner.jobs import KEYS, MemoryStore, make_job, make_task, notes_equal
from tests.runner.servers import serving
from tests.runner.stub_gym import SEED, StubGym

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.days import with_next_day
from opsgym_runner.errors import NotScored
from opsgym_runner.job import ResolvedModel
from opsgym_runner.replay.completions import completion
from opsgym_runner.replay.scripts import Script, read_recording, script_for
from opsgym_runner.replay.server import EPISODE_HEADER, ReplayServer
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio


def write_lines(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


RECORDED = [
    {"task_id": "rename-first", "step": 0, "tool": "rename_note", "arguments": {"id": 1, "text": "done"}, "json": {}},
    {"task_id": "other", "step": 0, "tool": "idle_0", "arguments": None},
    {"task_id": "rename-first", "step": 1, "tool": "add_note", "arguments": {"text": "more"}},
    {"task_id": "rename-first", "answer": "As recorded."},
]


async def test_a_recording_is_played(store: MemoryStore, gym_url: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "run.jsonl", *RECORDED)

    async with Runner(store) as runner:
        await runner.run(make_job(gym_url, model=ResolvedModel(name="m", model=f"replay/{path}")))

    trial = store.trial()
    assert trial is not None
    assert (trial.outcome, trial.answer, trial.tool_calls) == ("passed", "As recorded.", 2)


async def test_a_stored_transcript_is_a_recording(store: MemoryStore, gym_url: str, tmp_path: Path) -> None:
    async with Runner(store) as runner:
        await runner.run(make_job(gym_url))
        path = tmp_path / "transcript.json.zst"
        path.write_bytes(store.objects[KEYS.transcript])
        again = await runner.run(make_job(gym_url, trial=1, model=ResolvedModel(name="m", model=f"replay/{path}")))

    assert (again.outcome, again.tool_calls) == ("passed", 2)


def of_two_gyms(**fields: Any) -> Task:
    """A task whose gold actions add a note on each of two gym servers that have the same tools."""
    actions = [
        {"name": "add_note", "arguments": {"text": "one"}},
        {"name": "add_note", "arguments": {"text": "two"}, "gym": "birds"},
    ]
    verifiers = [
        notes_equal("SELECT text FROM notes ORDER BY id DESC LIMIT 1", "one"),
        notes_equal("SELECT text FROM notes ORDER BY id DESC LIMIT 1", "two", gym_name="birds"),
    ]
    servers = [{"mcp_server_name": "notes"}, {"mcp_server_name": "birds"}]
    return make_task(gym_servers_config=servers, verifiers=verifiers, gold_actions=actions, **fields)


async def test_gold_actions_and_recordings_reach_the_gym_server_that_they_name(
    store: MemoryStore, gym_url: str, tmp_path: Path
) -> None:
    path, other = tmp_path / "transcript.json.zst", StubGym()
    with serving(other.app) as other_url:
        gyms = {"notes": gym_url, "birds": other_url}
        seeds = {"notes": Seed(sql=SEED), "birds": Seed(sql=SEED)}
        common: dict[str, Any] = {
            "task": of_two_gyms(selected_tools=["add_note"]),
            "agent": Agent(name="react", tool_names="qualified"),
            "gyms": gyms,
            "seeds": seeds,
        }
        async with Runner(store) as runner:
            gold = await runner.run(make_job(gym_url, **common))
            path.write_bytes(store.objects[KEYS.transcript])
            model = ResolvedModel(name="m", model=f"replay/{path}")
            recorded = await runner.run(make_job(gym_url, trial=1, model=model, **common))

    assert (gold.outcome, recorded.outcome) == ("passed", "passed")


def test_a_gold_action_for_an_unknown_gym_server_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"gold_actions\[0\].gym: unknown gym server 'fish'; the task has notes"):
        make_task(gold_actions=[{"name": "add_note", "gym": "fish"}])


async def test_gold_of_an_infeasible_task_is_its_answer_alone(store: MemoryStore, gym_url: str) -> None:
    matches = {
        "verifier_type": "answer_match",
        "name": "refuses",
        "validation_config": {"patterns": ["not permitted"]},
    }
    task = make_task(gold_actions=[], gold_answer="That is not permitted.", feasible=False, verifiers=[matches])

    async with Runner(store) as runner:
        gold = await runner.run(make_job(gym_url, task))
        noop = await runner.run(make_job(gym_url, task, trial=1, model=ResolvedModel(name="m", model="replay/noop")))

    assert (gold.outcome, gold.tool_calls, noop.outcome) == ("passed", 0, "failed")


async def test_a_replay_model_with_prices_costs_money(store: MemoryStore, gym_url: str) -> None:
    model = ResolvedModel(name="m", model="replay/gold", prices=Prices(input_usd=100, output_usd=100))

    async with Runner(store) as runner:
        record = await runner.run(make_job(gym_url, model=model))

    assert record.cost_usd is not None
    assert record.cost_usd > 0
    tokens = record.usage.prompt_tokens + record.usage.completion_tokens
    assert record.cost_usd == pytest.approx(tokens * 100 / 1e6)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", b'{"task_id": "other", "tool": "t"}', "has no recording of task rename-first"),
        ("a.jsonl", b'{"task_id": ', "cannot be read as a recording: JSONDecodeError"),
        ("a.jsonl", b'{"tool": "t"}', "cannot be read as a recording: KeyError: 'task_id'"),
        ("a.jsonl", b'["task"]', "cannot be read as a recording: TypeError"),
        ("a.json", b"{}", "cannot be read as a recording: ValidationError"),
        ("a.json.zst", b"nothing", "cannot be read as a recording: TranscriptError: is damaged"),
        ("a.jsonl", b"\xff\xfe", "cannot be read as a recording: UnicodeDecodeError"),
    ],
)
def test_a_recording_that_cannot_be_played_is_refused(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(NotScored, match="recording") as refused:
        script_for(f"replay/{path}", make_task())

    assert problem in str(refused.value)
    assert (refused.value.outcome, refused.value.reason) == ("config_error", "no_recording")


def test_recordings_group_their_lines_by_task(tmp_path: Path) -> None:
    scripts = read_recording(write_lines(tmp_path / "run.jsonl", *RECORDED))

    assert scripts["other"] == Script([ToolCall(name="idle_0", arguments={})], "Done.")
    assert [turn.name for turn in scripts["rename-first"].actions if isinstance(turn, ToolCall)] == [
        "rename_note",
        "add_note",
    ]


async def test_a_request_that_is_sent_again_gets_the_same_reply() -> None:
    server = ReplayServer()
    await server.start()
    user, done = {"role": "user", "content": "go"}, {"role": "assistant", "content": None}
    try:
        with server.playing(Script([ToolCall(name="t", arguments={"a": 1})], "Done.")) as headers:
            async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:

                async def ask(*messages: object) -> dict[str, object]:
                    answer = await client.post("/chat/completions", json={"model": "m", "messages": messages})
                    message: dict[str, object] = answer.json()["choices"][0]["message"]
                    return message

                first, again, last = await ask(user), await ask(user), await ask(user, done)
        async with httpx.AsyncClient(base_url=server.url) as client:
            unknown = await client.post("/chat/completions", json={}, headers={EPISODE_HEADER: "x"})
    finally:
        await server.stop()

    assert first == again
    assert last == {"role": "assistant", "content": "Done."}
    assert unknown.status_code == 404


@pytest.mark.parametrize(
    ("request_text", "replies", "expected"),
    [
        ("Go.", 0, "look"),
        ("Go.", 1, "Seen."),
        (with_next_day("Go.", "Seen.", 2, "And now?"), 0, "repair"),
        (with_next_day("Go.", "Seen.", 2, "And now?") * 2, 0, "repair"),
        (with_next_day("Go.", "Seen.", 2, "And now?"), 1, "Repaired."),
    ],
)
def test_a_conversation_that_begins_on_a_later_day_plays_the_turns_of_that_day(
    request_text: str, replies: int, expected: str
) -> None:
    script = Script([ToolCall(name="look"), "Seen.", ToolCall(name="repair")], "Repaired.")
    messages = [{"role": "user", "content": request_text}, *[{"role": "assistant", "content": "…"}] * replies]
    tools = [{"type": "function", "function": {"name": "look"}}]
    reply = completion(script, {"model": "m", "messages": messages, "tools": tools}, 1)["choices"][0]["message"]
    assert expected == (reply["content"] or reply["tool_calls"][0]["function"]["name"])


def test_an_answer_that_is_composed_without_tools_is_the_one_of_its_day() -> None:
    script = Script([ToolCall(name="look"), "Seen.", ToolCall(name="repair")], "Repaired.")
    for request, answer in (("Go.", "Seen."), (with_next_day("Go.", "Seen.", 2, "And now?"), "Repaired.")):
        messages = [{"role": "user", "content": request}]
        assert completion(script, {"model": "m", "messages": messages}, 1)["choices"][0]["message"]["content"] == answer
