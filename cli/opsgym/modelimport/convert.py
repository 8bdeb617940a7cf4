"""Converts a file of published model configurations to an EvalModel.

Invariant: keys are never copied. The document refers to an environment variable and a Secret, and its comments say how
to set them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opsgym.modelimport.providers import PROVIDERS, Provider
from opsgym.modelimport.published import PublishedConfig, variables_in
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import API_VERSION, EvalModel, Prices

_NO_KEYS = frozenset({"", "empty", "none", "null", "not-needed", "dummy"})
"""Values of a key field for servers that require no key."""
_PROJECT = re.compile(r"([a-z0-9.-]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]")
_POOLED = ("llm_api_endpoint", "llm_api_key")
"""Fields in which the configurations of a pool may differ."""


@dataclass(frozen=True)
class ConvertedModel:
    """An EvalModel, and remarks on its conversion."""

    document: EvalModel
    comments: Sequence[str]
    """Comments for the document: where its keys come from, whether its price is known."""
    notes: Sequence[str]
    """Messages for the user of the command: fields that were left out."""


def import_pool(
    path: Path, configs: Sequence[PublishedConfig], known_prices: Callable[[str], Prices | None]
) -> ConvertedModel:
    """Converts all configurations of a file to one EvalModel.

    Args:
        path: The file; its name becomes the name of the model.
        configs: Configurations of the file, at least one.
        known_prices: Returns the prices of a litellm id; None if they are unknown.

    Raises:
        InputError: The provider is unknown, a field is missing, or the configurations differ in more than endpoints and
            keys.
    """
    first = configs[0]
    provider = PROVIDERS.get(first.llm_provider.lower())
    if provider is None:
        problem = f"unknown provider {first.llm_provider!r}; known providers: {', '.join(PROVIDERS)}"
        raise InputError(str(path), [Problem("llm_provider", problem)])
    problems = [*_missing(provider, configs), *_differing(configs)]
    if problems:
        raise InputError(str(path), problems)
    name = _name(path)
    model, parameters = provider.convert(first)
    keys = _KeyReferences(name, provider)
    spec: dict[str, Any] = {"model": model, **_endpoints(provider, configs, keys)}
    spec["parameters"] = parameters
    prices = known_prices(model)
    if prices is None:
        spec["allowUnpriced"] = True
    document = EvalModel.model_validate(
        {"apiVersion": API_VERSION, "kind": "EvalModel", "metadata": {"name": name}, "spec": spec}
    )
    comments = [*keys.comments(), *_access(first), *([_unpriced(model)] if prices is None else [])]
    return ConvertedModel(document, comments, list(_left_out(provider, configs)))


def _missing(provider: Provider, configs: Sequence[PublishedConfig]) -> list[Problem]:
    problems = [
        Problem(_at(n, configs, name), f"is required with {config.llm_provider}")
        for n, config in enumerate(configs)
        for name in provider.needs
        if not getattr(config, name)
    ]
    problems += [
        Problem(
            _at(n, configs, "llm_api_key"),
            "is not a valid Google Cloud project",
        )
        for n, config in enumerate(configs)
        if config.llm_provider.lower() == "googlevertexai"
        and config.llm_api_key
        and not _PROJECT.fullmatch(config.llm_api_key)
    ]
    return problems


def _differing(configs: Sequence[PublishedConfig]) -> list[Problem]:
    """Fields in which the configurations of a pool differ although a pool must be one model.

    The published harness would draw one configuration for each task.
    """
    first, *others = configs
    pooled = () if first.llm_provider.lower() == "googlevertexai" else _POOLED
    return [
        Problem(f"[{n}].{name}", "differs from [0], but a pool is one model; move it to its own file")
        for n, config in enumerate(others, start=1)
        for name in PublishedConfig.model_fields
        if name not in pooled and getattr(config, name) != getattr(first, name)
    ]


def _at(number: int, configs: Sequence[PublishedConfig], name: str) -> str:
    return name if len(configs) == 1 else f"[{number}].{name}"


def _name(path: Path) -> str:
    name = re.sub(r"[^a-z0-9.-]+", "-", path.stem.lower()).strip("-.")[:63].strip("-.")
    if not name:
        raise InputError(str(path), [Problem("", "the file name has no letter or digit to name the model after")])
    return name


class _KeyReferences:
    """References to the keys of a file: each distinct key has its own environment variable and Secret key."""

    def __init__(self, secret: str, provider: Provider) -> None:
        self._secret = secret
        self._usual = provider.key_variable
        self._references: dict[str, dict[str, str]] = {}

    def reference(self, config: PublishedConfig) -> dict[str, str] | None:
        given = config.llm_api_key or ""
        own_server = config.llm_provider.lower() == "vllm" and given.lower() in _NO_KEYS
        if self._usual is None or own_server:
            return None
        if given not in self._references:
            number = len(self._references) + 1
            variables = variables_in(given)
            variable = variables[0] if variables else self._usual + (f"_{number}" if number > 1 else "")
            key = "api-key" if number == 1 else f"api-key-{number}"
            self._references[given] = {"secret": self._secret, "key": key, "env": variable}
        return self._references[given]

    def comments(self) -> list[str]:
        """Comments that say how to set the environment variables and the Secret."""
        if not self._references:
            return []
        references = self._references.values()
        literals = " ".join(f'--from-literal={key["key"]}="${key["env"]}"' for key in references)
        return [
            f"Keys are not copied. In local mode: export {', '.join(key['env'] for key in references)}.",
            f"In a cluster: kubectl create secret generic {self._secret} {literals}",
        ]


def _endpoints(provider: Provider, configs: Sequence[PublishedConfig], keys: _KeyReferences) -> dict[str, Any]:
    """Endpoints and credentials of a spec."""
    endpoints = [(_url(provider, config), keys.reference(config)) for config in configs]
    distinct = [endpoint for n, endpoint in enumerate(endpoints) if endpoint not in endpoints[:n]]
    if len(distinct) == 1 and distinct[0][0] is None:
        return _fields(credentials=distinct[0][1])
    credentials = [reference for _, reference in distinct]
    urls = [url or provider.public_url for url, _ in distinct]
    if all(reference == credentials[0] for reference in credentials):
        return _fields(endpoints=[{"url": url} for url in urls], credentials=credentials[0])
    return {"endpoints": [_fields(url=url, credentials=own) for url, own in zip(urls, credentials, strict=True)]}


def _fields(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _url(provider: Provider, config: PublishedConfig) -> str | None:
    return (config.llm_api_endpoint or None) if "llm_api_endpoint" in provider.uses else None


def _access(config: PublishedConfig) -> list[str]:
    """Comments on access to providers that need more than a key."""
    if config.llm_provider.lower() == "aws_bedrock":
        return [
            "In local mode the usual AWS variables and profiles give access.",
            "In a cluster add credentials: {secret: NAME}, a Secret that holds an API key of Amazon Bedrock.",
        ]
    if config.llm_provider.lower() == "googlevertexai":
        return [
            "In local mode GOOGLE_APPLICATION_CREDENTIALS or the login of gcloud gives access.",
            "In a cluster add credentials: {secret: NAME, key: KEY}, where KEY holds a service account's JSON.",
        ]
    return []


def _unpriced(model: str) -> str:
    return f"The price of {model} is unknown: set prices: {{inputUsd, outputUsd}}, or its cost stays unknown."


def _left_out(provider: Provider, configs: Sequence[PublishedConfig]) -> list[str]:
    notes: dict[str, None] = {}
    for config in configs:
        for name in config.unknown:
            notes[f"unknown field {name}; left out"] = None
        for name in provider.without_effect(config):
            notes[f"{name} has no effect with {config.llm_provider} in the published harness; left out"] = None
    return list(notes)
