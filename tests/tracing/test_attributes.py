"""Attributes of spans, as values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.runner.jobs import make_job

from opsgym_api.records.attempt import AttemptRecord, Cell, Timings, Usage, VerifierResult
from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_domains.kit.trace_context import trace_of
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.chat_replies import chat_answer
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.tracing.spans import (
    chat_attributes,
    chat_content,
    episode_attributes,
    evaluation_attributes,
    outcome_attributes,
    reply_attributes,
    request_attributes,
    shared_attributes,
    tool_attributes,
)


@pytest.mark.parametrize(
    ("litellm_id", "provider", "model"),
    [
        ("openai/gpt-5", "openai", "gpt-5"),
        ("azure/gpt-4.1", "azure.ai.openai", "gpt-4.1"),
        ("bedrock/us.anthropic.claude", "aws.bedrock", "us.anthropic.claude"),
        ("vertex_ai/gemini-3", "gcp.vertex_ai", "gemini-3"),
        ("gemini/gemini-3", "gcp.gemini", "gemini-3"),
        ("xai/grok", "x_ai", "grok"),
        ("openrouter/meta/llama", "openrouter", "meta/llama"),
        ("replay/gold", "replay", "gold"),
        ("gpt-5", None, "gpt-5"),
    ],
)
def test_providers_have_the_names_of_the_conventions(litellm_id: str, provider: str | None, model: str) -> None:
    attributes = chat_attributes(ResolvedModel(name="m", model=litellm_id), "")
    assert (attributes.get("gen_ai.provider.name"), attributes["gen_ai.request.model"]) == (provider, model)


def test_only_parameters_known_to_the_conventions_are_attributes() -> None:
    parameters = {"temperature": 0.2, "max_completion_tokens": 9, "extra_headers": {"x": "y"}, "user": "me"}
    attributes = chat_attributes(ResolvedModel(name="m", model="openai/x", parameters=parameters), "judge")
    assert attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "x",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 9,
        "opsgym.model": "m",
        "opsgym.role": "judge",
    }


def test_an_episode_is_named_by_run_cell_task_trial_and_attempt() -> None:
    job = make_job("http://gym", trial=1, attempt=2)
    assert shared_attributes(job)["gen_ai.conversation.id"] == "demo.0123456789ab/m_react_oracle_notes/rename-first/1/2"
    assert episode_attributes(job)["opsgym.domain"] == "notes"


def test_attributes_of_an_outcome_leave_out_the_message() -> None:
    record = AttemptRecord(
        run="r",
        cell=Cell(model="m", agent="a", mode="oracle", domain="d"),
        task_id="t",
        trial=0,
        attempt=0,
        outcome=Outcome.INFRA_ERROR,
        reason=InfraReason.MODEL_AUTH,
        message="it said: MARK",
        usage=Usage(prompt_tokens=3, completion_tokens=4),
        cost_usd=None,
        timings=Timings(started_at="2026-01-01T00:00:00Z"),
    )
    attributes = outcome_attributes(record)
    assert "MARK" not in str(attributes)
    assert (attributes["opsgym.outcome"], attributes["opsgym.reason"], attributes["opsgym.cost_usd"]) == (
        "infra_error", "model_auth", None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("failure", "kind", "retry_after"),
    [
        (None, None, None),
        (
            ModelFailure(InfraReason.MODEL_RATE_LIMITED, "x", transient=True, retry_after_s=2.5),
            "model_rate_limited",
            2.5,
        ),
        (TimeoutError("MARK"), "TimeoutError", None),
    ],
)
def test_a_request_event_names_the_kind_of_failure(
    failure: Exception | None, kind: str | None, retry_after: float
) -> None:
    attributes = request_attributes(2, ModelEndpoint("http://[::1]:8000/v1?key=MARK"), 0.5, failure)
    assert attributes == {
        "opsgym.request.number": 2,
        "opsgym.request.seconds": 0.5,
        "opsgym.request.retry_after_seconds": retry_after,
        "error.type": kind,
        "server.address": "::1",
        "server.port": 8000,
    }


def test_a_providers_own_endpoint_has_no_address() -> None:
    assert "server.address" not in request_attributes(1, ModelEndpoint(), 0.5, None)


def test_a_reply_without_id_or_model_has_the_other_attributes() -> None:
    reply = SimpleNamespace(usage=Usage(prompt_tokens=5, cached_tokens=2, cache_write_tokens=1), cost_usd=0.25)
    attributes = reply_attributes(reply, chat_answer({"choices": [{"message": {"content": "Done."}}]}, {}))
    assert (attributes["gen_ai.response.id"], attributes["gen_ai.response.model"]) == (None, None)
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 2
    assert attributes["gen_ai.usage.cache_creation.input_tokens"] == 1


def test_attributes_of_tool_calls_and_verifiers_have_no_content() -> None:
    result = VerifierResult(
        index=1, name="", verifier_type="database_state", category="integrity", executed=True, passed=False,
        published_passed=False, expected="MARK", actual="MARK", query="MARK",
    )  # fmt: skip
    assert "MARK" not in str(evaluation_attributes(result))
    assert evaluation_attributes(result)["gen_ai.evaluation.name"] == "verifier 1"
    assert tool_attributes("find", "call_1", None)["gen_ai.tool.name"] == "find"


def test_messages_become_roles_and_parts() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 1}'}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Obey."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    assert chat_content(messages)["gen_ai.input.messages"] == [
        {"role": "system", "parts": [{"type": "text", "content": "Obey."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Look."}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "find", "arguments": '{"id": 1}'}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "found"}]},
    ]


TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("header", "attributes"),
    [
        (f"00-{TRACE}-{SPAN}-01", {"trace_id": TRACE, "span_id": SPAN}),
        (f"00-{TRACE}-{SPAN}-03", {"trace_id": TRACE, "span_id": SPAN}),
        (f"00-{'0' * 32}-{SPAN}-01", {}),
        (f"00-{TRACE}-{'0' * 16}-01", {}),
        (f"00-{TRACE.upper()}-{SPAN}-01", {}),
        (f"00-{TRACE}-{SPAN}-01 and more", {}),
        ("", {}),
    ],
)
def test_only_a_well_formed_header_names_a_trace(header: str, attributes: dict[str, str]) -> None:
    headers = [(b"host", b"x"), (b"traceparent", header.encode())]
    assert trace_of({"type": "http", "headers": headers}) == attributes


def test_a_request_without_the_header_names_no_trace() -> None:
    assert trace_of({"type": "lifespan"}) == {}
    assert trace_of({"type": "http", "headers": [(b"host", b"x")]}) == {}
