"""Hostile text at the borders: whatever a model, a gym server or a recording says, the attempt is recorded, judged and
booked.

OPSGYM_SOAK=1 plays more than 100,000 replies; otherwise some hundreds, the same every time.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from tests.runner.jobs import KEYS, NO_JITTER, FakeTime, MemoryStore, make_job, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_runner.recording.journal import record_json
from opsgym_runner.recording.transcript import TranscriptRecorder
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

SOAK = os.environ.get("OPSGYM_SOAK") == "1"
ATTEMPTS = 8000 if SOAK else 25
RECORDINGS = 1000 if SOAK else 10
PACE = pytest.mark.timeout(14_400 if SOAK else 300)
REPLIES = 14
"""Replies of an attempt, the last one in words."""
PRICES = Prices(input_usd=1, output_usd=10)
PIECES = (
    r"\ud83d", r"\udc97", r"\ud83d\ude00", r"\u0000", r"\u001b[2J", r"\u0085", r"\u2028", r"\uffff", r"\r\n", "é", "字",
    "plain", "{", "]]>", "\\\\", r"\"", "<|im_end|>",
)  # fmt: skip
VALUES = ("NaN", "-Infinity", "1e999", "9" * 5000, "-0", "null", "true", "[" * 150 + "]" * 150, "1.5", "{}")


def text(rng: random.Random) -> str:
    """A JSON string as it stands on the wire."""
    return '"' + "".join(rng.choices(PIECES, k=rng.randrange(6))) + '"'


def value(rng: random.Random) -> str:
    return rng.choice((text(rng), rng.choice(VALUES), f"{{{text(rng)}: {rng.choice(VALUES)}}}", f"[{text(rng)}]"))


def call(rng: random.Random) -> str:
    """A tool call as it stands on the wire, its arguments as text, as an object, or broken."""
    written = f'{{"text": {value(rng)}, {text(rng)}: {value(rng)}}}'
    arguments = rng.choice(
        (json.dumps(written), json.dumps(written[:-1]), written, json.dumps("[" * 20_000), value(rng))
    )
    name = rng.choice(('"add_note"', '"add_note"', text(rng)))
    function = f'{{"name": {name}, "arguments": {arguments}}}'
    return f'{{"id": {rng.choice((text(rng), "null"))}, "type": "function", "function": {function}}}'


def reply(rng: random.Random, last: bool) -> bytes:
    """A chat completion as it stands on the wire."""
    words = '"Done \\ud83d."' if last else rng.choice(("null", text(rng), f'[{{"type": "text", "text": {text(rng)}}}]'))
    calls = "null" if last else f"[{', '.join(call(rng) for _ in range(rng.randrange(1, 4)))}]"
    message = f'{{"role": "assistant", "content": {words}, "reasoning_content": {text(rng)}, "tool_calls": {calls}}}'
    choice = f'{{"index": 0, "message": {message}, "finish_reason": "{"stop" if last else "tool_calls"}"}}'
    usage = '{"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}'
    fields = f'"id": {text(rng)}, "object": "chat.completion", "created": 1, "model": {text(rng)}'
    return f'{{{fields}, "choices": [{choice}], "usage": {usage}}}'.encode()


def result(rng: random.Random) -> Response:
    """A tool's result as it stands on the wire."""
    content = f'[{{"type": "text", "text": {text(rng)}}}]'
    body = f'{{"jsonrpc": "2.0", "id": 1, "result": {{"content": {content}, "structuredContent": {value(rng)}}}}}'
    return Response(body.encode(), media_type="application/json")


@PACE
async def test_no_text_of_a_model_or_a_gym_costs_an_attempt_its_score_or_its_bill(gym: StubGym, gym_url: str) -> None:
    model = StubModel()
    with serving(model.app) as url:
        job = make_job(gym_url, model=stub_model(url, prices=PRICES), agent=Agent(name="react", max_steps=REPLIES))
        for number in range(ATTEMPTS):
            rng = random.Random(number)
            gym.broken = {"add_note": result(rng)}
            bodies = [reply(rng, last=n == REPLIES - 1) for n in range(REPLIES)]
            model.answers = [Response(body, media_type="application/json") for body in bodies]
            model.requests.clear()
            store = MemoryStore()
            async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
                record = await runner.run(job)

            assert (record.outcome, record.reason) in (("failed", "verifiers"), ("passed", "")), (
                number,
                record.message,
            )
            assert record.model_retries == 0, number
            assert record.cost_usd == pytest.approx(REPLIES * 0.002)
            events = store.transcript().events
            assert sum(event.kind == "assistant" for event in events) == REPLIES
            assert events[-1].content == "Done \\ud83d."
            assert KEYS.record in store.objects


def line(rng: random.Random) -> str:
    """A line of a recording, sometimes not a call or not JSON."""
    arguments = rng.choice((f'{{"text": {value(rng)}, {text(rng)}: {value(rng)}}}', value(rng)))
    tool = rng.choice(('"add_note"', text(rng)))
    written = f'{{"task_id": "rename-first", "tool": {tool}, "arguments": {arguments}}}'
    return written if rng.random() < 0.98 else written[:-1]


@PACE
async def test_no_text_of_a_recording_costs_an_attempt_its_end(gym: StubGym, gym_url: str, tmp_path: Path) -> None:
    reasons = set()
    for number in range(RECORDINGS):
        rng = random.Random(number)
        gym.broken = {"add_note": result(rng)}
        path = tmp_path / "recording.jsonl"
        path.write_text("\n".join(line(rng) for _ in range(rng.randrange(1, 6))), encoding="utf-8")
        store = MemoryStore()
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            record = await runner.run(make_job(gym_url, model=stub_model("", model=f"replay/{path}")))

        reasons.add(record.reason)
        assert record.reason in ("verifiers", "no_recording"), (number, record.message)
        assert record.reason == "verifiers" or str(path) in record.message
        assert (KEYS.record in store.objects) == (record.reason == "verifiers")
    assert len(reasons) == 2


async def test_an_answer_that_nests_too_deeply_is_the_models_fault(store: MemoryStore, gym_url: str) -> None:
    deep = b'{"choices": [{"message": {"content": ' + b"[" * 20_000 + b"]" * 20_000 + b"}}]}"

    with serving(StubModel(Response(deep, media_type="application/json")).app) as url:
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            record = await runner.run(make_job(gym_url, model=stub_model(url, prices=PRICES)))

    assert (record.outcome, record.reason, record.cost_usd) == ("failed", "malformed_reply", None)


def test_a_transcript_that_cannot_be_written_costs_the_transcript() -> None:
    recorder = TranscriptRecorder("t")
    recorder._add(TranscriptEvent(kind="user", content="half of a pair: \ud83d"))
    store = MemoryStore()
    store.put(KEYS.transcript, recorder.encoded())

    assert [event.content[:36] for event in store.transcript().events] == ["the transcript cannot be written: Er"]


async def test_a_record_that_cannot_be_written_is_written_with_its_text_made_storable(
    store: MemoryStore, gym_url: str
) -> None:
    with serving(StubModel().app) as url:
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            record = await runner.run(make_job(gym_url, model=stub_model(url, model="replay/noop")))
    object.__setattr__(record, "message", "half of a pair: \ud83d")

    read: Any = json.loads(record_json(record))

    assert read["message"] == "half of a pair: \\ud83d"
