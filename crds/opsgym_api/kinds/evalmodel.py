"""`EvalModel`: a model that many EvalRuns may name, with its endpoints, prices and the ceiling they share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from opsgym_api.base import Document
from opsgym_api.patterns import NAME, VARIABLE, pattern

GROUP = "opsgym.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

Name = Annotated[str, Field(pattern=NAME, max_length=63)]
"""Names that end up in store keys, metric labels and object names: lower case letters, digits, `-` and `.`."""

_URL = pattern(r"^https?://\S+$", "a URL that begins with http:// or https://, without blanks")
Url = Annotated[str, Field(pattern=_URL, max_length=2048)]


Streaming = Literal["auto", "always", "never"]
"""Whether a model's answers are streamed."""
_NOT_STREAMED = ("replay/",)
"""Beginnings of litellm ids whose answers are never streamed."""


class SecretKey(Document):
    """Where a credential is kept. The value itself never appears in a document."""

    secret: Name | None = None
    """Kubernetes Secret that holds the credential; used in a cluster."""
    key: Annotated[str, Field(min_length=1)] = "api-key"
    """Key inside the Secret."""
    env: Annotated[str, Field(pattern=VARIABLE)] | None = None
    """Environment variable that holds the credential; used on one machine."""

    @model_validator(mode="after")
    def _names_a_place(self) -> SecretKey:
        if self.secret is None and self.env is None:
            raise ValueError("name a secret (in a cluster), an env variable (on one machine), or both")
        return self


_HEADER = pattern(
    r"^[A-Za-z0-9][-_A-Za-z0-9]*$", "the name of a header: letters, digits, '-' and '_', a letter or digit first"
)


class SecretHeader(Document):
    """A request header with a secret value, as gateways require: `Ocp-Apim-Subscription-Key` and the like."""

    name: Annotated[str, Field(pattern=_HEADER, max_length=128)]
    """Name of the header."""
    value_from: SecretKey
    """Where its value is kept."""


class AwsAccess(Document):
    """Access to AWS for models that AWS serves (`bedrock/…`, `sagemaker/…`)."""

    secret: Name
    """Kubernetes Secret with the keys `access-key-id` and `secret-access-key`; used in a cluster. On one machine AWS's
    usual variables and profiles apply."""
    region: Annotated[str, Field(min_length=1)] | None = None
    """Region that serves the model; AWS's usual variable if absent."""


class Endpoint(Document):
    """One address that serves the model."""

    url: Url
    """Base URL as the provider's client expects it, for instance `https://host/v1`."""
    credentials: SecretKey | None = None
    """Credential of this endpoint, if it differs from the model's."""
    headers: Annotated[list[SecretHeader], Field(max_length=16)] = []
    """Headers with secret values; others go into `parameters.extra_headers`."""


class TokenPrices(Document):
    """Prices in US dollars per million tokens."""

    input_usd: Annotated[float, Field(ge=0)]
    """Price of a million prompt tokens."""
    output_usd: Annotated[float, Field(ge=0)]
    """Price of a million completion tokens, reasoning tokens included."""
    cached_input_usd: Annotated[float, Field(ge=0)] | None = None
    """Price of a million prompt tokens read from the provider's cache; the input price if absent."""
    cache_write_usd: Annotated[float, Field(ge=0)] | None = None
    """Price of a million prompt tokens written into the provider's cache; the input price if absent."""
    reasoning_usd: Annotated[float, Field(ge=0)] | None = None
    """Price of a million reasoning tokens; the output price if absent."""


class PriceTier(TokenPrices):
    """Prices of requests with long prompts. They hold for all tokens of such a request."""

    above_tokens: Annotated[int, Field(ge=1)]
    """Prompt tokens that a request must exceed, cached ones included."""


class Prices(TokenPrices):
    """Prices in US dollars per million tokens. They replace litellm's price map for this model."""

    tiers: Annotated[list[PriceTier], Field(max_length=16)] = []
    """Prices of requests with long prompts; the highest threshold that is exceeded counts."""


class ModelSpec(Document):
    """How to reach a model and what it costs."""

    model: Annotated[str, Field(min_length=1)]
    """litellm model id, for instance `openai/gpt-5`, or `replay/gold`, `replay/noop`, `replay/flaky`, `replay/FILE`."""
    endpoints: Annotated[list[Endpoint], Field(max_length=64)] = []
    """Addresses that serve the model, balanced; the provider's public one if empty."""
    credentials: SecretKey | None = None
    """API key; the provider's usual environment variable if absent."""
    aws: AwsAccess | None = None
    """Access to AWS. Without it pods use what their service account may do, and never a store's key."""
    parameters: dict[str, Any] = {}
    """Passed to litellm as they are: `temperature`, `max_tokens`, `reasoning_effort` and the like."""
    stream: Streaming = "auto"
    """Whether answers are streamed, so that `parameters.timeout` bounds the silence between two parts instead of the
    whole answer: `auto` streams at the own addresses of OpenAI, Azure, Anthropic, Google (Gemini, Vertex AI),
    OpenRouter, DeepSeek and DashScope. The replies are the same."""
    max_concurrency: Annotated[int, Field(ge=1, le=10_000)] = 8
    """Episodes that may use the model at the same time, over all runs of the namespace; requests adapt below that."""
    prices: Prices | None = None
    """Prices; litellm's bundled price map if absent."""
    allow_unpriced: bool = False
    """Run the model although no price is known; its cost is then recorded as unknown."""

    @model_validator(mode="after")
    def _can_be_streamed(self) -> ModelSpec:
        if self.stream == "always" and self.model.startswith(_NOT_STREAMED):
            raise ValueError(f"stream: always is not supported for {self.model}; remove it")
        return self


class ObjectMeta(Document):
    """The part of Kubernetes' object metadata that opsgym reads; the rest passes through."""

    model_config = Document.model_config | {"extra": "allow"}

    name: Name
    """Name of the object."""
    namespace: str | None = None
    """Namespace of the object; a cluster fills it in."""


class EvalModel(Document):
    """A model that EvalRuns of the namespace name in `spec.models[].ref`."""

    api_version: Literal["opsgym.dev/v1alpha1"]
    kind: Literal["EvalModel"]
    metadata: ObjectMeta
    spec: ModelSpec
