"""Where results go: a local folder or an S3 bucket, behind one small interface.

Invariant: an object is there whole or not at all, and `put_once` never replaces one.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from pydantic import SecretStr

from opsgym_api.errors import InputError, Problem

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


class StoreError(Exception):
    """The store cannot be read or written: full, refused, or out of reach.

    Attributes:
        store: The store, as the user named it.
        key: The object concerned.
    """

    def __init__(self, store: str, key: str, problem: str) -> None:
        self.store = store
        self.key = key
        super().__init__(f"{store}: cannot access {key}: {problem}")


class Store(Protocol):
    """Objects by key. Keys are relative, `/`-separated; see `layout`. Every method may raise `StoreError`."""

    name: str
    """The store as the user named it, for messages."""

    def get(self, key: str) -> bytes | None:
        """Content of an object; None if there is none."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Writes an object whole, replacing an older one."""
        ...

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes an object unless there is one already; says whether it wrote."""
        ...

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, sorted."""
        ...

    def folders(self, folder: str) -> Iterator[str]:
        """Names directly below a folder that have keys below them, sorted; what is below them costs nothing."""
        ...


@dataclass(frozen=True)
class S3Access:
    """How a bucket is reached. What is None is looked for where boto3 looks: `AWS_…` variables, profiles, the pod."""

    endpoint_url: str | None = None
    """Address of the server; AWS' own if nothing names another."""
    region: str | None = None
    access_key_id: str | None = None
    """Goes with `secret_access_key`."""
    secret_access_key: SecretStr | None = None


def open_store(location: str, access: S3Access | None = None) -> Store:
    """The store at a location.

    Args:
        location: `s3://bucket/prefix`, or a folder, which is made when something is first written to it.
        access: How the bucket is reached; means nothing for a folder.

    Raises:
        InputError: The location names neither.
    """
    scheme, separator, rest = location.partition("://")
    if not separator:
        return _open_folder(location)
    if scheme != "s3":
        raise InputError(
            location, [Problem("store", f"{scheme}:// is not a kind of store; give s3://BUCKET/PREFIX or a folder")]
        )
    bucket, _, prefix = rest.partition("/")
    if not bucket:
        raise InputError(location, [Problem("store", "names no bucket; expected s3://BUCKET/PREFIX")])
    if prefix.strip("/") and not is_key(prefix.strip("/")):
        raise InputError(location, [Problem("store", f"the prefix {prefix!r} is not a path of plain names")])
    return S3Store(bucket, prefix, access)


def _open_folder(location: str) -> LocalStore:
    if not location:
        raise InputError(location, [Problem("store", "is empty; give s3://BUCKET/PREFIX or a folder")])
    root = Path(location)
    if root.exists() and not root.is_dir():
        raise InputError(location, [Problem("store", "is a file; give a folder")])
    return LocalStore(root)


# A part never begins with a dot: that keeps `..` out, and leaves such names to files that are still being written.
_PART = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*")


def is_key(key: str) -> bool:
    """Whether a store takes a key: a relative path whose parts are not empty and begin with no dot."""
    return all(_PART.fullmatch(part) for part in key.split("/"))


def _checked(store: str, key: str) -> str:
    if not is_key(key):
        raise StoreError(store, repr(key), "a key is a relative path whose parts are not empty and begin with no dot")
    return key


class LocalStore:
    """Objects as files below a folder.

    Files are written beside their final place and then renamed or linked there, so a killed process leaves at most a
    hidden file that nothing reads.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self.name = str(root)

    def get(self, key: str) -> bytes | None:
        """Content of the file; None if there is none, or a folder of that name."""
        path = self._path(key)
        with self._access(key):
            try:
                return path.read_bytes()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None

    def put(self, key: str, content: bytes) -> None:
        """Writes the file whole, replacing an older one."""
        path = self._path(key)
        with self._access(key), _written_beside(path, content) as draft:
            draft.replace(path)

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the file unless there is one. Of several processes, exactly one is told True."""
        path = self._path(key)
        with self._access(key), _written_beside(path, content) as draft:
            try:
                # A rename would replace, and opening for exclusive creation would show a half-written file.
                path.hardlink_to(draft)
            except FileExistsError:
                return False
            return True

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys below the folder that begin with a prefix, sorted as S3 sorts them."""
        folder = prefix.rpartition("/")[0]
        if folder:
            _checked(self.name, folder)
        with self._access(prefix):
            found = sorted(key for key in self._walk(self.root / folder) if key.startswith(prefix))
        yield from found

    def folders(self, folder: str) -> Iterator[str]:
        """Names of folders in a folder, sorted; also of one that a failed write left without an object."""
        top = self._path(folder.rstrip("/"))
        with self._access(folder):
            try:
                found = sorted(entry.name for entry in os.scandir(top) if entry.is_dir() and entry.name[0] != ".")
            except (FileNotFoundError, NotADirectoryError):
                found = []
        yield from found

    def _walk(self, top: Path) -> Iterator[str]:
        def stop(error: OSError) -> None:
            # A folder that is not there, or no folder, has no keys.
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                raise error

        for folder, _, files in os.walk(top, onerror=stop):
            base = Path(folder).relative_to(self.root)
            yield from ((base / file).as_posix() for file in files if not file.startswith("."))

    def _path(self, key: str) -> Path:
        return self.root / _checked(self.name, key)

    @contextmanager
    def _access(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(self.name, key, _what_to_do(error)) from error


_SPACE = "free space or name another store, then repeat: what is finished is not run again"
_ADVICE: Mapping[int, str] = {
    errno.ENOSPC: f"the disk is full; {_SPACE}",
    errno.EDQUOT: f"the disk quota is used up; {_SPACE}",
    errno.EFBIG: f"the file is larger than this process or file system may write; raise the limit, or {_SPACE}",
    errno.EACCES: "permission denied; make the folder writable for this user or name another store",
    errno.EROFS: "the file system is read-only; name another store",
    errno.EPERM: "the file system refuses links or this user; name a store on a file system that has hard links",
    errno.EOPNOTSUPP: "the file system has no hard links; name a store on one that has",
    errno.EEXIST: "a file stands where a folder is needed; name another store",
    errno.ENOTDIR: "a file stands where a folder is needed; name another store",
    errno.EISDIR: "a folder stands where a file is needed; name another store",
    errno.EMFILE: "too many open files; raise `ulimit -n` or lower the concurrency",
    errno.ENAMETOOLONG: "the name is too long for the file system; shorten model, agent or task names",
}


def _what_to_do(error: OSError) -> str:
    return _ADVICE.get(error.errno or 0, error.strerror or str(error))


@contextmanager
def _written_beside(path: Path, content: bytes) -> Iterator[Path]:
    """A hidden file with the content in the folder of `path`; gone afterwards unless it was moved."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with draft.open("xb") as file:
            file.write(content)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


class S3Store:
    """Objects in a bucket, below a prefix.

    What `access` leaves open comes from where boto3 finds it: `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL_S3` and so on, a
    profile, or the pod's service account. Messages name bucket, key and cause, and nothing a server sent.
    """

    def __init__(self, bucket: str, prefix: str = "", access: S3Access | None = None) -> None:
        # boto3 takes half a second to import: paid only by those who name a bucket.
        from boto3.session import Session
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        self.bucket = bucket
        self.prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self.name = f"s3://{bucket}/{self.prefix}".rstrip("/")
        config = Config(
            connect_timeout=5,  # with four attempts, a server that does not answer at all is known in half a minute
            read_timeout=60,
            retries={"mode": "standard", "max_attempts": 4},
            max_pool_connections=32,  # as many threads as asyncio's default executor may have
            request_checksum_calculation="when_required",  # several S3-compatible servers refuse the newer trailers
            response_checksum_validation="when_required",
        )
        given = access or S3Access()
        secret = given.secret_access_key
        try:
            self._client: S3Client = Session().client(
                "s3",
                config=config,
                endpoint_url=given.endpoint_url,
                region_name=given.region,
                aws_access_key_id=given.access_key_id,
                aws_secret_access_key=None if secret is None else secret.get_secret_value(),
            )
        except (BotoCoreError, ValueError) as error:
            advice = "check AWS_ENDPOINT_URL_S3, AWS_PROFILE and AWS_REGION"
            raise InputError(
                self.name, [Problem("store", f"cannot be opened, {advice}: {type(error).__name__}")]
            ) from None

    def get(self, key: str) -> bytes | None:
        """Content of the object; None if there is none."""
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
        """Writes the object unless there is one; the server decides between several writers.

        False may also mean that a request of ours arrived, its answer was lost, and boto3 repeated it.
        """
        with self._access(key):
            try:
                self._client.put_object(Bucket=self.bucket, Key=self._full(key), Body=content, IfNoneMatch="*")
            except self._client.exceptions.ClientError as error:
                if error.response["Error"]["Code"] in _TAKEN:
                    return False
                raise
            return True

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys below the store's prefix that begin with a prefix, sorted."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix + prefix)
        with self._access(prefix):
            for page in pages:
                yield from (item["Key"].removeprefix(self.prefix) for item in page.get("Contents", []))

    def folders(self, folder: str) -> Iterator[str]:
        """Names directly below a folder that have keys below them, sorted."""
        prefix = self._full(folder.rstrip("/")) + "/"
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix, Delimiter="/")
        with self._access(folder):
            for page in pages:
                found = (item["Prefix"].removeprefix(prefix).rstrip("/") for item in page.get("CommonPrefixes", []))
                yield from found

    def _full(self, key: str) -> str:
        return self.prefix + _checked(self.name, key)

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
            advice = _BOTO_ADVICE.get(kind, "the server could not be asked; check AWS_ENDPOINT_URL_S3 and the network")
            raise StoreError(self.name, key, f"{advice} ({kind})") from None


_CONTENT_TYPES: Mapping[str, str] = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
"""Of what browsers open; nobody asks for the type of anything else."""


def _content_type(key: str) -> str:
    return _CONTENT_TYPES.get(PurePosixPath(key).suffix, "application/octet-stream")


# HTTP 412 and 409: there is an object of that key already, or another writer is just making it.
_TAKEN = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})
_S3_ADVICE: Mapping[str, str] = {
    "NoSuchBucket": "the bucket does not exist; create it or name another",
    "InvalidAccessKeyId": "the access key is not known there; check AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL_S3",
    "SignatureDoesNotMatch": "the secret key does not fit the access key; check AWS_SECRET_ACCESS_KEY",
    "ExpiredToken": "the session token has expired; sign in again, then repeat",
    "QuotaExceeded": f"the bucket's quota is used up; {_SPACE}",
    "PermanentRedirect": "the bucket is in another region; set AWS_REGION",
}
_S3_ADVICE_BY_STATUS: Mapping[int, str] = {
    301: "the bucket is in another region; set AWS_REGION",
    403: "access denied; the credentials need list, get and put on this bucket and prefix",
    503: "the server is overloaded; repeat later: what is finished is not run again",
    507: f"the server is full; {_SPACE}",
}
_BOTO_ADVICE: Mapping[str, str] = {
    "NoCredentialsError": "no credentials found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "ParamValidationError": "the bucket's name or the key is not one that S3 allows",
    "PartialCredentialsError": "credentials are incomplete; set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
}
