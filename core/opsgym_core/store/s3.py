"""An S3 bucket as an object store.

Invariant: boto3 is imported when a bucket is opened, not before. Error messages name bucket, key and cause, and never
repeat what a server or botocore wrote: that may hold an endpoint's password.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import SecretStr

from opsgym_api.errors import InputError, Problem
from opsgym_core.store.base import FREE_SPACE, StoreError, require_key

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


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
        with self._access(key):
            try:
                return self._client.get_object(Bucket=self.bucket, Key=self._full(key))["Body"].read()
            except self._client.exceptions.NoSuchKey:
                return None

    def put(self, key: str, content: bytes) -> None:
        """Writes the object, replacing an older one."""
        with self._access(key):
            self._client.put_object(
                Bucket=self.bucket, Key=self._full(key), Body=content, ContentType=_content_type(key)
            )

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the object unless one has that key; the server decides between concurrent writers.

        False may also mean that this writer's request succeeded, its answer was lost, and boto3 repeated it.
        """
        with self._access(key):
            try:
                self._client.put_object(Bucket=self.bucket, Key=self._full(key), Body=content, IfNoneMatch="*")
            except self._client.exceptions.ClientError as error:
                if error.response["Error"]["Code"] in _KEY_EXISTS:
                    return False
                raise
            return True

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, relative to the store's own prefix, sorted."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix + prefix)
        with self._access(prefix):
            for page in pages:
                yield from (item["Key"].removeprefix(self.prefix) for item in page.get("Contents", []))

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders directly below a folder, sorted; a folder exists if a key begins with it."""
        prefix = self._full(folder.rstrip("/")) + "/"
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix, Delimiter="/")
        with self._access(folder):
            for page in pages:
                names = (item["Prefix"].removeprefix(prefix).rstrip("/") for item in page.get("CommonPrefixes", []))
                yield from names

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
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            advice = _S3_ADVICE.get(code) or _S3_ADVICE_BY_STATUS.get(status, "the server refused the request")
            raise StoreError(self.name, key, f"{advice} ({code or 'no code'}, HTTP {status})") from None
        except BotoCoreError as error:
            kind = type(error).__name__
            advice = _BOTO_ADVICE.get(kind, "the server cannot be reached; check AWS_ENDPOINT_URL_S3 and the network")
            raise StoreError(self.name, key, f"{advice} ({kind})") from None


_CONTENT_TYPES: Mapping[str, str] = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
"""Content types of files that browsers open; any other object is an octet stream."""


def _content_type(key: str) -> str:
    return _CONTENT_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")


# HTTP 412 and 409: an object has that key already, or another writer is creating it.
_KEY_EXISTS = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})
_S3_ADVICE: Mapping[str, str] = {
    "NoSuchBucket": "the bucket does not exist; create it or name another",
    "InvalidAccessKeyId": "the server does not know the access key; check AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL_S3",
    "SignatureDoesNotMatch": "the secret key does not match the access key; check AWS_SECRET_ACCESS_KEY",
    "ExpiredToken": "the session token has expired; sign in again, then repeat",
    "QuotaExceeded": f"the bucket's quota is used up; {FREE_SPACE}",
    "PermanentRedirect": "the bucket is in another region; set AWS_REGION",
}
_S3_ADVICE_BY_STATUS: Mapping[int, str] = {
    301: "the bucket is in another region; set AWS_REGION",
    403: "access denied; the credentials need list, get and put on this bucket and prefix",
    503: "the server is overloaded; repeat later: what is finished is not run again",
    507: f"the server is full; {FREE_SPACE}",
}
_BOTO_ADVICE: Mapping[str, str] = {
    "NoCredentialsError": "no credentials found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "ParamValidationError": "S3 does not allow this bucket name or key",
    "PartialCredentialsError": "credentials are incomplete; set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}
