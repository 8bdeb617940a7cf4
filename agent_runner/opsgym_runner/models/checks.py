"""Checks of a model before its first call, shared by local mode and preflight.

Invariant: no check sends a request to a provider; a check that a replay model's name decides does not import litellm.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from opsgym_api.kinds.evalmodel import Prices
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.credentials import drop_empty_keys
from opsgym_runner.models.direct import direct_provider
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.prices import REPLAY

SCRIPTED_REPLAYS = frozenset({"replay/gold", "replay/noop", "replay/flaky"})
"""Replay models that need no recording."""

TOOL_LIMITS = {"openai/": 128, "azure/": 128, "deepseek/": 128, "groq/": 128}
"""Tools that a provider takes in one request, by the beginning of the litellm id, as its API reference says."""
_OWN_HOSTS = {"openai/": ".openai.com"}
"""Hosts of a provider whose litellm prefix also names servers of others, by that prefix."""

KnownPrices = Callable[[str], Prices | None]
"""Function from a litellm id to its prices; None if they are unknown."""
MissingKey = Callable[[str], str | None]
"""Function from a litellm id to the unset variable that its provider requires; None if no variable is missing."""


def recording_of(model: str) -> Path | None:
    """The file that a model replays; None for models that are called, and for those that need no recording."""
    is_recording = model.startswith(REPLAY) and model not in SCRIPTED_REPLAYS
    return Path(model.removeprefix(REPLAY)) if is_recording else None


def missing_key(model: str) -> str | None:
    """The unset or empty API key variable, or alternatives joined by `or`, that a model's provider requires.

    None for providers that accept other credentials too (cloud accounts, profiles): litellm then also lists variables
    that hold no API key, so the first call decides.

    Args:
        model: litellm id.
    """
    drop_empty_keys(os.environ)
    if (direct := direct_provider(model)) is not None:
        return direct.keys[0] if direct.key_in(os.environ) is None else None
    missing: list[str] = load_litellm().validate_environment(model=model)["missing_keys"]
    return " or ".join(missing) if missing and all(name.endswith("_API_KEY") for name in missing) else None


def required_key(model: str, endpoints: Iterable[ModelEndpoint], missing_key: MissingKey) -> str | None:
    """The variable of an API key that a hosted model needs and does not have; None if none is missing.

    Args:
        model: litellm id.
        endpoints: The model's endpoints. One with a URL or key of its own needs no variable.
        missing_key: Function that names the missing variable otherwise.
    """
    if any(endpoint.url or endpoint.api_key for endpoint in endpoints):
        return None
    return missing_key(model)


def unknown_provider(model: str) -> str | None:
    """Message for an id that names no provider, with a similar one if there is one; None for any other.

    Args:
        model: litellm id.
    """
    if direct_provider(model) is not None:
        return None
    litellm = load_litellm()
    try:
        litellm.get_llm_provider(model)
    except litellm.BadRequestError:
        provider, slash, name = model.partition("/")
        near = difflib.get_close_matches(provider, [str(one.value) for one in litellm.LlmProviders], n=1)
        advice = (
            f"did you mean {near[0]}/{name}?"
            if slash and near
            else "a server of your own is openai/NAME with endpoints"
        )
        return f"{model} names no provider that litellm knows (PROVIDER/MODEL); {advice}"
    return None


def unknown_price(model: str) -> str:
    """Message for a model with unknown prices, with the ways to continue.

    Args:
        model: litellm id.
    """
    if (unknown := unknown_provider(model)) is not None:
        return unknown
    ways = "give prices: {inputUsd, outputUsd} per million tokens, or set allowUnpriced: true"
    return f"no price is known for {model}; {ways}"


def unbounded_cost(model: str) -> str:
    """Message for a model whose costs no budget can bound, with the ways to continue.

    Args:
        model: litellm id.
    """
    ways = "give prices: {inputUsd, outputUsd} per million tokens, or remove spec.budget"
    return f"no price is known for {model}, so spec.budget cannot bound what it costs; {ways}"


def tool_limit(model: str, endpoints: Iterable[ModelEndpoint]) -> int | None:
    """Maximum number of tools in a request to a model; None if none is known.

    Args:
        model: litellm id.
        endpoints: The model's endpoints. Other servers that speak OpenAI's API have no known limit.
    """
    prefix = next((prefix for prefix in TOOL_LIMITS if model.startswith(prefix)), None)
    if prefix is None:
        return None
    own = _OWN_HOSTS.get(prefix)
    hosts = [f".{urlsplit(endpoint.url).hostname}" for endpoint in endpoints if endpoint.url]
    return None if own and not all(host.endswith(own) for host in hosts) else TOOL_LIMITS[prefix]


def too_many_tools(model: str, endpoints: Iterable[ModelEndpoint], tools: int) -> str | None:
    """Message for more tools than a model's provider takes, with the ways to continue; None if it takes them.

    Args:
        model: litellm id.
        endpoints: The model's endpoints.
        tools: Number of tools that the model would be shown.
    """
    limit = tool_limit(model, endpoints)
    if limit is None or tools <= limit:
        return None
    ways = "choose a mode with fewer tools, or a task that selects its tools"
    return f"{model} takes at most {limit} tools in a request, and the task shows {tools}; {ways}"
