"""`opsgym models import`: the published harness's model configurations become EvalModels that send the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.providers.conftest import Talk
from tests.providers.stubs import (
    Stub,
    anthropic_messages,
    bedrock_converse,
    gemini_generate,
    openai_chat,
    openai_responses,
)
from tests.providers.test_providers import service_account

from opsgym.commands.models import document_text, import_models
from opsgym.modelimport.convert import ConvertedModel, import_pool
from opsgym.modelimport.published import read_published
from opsgym_api.errors import InputError
from opsgym_api.kinds.evalmodel import EvalModel, Prices
from opsgym_core.planning.documents import load_documents
from opsgym_runner.models.prices import known_prices

SECRET = "sk-literal-0a1b2c3d4e"
RUN = """
apiVersion: opsgym.dev/v1alpha1
kind: EvalRun
metadata: {{name: demo}}
spec: {{suite: {{builtin: quickstart}}, models: [{{name: m, ref: {name}}}]}}
"""


def config(provider: str, **fields: Any) -> dict[str, Any]:
    return {"llm_provider": provider, "llm_model": "some-model", "llm_api_key": SECRET, **fields}


def converted(folder: Path, content: object, name: str = "gpt.json", **environment: str) -> ConvertedModel:
    """A file's conversion, without litellm; checks that a run can name the document, and that no key is in it."""
    file = folder / name
    file.write_text(json.dumps(content))
    imported = import_pool(file, read_published(file, environment), lambda model: Prices(input_usd=1, output_usd=2))
    text = document_text(file, imported)
    assert SECRET not in text + "".join(imported.notes)
    both = folder / "run.yaml"
    both.write_text(f"{text}---{RUN.format(name=imported.document.metadata.name)}")
    assert load_documents(both).models[imported.document.metadata.name] == imported.document
    return imported


def spec_of(imported: ConvertedModel) -> dict[str, Any]:
    spec: dict[str, Any] = imported.document.model_dump(mode="json", by_alias=True, exclude_unset=True)["spec"]
    return spec


def problems(folder: Path, content: object, name: str = "gpt.json", **environment: str) -> list[str]:
    with pytest.raises(InputError) as refused:
        converted(folder, content, name, **environment)
    assert SECRET not in str(refused.value)
    return [str(problem) for problem in refused.value.problems]


KEY = {"secret": "gpt", "key": "api-key"}
SAMPLED = {"temperature": 0.0, "max_tokens": 4096}
THINKING = {"type": "enabled", "budget_tokens": 4096}
URL = "https://host.example/v1"
CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (config("anthropic"), {
        "model": "anthropic/some-model", "credentials": KEY | {"env": "ANTHROPIC_API_KEY"}, "parameters": SAMPLED}),
    (config("aws_bedrock", llm_api_key="", llm_region="us-east-1", reasoning=THINKING, max_tokens=9000), {
        "model": "bedrock/some-model",
        "parameters": {"aws_region_name": "us-east-1", "max_tokens": 9000, "thinking": THINKING}}),
    (config("aws_bedrock", llm_model="arn:aws:bedrock:x", base_model_id="anthropic.claude-x", effort="high"), {
        "model": "bedrock/converse/anthropic.claude-x",
        "parameters": {"aws_region_name": "us-west-2", "max_tokens": 4096, "temperature": 0.0,
                       "output_config": {"effort": "high"}, "model_id": "arn:aws:bedrock:x"}}),
    (config("openai", temperature=0.6), {
        "model": "openai/some-model", "credentials": KEY | {"env": "OPENAI_API_KEY"},
        "parameters": {"temperature": 0.6, "max_completion_tokens": 4096}}),
    (config("openai", effort="high", temperature=0.6, top_p=0.9), {
        "model": "openai/responses/some-model", "credentials": KEY | {"env": "OPENAI_API_KEY"},
        "parameters": {"max_completion_tokens": 4096, "reasoning_effort": "high", "top_p": 0.9}}),
    (config("openai", llm_model="gpt-5"), {
        "model": "openai/gpt-5", "credentials": KEY | {"env": "OPENAI_API_KEY"},
        "parameters": {"max_completion_tokens": 4096}}),
    (config("azureopenai", llm_model="gpt-5", effort="low", llm_api_endpoint=URL, llm_api_version="2025-04-01"), {
        "model": "azure/gpt-5", "credentials": KEY | {"env": "AZURE_API_KEY"}, "endpoints": [{"url": URL}],
        "parameters": {"max_completion_tokens": 4096, "api_version": "2025-04-01", "reasoning_effort": "low"}}),
    (config("azureopenai", llm_api_endpoint="https://x.openai.azure.com", llm_api_version="2025-04-01", top_p=0.9), {
        "model": "azure/some-model", "credentials": KEY | {"env": "AZURE_API_KEY"},
        "endpoints": [{"url": "https://x.openai.azure.com"}],
        "parameters": {
            "temperature": 0.0, "max_completion_tokens": 4096, "api_version": "2025-04-01", "top_p": 0.9}}),
    (config("googlevertexai", llm_api_key="acme-project-1"), {
        "model": "vertex_ai/some-model",
        "parameters": {**SAMPLED, "vertex_project": "acme-project-1", "vertex_location": "global"}}),
    (config("google"), {
        "model": "gemini/some-model", "credentials": KEY | {"env": "GEMINI_API_KEY"}, "parameters": SAMPLED}),
    (config("vllm", llm_api_key="EMPTY", llm_api_endpoint=URL, reasoning={"effort": "high"}), {
        "model": "hosted_vllm/some-model", "endpoints": [{"url": URL}],
        "parameters": {**SAMPLED, "extra_body": {"reasoning": {"effort": "high"}}}}),
    (config("openrouter", effort="low"), {
        "model": "openrouter/some-model", "credentials": KEY | {"env": "OPENROUTER_API_KEY"},
        "parameters": {**SAMPLED, "reasoning_effort": "low"}}),
    (config("deepseek", llm_api_endpoint=URL), {
        "model": "deepseek/some-model", "credentials": KEY | {"env": "DEEPSEEK_API_KEY"},
        "endpoints": [{"url": URL}],
        "parameters": {**SAMPLED, "extra_body": {"reasoning": {"enabled": True, "effort": "medium"}}}}),
    (config("qwq", llm_api_endpoint=URL, top_p=0.95), {
        "model": "dashscope/some-model", "credentials": KEY | {"env": "DASHSCOPE_API_KEY"},
        "endpoints": [{"url": URL}], "parameters": {**SAMPLED, "top_p": 0.95}}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "spec"), CASES, ids=[f"{n}-{case[0]['llm_provider']}" for n, case in enumerate(CASES)]
)
def test_a_configuration_becomes_a_model(tmp_path: Path, content: dict[str, Any], spec: dict[str, Any]) -> None:
    imported = converted(tmp_path, content)

    assert spec_of(imported) == spec
    assert imported.document.metadata.name == "gpt"
    assert imported.notes == []


def test_a_key_by_reference_keeps_its_variable(tmp_path: Path) -> None:
    imported = converted(tmp_path, config("openai", llm_api_key="${TEAM_KEY}"))
    assert spec_of(imported)["credentials"]["env"] == "TEAM_KEY"
    assert 'kubectl create secret generic gpt --from-literal=api-key="$TEAM_KEY"' in imported.comments[1]


def test_an_address_by_reference_is_looked_up(tmp_path: Path) -> None:
    content = config("vllm", llm_api_key="EMPTY", llm_api_endpoint="${VLLM_URL}/v1")
    assert spec_of(converted(tmp_path, content, VLLM_URL="http://gpu"))["endpoints"] == [{"url": "http://gpu/v1"}]
    assert problems(tmp_path, content) == ["the environment variable VLLM_URL is not set"]


def test_a_list_is_a_pool_with_a_key_for_each_address(tmp_path: Path) -> None:
    fields = {"llm_api_version": "2025-04-01-preview"}
    pool = [
        config("azureopenai", llm_api_endpoint="https://a.example", **fields),
        config("azureopenai", llm_api_endpoint="https://b.example", **(fields | {"llm_api_key": f"{SECRET}-2"})),
        config("azureopenai", llm_api_endpoint="https://c.example", **fields),
    ]
    assert spec_of(converted(tmp_path, pool))["endpoints"] == [
        {"url": "https://a.example", "credentials": KEY | {"env": "AZURE_API_KEY"}},
        {"url": "https://b.example", "credentials": {"secret": "gpt", "key": "api-key-2", "env": "AZURE_API_KEY_2"}},
        {"url": "https://c.example", "credentials": KEY | {"env": "AZURE_API_KEY"}},
    ]


def test_several_keys_of_a_public_provider_share_its_address(tmp_path: Path) -> None:
    pool = [config("openai"), config("openai", llm_api_key=f"{SECRET}-2"), config("openai")]
    endpoints = spec_of(converted(tmp_path, pool))["endpoints"]
    assert [(endpoint["url"], endpoint["credentials"]["env"]) for endpoint in endpoints] == [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("https://api.openai.com/v1", "OPENAI_API_KEY_2"),
    ]


def test_addresses_that_share_a_key_name_it_once(tmp_path: Path) -> None:
    pool = [config("vllm", llm_api_endpoint=f"http://gpu{n}/v1") for n in range(2)]
    spec = spec_of(converted(tmp_path, pool))
    assert spec["endpoints"] == [{"url": "http://gpu0/v1"}, {"url": "http://gpu1/v1"}]
    assert spec["credentials"]["env"] == "VLLM_API_KEY"


def test_fields_left_out_are_named(tmp_path: Path) -> None:
    imported = converted(tmp_path, config("anthropic", reasoning=THINKING, top_p=None, llm_seed=SECRET))
    assert imported.notes == [
        "unknown field llm_seed; left out",
        "reasoning has no effect with anthropic in the published harness; left out",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (config("together"), "llm_provider: unknown provider 'together'; known providers: anthropic, aws_bedrock"),
        ({"llm_provider": "openai"}, "llm_model: is required"),
        (config("vllm"), "llm_api_endpoint: is required with vllm"),
        (config("azureopenai", llm_api_endpoint=URL), "llm_api_version: is required with azureopenai"),
        (config("googlevertexai", llm_api_key=f"AIza{SECRET}"), "llm_api_key: is not a valid Google Cloud project"),
        (config("openai", llm_api_key={"value": SECRET}), "llm_api_key: must be text"),
        (config("openai", max_tokens="many"), "max_tokens: "),
        ([config("openai"), config("openai", llm_model="other")], "[1].llm_model: differs from [0]"),
        ([config("openai"), config("anthropic")], "[1].llm_provider: differs from [0]"),
        ([], "the list is empty"),
        (["gpt"], "[0]: must be an object"),
        ("gpt", "must be an object"),
    ],
)
def test_an_unconvertible_file_is_refused_by_field(tmp_path: Path, content: object, problem: str) -> None:
    assert problems(tmp_path, content)[0].startswith(problem)


def test_a_file_that_is_not_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    for name, problem in (("bad.json", "is not JSON"), ("gone.json", "cannot be read: No such file")):
        with pytest.raises(InputError, match=problem):
            read_published(tmp_path / name)


def test_the_files_name_becomes_a_valid_kubernetes_name(tmp_path: Path) -> None:
    assert converted(tmp_path, config("openai"), "Gemini_2p5 (high).json").document.metadata.name == "gemini-2p5-high"
    assert "no letter or digit" in problems(tmp_path, config("openai"), "___.json")[0]


def test_the_command_writes_all_models_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gpt.json", "Gpt.json", "vllm.json"):
        vllm = config("vllm", llm_model="mine", llm_api_key="EMPTY", llm_api_endpoint=URL, extra=1)
        content = vllm if name == "vllm.json" else config("openai", llm_model="gpt-4.1")
        (tmp_path / name).write_text(json.dumps(content))
    out = tmp_path / "models.yaml"

    with pytest.raises(InputError, match="has the same model name as"):
        import_models([tmp_path / "gpt.json", tmp_path / "Gpt.json"], out)
    assert not out.exists()
    assert import_models([tmp_path / "gpt.json", tmp_path / "vllm.json"], out) == 0
    with pytest.raises(InputError, match="exists already"):
        import_models([tmp_path / "gpt.json"], out)

    gpt, vllm_model = (EvalModel.model_validate(document) for document in yaml.safe_load_all(out.read_text()))
    assert (gpt.spec.model, gpt.spec.allow_unpriced) == ("openai/gpt-4.1", False)
    assert (vllm_model.spec.model, vllm_model.spec.allow_unpriced) == ("hosted_vllm/mine", True)
    assert "# The price of hosted_vllm/mine is unknown: set prices" in out.read_text()
    assert capsys.readouterr().err.splitlines() == [f"{tmp_path / 'vllm.json'}: unknown field extra; left out"]


CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
SENT: list[tuple[dict[str, Any], Callable[[], tuple[dict[str, Any], ...]], str, dict[str, Any]]] = [
    (config("anthropic", llm_model="claude-sonnet-4-5-20250929"), anthropic_messages, "",
     {"temperature": 0.0, "max_tokens": 4096}),
    (config("aws_bedrock", llm_model=CLAUDE, reasoning=THINKING, max_tokens=9000), bedrock_converse, "",
     {"additionalModelRequestFields": {"thinking": THINKING}}),
    (config("aws_bedrock", llm_model="arn:aws:bedrock:us-west-2:1:application-inference-profile/x",
            base_model_id=CLAUDE, effort="high"), bedrock_converse, "",
     {"additionalModelRequestFields": {"output_config": {"effort": "high"}}}),
    (config("openai", llm_model="gpt-4.1", top_p=0.9), openai_chat, "/v1",
     {"temperature": 0.0, "max_completion_tokens": 4096, "top_p": 0.9}),
    (config("openai", llm_model="gpt-5"), openai_chat, "/v1", {"max_completion_tokens": 4096}),
    (config("openai", llm_model="gpt-5.2", effort="high"), openai_responses, "/v1",
     {"reasoning": {"effort": "high"}, "max_output_tokens": 4096}),
    (config("azureopenai", llm_model="gpt-5", effort="high", llm_api_endpoint=URL, llm_api_version="2025-04-01"),
     openai_chat, "", {"max_completion_tokens": 4096, "reasoning_effort": "high"}),
    (config("google", llm_model="gemini-2.5-pro"), gemini_generate, "/v1beta",
     {"generationConfig": {"temperature": 0.0, "max_output_tokens": 4096}}),
    (config("googlevertexai", llm_model="gemini-2.5-pro", llm_api_key="acme-project-1"), gemini_generate, "",
     {"generationConfig": {"temperature": 0.0, "max_output_tokens": 4096}}),
    (config("azureopenai", llm_api_endpoint=URL, llm_api_version="2025-04-01-preview"), openai_chat, "",
     {"max_completion_tokens": 4096, "temperature": 0.0}),
    (config("vllm", llm_api_endpoint=URL, reasoning={"effort": "high"}), openai_chat, "/v1",
     {"reasoning": {"effort": "high"}, "model": "some-model", "max_tokens": 4096}),
    (config("openrouter", llm_model="deepseek/deepseek-v3.2", reasoning={"effort": "high"}, top_p=0.9), openai_chat,
     "/api/v1", {"reasoning": {"effort": "high"}, "top_p": 0.9, "model": "deepseek/deepseek-v3.2"}),
    (config("deepseek", llm_model="deepseek-chat"), openai_chat, "",
     {"reasoning": {"enabled": True, "effort": "medium"}, "temperature": 0.0}),
    (config("qwq", llm_model="qwq-plus", llm_api_endpoint=URL), openai_chat, "", {"temperature": 0.0}),
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "replies", "base", "sent"), SENT, ids=[f"{n}-{case[0]['llm_provider']}" for n, case in enumerate(SENT)]
)
async def test_an_imported_model_is_sent_what_the_published_harness_sends(
    tmp_path: Path,
    talk: Talk,
    monkeypatch: pytest.MonkeyPatch,
    content: dict[str, Any],
    replies: Callable[[], tuple[dict[str, Any], ...]],
    base: str,
    sent: dict[str, Any],
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0TEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-key-of-aws")
    stub = Stub(replies())
    spec = converted(tmp_path, content).document.spec
    provider = content["llm_provider"]
    with stub.serving() as url:
        keys = {"googlevertexai": json.dumps(service_account(f"{url}/token")), "aws_bedrock": None}
        await talk(spec.model, url + base, keys.get(provider, "key-5e1f0c2b9d"), **spec.parameters)

    body = stub.seen[0].body
    for name, value in sent.items():
        sent = body[name]
        assert (sent if not isinstance(value, dict) else {key: sent.get(key) for key in value}) == value
    if "base_model_id" in content:
        assert "application-inference-profile" in stub.seen[0].path


def test_prices_of_imported_models_are_litellms(tmp_path: Path) -> None:
    file = tmp_path / "gpt.json"
    file.write_text(json.dumps(config("openai", llm_model="gpt-4.1")))
    assert not import_pool(file, read_published(file), known_prices).document.spec.allow_unpriced
    file.write_text(json.dumps(config("openai", llm_model="gpt-5", effort="high")))
    assert not import_pool(file, read_published(file), known_prices).document.spec.allow_unpriced


@pytest.mark.parametrize(
    "content", [config("openai", llm_model="gpt-5"), config("openai", llm_model="o3", effort="low")]
)
def test_a_model_that_accepts_no_temperature_is_sent_none(tmp_path: Path, content: dict[str, Any]) -> None:
    assert "temperature" not in spec_of(converted(tmp_path, content | {"temperature": 0.2}))["parameters"]
