"""What a request to a model costs the runner, and what its process weighs: without litellm and with it.

Each way is measured in a process of its own, in turns; the server is a third process, whose work is not counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import psutil

from opsgym_runner.clock import Clock
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models import client as client_module
from opsgym_runner.models.client import ModelClient, Target
from opsgym_runner.models.endpoints import EndpointPool
from opsgym_runner.models.limiter import ConcurrencyLimiter
from opsgym_runner.models.retry import Retrier, RetryPolicy
from opsgym_runner.models.sending import Connections

REQUESTS = 200
WARM = 20
"""Requests before those that are counted."""
SIZE = 66_000
"""Bytes of a request: the middle of a trial with 80 tools."""
ROUNDS = 3
MIB = 1024 * 1024
WAYS = ("direct", "litellm")


async def measure() -> list[str]:
    """Lines of the report."""
    return await asyncio.to_thread(_report)


def _report() -> list[str]:
    from tests.runner.servers import serving
    from tests.runner.stub_model import StubModel, says

    with serving(StubModel(says("Done.")).app) as url:
        rounds = [{way: _measured(way, f"{url}/v1") for way in WAYS} for _ in range(ROUNDS)]
    return [
        f"{REQUESTS} requests of {SIZE // 1000} kB, one after the other; the least of {ROUNDS} rounds:",
        "",
        "| called | CPU of the start | CPU of a request | RSS of the process |",
        "| --- | --- | --- | --- |",
        *(_row(way, [measured[way] for measured in rounds]) for way in WAYS),
    ]


def _row(way: str, measured: Sequence[Mapping[str, float]]) -> str:
    least = {name: min(one[name] for one in measured) for name in measured[0]}
    named = {"direct": "directly", "litellm": "through litellm"}[way]
    return f"| {named} | {least['start_s']:.1f} s | {least['request_ms']:.1f} ms | {least['rss_mib']:.0f} MiB |"


def _measured(way: str, url: str) -> dict[str, float]:
    command = [sys.executable, "-m", __name__, way, url]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    measured: dict[str, float] = json.loads(printed.strip().splitlines()[-1])
    return measured


async def _client(way: str, url: str) -> dict[str, float]:
    import_module("opsgym_runner.pod.task")  # what a pod imports in any case
    if way == "litellm":
        vars(client_module)["is_direct"] = lambda *_: False
    clock, endpoint = Clock(), ModelEndpoint(url)
    model = ResolvedModel("m", "openai/stub", (endpoint,))
    retrier = Retrier(EndpointPool([endpoint], clock), ConcurrencyLimiter(1), RetryPolicy(), clock)
    messages, tools = _conversation()
    async with Connections() as connections:
        client = ModelClient(Target(model, model.model), retrier, clock, connections)
        for _ in range(WARM):
            await client.complete(messages, tools)
        before = time.process_time()
        for _ in range(REQUESTS):
            await client.complete(messages, tools)
        spent = time.process_time() - before
    rss = psutil.Process(os.getpid()).memory_info().rss
    return {"start_s": before, "request_ms": 1000 * spent / REQUESTS, "rss_mib": rss / MIB}


def _conversation() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Half a conversation of calls and results, and half tools."""
    properties = {f"field_{number}": {"type": "string", "description": "A field of it."} for number in range(6)}
    schema = {"type": "object", "properties": properties, "required": ["field_0"]}
    tools: list[dict[str, Any]] = []
    while len(json.dumps(tools)) < SIZE / 2:
        function = {"name": f"get_{len(tools)}", "description": "Reads something.", "parameters": schema}
        tools.append({"type": "function", "function": function})
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Resolve it."}]
    while len(json.dumps(messages)) < SIZE / 2:
        call = {"id": f"c{len(messages)}", "type": "function", "function": {"name": "get_1", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": '{"state": "open"}' * 40})
    return messages, tools


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_client(*sys.argv[1:]))))
