"""What each provider family is sent, over real HTTP in its own wire shape, and what comes back: calls, tokens, cost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.providers.conftest import ASKED, KEY, SYSTEM, TOOL, Talk
from tests.providers.stubs import (
    ARGUMENTS,
    Seen,
    Stub,
    anthropic_messages,
    bedrock_converse,
    gemini_generate,
    openai_chat,
    openai_responses,
)

from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import InfraReason
from opsgym_runner.models.client import Reply
from opsgym_runner.models.prices import known_prices
from opsgym_runner.models.retry import ModelFailure

pytestmark = pytest.mark.anyio

EPHEMERAL = {"type": "ephemeral"}
REASONED = Usage(
    model_calls=1, prompt_tokens=1000, completion_tokens=100, cached_tokens=600, reasoning_tokens=40
)  # fmt: skip


def require_key_in_headers_only(seen: Seen, header: str, value: str) -> None:
    """The key is in one header; neither in the URL nor in the body, which proxies log."""
    assert seen.headers[header] == value
    assert KEY not in seen.path + seen.query + json.dumps(seen.body)
    assert [name for name, given in seen.headers.items() if KEY in given] == [header]


def dollars(model: str, plain: int, cached: int, written: int, completion: int) -> float:
    """What a provider bills, by its listed prices."""
    prices = known_prices(model)
    assert prices is not None
    read, write = prices.cached_input_usd, prices.cache_write_usd
    assert read is not None
    assert write is not None or not written
    return (plain * prices.input_usd + cached * read + written * (write or 0) + completion * prices.output_usd) / 1e6


def tools_of(seen: Seen) -> Any:
    """The tools of a request, without `strict`, which other tests check."""
    return [{k: v for k, v in tool["function"].items() if k != "strict"} for tool in seen.body["tools"]]


OPENAI_LIKE = [
    ("openai/gpt-5", "/v1", "/v1/chat/completions", {"reasoning_effort": "high"}, {"reasoning_effort": "high"}),
    ("hosted_vllm/openai/gpt-oss-120b", "/v1", "/v1/chat/completions",
     {"extra_body": {"reasoning": {"effort": "high"}}}, {"reasoning": {"effort": "high"}}),
    ("openrouter/deepseek/deepseek-v3.2", "/api/v1", "/api/v1/chat/completions",
     {"extra_body": {"reasoning": {"effort": "high"}}}, {"reasoning": {"effort": "high"}}),
    ("deepseek/deepseek-chat", "", "/chat/completions",
     {"extra_body": {"reasoning": {"enabled": True, "effort": "medium"}}},
     {"reasoning": {"enabled": True, "effort": "medium"}}),
    ("dashscope/qwq-plus", "/compatible-mode/v1", "/compatible-mode/v1/chat/completions",
     {"temperature": 0.6, "max_tokens": 4096}, {"temperature": 0.6, "max_tokens": 4096}),
]  # fmt: skip
"""litellm id, what the endpoint's URL ends with, path that is asked, parameters, what of them is in the body."""


@pytest.mark.parametrize(
    ("model", "base", "path", "parameters", "sent"),
    OPENAI_LIKE,
    ids=[case[0].partition("/")[0] for case in OPENAI_LIKE],
)
async def test_openai_and_those_compatible_with_it(
    talk: Talk, model: str, base: str, path: str, parameters: dict[str, Any], sent: dict[str, Any]
) -> None:
    stub = Stub(openai_chat())
    with stub.serving() as url:
        first, _ = await talk(model, url + base, **parameters)

    for seen in stub.seen:
        assert (seen.path, seen.query) == (path, "")
        require_key_in_headers_only(seen, "authorization", f"Bearer {KEY}")
        assert tools_of(seen) == [TOOL["function"]]
        assert {name: seen.body.get(name) for name in sent} == sent
        assert not seen.body.get("stream")
    system, user, assistant, *results = stub.seen[1].body["messages"]
    assert (system["content"], user["content"]) == (SYSTEM, ASKED)
    assert [json.loads(call["function"]["arguments"]) for call in assistant["tool_calls"]] == list(ARGUMENTS)
    assert [result["tool_call_id"] for result in results] == ["call_0", "call_1"]
    assert first.usage == REASONED


async def test_openai_bills_cached_tokens_at_their_price(talk: Talk) -> None:
    stub = Stub(openai_chat())
    with stub.serving() as url:
        first, _ = await talk("openai/gpt-5", url + "/v1")

    assert first.cost_usd == pytest.approx(dollars("openai/gpt-5", 400, 600, 0, 100))


async def test_reasoning_of_deepseek_goes_back_into_the_conversation(talk: Talk) -> None:
    stub = Stub(openai_chat(reasoning_content="Two numbers."))
    with stub.serving() as url:
        await talk("deepseek/deepseek-chat", url)

    assistant = stub.seen[1].body["messages"][2]
    assert assistant["reasoning_content"] == "Two numbers."


DETAILS = [{"type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "r1", "format": "google-gemini-v1", "index": 0}]


@pytest.mark.parametrize(
    ("model", "sent", "returned"),
    [
        ("hosted_vllm/qwen3", {"reasoning": "Two numbers."}, {"reasoning": "Two numbers."}),
        ("hosted_vllm/qwen3", {"reasoning_content": "Two numbers."}, {"reasoning_content": "Two numbers."}),
        ("openrouter/google/gemini-3-pro-preview", {"reasoning": "Two.", "reasoning_details": DETAILS},
         {"reasoning_details": DETAILS}),
        ("openrouter/qwen/qwen3", {"reasoning": "Two."}, {"reasoning": "Two."}),
    ],
    ids=["vLLM from 0.16", "vLLM before 0.16", "OpenRouter with details", "OpenRouter without"],
)  # fmt: skip
async def test_reasoning_goes_back_under_the_name_under_which_it_came(
    talk: Talk, model: str, sent: dict[str, Any], returned: dict[str, Any]
) -> None:
    stub = Stub(openai_chat(**sent))
    with stub.serving() as url:
        await talk(model, url + "/v1")

    assistant = stub.seen[1].body["messages"][2]
    names = ("reasoning", "reasoning_content", "reasoning_details", "provider_specific_fields")
    assert {name: assistant[name] for name in names if name in assistant} == returned


async def test_openais_responses_api_gets_its_reasoning_items_back(talk: Talk) -> None:
    stub = Stub(openai_responses())
    with stub.serving() as url:
        first, _ = await talk("openai/responses/gpt-5", url + "/v1")

    for seen in stub.seen:
        assert seen.path == "/v1/responses"
        require_key_in_headers_only(seen, "authorization", f"Bearer {KEY}")
    reasoning, *calls, one, two = stub.seen[1].body["input"][-5:]
    assert (reasoning["type"], reasoning["id"], reasoning["encrypted_content"]) == ("reasoning", "rs_1", "b3BhcXVl")
    assert [json.loads(call["arguments"]) for call in calls] == list(ARGUMENTS)
    assert [result["call_id"] for result in (one, two)] == [call["call_id"] for call in calls]
    assert first.usage == REASONED


async def test_the_tools_of_an_episode_are_not_changed_by_requests(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"number": {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Number", "default": None}},
        "additionalProperties": False,
    }
    monkeypatch.setitem(TOOL["function"], "parameters", schema)  # type: ignore[arg-type]
    stub, before = Stub(gemini_generate()), json.dumps(schema)
    with stub.serving() as url:
        await talk("gemini/gemini-2.5-pro", url)

    assert json.dumps(schema) == before
    assert stub.seen[0].body["tools"] == stub.seen[1].body["tools"]


async def test_azure_openai(talk: Talk) -> None:
    stub = Stub(openai_chat())
    with stub.serving() as url:
        first, _ = await talk(
            "azure/gpt-4.1", url, api_version="2025-04-01-preview", max_completion_tokens=16384, temperature=0.1
        )

    for seen in stub.seen:
        assert seen.path == "/openai/deployments/gpt-4.1/chat/completions"
        assert seen.query == "api-version=2025-04-01-preview"
        require_key_in_headers_only(seen, "api-key", KEY)
        assert (seen.body["max_completion_tokens"], seen.body["temperature"]) == (16384, 0.1)
    assert first.usage == REASONED
    assert first.cost_usd == pytest.approx(dollars("azure/gpt-4.1", 400, 600, 0, 100))


CLAUDE = "claude-sonnet-4-5-20250929"
WRITTEN = {"prompt_tokens": 1000, "completion_tokens": 100, "cached_tokens": 600, "cache_write_tokens": 300}


async def test_anthropic_with_thinking_tools_and_cache_markers(talk: Talk) -> None:
    stub = Stub(anthropic_messages())
    with stub.serving() as url:
        first, _ = await talk(
            f"anthropic/{CLAUDE}", url, thinking={"type": "enabled", "budget_tokens": 2048}, max_tokens=8192
        )

    for seen in stub.seen:
        assert (seen.path, seen.query) == ("/v1/messages", "")
        require_key_in_headers_only(seen, "x-api-key", KEY)
        assert seen.body["thinking"] == {"type": "enabled", "budget_tokens": 2048}
        assert seen.body["max_tokens"] == 8192
        (tool,) = seen.body["tools"]
        assert (tool["name"], tool["input_schema"]["required"]) == ("find", ["number"])
        assert tool["cache_control"] == EPHEMERAL
        assert seen.body["system"] == [{"type": "text", "text": SYSTEM, "cache_control": EPHEMERAL}]
    request, thought, results = stub.seen[1].body["messages"]
    assert stub.seen[0].body["messages"][-1]["content"][-1]["cache_control"] == EPHEMERAL
    assert "cache_control" not in json.dumps(request)
    assert thought["content"][0] == {"type": "thinking", "thinking": "Two numbers.", "signature": "c2lnbmVk"}
    assert [call["input"] for call in thought["content"][1:]] == list(ARGUMENTS)
    assert [(part["type"], part["tool_use_id"]) for part in results["content"]] == [
        ("tool_result", "toolu_0"),
        ("tool_result", "toolu_1"),
    ]
    assert [part.get("cache_control") for part in results["content"]] == [None, EPHEMERAL]
    require_billed(first, f"anthropic/{CLAUDE}")


def require_billed(reply: Reply, model: str) -> None:
    """Tokens are counted as they were billed: read from the cache, written into it, and neither."""
    counted = reply.usage.to_dict()
    assert {name: counted[name] for name in WRITTEN} == WRITTEN
    assert reply.cost_usd == pytest.approx(dollars(model, 100, 600, 300, 100))


BEDROCK = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"


async def test_bedrock_with_thinking_tools_and_cache_markers(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0TEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    stub = Stub(bedrock_converse())
    with stub.serving() as url:
        first, _ = await talk(
            BEDROCK,
            url,
            key=None,
            aws_region_name="us-west-2",
            thinking={"type": "enabled", "budget_tokens": 2048},
            max_tokens=8192,
        )

    for seen in stub.seen:
        assert seen.path.endswith("/converse")
        assert seen.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIA0TEST/")
        assert "/us-west-2/bedrock/aws4_request" in seen.headers["authorization"]
        assert KEY not in seen.path + json.dumps(dict(seen.headers)) + json.dumps(seen.body)
        assert seen.body["additionalModelRequestFields"]["thinking"] == {"type": "enabled", "budget_tokens": 2048}
        assert seen.body["inferenceConfig"]["maxTokens"] == 8192
        tool, mark = seen.body["toolConfig"]["tools"]
        assert tool["toolSpec"]["name"] == "find"
        assert mark == {"cachePoint": {"type": "default"}}
        assert seen.body["system"] == [{"text": SYSTEM}, {"cachePoint": {"type": "default"}}]
    _, thought, results = stub.seen[1].body["messages"]
    assert thought["content"][0]["reasoningContent"]["reasoningText"] == {
        "text": "Two numbers.",
        "signature": "c2lnbmVk",
    }
    assert [part["toolResult"]["toolUseId"] for part in results["content"][:2]] == ["tooluse_0", "tooluse_1"]
    assert results["content"][2] == {"cachePoint": {"type": "default"}}
    require_billed(first, BEDROCK)


async def test_bedrock_takes_an_api_key_of_its_own(talk: Talk) -> None:
    stub = Stub(bedrock_converse())
    with stub.serving() as url:
        await talk(BEDROCK, url, aws_region_name="us-west-2")

    require_key_in_headers_only(stub.seen[0], "authorization", f"Bearer {KEY}")


async def test_gemini_on_ai_studio_has_its_key_in_a_header_and_gets_its_signatures_back(talk: Talk) -> None:
    stub = Stub(gemini_generate())
    with stub.serving() as url:
        first, _ = await talk("gemini/gemini-2.5-pro", url + "/v1beta", reasoning_effort="low", temperature=0.0)

    for seen in stub.seen:
        assert (seen.path, seen.query) == ("/v1beta/models/gemini-2.5-pro:generateContent", "")
        require_key_in_headers_only(seen, "x-goog-api-key", KEY)
        require_gemini(seen)
    require_gemini_conversation(stub.seen[1])
    assert first.usage == REASONED
    assert first.cost_usd == pytest.approx(dollars("gemini/gemini-2.5-pro", 400, 600, 0, 100))


def require_gemini(seen: Seen) -> None:
    (declared,) = seen.body["tools"][0]["function_declarations"]
    assert declared["name"] == "find"
    assert seen.body["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 1024
    assert seen.body["system_instruction"]["parts"] == [{"text": SYSTEM}]


def require_gemini_conversation(seen: Seen) -> None:
    _, called, results = seen.body["contents"]
    calls = [part for part in called["parts"] if "function_call" in part or "functionCall" in part]
    assert [(part.get("function_call") or part["functionCall"])["args"] for part in calls] == list(ARGUMENTS)
    assert calls[0]["thoughtSignature"] == "c2lnbmVk"
    assert len(results["parts"]) == 2


async def test_gemini_on_vertex_gets_a_token_for_the_service_account_and_no_key_travels(talk: Talk) -> None:
    stub = Stub(gemini_generate())
    with stub.serving() as url:
        account = service_account(f"{url}/token")
        first, _ = await talk(
            "vertex_ai/gemini-2.5-pro",
            url,
            key=json.dumps(account),
            vertex_project="acme",
            vertex_location="global",
            reasoning_effort="low",
        )

    assert len(stub.tokens_asked) == 1
    for seen in stub.seen:
        where = "projects/acme/locations/global/publishers/google/models/gemini-2.5-pro:generateContent"
        assert seen.path.endswith(where)
        assert seen.headers["authorization"] == "Bearer ya29.token"
        assert account["private_key"] not in json.dumps(dict(seen.headers)) + json.dumps(seen.body)
        require_gemini(seen)
    require_gemini_conversation(stub.seen[1])
    assert first.cost_usd == pytest.approx(dollars("vertex_ai/gemini-2.5-pro", 400, 600, 0, 100))


def service_account(token_uri: str) -> dict[str, str]:
    """A service account's JSON, as the cloud's console hands it out."""
    private = rsa.generate_private_key(65537, 2048)
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return {
        "type": "service_account",
        "project_id": "acme",
        "private_key_id": "1",
        "private_key": pem,
        "client_email": "bench@acme.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": token_uri,
    }


async def test_an_unsupported_parameter_is_refused_with_advice(talk: Talk) -> None:
    stub = Stub(anthropic_messages())
    with stub.serving() as url, pytest.raises(ModelFailure, match="logit_bias") as refused:
        await talk(f"anthropic/{CLAUDE}", url, logit_bias={"1": 1})

    assert (refused.value.reason, refused.value.transient) == (InfraReason.MODEL_REFUSED_REQUEST, False)
    assert "remove it from its parameters, or add drop_params: true" in str(refused.value)
    assert stub.seen == []


async def test_a_parameter_dropped_by_drop_params_is_not_sent(talk: Talk) -> None:
    stub = Stub(anthropic_messages())
    with stub.serving() as url:
        await talk(f"anthropic/{CLAUDE}", url, logit_bias={"1": 1}, drop_params=True)

    assert "logit_bias" not in stub.seen[0].body


async def test_cache_markers_of_the_user_are_left_unchanged(talk: Talk) -> None:
    stub = Stub(anthropic_messages())
    points = [{"location": "message", "role": "system"}]
    with stub.serving() as url:
        await talk(f"anthropic/{CLAUDE}", url, cache_control_injection_points=points)

    assert "cache_control" not in json.dumps(stub.seen[0].body["tools"])


async def test_models_that_cache_automatically_get_no_markers(talk: Talk) -> None:
    stub = Stub(openai_chat())
    with stub.serving() as url:
        await talk("openai/gpt-5", url + "/v1")

    assert "cache_control" not in json.dumps(stub.seen[1].body)
