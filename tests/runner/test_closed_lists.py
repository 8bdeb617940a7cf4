"""What requests of agents may ask of a model's provider, and what of them is refused."""

from __future__ import annotations

from typing import Any

import pytest

from opsgym_runner.bridge.closed_lists import unlisted
from opsgym_runner.models.forward import Wire

Body = dict[str, Any]
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def chat(*parts: Body, role: str = "user", **fields: Any) -> Body:
    return {"messages": [{"role": role, "content": list(parts)}], **fields}


def responses(*items: Body, **fields: Any) -> Body:
    return {"input": list(items), **fields}


def item(*parts: Body) -> Body:
    return {"role": "user", "content": list(parts)}


def messages(*parts: Body, **fields: Any) -> Body:
    return {"messages": [item(*parts)], "max_tokens": 9, **fields}


@pytest.mark.parametrize(
    ("wire", "body", "problem"),
    [
        ("chat", chat(web_search_options={"search_context_size": "low"}), "parameter web_search_options"),
        ("chat", chat(tools=[{"type": "web_search"}]), "tools[0] of type web_search"),
        ("chat", chat(tools=[{"google_search": {}}]), "tools[0] of type google_search"),
        ("chat", chat(tools={"type": "mcp"}), "tools[0] of type mcp"),
        ("chat", chat(tools=["web_search"]), "tools[0] of type unknown"),
        ("chat", chat(plugins=[{"id": "web"}], models=["other"]), "parameter plugins, parameter models"),
        ("chat", chat(search_parameters={"mode": "on"}), "parameter search_parameters"),
        ("chat", chat(store=True), "parameter store"),
        ("chat", chat(Tools=[{"type": "web_search"}]), "parameter Tools"),
        ("chat", chat(n=8), "n 8"),
        ("chat", chat(service_tier="priority"), "service_tier 'priority'"),
        ("chat", chat({"type": "image_url", "image_url": {"url": "https://x.test/?q=1"}}),
         "messages[0].content[0].image_url.url, an address that the provider would fetch"),
        ("chat", chat({"type": "image_url", "image_url": "//x.test/a.png"}),
         "messages[0].content[0].image_url, an address that the provider would fetch"),
        ("chat", chat({"type": "file", "file": {"file_id": "file-1"}}),
         "messages[0].content[0].file.file_id, a file that the provider has stored"),
        ("chat", chat({"type": "file", "file": {"file_data": "https://x.test/a.pdf"}}),
         "messages[0].content[0].file.file_data, an address that the provider would fetch"),
        ("chat", chat({"type": "input_audio", "input_audio": {"data": "https://x.test/a.wav"}}),
         "messages[0].content[0].input_audio.data, an address that the provider would fetch"),
        ("chat", chat({"fileData": {"fileUri": "gs://bucket/a"}}), "messages[0].content[0] of type fileData"),
        ("responses", responses(tools=[{"type": "mcp", "server_url": "https://x.test"}]), "tools[0] of type mcp"),
        ("responses", responses(tools=[{"type": "function"}, {"type": "code_interpreter"}]),
         "tools[1] of type code_interpreter"),
        ("responses", responses(tools=[{"type": "namespace", "tools": [{"type": "file_search"}]}]),
         "tools[0].tools[0] of type file_search"),
        ("responses", responses(tools=[{"type": "web_search_preview_2025_03_11"}]),
         "tools[0] of type web_search_preview_2025_03_11"),
        ("responses", responses(tools=[{"type": "computer_use_preview"}, {"type": "image_generation"}]),
         "tools[0] of type computer_use_preview, tools[1] of type image_generation"),
        ("responses", responses(store=True, background=True), "parameter store, parameter background"),
        ("responses", {"input": "Hi", "previous_response_id": "resp_1"}, "parameter previous_response_id"),
        ("responses", {"input": "Hi", "conversation": "conv_1"}, "parameter conversation"),
        ("responses", {"input": "Hi", "prompt": {"id": "pmpt_1"}}, "parameter prompt"),
        ("responses", responses({"type": "item_reference", "id": "msg_1"}), "input[0] of type item_reference"),
        ("responses", responses({"type": "additional_tools", "tools": [{"type": "web_search"}]}),
         "input[0] of type additional_tools"),
        ("responses", responses(item({"type": "input_image", "image_url": "https://x.test/a.png"})),
         "input[0].content[0].image_url, an address that the provider would fetch"),
        ("responses", responses(item({"type": "input_file", "file_url": "https://x.test/a.pdf"})),
         "input[0].content[0].file_url, an address that the provider would fetch"),
        ("responses", responses({"type": "function_call_output", "output": [
            {"type": "input_image", "file_id": "file-1"}]}),
         "input[0].output[0].file_id, a file that the provider has stored"),
        ("messages", messages(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
         "tools[0] of type web_search_20250305"),
        ("messages", messages(tools=[{"type": "code_execution_20260521"}, {"type": "computer_20251124"}]),
         "tools[0] of type code_execution_20260521, tools[1] of type computer_20251124"),
        ("messages", messages(tools=[{"name": "search"}]), "tools[0] of type name"),
        ("messages", messages(mcp_servers=[{"type": "url", "url": "https://x.test"}]), "parameter mcp_servers"),
        ("messages", messages(container="c_1", fallbacks=[{"model": "other"}]),
         "parameter container, parameter fallbacks"),
        ("messages", messages(speed="fast"), "speed 'fast'"),
        ("messages", messages({"type": "container_upload", "file_id": "file_1"}),
         "messages[0].content[0] of type container_upload"),
        ("messages", messages({"type": "image", "source": {"type": "url", "url": "https://x.test"}}),
         "messages[0].content[0].source of type url"),
        ("messages", messages({"type": "document", "source": {"type": "file", "file_id": "file_1"}}),
         "messages[0].content[0].source of type file"),
        ("messages", messages({"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "document", "source": {"type": "content", "content": [
                {"type": "image", "source": {"type": "url", "url": "https://x.test"}}]}}]}),
         "messages[0].content[0].content[0].source.content[0].source of type url"),
        ("messages", messages(system=[{"type": "server_tool_use"}]), "system[0] of type server_tool_use"),
        ("messages", messages({"type": ["text"]}), "messages[0].content[0] of type ['text']"),
        ("messages", messages(tools=[{"type": "mcp_toolset"}] * 7),
         ", ".join(f"tools[{number}] of type mcp_toolset" for number in range(5)) + ", and 2 more"),
    ],
)  # fmt: skip
def test_what_a_provider_would_do_beside_answering_is_named(wire: Wire, body: Body, problem: str) -> None:
    assert unlisted(wire, body) == problem


CALL = {"id": "c", "type": "function", "function": {"name": "open", "arguments": '{"url": "https://x.test"}'}}
FUNCTION = {
    "type": "function",
    "function": {"name": "f", "parameters": {"properties": {"file_id": {"type": "string"}}}},
}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("chat", chat({"type": "text", "text": "https://x.test"}, {"type": "image_url", "image_url": {"url": PIXEL}})),
        ("chat", {"messages": [{"role": "assistant", "content": None, "tool_calls": [CALL]},
                               {"role": "tool", "tool_call_id": "c", "content": "https://x.test"}],
                  "tools": [FUNCTION], "n": 1, "store": False, "temperature": 0, "chat_template_kwargs": {"a": 1}}),
        ("chat", chat(plugins=[], web_search_options=None, service_tier="auto")),
        ("responses", responses(
            item({"type": "input_image", "image_url": PIXEL}),
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"file_id": "x"}', "namespace": "n"},
            {"type": "function_call_output", "call_id": "c", "output": "https://x.test"},
            store=False, previous_response_id=None, background=False, include=["reasoning.encrypted_content"],
            tools=[{"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}])),
        ("messages", messages(
            {"type": "tool_use", "id": "t", "name": "f", "input": {"url": "https://x.test", "file_id": "x"}},
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "https://x.test"}]},
            {"type": "search_result", "source": "https://x.test", "title": "t", "content": []},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
            tools=[{"name": "f", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"}],
            system=[{"type": "text", "text": "Obey.", "cache_control": {"type": "ephemeral"}}], thinking={})),
    ],
)  # fmt: skip
def test_what_a_conversation_holds_reaches_the_model(wire: Wire, body: Body) -> None:
    assert unlisted(wire, body) == ""
