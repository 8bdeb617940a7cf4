"""Token usage and its cost. Invariant: an unknown cost is None, never 0."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from opsgym_api.kinds.evalmodel import Prices, PriceTier, TokenPrices
from opsgym_api.records.attempt import Usage
from opsgym_runner.models.direct import direct_provider
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.price_map import listed

REPLAY = "replay/"
OPENROUTER = "openrouter/"
FREE = Prices(input_usd=0, output_usd=0)
_PRICED = ("chat", "completion", "responses")
"""Modes of models that are priced by tokens."""
_MILLION = 1_000_000


def known_prices(model: str) -> Prices | None:
    """Prices of a litellm id from litellm's map; None if it has none. Replay models have price 0.

    litellm answers with prices of 0 for ids that its map does not list, so only the map's own entry counts.
    """
    if model.startswith(REPLAY):
        return FREE
    if direct_provider(model) is not None:
        direct = listed(model)
        return prices_of(direct) if direct is not None and direct.get("mode") in _PRICED else None
    litellm = load_litellm()
    try:
        info = litellm.get_model_info(model.replace("/responses/", "/"))  # the same model over OpenAI's other API
    except Exception:  # noqa: BLE001 litellm raises a bare Exception for an unmapped model
        return None
    entry = litellm.model_cost.get(info.get("key"))
    if entry is None or info.get("mode") not in _PRICED:
        return None  # not listed, or not priced by tokens
    return prices_of(entry)


def prices_of(entry: Mapping[str, Any]) -> Prices | None:
    """Prices of an entry of litellm's map; None if it prices no tokens.

    Args:
        entry: Dollars per token by name. Tiers are a list of ranges (`tiered_pricing`), or names with a threshold
            (`input_cost_per_token_above_200k_tokens`).
    """
    ranges = sorted(entry.get("tiered_pricing") or (), key=lambda tier: float(tier["range"][0]))
    if ranges:
        lowest, *higher = ranges
        above = {int(tier["range"][0]): _token_prices(tier) for tier in higher}
    else:
        lowest = entry
        above = {1000 * size: _token_prices(entry, size) for size in sorted(_thresholds(entry))}
    base = _token_prices(lowest)
    if base is None:
        return None
    known = {tokens: prices for tokens, prices in above.items() if prices is not None}
    return Prices(**base, tiers=[PriceTier(above_tokens=tokens, **prices) for tokens, prices in known.items()])


_THRESHOLD = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_FIELDS = {
    "input_usd": "input_cost_per_token",
    "output_usd": "output_cost_per_token",
    "cached_input_usd": "cache_read_input_token_cost",
    "cache_write_usd": "cache_creation_input_token_cost",
    "reasoning_usd": "output_cost_per_reasoning_token",
}
"""Names of litellm's map by field of `Prices`."""


def _thresholds(entry: Mapping[str, Any]) -> list[int]:
    return [int(match[1]) for name in entry if (match := _THRESHOLD.fullmatch(name))]


def _token_prices(entry: Mapping[str, Any], thousands: int | None = None) -> dict[str, float] | None:
    """Dollars per million tokens by field; None without prices of input and output.

    Args:
        entry: Dollars per token.
        thousands: Threshold of the tier; a price that the tier does not name is that of short prompts. None for these.
    """
    prices = {}
    for field, name in _FIELDS.items():
        per_token = entry.get(name)
        if thousands is not None:
            per_token = entry.get(f"{name}_above_{thousands}k_tokens", per_token)
        if per_token is not None:
            prices[field] = round(float(per_token) * _MILLION, 9)
    return prices if {"input_usd", "output_usd"} <= prices.keys() else None


def reports_cost(model: str) -> bool:
    """Whether a litellm id's provider states the cost of each reply."""
    return model.startswith(OPENROUTER)


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


def usage_of_chat(reported: Mapping[str, Any]) -> Usage:
    """Usage of one reply from the `usage` of a chat completion as it came; 0 for what the provider does not report."""
    prompt, completion = (_object(reported.get(f"{kind}_tokens_details")) for kind in ("prompt", "completion"))
    return Usage(
        model_calls=1,
        prompt_tokens=_count(reported, "prompt_tokens"),
        completion_tokens=_count(reported, "completion_tokens"),
        cached_tokens=_count(reported, "cache_read_input_tokens", "prompt_cache_hit_tokens")
        or _count(prompt, "cached_tokens"),
        cache_write_tokens=_count(reported, "cache_creation_input_tokens")
        or _count(prompt, "cache_creation_tokens", "cache_write_tokens"),
        reasoning_tokens=_count(completion, "reasoning_tokens") or _count(reported, "reasoning_tokens"),
    )


def _count(counts: Mapping[str, Any], *names: str) -> int:
    """The first of some counts that is stated; 0 if none is."""
    stated = (counts.get(name) for name in names)
    return next((int(count) for count in stated if isinstance(count, int | float) and count > 0), 0)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


_COUNTS: Mapping[str, tuple[str, ...]] = {
    "prompt_tokens": ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount"),
    "completion_tokens": ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount"),
    "cached_tokens": ("cache_read_input_tokens", "cacheReadInputTokens", "cachedContentTokenCount", "cached_tokens"),
    "cache_write_tokens": ("cache_creation_input_tokens", "cacheWriteInputTokens"),
    "reasoning_tokens": ("thoughtsTokenCount", "reasoning_tokens"),
}
"""Providers' names of token counts, by field of `Usage`."""
_REQUIRED = ("prompt_tokens", "completion_tokens")
"""Counts without which a cost is unknown."""
_OUTSIDE_THE_PROMPT = _COUNTS["cached_tokens"][:2] + _COUNTS["cache_write_tokens"]
"""Counts that Anthropic and Bedrock leave out of the prompt's tokens."""


def usage_in(body: Mapping[str, Any]) -> Usage:
    """Usage of an answer that litellm could not read; no tokens where it states none.

    Args:
        body: The answer in the provider's own shape.
    """
    reported = body.get("usage") or body.get("usageMetadata")
    reported = reported if isinstance(reported, dict) else {}
    details = [value for value in reported.values() if isinstance(value, dict)]
    counts = {name: n for part in (reported, *details) for name, n in part.items() if isinstance(n, int) and n >= 0}
    usage = {field: next((counts[n] for n in names if n in counts), 0) for field, names in _COUNTS.items()}
    usage["prompt_tokens"] += sum(counts.get(name, 0) for name in _OUTSIDE_THE_PROMPT)
    usage["completion_tokens"] += counts.get("thoughtsTokenCount", 0)
    return Usage(model_calls=1, **usage)


def counts_tokens(body: Mapping[str, Any]) -> bool:
    """Whether an answer that has a `usage` counts both what it read and what it wrote.

    Gemini's `usageMetadata` leaves out what is 0. An answer without any is judged by its tokens, which are 0.

    Args:
        body: The answer in the provider's own shape.
    """
    reported = body.get("usage")
    if not isinstance(reported, dict):
        return True
    return all(any(isinstance(reported.get(name), int) for name in _COUNTS[field]) for field in _REQUIRED)


def reply_cost(stated: Any, model: str, usage: Usage, prices: Prices | None, *, counted: bool = True) -> float | None:
    """Cost of a reply in US dollars: what its provider states, else by prices; None if it is unknown.

    Args:
        stated: What the provider states of its cost: OpenRouter's `usage`, as litellm's object or as it came.
        model: litellm id.
        usage: Tokens of the reply.
        prices: The model's prices; None if none are known.
        counted: See `counts_tokens`.
    """
    reported = _reported_cost(stated) if reports_cost(model) else None
    if reported is not None:
        return reported
    return cost_of(usage, prices) if prices == FREE or (prices is not None and counted) else None


def _reported_cost(usage: Any) -> float | None:
    """OpenRouter's `usage.cost`, and the bill of the user's own key where the request went through it."""
    fields = usage if isinstance(usage, dict) else dict(usage or ())
    cost = fields.get("cost")
    if not isinstance(cost, int | float) or not math.isfinite(cost) or cost < 0:
        return None
    details = fields.get("cost_details") or {}
    upstream = details.get("upstream_inference_cost") if isinstance(details, dict) else None
    own_key = fields.get("is_byok") and isinstance(upstream, int | float)
    return float(cost) + (float(upstream) if own_key and upstream is not None else 0.0)


def cost_of(usage: Usage, prices: Prices) -> float | None:
    """Cost of a reply in US dollars; None if the provider reported no tokens."""
    if prices == FREE:
        return 0.0
    if usage.prompt_tokens + usage.completion_tokens == 0:
        return None
    tiers = sorted(prices.tiers, key=lambda tier: tier.above_tokens)
    held: TokenPrices = next((tier for tier in reversed(tiers) if usage.prompt_tokens > tier.above_tokens), prices)
    cached_usd = held.input_usd if held.cached_input_usd is None else held.cached_input_usd
    write_usd = held.input_usd if held.cache_write_usd is None else held.cache_write_usd
    reasoning_usd = held.output_usd if held.reasoning_usd is None else held.reasoning_usd
    cached = min(usage.cached_tokens, usage.prompt_tokens)
    written = min(usage.cache_write_tokens, usage.prompt_tokens - cached)
    plain = usage.prompt_tokens - cached - written
    reasoning = min(usage.reasoning_tokens, usage.completion_tokens)
    input_cost = plain * held.input_usd + cached * cached_usd + written * write_usd
    output_cost = (usage.completion_tokens - reasoning) * held.output_usd + reasoning * reasoning_usd
    return (input_cost + output_cost) / _MILLION


def added_cost(total: float | None, cost: float | None) -> float | None:
    """Sum of two costs; None if one is unknown."""
    return None if total is None or cost is None else total + cost
