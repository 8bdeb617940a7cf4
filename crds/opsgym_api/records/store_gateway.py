"""The HTTP interface of the store gateway, which reads and writes a pod's own objects for it.

Invariant: an answer that says that an object is absent, or exists, has a code in its body, so that a wrong address or a
proxy's page is never taken for one.

    GET  /stores/STORE/object?key=KEY        200 with the content, or 404
    PUT  /stores/STORE/object?key=KEY        204; with `If-None-Match: *` 412 if the object exists
    GET  /stores/STORE/keys?prefix=PREFIX    200 with `{"keys": […]}`

Each request has the pod's token as `Authorization: Bearer`. An answer from 400 up has the body
`{"code": CODE, "message": MESSAGE}`.
"""

from __future__ import annotations

ENV_STORE_TOKEN = "OPSGYM_STORE_TOKEN_FILE"  # noqa: S105 - the name of a variable
"""Environment variable of a pod: file with its token for the store gateway, which the kubelet replaces in time."""
MOST_BYTES = 64 * 1024 * 1024
"""Size of the largest object that a pod may write."""


class Code:
    """Codes of answers from 400 up."""

    NO_SUCH_KEY = "NoSuchKey"
    """404: the store has no object of that key."""
    PRECONDITION_FAILED = "PreconditionFailed"
    """412: the object exists, and the request had `If-None-Match: *`."""
    UNAUTHENTICATED = "Unauthenticated"
    """401: the token is missing, has expired, or is not for this gateway."""
    ACCESS_DENIED = "AccessDenied"
    """403: the pod may not do this."""
    TOO_LARGE = "EntityTooLarge"
    """413: the object is larger than `MOST_BYTES`."""
    UNAVAILABLE = "Unavailable"
    """503: the store or the API server cannot be used; the same request may succeed later."""


def store_url(gateway: str, store: str) -> str:
    """Address of a store at a gateway.

    Args:
        gateway: Base URL of the gateway.
        store: Name of the store.
    """
    return f"{gateway.rstrip('/')}/stores/{store}"
