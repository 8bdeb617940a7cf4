"""Which credentials a request to a model carries, on the wire."""

from __future__ import annotations

import json
import math

import pytest
from pydantic import SecretStr
from tests.providers.conftest import KEY, TOOL
from tests.providers.stubs import Stub, bedrock_converse, openai_chat
from tests.providers.test_providers import BEDROCK
from tests.runner.jobs import NO_JITTER, FakeTime, make_job

from opsgym_runner.clients import ModelRegistry
from opsgym_runner.job import AwsCredentials, ModelEndpoint, ResolvedModel


async def send_one(model: ResolvedModel) -> None:
    """Sends one request to a model."""
    clients = ModelRegistry(NO_JITTER, FakeTime().clock)
    async with clients.client_of(model, make_job("http://gym")) as client:
        await client.complete([{"role": "user", "content": "hello"}], [TOOL], math.inf)
    await clients.close()


@pytest.mark.anyio
async def test_secret_headers_are_sent_beside_open_ones_and_are_secrets() -> None:
    stub = Stub(openai_chat(content="done"))
    with stub.serving() as url:
        endpoint = ModelEndpoint(f"{url}/v1", SecretStr("k"), (("Ocp-Apim-Subscription-Key", SecretStr(KEY)),))
        model = ResolvedModel("m", "openai/m", (endpoint,), {"extra_headers": {"X-Title": "evals"}})
        await send_one(model)
    assert stub.seen[0].headers["ocp-apim-subscription-key"] == KEY
    assert stub.seen[0].headers["x-title"] == "evals"
    assert KEY not in json.dumps(stub.seen[0].body)
    assert model.secrets == ["k", KEY]
    assert KEY not in repr(model)


@pytest.mark.anyio
async def test_a_models_own_aws_credentials_sign_its_calls_and_never_those_of_a_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPSGYM_STORE_AWS_ACCESS_KEY_ID", "AKIA0STORE")
    monkeypatch.setenv("OPSGYM_STORE_AWS_SECRET_ACCESS_KEY", "secret of the store")
    stub = Stub(bedrock_converse())
    with stub.serving() as url:
        aws = AwsCredentials("AKIA0MODEL", SecretStr(KEY), "eu-west-1")
        await send_one(ResolvedModel("m", BEDROCK, (ModelEndpoint(url),), aws=aws))
    signature = stub.seen[0].headers["authorization"]
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIA0MODEL/")
    assert "/eu-west-1/bedrock/aws4_request" in signature
    assert "AKIA0STORE" not in json.dumps(dict(stub.seen[0].headers))
