"""Which models share a provider's account."""

from __future__ import annotations

from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_core.planning.accounts import sharing


def spec(model: str, secret: str | None = None, *urls: str) -> ModelSpec:
    credentials = None if secret is None else {"secret": secret}
    return ModelSpec.model_validate(
        {"model": model, "credentials": credentials, "endpoints": [{"url": url} for url in urls]}
    )


def test_models_of_one_provider_with_the_same_addresses_and_credentials_share_an_account() -> None:
    models = {
        "gpt": spec("openai/gpt-5", "team"),
        "mini": spec("openai/gpt-5-mini", "team"),
        "other-key": spec("openai/gpt-5", "mine"),
        "other-address": spec("openai/gpt-5", "team", "https://gateway/v1"),
        "other-provider": spec("anthropic/claude-sonnet-4-5", "team"),
        "usual-key": spec("openai/gpt-5"),
        "usual-key-too": spec("openai/gpt-4o"),
    }

    shared = {name: sorted(others - {name}) for name, others in sharing(models).items()}

    assert shared == {
        "gpt": ["mini"],
        "mini": ["gpt"],
        "other-key": [],
        "other-address": [],
        "other-provider": [],
        "usual-key": ["usual-key-too"],
        "usual-key-too": ["usual-key"],
    }


def test_the_order_of_endpoints_and_where_their_credential_is_written_do_not_matter() -> None:
    own = {"credentials": {"secret": "team"}}
    models = {
        "a": spec("openai/x", "team", "https://one/v1", "https://two/v1"),
        "b": ModelSpec.model_validate(
            {"model": "openai/y", "endpoints": [{"url": "https://two/v1", **own}, {"url": "https://one/v1", **own}]}
        ),
    }

    assert sharing(models)["a"] == {"a", "b"}
