"""Creates Secrets with random values before a release is installed or upgraded.

Invariant: a Secret that exists is never changed, a Secret has the same values in all its namespaces, and no value is
printed. Values are made here instead of in the chart's templates, so that these render the same manifests each time.

    python make_secrets.py '[{"name": NAME, "namespaces": [NAMESPACE, …], "lengths": {KEY: LENGTH}, "labels": {…}}, …]'
"""

from __future__ import annotations

import base64
import http
import json
import secrets
import string
import sys
from typing import Any

from cluster_api import Refused, call

ALPHABET = string.ascii_letters + string.digits


def main(specs: list[dict[str, Any]]) -> None:
    """Creates what is missing of each Secret."""
    for secret in specs:
        existing_data = {namespace: existing(namespace, secret["name"]) for namespace in secret["namespaces"]}
        data = next((data for data in existing_data.values() if data is not None), None) or random_data(
            secret["lengths"]
        )
        for namespace, present in existing_data.items():
            if present is None:
                create(namespace, secret, data)
            state = "created" if present is None else "exists"
            print(f"Secret {namespace}/{secret['name']}: {state}", flush=True)  # noqa: T201 - the pod's log


def existing(namespace: str, name: str) -> dict[str, str] | None:
    """Data of a Secret; None if it does not exist."""
    try:
        secret = call("GET", f"/api/v1/namespaces/{namespace}/secrets/{name}")
    except Refused as error:
        if error.status != http.HTTPStatus.NOT_FOUND:
            raise
        return None
    return dict(secret.get("data") or {})


def random_data(lengths: dict[str, int]) -> dict[str, str]:
    """Random letters and digits by key, encoded as a Secret's data."""
    values = {key: "".join(secrets.choice(ALPHABET) for _ in range(length)) for key, length in lengths.items()}
    return {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}


def create(namespace: str, secret: dict[str, Any], data: dict[str, str]) -> None:
    """Creates a Secret."""
    metadata = {"name": secret["name"], "namespace": namespace, "labels": secret["labels"]}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
    call("POST", f"/api/v1/namespaces/{namespace}/secrets", body)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
