"""Converts the configurations of each provider to litellm ids and parameters.

Invariant: an imported model is called with the parameters that the published harness sends, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opsgym.modelimport.published import PublishedConfig
from opsgym_runner.models.published import RESPONSES, accepts_temperature

_EVERYWHERE = {"llm_provider", "llm_model", "temperature", "max_tokens"}


@dataclass(frozen=True)
class Provider:
    """Conversion of one provider's configurations."""

    convert: Callable[[PublishedConfig], tuple[str, dict[str, Any]]]
    """Returns litellm id and parameters of a configuration."""
    uses: frozenset[str]
    """Fields that have an effect, besides those of `_EVERYWHERE`."""
    key_variable: str | None = None
    """Usual environment variable of the key; None if access is not by a key."""
    public_url: str | None = None
    """URL that litellm uses by default."""
    needs: tuple[str, ...] = field(default=())
    """Fields that the published harness requires."""

    def without_effect(self, config: PublishedConfig) -> list[str]:
        """Given fields that the published harness ignores with this provider."""
        given = {name for name in config.model_fields_set if name in PublishedConfig.model_fields}
        idle = given - _EVERYWHERE - self.uses - {"llm_api_key"}
        return sorted(name for name in idle if getattr(config, name))


def _sampled(config: PublishedConfig) -> dict[str, Any]:
    return {"temperature": config.temperature, "max_tokens": config.max_tokens}


def _given(**parameters: Any) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value not in (None, {}, "")}


def _anthropic(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    return f"anthropic/{config.llm_model}", _sampled(config)


def _bedrock(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    parameters: dict[str, Any] = {"aws_region_name": config.llm_region or "us-west-2", "max_tokens": config.max_tokens}
    if not config.reasoning:
        parameters["temperature"] = config.temperature  # Anthropic accepts no temperature together with thinking
    parameters |= _given(thinking=config.reasoning, output_config={"effort": config.effort} if config.effort else None)
    if not config.llm_model.startswith("arn:"):
        return f"bedrock/{config.llm_model}", parameters
    if config.base_model_id is None:
        return f"bedrock/converse/{config.llm_model}", parameters
    return f"bedrock/converse/{config.base_model_id}", {**parameters, "model_id": config.llm_model}


def _openai(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    tuned = _given(reasoning_effort=config.effort, top_p=config.top_p)
    model = f"openai/{RESPONSES if config.effort else ''}{config.llm_model}"
    return model, {**_temperature(model, config, tuned), "max_completion_tokens": config.max_tokens, **tuned}


def _temperature(model: str, config: PublishedConfig, tuned: Mapping[str, Any]) -> dict[str, Any]:
    """The temperature, unless the model accepts none; the published client leaves it out then, or is refused."""
    return {"temperature": config.temperature} if accepts_temperature(model, tuned) else {}


def _google(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    return f"gemini/{config.llm_model}", _sampled(config)


def _vertex(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    place = {"vertex_project": config.llm_api_key, "vertex_location": config.llm_region or "global"}
    return f"vertex_ai/{config.llm_model}", {**_sampled(config), **place}


def _azure(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    model = f"azure/{config.llm_model}"
    tuned = _given(api_version=config.llm_api_version, top_p=config.top_p, reasoning_effort=config.effort)
    return model, {**_temperature(model, config, tuned), "max_completion_tokens": config.max_tokens, **tuned}


def _compatible(prefix: str) -> Callable[[PublishedConfig], tuple[str, dict[str, Any]]]:
    """Conversion for OpenRouter and vLLM, where parameters unknown to OpenAI's client go into `extra_body`."""

    def convert(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
        extra = _given(reasoning=config.reasoning, api_version=config.llm_api_version)
        tuned = _given(top_p=config.top_p, reasoning_effort=config.effort, extra_body=extra)
        return f"{prefix}/{config.llm_model}", {**_sampled(config), **tuned}

    return convert


def _qwq(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    return f"dashscope/{config.llm_model}", {**_sampled(config), **_given(top_p=config.top_p)}


def _deepseek(config: PublishedConfig) -> tuple[str, dict[str, Any]]:
    reasoning = {"enabled": True, "effort": config.effort or "medium"}
    tuned = _given(top_p=config.top_p, extra_body={"reasoning": reasoning})
    return f"deepseek/{config.llm_model}", {**_sampled(config), **tuned}


_TUNED = frozenset({"llm_api_endpoint", "top_p", "effort"})

PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(_anthropic, frozenset(), "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
    "aws_bedrock": Provider(_bedrock, frozenset({"llm_region", "effort", "reasoning", "base_model_id"})),
    "openai": Provider(_openai, frozenset({"effort", "top_p"}), "OPENAI_API_KEY", "https://api.openai.com/v1"),
    "azureopenai": Provider(
        _azure, _TUNED | {"llm_api_version"}, "AZURE_API_KEY", needs=("llm_api_endpoint", "llm_api_version")
    ),
    "googlevertexai": Provider(_vertex, frozenset({"llm_region"}), needs=("llm_api_key",)),
    "google": Provider(
        _google, frozenset(), "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta"
    ),
    "vllm": Provider(
        _compatible("hosted_vllm"),
        _TUNED | {"reasoning", "llm_api_version"},
        "VLLM_API_KEY",
        needs=("llm_api_endpoint",),
    ),
    "openrouter": Provider(
        _compatible("openrouter"),
        _TUNED | {"reasoning", "llm_api_version"},
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
    ),
    "deepseek": Provider(_deepseek, _TUNED, "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
    "qwq": Provider(
        _qwq,
        frozenset({"llm_api_endpoint", "top_p"}),
        "DASHSCOPE_API_KEY",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    ),
}  # fmt: skip
"""By `llm_provider`. qwq is Alibaba's Model Studio, which litellm calls dashscope."""
