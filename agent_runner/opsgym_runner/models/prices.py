"""Token usage and its cost. Invariant: an unknown cost is None, never 0."""

from __future__ import annotations

from typing import Any

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.records.attempt import Usage
from opsgym_runner.models.litellm_lib import load_litellm

REPLAY = "replay/"
FREE = Prices(input_usd=0, output_usd=0)
_MILLION = 1_000_000


def known_prices(model: str) -> Prices | None:
    """Prices of a litellm id from litellm's bundled map; None if it has none. Replay models have price 0."""
    if model.startswith(REPLAY):
        return FREE
    litellm = load_litellm()
    try:
        info = litellm.get_model_info(model)
    except Exception:  # noqa: BLE001 litellm raises a bare Exception for an unmapped model
        return None
    if info.get("mode") not in ("chat", "completion", "responses"):
        return None  # not priced by tokens
    per_token = info.get("input_cost_per_token"), info.get("output_cost_per_token")
    if per_token[0] is None or per_token[1] is None:
        return None
    return Prices(
        input_usd=round(per_token[0] * _MILLION, 9),
        output_usd=round(per_token[1] * _MILLION, 9),
        cached_input_usd=_per_million(info.get("cache_read_input_token_cost")),
        cache_write_usd=_per_million(info.get("cache_creation_input_token_cost")),
    )


def _per_million(per_token: float | None) -> float | None:
    return None if per_token is None else round(per_token * _MILLION, 9)


def usage_of(reported: Any) -> Usage:
    """Usage of one reply from the `usage` of a chat completion; 0 for what the provider does not report."""
    prompt_details = getattr(reported, "prompt_tokens_details", None)
    completion_details = getattr(reported, "completion_tokens_details", None)
    return Usage(
        model_calls=1,
        prompt_tokens=getattr(reported, "prompt_tokens", None) or 0,
        completion_tokens=getattr(reported, "completion_tokens", None) or 0,
        cached_tokens=getattr(prompt_details, "cached_tokens", None) or 0,
        cache_write_tokens=getattr(prompt_details, "cache_creation_tokens", None) or 0,
        reasoning_tokens=getattr(completion_details, "reasoning_tokens", None) or 0,
    )


def cost_of(usage: Usage, prices: Prices) -> float | None:
    """Cost of a reply in US dollars; None if the provider reported no tokens."""
    if prices == FREE:
        return 0.0
    if usage.prompt_tokens + usage.completion_tokens == 0:
        return None
    cached_usd = prices.input_usd if prices.cached_input_usd is None else prices.cached_input_usd
    write_usd = prices.input_usd if prices.cache_write_usd is None else prices.cache_write_usd
    cached = min(usage.cached_tokens, usage.prompt_tokens)
    written = min(usage.cache_write_tokens, usage.prompt_tokens - cached)
    plain = usage.prompt_tokens - cached - written
    input_cost = plain * prices.input_usd + cached * cached_usd + written * write_usd
    return (input_cost + usage.completion_tokens * prices.output_usd) / _MILLION


def mapped_cost(response: Any, model: str, usage: Usage) -> float | None:
    """Cost of a reply in US dollars as litellm computes it; None if it has no price for the model."""
    if usage.prompt_tokens + usage.completion_tokens == 0:
        return None
    try:
        return float(load_litellm().completion_cost(completion_response=response, model=model))
    except Exception:  # noqa: BLE001 litellm raises a bare Exception for an unmapped model
        return None
