"""Which models of a run share an account at a provider, and with it a quota.

Invariant: an account is a provider with the same addresses and credentials, as the specs name them. No credential is
read.
"""

from __future__ import annotations

from collections.abc import Mapping

from opsgym_api.kinds.evalmodel import ModelSpec, SecretKey

Account = tuple[str, frozenset[tuple[str | None, SecretKey | None]]]
"""Provider; addresses, each with the place of its credential."""


def sharing(models: Mapping[str, ModelSpec]) -> Mapping[str, frozenset[str]]:
    """Names of the models that share the account of each model, its own name included.

    Args:
        models: The run's models by name.
    """
    accounts = {name: account_of(model) for name, model in models.items()}
    return {
        name: frozenset(other for other, its_account in accounts.items() if its_account == account)
        for name, account in accounts.items()
    }


def account_of(model: ModelSpec) -> Account:
    """The account whose quota a model uses."""
    provider = model.model.partition("/")[0]
    own = frozenset((endpoint.url, endpoint.credentials or model.credentials) for endpoint in model.endpoints)
    return provider, own or frozenset({(None, model.credentials)})
