"""Reaches a model, a bucket or a webhook as a pod's process does: what says how lies in the environment alone.

python -m tests.platforms.outbound model|store|webhook ADDRESS
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from pydantic import SecretStr


def model(url: str) -> str:
    """Text of the model's reply."""
    from opsgym_runner.clock import Clock
    from opsgym_runner.job import ModelEndpoint, ResolvedModel
    from opsgym_runner.models.client import ModelClient, Target
    from opsgym_runner.models.endpoints import EndpointPool
    from opsgym_runner.models.limiter import ConcurrencyLimiter
    from opsgym_runner.models.retry import Retrier, RetryPolicy
    from opsgym_runner.models.sending import Connections

    clock, endpoint = Clock(), ModelEndpoint(url, SecretStr("key"))
    resolved = ResolvedModel("stub", "openai/stub", (endpoint,))
    retrier = Retrier(EndpointPool([endpoint], clock), ConcurrencyLimiter(1), RetryPolicy(total_wait_s=0), clock)

    async def reply() -> str:
        async with Connections() as connections:
            client = ModelClient(Target(resolved, resolved.model), retrier, clock, connections)
            return (await client.complete([{"role": "user", "content": "Hello"}], [])).text

    return asyncio.run(reply())


def store(url: str) -> str:
    """What the store says after it was written to."""
    from opsgym_core.store.s3 import S3Access, S3Store

    access = S3Access(url, "us-east-1", "id", SecretStr("secret"))
    bucket = S3Store("results", access=access)
    bucket.put_once("a", b"stored")
    return (bucket.get("a") or b"nothing").decode()


def webhook(url: str) -> str:
    """Outcome of a notification."""
    from tests.operator_io.test_webhooks import REQUEST, mount, sent

    with tempfile.TemporaryDirectory() as folder:
        [result] = sent(mount(Path(folder), url), REQUEST)
    return result.outcome


def answer(argument: str) -> str:
    """What the address answers, or the type of the error."""
    kind, _, url = argument.partition("=")
    try:
        return {"model": model, "store": store, "webhook": webhook}[kind](url)
    except Exception as error:  # noqa: BLE001 the test says which errors it expects
        return type(error).__name__


if __name__ == "__main__":
    print(json.dumps({argument: answer(argument) for argument in sys.argv[1:]}))
