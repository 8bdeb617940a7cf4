"""Reads what a pod is told: its order, its place in it, its stores.

Invariant: what cannot be used is named with the variable and file concerned, before anything else happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr, ValidationError

from opsgym_api.base import Stored
from opsgym_api.errors import InputError
from opsgym_api.orders import (
    ENV_INDEX,
    ENV_ORDER,
    ENV_RECORDINGS,
    ENV_STORE,
    ENV_SUITE_STORE,
    ORDER_VERSION,
    RECORDINGS,
    JobOrder,
    PreflightOrder,
    TrialRef,
)
from opsgym_api.store import S3Access, Store, open_store
from opsgym_api.validation import problems_of

Order = TypeVar("Order", JobOrder, PreflightOrder)


class UnusableOrder(Exception):
    """The pod cannot begin; the message names variable or file, and what is wrong."""


def read_order(environment: Mapping[str, str], kind: type[Order]) -> Order:
    """The pod's order.

    Raises:
        UnusableOrder: There is none, or it is not one that this version reads.
    """
    path = Path(_required(environment, ENV_ORDER))
    try:
        order = kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UnusableOrder(f"{ENV_ORDER}: {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise UnusableOrder(f"{ENV_ORDER}: {path}: {_first_problem(error, kind)}") from None
    if order.version > ORDER_VERSION:
        known = f"this runner reads {ORDER_VERSION}; use images of one release"
        raise UnusableOrder(f"{ENV_ORDER}: {path} is of version {order.version}, {known}")
    return order


def _first_problem(error: ValidationError, kind: type[Stored]) -> str:
    return str(problems_of(error, model=kind)[0])


def trial_of(order: JobOrder, environment: Mapping[str, str]) -> TrialRef:
    """The trial that a pod is to run.

    Raises:
        UnusableOrder: The index is no number, or the order has no such trial.
    """
    given = _required(environment, ENV_INDEX)
    if not given.isascii() or not given.isdigit() or int(given) >= len(order.trials):
        raise UnusableOrder(f"{ENV_INDEX} is {given!r}; the order has trials 0 to {len(order.trials) - 1}")
    return order.trials[int(given)]


def result_store(environment: Mapping[str, str]) -> Store:
    """The result store.

    Raises:
        UnusableOrder: Its address is missing or is none.
    """
    return _opened(ENV_STORE, _required(environment, ENV_STORE), None)


def suite_store(environment: Mapping[str, str]) -> Store:
    """The store that holds the suite's rows.

    Raises:
        UnusableOrder: Its address is missing or is none.
    """
    secret = environment.get("OPSGYM_SUITE_AWS_SECRET_ACCESS_KEY")
    access = S3Access(
        endpoint_url=environment.get("OPSGYM_SUITE_AWS_ENDPOINT_URL_S3") or None,
        region=environment.get("OPSGYM_SUITE_AWS_REGION") or None,
        access_key_id=environment.get("OPSGYM_SUITE_AWS_ACCESS_KEY_ID") or None,
        secret_access_key=SecretStr(secret) if secret else None,
    )
    return _opened(ENV_SUITE_STORE, _required(environment, ENV_SUITE_STORE), access)


def recordings_folder(environment: Mapping[str, str]) -> Path:
    """Where ConfigMaps with recordings are mounted, each under its name."""
    return Path(environment.get(ENV_RECORDINGS) or RECORDINGS)


def _opened(variable: str, location: str, access: S3Access | None) -> Store:
    try:
        return open_store(location, access)
    except InputError as error:
        raise UnusableOrder(f"{variable}: {error}") from None


def _required(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise UnusableOrder(f"the environment variable {name} is not set")
    return value
