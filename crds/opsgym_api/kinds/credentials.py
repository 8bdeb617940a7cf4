"""Where the specification of a model names credentials, and where it must not contain them.

Invariant: a document names credentials and never contains them, because it is stored, shown and recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from opsgym_api.kinds.evalmodel import ModelSpec, SecretKey

SECRET_PARAMETERS = frozenset(
    {"api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "azure_ad_token", "client_secret"}
    | {"vertex_credentials"}
)
"""litellm parameters that hold credentials."""
_HEADERS = frozenset({"default_headers", "extra_headers", "headers"})
"""Parameters that hold request headers."""
SECRET_HEADER = re.compile(
    r"(?i)(^|[-_])(api-?key|auth|authorization|cookie|credentials?|key|password|secret|signature|token)s?([-_]|$)"
)
"""Names of headers that carry credentials: `Authorization`, `X-Api-Key`, `Ocp-Apim-Subscription-Key`."""
_SECRET_VALUE = re.compile(r"(?i)(basic|bearer|token)\s+\S")

AWS_ACCESS_KEY_ID = "access-key-id"
AWS_SECRET_ACCESS_KEY = "secret-access-key"  # noqa: S105 - the name of a key
"""Keys of a Secret with access to AWS, of a store's as well as of a model's."""


def secret_parameters(parameters: Mapping[str, Any]) -> list[str]:
    """Paths of the parameters that hold credentials at any depth, sorted: `api_key`, `extra_headers.Authorization`."""
    return sorted(_secret_paths(parameters, "", in_headers=False))


def _secret_paths(value: object, path: str, *, in_headers: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            own = f"{path}.{name}" if path else str(name)
            if name in SECRET_PARAMETERS or (in_headers and _is_secret_header(str(name), inner)):
                yield own
            else:
                yield from _secret_paths(inner, own, in_headers=in_headers or str(name).lower() in _HEADERS)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secret_paths(inner, f"{path}[{index}]", in_headers=in_headers)


def _is_secret_header(name: str, value: object) -> bool:
    return bool(SECRET_HEADER.search(name)) or (isinstance(value, str) and bool(_SECRET_VALUE.match(value)))


def named_credentials(model: ModelSpec) -> Iterator[tuple[str, SecretKey]]:
    """Every credential that a model names, by its field relative to the model."""
    if model.credentials is not None:
        yield "credentials", model.credentials
    if model.aws is not None:
        for key in (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY):
            yield "aws", SecretKey(secret=model.aws.secret, key=key)
    for index, endpoint in enumerate(model.endpoints):
        if endpoint.credentials is not None:
            yield f"endpoints[{index}].credentials", endpoint.credentials
        for position, header in enumerate(endpoint.headers):
            yield f"endpoints[{index}].headers[{position}].valueFrom", header.value_from
