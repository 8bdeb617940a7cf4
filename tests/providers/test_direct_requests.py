"""Requests without litellm have the bodies that litellm sent: recorded ones, and in `make soak` those of today."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from tests.providers.direct_requests import MODELS, PARAMETERS, RECORDED, TOOL, cases, litellms

from opsgym_runner.models.direct import direct_body, direct_provider, is_direct

STUB = "http://127.0.0.1:1/v1"
OPENAI = "https://api.openai.com/v1"


def parameters_of(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in ("model", "messages", "tools")}


def test_a_direct_request_has_the_body_that_litellm_sent() -> None:
    recorded = json.loads(RECORDED.read_text())
    direct = {name: body for name, body in cases() if is_direct(body["model"], parameters_of(body))}

    assert len(direct) > len(MODELS) * len(PARAMETERS) / 2
    assert {name: direct_body(arguments, STUB) for name, arguments in direct.items()} == {
        name: recorded[name] for name in direct
    }


def test_what_litellm_refuses_or_translates_is_left_to_it() -> None:
    recorded = json.loads(RECORDED.read_text())
    refused = {name for name, body in recorded.items() if isinstance(body, str)}

    assert refused
    assert not {name for name, body in cases() if name in refused and is_direct(body["model"], parameters_of(body))}


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("openai/responses/gpt-5", {}),
        ("openai/gpt-5-codex", {}),
        ("openai/gpt-5.4", {}),
        ("openai/o3", {}),
        ("openai/gpt-4o-audio-preview", {}),
        ("openai/ft:gpt-4o-2024-08-06:org", {}),
        ("openai/gpt-5", {"reasoning_effort": "minimal"}),
        ("openai/stub", {"drop_params": True}),
        ("openai/stub", {"mock_response": "x"}),
        ("openai/stub", {"timeout": "20"}),
        ("openai/stub", {"extra_body": {"messages": []}}),
        ("openrouter/anthropic/claude-sonnet-4.5", {}),
        ("anthropic/claude-sonnet-5", {}),
        ("azure/gpt-4.1", {}),
        ("openai/", {}),
        ("gpt-5", {}),
    ],
)
def test_models_and_parameters_with_rules_of_their_own_are_left_to_litellm(
    model: str, parameters: dict[str, Any]
) -> None:
    assert not is_direct(model, parameters)


def test_no_model_that_litellm_sends_elsewhere_is_called_directly() -> None:
    """Those of OpenAI's other APIs, by litellm's own map."""
    from importlib.util import find_spec
    from pathlib import Path

    package = find_spec("litellm")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).with_name("model_prices_and_context_window_backup.json")
    listed = json.loads(file.read_bytes())
    elsewhere = [name for name, entry in listed.items() if entry.get("mode") == "responses"]

    assert len(elsewhere) > 10
    openai = [name for name in elsewhere if listed[name]["litellm_provider"] == "openai"]
    assert [name for name in openai if is_direct(f"openai/{name}", {})] == []


@pytest.mark.parametrize(
    ("schema", "url"),
    [
        ({"type": "object", "anyOf": [{"required": ["a"]}]}, OPENAI),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": r"\p{L}+"}}}, OPENAI),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": r"\p{L}+"}}}, STUB),
    ],
)
def test_tools_that_litellm_mends_for_openai_are_left_to_it(schema: dict[str, Any], url: str) -> None:
    tool = {"type": "function", "function": {**TOOL["function"], "parameters": schema}}
    arguments = {"model": "openai/stub", "messages": [{"role": "user", "content": "A"}], "tools": [tool]}

    assert direct_body(arguments, url) is None
    assert direct_body({**arguments, "tools": [TOOL]}, url) is not None


def test_a_property_named_like_a_keyword_reaches_vllm() -> None:
    """litellm takes it out of the schema, and the model then never learns of it."""
    properties = {"strict": {"type": "boolean"}, "additionalProperties": {"const": False}}
    tool = {"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": properties}}}
    arguments = {"model": "hosted_vllm/stub", "messages": [{"role": "user", "content": "A"}], "tools": [tool]}

    body = direct_body(arguments, STUB)

    assert body is not None
    assert body["tools"] == [tool]


def test_the_key_and_address_of_a_provider_come_from_its_usual_variables() -> None:
    environment = {"OPENAI_API_BASE": "http://a", "OPENAI_BASE_URL": "http://b", "OR_API_KEY": " k\n"}
    openai, vllm, router = (direct_provider(f"{name}/m") for name in ("openai", "hosted_vllm", "openrouter"))
    assert openai is not None
    assert vllm is not None
    assert router is not None

    assert (openai.base_in(environment), openai.key_in(environment)) == ("http://b", None)
    assert (vllm.base_in(environment), vllm.key_in(environment)) == ("", "fake-api-key")
    assert (router.base_in({}), router.key_in(environment)) == ("https://openrouter.ai/api/v1", "k")


PROGRAM = """
import asyncio, os, sys
from pydantic import SecretStr
from opsgym_runner.clock import Clock
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.checks import missing_key, unknown_price
from opsgym_runner.models.forward import keys_of, unforwardable
from opsgym_runner.models.prices import known_prices
from opsgym_runner.models.probe import context_length, probe
for model in ("openai/gpt-4o", "hosted_vllm/m", "openrouter/openai/gpt-5"):
    resolved = ResolvedModel("m", model, (ModelEndpoint(sys.argv[1], SecretStr("key")),), prices=known_prices(model))
    missing_key(model), unknown_price(model), keys_of(resolved, {}), unforwardable(model, {}), context_length(model)
    asyncio.run(probe(resolved, Clock()))
print("litellm" in sys.modules)
"""


def test_a_model_that_is_called_directly_is_checked_priced_and_asked_without_litellm() -> None:
    from tests.providers.stubs import Stub, openai_chat

    stub = Stub(openai_chat())
    with stub.serving() as url:
        command = [sys.executable, "-c", PROGRAM, f"{url}/v1"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout.strip()) == (0, "False"), ended.stderr
    assert len(stub.seen) > 3


@pytest.mark.soak
@pytest.mark.anyio
async def test_litellm_sends_today_what_was_recorded() -> None:
    assert await litellms() == json.loads(RECORDED.read_text())
