"""An S3 bucket as an object store.

Invariant: boto3 is imported when a bucket is opened, not before. Error messages name bucket, key and cause, and never
repeat what a server or botocore wrote: that may hold an endpoint's password.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from pydantic import SecretStr

from opsgym_api.errors import InputError, Problem
from opsgym_core.common.backoff import Backoff
from opsgym_core.store.base import FREE_SPACE, RefusedError, StoredObject, StoreError, require_key

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import ErrorTypeDef, ListObjectsV2OutputTypeDef, ObjectIdentifierTypeDef

T = TypeVar("T")

MOST_TRIES = 6
"""Times that a request is made of a busy server; boto3 repeats each a few times itself, but has a quota for all of them
that a server which is overloaded for long uses up."""
MOST_DELETED = 1000
"""Objects that S3 deletes at one request."""
PAUSE = Backoff(initial_s=0.25, maximum_s=4.0, jitter=0.5)
"""Pauses between them: in total up to eight seconds, far less than what a caller waits for an answer."""


@dataclass(frozen=True)
class S3Access:
    """Endpoint and credentials of a bucket. For None, boto3's search applies: `AWS_…` variables, profile, the pod's
    service account.
    """

    endpoint_url: str | None = None
    """Address of the server; AWS if neither this nor boto3's configuration names one."""
    region: str | None = None
    access_key_id: str | None = None
    """Set together with `secret_access_key`."""
    secret_access_key: SecretStr | None = None


class S3Store:
    """Objects in a bucket, below a prefix."""

    def __init__(self, bucket: str, prefix: str = "", access: S3Access | None = None) -> None:
        # boto3 takes half a second to import; only a process that opens a bucket pays for it.
        from boto3.session import Session
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        self.bucket = bucket
        self.prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self.name = f"s3://{bucket}/{self.prefix}".rstrip("/")
        config = Config(
            connect_timeout=5,  # with four attempts, an unreachable server is reported within half a minute
            read_timeout=60,
            retries={"mode": "standard", "max_attempts": 4},
            max_pool_connections=32,  # the maximum number of threads of asyncio's default executor
            request_checksum_calculation="when_required",  # several S3-compatible servers refuse checksum trailers
            response_checksum_validation="when_required",
        )
        access = access or S3Access()
        secret = access.secret_access_key
        try:
            self._client: S3Client = Session().client(
                "s3",
                config=config,
                endpoint_url=access.endpoint_url,
                region_name=access.region,
                aws_access_key_id=access.access_key_id,
                aws_secret_access_key=None if secret is None else secret.get_secret_value(),
            )
        except (BotoCoreError, ValueError) as error:
            advice = "check AWS_ENDPOINT_URL_S3, AWS_PROFILE and AWS_REGION"
            raise InputError(
                self.name, [Problem("store", f"cannot be opened, {advice}: {type(error).__name__}")]
            ) from None

    def get(self, key: str) -> bytes | None:
        """Content of the object; None if no object has that key."""

        def read() -> bytes | None:
            try:
                return self._client.get_object(Bucket=self.bucket, Key=self._full(key))["Body"].read()
            except self._client.exceptions.NoSuchKey:
                return None

        return self._repeated(key, read)

    def put(self, key: str, content: bytes) -> None:
        """Writes the object, replacing an older one."""
        kind = _content_type(key)
        write = partial(
            self._client.put_object, Bucket=self.bucket, Key=self._full(key), Body=content, ContentType=kind
        )
        self._repeated(key, write)

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the object unless one has that key; the server decides between concurrent writers.

        False may also mean that this writer's request succeeded, its answer was lost, and boto3 repeated it.
        """

        def write() -> bool:
            try:
                self._client.put_object(Bucket=self.bucket, Key=self._full(key), Body=content, IfNoneMatch="*")
            except self._client.exceptions.ClientError as error:
                if error.response["Error"]["Code"] == "PreconditionFailed":
                    return False
                # A conflict says that other writers are at it, not that one of them has written.
                if _status_of(error) == HTTPStatus.CONFLICT and self.get(key) is not None:
                    return False
                raise
            return True

        return self._repeated(key, write)

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, relative to the store's own prefix, sorted."""
        listed = partial(self._client.list_objects_v2, Bucket=self.bucket, Prefix=self.prefix + prefix)
        for page in self._pages(prefix, listed):
            yield from (item["Key"].removeprefix(self.prefix) for item in page.get("Contents", []))

    def objects(self, prefix: str) -> Iterator[StoredObject]:
        """Objects whose keys begin with a prefix, sorted by key."""
        listed = partial(self._client.list_objects_v2, Bucket=self.bucket, Prefix=self.prefix + prefix)
        for page in self._pages(prefix, listed):
            for item in page.get("Contents", []):
                yield StoredObject(item["Key"].removeprefix(self.prefix), item["Size"], item["LastModified"])

    def delete(self, keys: Sequence[str]) -> None:
        """Deletes objects, `MOST_DELETED` at a request. A bucket with versions keeps their earlier versions."""
        for start in range(0, len(keys), MOST_DELETED):
            named: list[ObjectIdentifierTypeDef] = [
                {"Key": self._full(key)} for key in keys[start : start + MOST_DELETED]
            ]
            request = partial(self._client.delete_objects, Bucket=self.bucket, Delete={"Objects": named, "Quiet": True})
            for error in self._repeated(keys[start], request).get("Errors", []):
                raise self._not_deleted(error)

    def _not_deleted(self, error: ErrorTypeDef) -> StoreError:
        code, key = error.get("Code", "no code"), error.get("Key", "").removeprefix(self.prefix)
        if code == "AccessDenied":
            return RefusedError(self.name, key, f"{_MAY_NOT_DELETE} ({code})")
        return StoreError(self.name, key, f"it was not deleted; repeat later: what is deleted stays so ({code})")

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders directly below a folder, sorted; a folder exists if a key begins with it."""
        prefix = self._full(folder.rstrip("/")) + "/"
        listed = partial(self._client.list_objects_v2, Bucket=self.bucket, Prefix=prefix, Delimiter="/")
        for page in self._pages(folder, listed):
            yield from (item["Prefix"].removeprefix(prefix).rstrip("/") for item in page.get("CommonPrefixes", []))

    def _pages(self, key: str, read: Callable[..., ListObjectsV2OutputTypeDef]) -> Iterator[ListObjectsV2OutputTypeDef]:
        page = self._repeated(key, read)
        yield page
        while page.get("IsTruncated"):
            page = self._repeated(key, partial(read, ContinuationToken=page["NextContinuationToken"]))
            yield page

    def _repeated(self, key: str, request: Callable[[], T]) -> T:
        """Makes a request again that met a busy server, or whose answer broke off; boto3 has then tried less, or not
        at all.

        Raises:
            StoreError: The server refuses it, cannot be reached, or is still busy.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        with self._access(key):
            for attempt in range(1, MOST_TRIES):
                try:
                    return request()
                except (BotoCoreError, ClientError) as error:
                    if not _passes(error):
                        raise
                time.sleep(PAUSE.delay(attempt))
            return request()

    def _full(self, key: str) -> str:
        return self.prefix + require_key(self.name, key)

    @contextmanager
    def _access(self, key: str) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        # `from None`: botocore's own messages repeat the endpoint, which may hold a password.
        try:
            yield
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            status = _status_of(error)
            advice = _S3_ADVICE.get(code) or _S3_ADVICE_BY_STATUS.get(status, "the server refused the request")
            failure = RefusedError if status == HTTPStatus.FORBIDDEN else StoreError
            raise failure(self.name, key, f"{advice} ({code or 'no code'}, HTTP {status})") from None
        except BotoCoreError as error:
            kind = type(error).__name__
            advice = _BOTO_ADVICE.get(kind, "the server cannot be reached; check AWS_ENDPOINT_URL_S3 and the network")
            raise StoreError(self.name, key, f"{advice} ({kind})") from None


_CONTENT_TYPES: Mapping[str, str] = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
"""Content types of files that browsers open; any other object is an octet stream."""


def _content_type(key: str) -> str:
    return _CONTENT_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")


def _status_of(error: ClientError) -> int:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


def _passes(error: BotoCoreError | ClientError) -> bool:
    """Whether the same request may succeed a moment later."""
    if type(error).__name__ in _BROKEN_OFF:
        return True
    response = getattr(error, "response", {})
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status in _BUSY or response.get("Error", {}).get("Code") in _BUSY_CODES


_BROKEN_OFF = frozenset({"IncompleteReadError", "ResponseStreamingError"})
"""botocore's exceptions for a body that ends early."""
_BUSY = frozenset({409, 429, 500, 502, 503, 504})
_BUSY_CODES = frozenset({"SlowDown", "RequestTimeout"})
_CLOCK = "this machine's clock differs from the server's by too much; set it (NTP), then repeat"
_S3_ADVICE: Mapping[str, str] = {
    "NoSuchBucket": "the bucket does not exist; create it or name another",
    "InvalidAccessKeyId": "the server does not know the access key; check AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL_S3",
    "SignatureDoesNotMatch": "the secret key does not match the access key; check AWS_SECRET_ACCESS_KEY",
    "ExpiredToken": "the session token has expired; sign in again, then repeat",
    "QuotaExceeded": f"the bucket's quota is used up; {FREE_SPACE}",
    "RequestTimeTooSkewed": _CLOCK,
    "RequestExpired": _CLOCK,
    "ConditionalRequestConflict": "other writers of this object do not come to an end; repeat later",
    "PermanentRedirect": "the bucket is in another region; set AWS_REGION",
}
_S3_ADVICE_BY_STATUS: Mapping[int, str] = {
    301: "the bucket is in another region; set AWS_REGION",
    403: "access denied; the credentials need list, get and put, and delete to prune, on this bucket and prefix",
    503: "the server is overloaded; repeat later: what is finished is not run again",
    507: f"the server is full; {FREE_SPACE}",
}
_MAY_NOT_DELETE = "it may not be deleted; the credentials need s3:DeleteObject on this bucket and prefix"
_BOTO_ADVICE: Mapping[str, str] = {
    "NoCredentialsError": "no credentials found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "ParamValidationError": "S3 does not allow this bucket name or key",
    "PartialCredentialsError": "credentials are incomplete; set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}
