"""An attempt from its job to what stands in the store, and what gyms, rows, stores and signals do to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from tests.runner.jobs import KEYS, FakeTime, MemoryStore, make_job, make_task, notes_equal, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import SEED, StubGym
from tests.runner.stub_model import StubModel, calls, says

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Access, Agent, Limits, Mode
from opsgym_api.records.attempt import NO_FINISHES, AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import Control
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.store.base import StoreError
from opsgym_core.store.local import LocalStore
from opsgym_runner.job import ResolvedModel
from opsgym_runner.runner import Runner, RunnerEvent

pytestmark = pytest.mark.anyio


async def run(store: MemoryStore, gym_url: str, **fields: Any) -> AttemptRecord:
    async with Runner(store) as runner:
        return await runner.run(make_job(gym_url, **fields))


async def test_gold_actions_pass_and_everything_is_stored(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    record = await run(store, gym_url)

    assert (record.outcome, record.reason, record.message) == (Outcome.PASSED, "", "")
    assert store.attempt() == record
    trial = store.trial()
    assert trial is not None
    catalogue = RunKeys("demo.0123456789ab").catalogue(trial.versions.catalogue_digest)
    written = [KEYS.attempt(0), KEYS.record, KEYS.transcript, KEYS.state("notes"), catalogue]
    assert sorted(store.objects) == sorted(written)
    assert (trial.score, trial.published_score, trial.answer, trial.stopped_by) == (1, 1, "Both are done.", "answer")
    assert (trial.steps, trial.tool_calls, trial.tool_errors, trial.cost_usd) == (3, 2, 0, 0.0)
    assert [(result.index, result.category, result.passed, result.actual) for result in trial.verifiers] == [
        (0, "task_completion", True, "done"),
        (1, "integrity", True, 3),
    ]
    assert trial.database_times == {"notes": "2026-01-05T08:00:00Z"}
    assert [event.kind for event in store.transcript().events] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant"),
    ]
    assert gym.databases == {}


async def test_the_stored_final_database_is_the_one_the_agent_left(
    store: MemoryStore, gym_url: str, tmp_path: Path
) -> None:
    import sqlite3

    import zstandard

    await run(store, gym_url)

    file = tmp_path / "state.sqlite"
    file.write_bytes(zstandard.decompress(store.objects[KEYS.state("notes")]))
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT text FROM notes").fetchall() == [("done",), ("second",), ("more",)]


async def test_a_model_that_does_nothing_fails(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, model=ResolvedModel(name="m", model="replay/noop"))

    assert (record.outcome, record.reason, record.tool_calls) == (Outcome.FAILED, "verifiers", 0)
    assert (record.usage.model_calls, record.finish_reasons) == (1, NO_FINISHES)


async def test_a_gym_without_database_snapshots_is_scored_without_one(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    gym.downloads = False

    record = await run(store, gym_url)

    assert record.outcome == Outcome.PASSED
    assert KEYS.state("notes") not in store.objects


async def test_identity_and_database_go_with_every_call(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    await run(store, gym_url)

    for headers in gym.headers:
        assert (headers["x-user-email"], headers["x-notes-token"]) == ("a@example.org", "t1")
        assert headers["x-database-id"] == gym.deleted[0]


@pytest.mark.parametrize(
    ("seed", "access", "body"),
    [
        (Seed(builtin="quickstart"), Access.PUBLISHED, {"builtin": "quickstart"}),
        (Seed(builtin="quickstart"), Access.STRICT, {"builtin": "quickstart", "access": "strict"}),
        (
            Seed(sql="SELECT 1;"),
            Access.PUBLISHED,
            {"name": "ID", "description": "opsgym episode", "sql_content": "SELECT 1;"},
        ),
    ],
)
async def test_a_seed_is_sent_as_text_or_by_name_and_strict_access_only_if_required(
    store: MemoryStore, gym: StubGym, gym_url: str, seed: Seed, access: Access, body: dict[str, Any]
) -> None:
    await run(store, gym_url, seeds={"notes": seed}, access=access)

    sent = dict(gym.seeds[0])
    database = sent.pop("database_id")
    assert {key: "ID" if value == database else value for key, value in sent.items()} == body


async def test_a_server_without_strict_access_does_not_score_a_strict_task(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    gym.knows_access = False
    async with Runner(store) as runner:
        record = await runner.run(make_job(gym_url, make_task(access="strict")))

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "unsupported")
    assert (
        record.message == "gym notes does not support access: strict, as published servers do not; serve it with opsgym"
    )
    assert record.usage.model_calls == 0
    assert gym.databases == {}
    assert (await run(store, gym_url)).outcome == Outcome.PASSED


async def test_a_refused_seed_is_a_config_error_that_quotes_the_gym(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    record = await run(store, gym_url, seeds={"notes": Seed(sql="INSERT INTO nowhere VALUES (1);")})

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "seed_refused")
    assert "no such table: nowhere" in record.message
    assert gym.databases == {}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/api/seed-database", JSONResponse({"detail": "database is restarting"}, 503)),
        ("/mcp", JSONResponse({"detail": "database is restarting"}, 503)),
        ("/mcp", PlainTextResponse("Internal Server Error", 500)),
        ("/mcp", PlainTextResponse("hello")),
        ("/mcp", JSONResponse(["hello"])),
        ("/mcp", JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {"tools": "none"}})),
        ("/mcp", Response("event: ping\n\n", media_type="text/event-stream")),
        ("/mcp", Response("data: {\n\n", media_type="text/event-stream")),
        ("add_note", PlainTextResponse("bad gateway", 502)),
        ("add_note", JSONResponse({"jsonrpc": "2.0", "id": 3, "result": None})),
        ("/api/sql-runner", JSONResponse({"detail": "database is restarting"}, 503)),
        ("/api/sql-runner", JSONResponse({"success": True})),
    ],
)
async def test_a_server_that_does_not_answer_as_a_gym_is_an_infra_error(
    store: MemoryStore, gym: StubGym, gym_url: str, path: str, answer: Response
) -> None:
    gym.broken = {path: answer}

    record = await run(store, gym_url)

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "gym_lost")
    assert record.message.startswith(f"gym notes at {gym_url} ")
    assert store.trial() is None
    assert len(gym.deleted) == 1


@contextlib.contextmanager
def gym_process() -> Iterator[tuple[str, int]]:
    """A stub gym that can be killed; yields its URL and process id."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-m", "tests.runner.stub_gym", str(port)], cwd=root)
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:  # retries of the connection, backing off
            client.get(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.kill()
        process.wait()


async def test_a_gym_killed_during_an_episode_is_an_infra_error_and_the_next_attempt_is_scored(
    store: MemoryStore, gym_url: str
) -> None:
    with gym_process() as (killed_url, pid):

        async def kill() -> Response:
            os.kill(pid, signal.SIGKILL)
            return calls(("add_note", {"text": "more"}))

        with serving(StubModel(calls(("idle_0", {})), kill).app) as url:
            async with Runner(store) as runner:
                lost = await runner.run(make_job(killed_url, model=stub_model(url)))
                scored = await runner.run(make_job(gym_url, attempt=1))

    assert (lost.outcome, lost.reason, lost.steps) == (Outcome.INFRA_ERROR, "gym_lost", 2)
    assert store.attempt(0) == lost
    assert (scored.outcome, scored.attempt) == (Outcome.PASSED, 1)


@pytest.mark.parametrize("found_out_by", ["a tool call", "a verifier", "the final snapshot"])
@pytest.mark.parametrize("polite", [True, False], ids=["tools answer HTTP 404", "tools answer an error result"])
async def test_a_gym_restarted_during_an_episode_is_lost_and_never_the_agents_failure(
    store: MemoryStore, gym: StubGym, gym_url: str, found_out_by: str, polite: bool
) -> None:
    gym.forgets_politely = polite

    async def restart() -> Response:
        gym.databases.clear()
        return calls(("add_note", {"text": "x"})) if found_out_by == "a tool call" else says("Done.")

    answers_without_asking = {"verifier_type": "answer_match", "validation_config": {"patterns": ["Done"]}}
    task = make_task(verifiers=[answers_without_asking]) if found_out_by == "the final snapshot" else make_task()
    model = StubModel(calls(("idle_0", {})), restart)
    with serving(model.app) as url:
        record = await run(store, gym_url, model=stub_model(url), task=task)

    assert (record.outcome, record.reason, record.steps) == (Outcome.INFRA_ERROR, "gym_lost", 2)
    assert "does not have the episode's database any more" in record.message
    assert store.trial() is None


async def test_an_argument_of_three_megabytes_goes_through(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    big = "x" * 3_000_000
    model = StubModel(
        calls(("add_note", {"text": big})), calls(("rename_note", {"id": 1, "text": "done"})), says("Done.")
    )
    with serving(model.app) as url:
        record = await run(store, gym_url, model=stub_model(url))

    assert record.outcome == Outcome.PASSED
    assert gym.calls[0][1]["text"] == big
    assert store.transcript().events[3].arguments == {"text": big}


@pytest.mark.parametrize(
    "answer",
    [
        JSONResponse({"detail": "request body too large"}, 413),
        JSONResponse({"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "request body too large"}}),
    ],
    ids=["HTTP 413", "JSON-RPC error"],
)
async def test_a_call_that_the_gym_refuses_is_an_error_result_for_the_model(
    store: MemoryStore, gym: StubGym, gym_url: str, answer: Response
) -> None:
    gym.broken = {"idle_0": answer}
    model = StubModel(calls(("idle_0", {})), says("I could not."))

    with serving(model.app) as url:
        record = await run(store, gym_url, model=stub_model(url), mode=Mode.ALL)

    assert (record.outcome, record.steps) == (Outcome.FAILED, 2)
    tool_event = store.transcript().events[3]
    assert tool_event.is_error
    assert "request body too large" in tool_event.content


async def test_a_verifier_whose_query_is_refused_leaves_the_trial_unscored(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    task = make_task(verifiers=[notes_equal("SELECT count(*) FROM nowhere", 1, name="counts")])

    record = await run(store, gym_url, task=task)

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "invalid_row")
    assert "verifiers[0] (counts)" in record.message
    assert "no such table: nowhere" in record.message
    assert store.trial() is None


JUDGED = {
    "verifier_type": "response_check",
    "name": "judge",
    "validation_config": {"sql_query": "SELECT 1", "comparison_prompt": "Is it right?"},
}


@pytest.mark.parametrize(
    ("fields", "reason", "says_so"),
    [
        ({"gyms": {}}, "unknown_gym", "'notes'"),
        ({"seeds": {}}, "seed_not_found", "notes.sql"),
        ({"agent": Agent(name="a", plan="human")}, "no_plan", "task rename-first has no plan"),
        ({"agent": Agent(name="a", orchestrator="tree")}, "unsupported", "'tree'; known: decomposing, planner_re"),
        ({"task": make_task(verifiers=[JUDGED])}, "no_judge", "name one of the run's models in spec.judge"),
        ({"task": make_task(gold_actions=None)}, "no_gold_actions", "no gold_actions"),
        ({"model": ResolvedModel(name="m", model="replay//nowhere.jsonl")}, "no_recording", "/nowhere.jsonl"),
    ],
)
async def test_an_unrunnable_job_is_a_config_error_before_anything_is_seeded(
    store: MemoryStore, gym: StubGym, gym_url: str, fields: dict[str, Any], reason: str, says_so: str
) -> None:
    record = await run(store, gym_url, **fields)

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, reason)
    assert says_so in record.message
    assert list(store.objects) == [KEYS.attempt(0)]
    assert gym.seeds == []


async def test_a_selected_tool_that_no_gym_offers_is_noted(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, task=make_task(selected_tools=["add_note", "rename_note", "fly"]))

    assert record.outcome == Outcome.PASSED
    notes = [event.content for event in store.transcript().events if event.kind == "note"]
    assert notes == ["selected tool 'fly' is offered by no gym server of the task"]


async def test_two_gyms_each_get_their_own_database_and_verifiers(store: MemoryStore, gym_url: str) -> None:
    other = StubGym(tools=[{"name": "fly", "inputSchema": {}}])
    servers = [{"mcp_server_name": "notes"}, {"mcp_server_name": "birds"}]
    verifiers = [
        notes_equal("SELECT count(*) FROM notes", 3),
        notes_equal("SELECT count(*) FROM notes", 2, gym_name="birds"),
    ]
    actions = [{"name": "add_note", "arguments": {"text": "x"}}, {"name": "fly", "arguments": {}}]
    task = make_task(gym_servers_config=servers, verifiers=verifiers, gold_actions=actions, selected_tools=None)
    with serving(other.app) as other_url:
        record = await run(
            store,
            gym_url,
            task=task,
            gyms={"notes": gym_url, "birds": other_url},
            seeds={"notes": Seed(builtin="a"), "birds": Seed(builtin="b")},
        )

    assert record.outcome == Outcome.PASSED
    assert [name for name, _ in other.calls] == ["fly"]
    assert (KEYS.state("notes") in store.objects, KEYS.state("birds") in store.objects) == (True, True)


@pytest.mark.parametrize("names", ["published", "qualified"])
async def test_tools_with_the_same_name_reach_the_first_gym_or_have_qualified_names(
    store: MemoryStore, gym: StubGym, gym_url: str, names: Literal["published", "qualified"]
) -> None:
    other = StubGym()
    shown = ("add_note", "add_note") if names == "published" else ("notes_add_note", "birds_add_note")
    called = {"selected_tools": ["add_note"], "minimum_tool_calls": 2}
    task = make_task(
        gym_servers_config=[{"mcp_server_name": "notes"}, {"mcp_server_name": "birds"}],
        verifiers=[
            notes_equal("SELECT count(*) FROM notes", 4 if names == "published" else 3),
            notes_equal("SELECT count(*) FROM notes", 2 if names == "published" else 3, gym_name="birds"),
            {"verifier_type": "tool_execution", "validation_config": called},
        ],
    )
    model = StubModel(calls(*((name, {"text": "x"}) for name in shown)), says("Done."))
    with serving(other.app) as other_url, serving(model.app) as model_url:
        record = await run(
            store,
            gym_url,
            task=task,
            model=stub_model(model_url),
            agent=Agent(name="react", tool_names=names),
            gyms={"notes": gym_url, "birds": other_url},
            seeds={"notes": Seed(sql=SEED), "birds": Seed(sql=SEED)},
        )

    trial = store.trial()
    assert trial is not None
    assert [result.passed for result in trial.verifiers] == [True, True, True]
    assert record.outcome == Outcome.PASSED
    assert [name for name, _ in [*gym.calls, *other.calls]] == ["add_note", "add_note"]
    transcript = store.transcript()
    assert transcript.tools[0] == shown[0]
    assert [event.tool_name for event in transcript.events if event.kind == "tool"] == ["add_note", "add_note"]
    assert [call["name"] for event in transcript.events for call in event.tool_calls] == ["add_note", "add_note"]
    history = [call["function"]["name"] for call in model.requests[1]["messages"][2]["tool_calls"]]
    assert tuple(history) == shown, "the model reads its own words"


async def test_a_scored_trial_is_not_replaced_by_a_later_attempt(store: MemoryStore, gym_url: str) -> None:
    await run(store, gym_url)
    before = {key: content for key, content in store.objects.items() if "/attempts/" not in key}

    record = await run(store, gym_url, attempt=1, model=ResolvedModel(name="m", model="replay/noop"))

    assert record.outcome == Outcome.FAILED
    assert {key: content for key, content in store.objects.items() if "/attempts/" not in key} == before
    assert (store.attempt(0).outcome, store.attempt(1).outcome) == (Outcome.PASSED, Outcome.FAILED)


class FailingStore(MemoryStore):
    """Fails to read or write a key of some kind."""

    def __init__(self, failing: str) -> None:
        super().__init__()
        self.failing = failing

    def get(self, key: str) -> bytes | None:
        self._maybe_fail(key)
        return super().get(key)

    def put(self, key: str, content: bytes) -> None:
        self._maybe_fail(key)
        super().put(key, content)

    def _maybe_fail(self, key: str) -> None:
        if key.endswith(self.failing):
            raise StoreError(self.name, key, "no space left on device")


@pytest.mark.parametrize(
    "failing", ["control.json", "attempts/0.json", "transcript.json.zst", ".sqlite.zst", "rename-first/0.json"]
)
async def test_a_failing_store_is_an_infra_error_and_leaves_no_partial_result(gym_url: str, failing: str) -> None:
    store = FailingStore(failing)

    record = await run(store, gym_url)

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "store_lost")
    assert "no space left on device" in record.message
    assert store.trial() is None


class FillingStore(MemoryStore):
    """Takes the first write of each key only."""

    def put(self, key: str, content: bytes) -> None:
        if key in self.objects:
            raise StoreError(self.name, key, "no space left on device")
        super().put(key, content)


async def test_a_lost_store_names_how_the_attempt_had_ended_and_not_its_message(gym_url: str) -> None:
    task = make_task(gym_servers_config=[{"mcp_server_name": "Nadia"}])

    record = await run(FillingStore(), gym_url, task=task)

    assert record.reason == "store_lost"
    assert record.message.endswith("(the attempt had ended as config_error unknown_gym)")
    assert "Nadia" not in record.message


async def test_a_store_that_fails_does_not_leave_databases_behind(gym: StubGym, gym_url: str) -> None:
    await run(FailingStore("transcript.json.zst"), gym_url)

    assert len(gym.deleted) == 1


async def test_a_running_attempt_is_rewritten_no_more_than_once_a_second(store: MemoryStore, gym_url: str) -> None:
    time = FakeTime()

    async def takes_600_ms() -> Response:
        time.seconds += 0.6
        return calls(("idle_0", {}))

    model = StubModel(*[takes_600_ms] * 5, says("No."))
    with serving(model.app) as url:
        async with Runner(store, clock=time.clock) as runner:
            record = await runner.run(make_job(gym_url, model=stub_model(url)))

    assert record.steps == 6
    # At its start, once its cost is unknown, twice for the time that passes, and at its end.
    assert store.writes.count(KEYS.attempt(0)) == 1 + 1 + 2 + 1
    assert record.timings.model_s == pytest.approx(3.0)


async def test_observers_get_events_for_start_steps_and_end(store: MemoryStore, gym_url: str) -> None:
    events: list[RunnerEvent] = []

    async with Runner(store, on_event=events.append) as runner:
        record = await runner.run(make_job(gym_url))

    assert [(event.kind, event.record.steps) for event in events] == [
        *(("started", 0), ("step", 1), ("step", 2), ("step", 3), ("finished", 3)),
    ]
    assert events[-1].record == record


async def cancelled_in_mid_episode(runner: Runner, gym_url: str, prices: Prices) -> None:
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def hang() -> Response:
        loop.call_soon_threadsafe(reached.set)
        await asyncio.Event().wait()
        raise AssertionError

    with serving(StubModel(calls(("add_note", {"text": "x"})), hang).app) as url:
        running = asyncio.create_task(runner.run(make_job(gym_url, model=stub_model(url, prices=prices))))
        await asyncio.wait_for(reached.wait(), 30)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_a_cancelled_attempt_records_its_cost_and_deletes_its_database(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    events: list[RunnerEvent] = []
    async with Runner(store, on_event=events.append) as runner:
        await cancelled_in_mid_episode(runner, gym_url, Prices(input_usd=1, output_usd=1))

    record = store.attempt()
    assert (record.outcome, record.steps, record.tool_calls) == (Outcome.CANCELLED, 1, 1)
    assert record.cost_usd == pytest.approx(1100 / 1e6)
    assert events[-1].kind == "finished"
    assert len(gym.deleted) == 1
    assert store.trial() is None


async def test_the_next_attempt_of_a_cancelled_trial_is_scored(store: MemoryStore, gym_url: str) -> None:
    async with Runner(store) as runner:
        await cancelled_in_mid_episode(runner, gym_url, Prices(input_usd=1, output_usd=1))
        record = await runner.run(make_job(gym_url, attempt=1))

    assert record.outcome == Outcome.PASSED
    trial = store.trial()
    assert trial is not None
    assert trial.attempt == 1


async def test_a_cancellation_while_results_are_written_does_not_tear_them(gym_url: str) -> None:
    import threading

    class SlowStore(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.writing, self.go_on = threading.Event(), threading.Event()

        def put(self, key: str, content: bytes) -> None:
            if key == KEYS.transcript:
                self.writing.set()
                assert self.go_on.wait(30)
            super().put(key, content)

    store = SlowStore()
    async with Runner(store) as runner:
        running = asyncio.create_task(runner.run(make_job(gym_url)))
        assert await asyncio.to_thread(store.writing.wait, 30)
        running.cancel()
        await asyncio.sleep(0)
        store.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await running

    assert store.trial() is not None
    assert store.attempt().outcome == Outcome.PASSED


@pytest.mark.parametrize(
    ("control", "outcome", "reason"),
    [
        (Control(start=False, reason="budget"), Outcome.BUDGET_SKIPPED, "budget"),
        (Control(start=False, proceed=False, reason="budget"), Outcome.BUDGET_SKIPPED, "budget"),
        (Control(start=False, reason="suspended"), Outcome.CANCELLED, "suspended"),
        (Control(start=False, reason="breaker"), Outcome.CANCELLED, "breaker"),
    ],
)
async def test_a_closed_gate_starts_no_episode(
    store: MemoryStore, gym: StubGym, gym_url: str, control: Control, outcome: Outcome, reason: str
) -> None:
    store.put(RunKeys("demo.0123456789ab").control_json, control.model_dump_json().encode())

    record = await run(store, gym_url)

    assert (record.outcome, record.reason, gym.seeds) == (outcome, reason, [])
    assert store.attempt() == record


@pytest.mark.parametrize(
    ("control", "outcome", "steps"),
    [
        (Control(start=False, proceed=True, reason="budget"), Outcome.PASSED, 3),
        (Control(start=False, proceed=False, reason="budget"), Outcome.BUDGET_SKIPPED, 1),
        (Control(start=False, proceed=False, reason="suspended"), Outcome.CANCELLED, 1),
    ],
)
async def test_a_gate_that_closes_stops_a_running_episode_between_steps(
    store: MemoryStore, gym: StubGym, gym_url: str, control: Control, outcome: Outcome, steps: int
) -> None:
    class ClosingGate:
        reads = 0

        async def control(self) -> Control:
            self.reads += 1
            return Control() if self.reads <= 2 else control

    async with Runner(store, gate=ClosingGate()) as runner:
        record = await runner.run(make_job(gym_url))

    assert (record.outcome, record.steps) == (outcome, steps)
    assert len(gym.deleted) == 1


async def test_the_gate_is_read_every_few_seconds_only(gym_url: str) -> None:
    time = FakeTime()

    class CountingStore(MemoryStore):
        gate_reads = 0

        def get(self, key: str) -> bytes | None:
            self.gate_reads += key.endswith("control.json")
            return super().get(key)

    async def takes_a_second() -> Response:
        time.seconds += 1
        return calls(("idle_0", {}))

    store = CountingStore()
    with serving(StubModel(*[takes_a_second] * 5, says("No.")).app) as url:
        async with Runner(store, clock=time.clock) as runner:
            await runner.run(make_job(gym_url, model=stub_model(url)))

    assert store.gate_reads == 2


async def test_waits_for_the_store_do_not_count_against_the_task_timeout(
    store: MemoryStore, gym_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SlowGate:
        """Advances the event loop's clock by an hour at each read."""

        async def control(self) -> Control:
            skip_an_hour()
            return Control()

    loop = asyncio.get_running_loop()
    real_time, skipped = loop.time, 0.0

    def skip_an_hour() -> None:
        nonlocal skipped
        skipped += 3600

    monkeypatch.setattr(loop, "time", lambda: real_time() + skipped)
    with serving(StubModel(calls(("idle_0", {})), says("No.")).app) as url:
        async with Runner(store, gate=SlowGate()) as runner:
            limits = Limits(task_timeout_seconds=60)
            record = await runner.run(make_job(gym_url, model=stub_model(url), limits=limits))

    assert (record.outcome, record.reason, record.steps) == (Outcome.FAILED, "verifiers", 2)


async def test_a_foreign_gate_file_is_refused_with_advice(store: MemoryStore, gym_url: str) -> None:
    store.put(RunKeys("demo.0123456789ab").control_json, b"open")

    record = await run(store, gym_url)

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "store_lost")
    assert "control.json is not a gate that opsgym wrote" in record.message


async def test_a_bug_in_one_attempt_ends_that_attempt_only(store: MemoryStore, gym_url: str) -> None:
    class BrokenGate:
        async def control(self) -> Control:
            raise ZeroDivisionError("a bug")

    async with Runner(store, gate=BrokenGate()) as runner:
        record = await runner.run(make_job(gym_url))

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "runner_error")
    assert "unexpected ZeroDivisionError: a bug" in record.message


async def test_many_attempts_run_at_the_same_time(store: MemoryStore, gym: StubGym, gym_url: str) -> None:
    async with Runner(store) as runner:
        records = await asyncio.gather(*(runner.run(make_job(gym_url, trial=trial)) for trial in range(12)))

    assert {record.outcome for record in records} == {Outcome.PASSED}
    assert len(set(gym.deleted)) == 12


async def test_a_second_runner_works_after_the_first_one_closed(store: MemoryStore, gym_url: str) -> None:
    first = await run(store, gym_url)
    second = await run(store, gym_url, attempt=1)

    assert (first.outcome, second.outcome) == (Outcome.PASSED, Outcome.PASSED)


async def test_results_in_a_real_folder_read_back_as_they_were_returned(gym_url: str, tmp_path: Path) -> None:
    store = LocalStore(tmp_path)

    async with Runner(store) as runner:
        record = await runner.run(make_job(gym_url))

    content = store.get(KEYS.attempt(0))
    assert content is not None
    assert AttemptRecord.from_json(content) == record
    assert store.get(KEYS.record) is not None


async def test_a_folder_that_cannot_be_written_is_an_infra_error(gym_url: str, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way")

    async with Runner(LocalStore(tmp_path)) as runner:
        record = await runner.run(make_job(gym_url))

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "store_lost")
    assert str(tmp_path) in record.message
