"""Agents that are programs of their own, started for real: what they reach, how they end, what is recorded of them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import psutil
import pytest
from tests.runner.jobs import KEY, KEYS, MemoryStore, make_job, make_task, stub_model
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, says

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent, Limits
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_runner.bridge.server import Bridge
from opsgym_runner.bridge.supervisor import GRACE_S
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.forward import AgentRequest, AnswerSink
from opsgym_runner.orchestrators.base import Session
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[2] / "examples" / "own-agent" / "agent.sh"
GOLD = ResolvedModel(name="m", model="replay/gold")
CHEAP = Prices(input_usd=1.0, output_usd=10.0)
HEAD = """
import json, os, subprocess, sys, time, urllib.error, urllib.request
def post(url, body, key=None):
    headers = {"Authorization": "Bearer " + (key or os.environ["OPSGYM_KEY"]), "Content-Type": "application/json",
               "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
def ask(text="hi", **more):
    return post(os.environ["OPENAI_BASE_URL"] + "/chat/completions",
                {"model": "any", "messages": [{"role": "user", "content": text}], **more})
def call(tool, gym="notes", **arguments):
    return post(os.environ["OPSGYM_URL"] + "/mcp/" + gym, {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments}})
def answer(text):
    return post(os.environ["OPSGYM_URL"] + "/opsgym/v1/answer", {"answer": text})
"""


def program(code: str) -> list[str]:
    """Command of an agent in Python."""
    return [sys.executable, "-c", HEAD + textwrap.dedent(code)]


def own(code: str | list[str], **fields: Any) -> Agent:
    command = code if isinstance(code, list) else program(code)
    return Agent.model_validate({"name": "mine", "command": command, "maxSteps": 8, **fields})


async def run(store: MemoryStore, gym_url: str, agent: Agent, **fields: Any) -> AttemptRecord:
    async with Runner(store) as runner:
        return await runner.run(make_job(gym_url, **{"agent": agent, "model": GOLD, **fields}))


def entries(store: MemoryStore, *kinds: str) -> list[str]:
    key = KEYS.transcript if KEYS.transcript in store.objects else KEYS.failed_transcript(0)
    return [event.content for event in store.transcript(key).events if event.kind in kinds]


@contextmanager
def answering(*answers: Any) -> Iterator[tuple[StubModel, ResolvedModel]]:
    model = StubModel(*answers)
    with serving(model.app) as url:
        yield model, stub_model(url, prices=CHEAP)


# The contract


@pytest.mark.skipif(
    "CI" not in os.environ and not (shutil.which("curl") and shutil.which("jq")), reason="the example needs curl and jq"
)
async def test_the_example_in_shell_plays_the_reference_solution(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, own([str(EXAMPLE)]))

    assert (record.outcome, record.steps, record.tool_calls) == (Outcome.PASSED, 3, 2), record.message
    trial = store.trial()
    assert trial is not None
    assert (trial.answer, trial.stopped_by) == ("Both are done.", "answer")
    kinds = [event.kind for event in store.transcript().events]
    assert kinds == ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "note"]


async def test_an_agent_has_the_variables_of_the_contract_and_no_others(
    store: MemoryStore, gym_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_PROXY", "http://proxy")
    code = "ask(); answer(json.dumps([dict(os.environ), os.getcwd(), json.load(open('task.json'))]))"

    await run(store, gym_url, own(code, env={"STYLE": "terse"}, passEnv=["MY_PROXY"]))

    trial = store.trial()
    assert trial is not None
    variables, folder, task = json.loads(trial.answer)
    system = {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}  # which Python and macOS set themselves
    assert set(variables) - system == {
        *("PATH", "HOME", "STYLE", "MY_PROXY", "OPSGYM_URL", "OPSGYM_KEY", "OPSGYM_MODEL", "OPSGYM_TASK"),
        *("OPSGYM_DEADLINE", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    }
    assert (variables["STYLE"], variables["MY_PROXY"]) == ("terse", "http://proxy")
    assert KEY not in trial.answer
    assert variables["HOME"] == folder
    assert folder not in map(str, Path(folder).parent.iterdir())
    assert (task["userPrompt"], task["model"], task["maxSteps"]) == (make_task().user_prompt, "m", 8)
    assert [(s["name"], s["tools"]) for s in task["mcpServers"]] == [("notes", ["add_note", "rename_note"])]


async def test_only_the_tools_of_the_mode_can_be_called(store: MemoryStore, gym_url: str) -> None:
    record = await run(
        store, gym_url, own("ask(); answer(json.dumps([call('idle_1'), call('add_note', gym='drive')]))")
    )

    trial = store.trial()
    assert trial is not None
    (_, unknown), elsewhere = json.loads(trial.answer)
    assert unknown["result"]["isError"] is True
    assert "shows no tool 'idle_1'" in unknown["result"]["content"][0]["text"]
    assert elsewhere[0] == 404
    assert (record.tool_calls, record.tool_errors) == (1, 1)


async def test_a_request_with_another_key_reaches_nothing(store: MemoryStore, gym_url: str) -> None:
    code = "ask(); answer(json.dumps(post(os.environ['OPSGYM_URL'] + '/mcp/notes', {}, key='guess')))"

    await run(store, gym_url, own(code))

    trial = store.trial()
    assert trial is not None
    assert json.loads(trial.answer)[0] == 401


# How agents end


async def test_an_agent_that_asks_nothing_of_its_model_fails(store: MemoryStore, gym_url: str) -> None:
    code = "call('rename_note', id=1, text='done'); call('add_note', text='more'); print('all done'); answer('yes')"

    record = await run(store, gym_url, own(code))

    assert (record.outcome, record.reason) == (Outcome.FAILED, "no_model_calls")
    assert "asked nothing of its model; the last of its output: all done" in record.message


async def test_an_agent_that_hangs_without_asking_its_model_fails_for_that(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, own("time.sleep(600)"), limits=Limits(task_timeout_seconds=1))

    assert (record.outcome, record.reason) == (Outcome.FAILED, "no_model_calls")


async def test_an_agent_that_ends_with_an_error_is_scored_by_the_state(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, own("ask(); print('oh no', file=sys.stderr); sys.exit(3)"))

    assert (record.outcome, record.reason) == (Outcome.FAILED, "agent_error")
    assert "ended with exit code 3 and without an answer; the last of its output: oh no" in record.message
    assert any("oh no" in note for note in entries(store, "note"))


async def test_an_agent_that_did_everything_passes_whatever_its_exit_code(store: MemoryStore, gym_url: str) -> None:
    code = "ask(); call('rename_note', id=1, text='done'); call('add_note', text='more'); sys.exit(1)"

    assert (await run(store, gym_url, own(code))).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ask(); open('answer.txt', 'w').write('from a file')", "from a file"),
        ("ask()", "Bye."),
        ("ask(); os.mkfifo('answer.txt')", "Bye."),
    ],
)
async def test_the_answer_of_an_agent_that_posts_none(
    store: MemoryStore, gym_url: str, code: str, expected: str
) -> None:
    with answering(says("Bye.")) as (_, model):
        await run(store, gym_url, own(code), model=model)

    trial = store.trial()
    assert trial is not None
    assert trial.answer == expected


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "No such file"), ("#!/nowhere/sh\n", "No such file"), ("", "Exec format error")]
)
async def test_a_command_that_cannot_be_started_is_not_scored(
    store: MemoryStore, gym_url: str, tmp_path: Path, content: str | None, problem: str
) -> None:
    file = tmp_path / "agent.sh"
    if content is not None:
        file.write_text(content)
        file.chmod(0o755)

    record = await run(store, gym_url, own([str(file)]))

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "agent_not_started")
    assert problem in record.message
    assert str(file) in record.message


# What agents may do to us


async def test_nothing_that_an_agent_started_outlives_its_attempt(
    store: MemoryStore, gym_url: str, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    code = f"""
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sleep = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    started = [subprocess.Popen([sys.executable, "-c", sleep], start_new_session=alone).pid for alone in (False, True)]
    open({str(pids)!r}, "w").write(json.dumps([os.getpid(), *started]))
    ask()
    answer("done")
    time.sleep(600)
    """

    record = await run(store, gym_url, own(code))

    assert record.outcome is Outcome.FAILED
    alive = [pid for pid in json.loads(pids.read_text()) if psutil.pid_exists(pid)]
    assert not (alive if sys.platform == "linux" else alive[:-1])
    assert GRACE_S < 10


async def test_an_agent_that_works_on_after_its_answer_changes_nothing(store: MemoryStore, gym_url: str) -> None:
    code = """
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ask()
    call('rename_note', id=1, text='done')
    answer("done")
    while True:
        print(call('add_note', text='more')[0], ask()[0], flush=True)
    """

    record = await run(store, gym_url, own(code))

    assert (record.outcome, record.steps, record.tool_calls) == (Outcome.FAILED, 1, 1)
    written = entries(store, "note")[-1]
    assert "200" not in written.replace("output of the agent's command", "")


async def test_an_agent_that_floods_is_stopped_by_its_limits(
    store: MemoryStore, gym_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opsgym_runner.bridge.server.CALLS_PER_STEP", 5)
    flood = "ask()\nwhile call('idle_1')[0] == 200: pass\ntime.sleep(600)"

    record = await run(store, gym_url, own(flood, maxSteps=2))

    assert (record.outcome, record.reason) == (Outcome.FAILED, "step_limit")
    assert "more than 10 tool calls" in record.message
    assert record.tool_calls == 10


async def test_only_the_end_of_an_agents_output_is_kept(store: MemoryStore, gym_url: str) -> None:
    code = "ask()\nfor _ in range(3000): print('x' * 1000)\nprint('the end'); sys.stdout.flush(); answer('done')"

    await run(store, gym_url, own(code))

    (note,) = entries(store, "note")
    assert note.endswith("the end")
    assert 60_000 < len(note) < 66_000


async def test_the_step_limit_ends_an_agent_that_goes_on_asking(store: MemoryStore, gym_url: str) -> None:
    with answering(says("More?")) as (stub, model):
        code = "while (status := ask()[0]) == 200: pass\nprint(status, flush=True); time.sleep(600)"
        record = await run(store, gym_url, own(code, maxSteps=3), model=model)

    assert (record.outcome, record.reason, record.steps) == (Outcome.FAILED, "step_limit", 3)
    assert len(stub.requests) == 3


async def test_a_secret_of_the_runner_is_in_no_record_whatever_an_agent_prints(
    store: MemoryStore, gym_url: str
) -> None:
    with answering(says("Bye.")) as (_, model):
        code = f"ask('{KEY}'); print('{KEY}', os.environ, flush=True); sys.exit(1)"
        await run(store, gym_url, own(code), model=model)

    assert "OPSGYM_KEY" in entries(store, "note")[0]
    outputs = [content for key, content in store.objects.items() if "transcript" not in key]
    assert KEY.encode() not in b"".join(outputs)
    assert KEY not in entries(store, "note")[0]


async def test_a_program_that_is_faster_than_the_bridge_is_not_refused() -> None:
    bridge = Bridge(cast("Session", SimpleNamespace(definitions_by_gym={})))
    async with bridge.running():
        address = urlsplit(bridge.url)
        # Without a turn of the event loop in between, so that the server has not started yet.
        socket.create_connection((address.hostname, address.port), timeout=10).close()


async def test_an_agent_that_hangs_up_in_mid_answer_leaves_nothing_running() -> None:
    released = asyncio.Event()

    async def forward(_request: AgentRequest, sink: AnswerSink) -> None:
        sink.begin(200, {"content-type": "text/event-stream"})
        await released.wait()

    bridge = Bridge(cast("Session", SimpleNamespace(definitions_by_gym={}, forward=forward)))
    async with bridge.running():
        address = urlsplit(bridge.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = f"POST /v1/responses HTTP/1.1\r\nHost: b\r\nx-api-key: {bridge.key}\r\nContent-Length: 2\r\n\r\n{{}}"
        writer.write(head.encode())
        await reader.readline()
        before = asyncio.all_tasks()
        writer.close()
        answering = {task for task in before if "run_asgi" in repr(task.get_coro())}
        await asyncio.wait(answering, timeout=30)
        waiting = [task for task in asyncio.all_tasks() if "Queue.get" in repr(task.get_coro())]
        released.set()

    assert answering
    assert waiting == []
