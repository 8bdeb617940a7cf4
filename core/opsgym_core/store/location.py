"""Opens the store at a location: a local folder or an S3 bucket."""

from __future__ import annotations

from pathlib import Path

from opsgym_api.errors import InputError, Problem
from opsgym_core.store.base import ErasableStore, is_key
from opsgym_core.store.local import LocalStore
from opsgym_core.store.s3 import S3Access, S3Store
from opsgym_core.store.sealed import SealedStore


def open_store(location: str, access: S3Access | None = None) -> SealedStore:
    """The store at a location; to it, sealed objects of held-out runs are as if they were not there.

    Args:
        location: `s3://bucket/prefix`, or a folder, which is created by the first write.
        access: Endpoint and credentials of the bucket; ignored for a folder.

    Raises:
        InputError: The location is neither a folder nor a bucket, or the bucket's client cannot be created.
    """
    return SealedStore(open_erasable(location, access))


def open_erasable(location: str, access: S3Access | None = None) -> ErasableStore:
    """The store at a location, with its objects as they are, of which it can delete; see `open_store`."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return _open_folder(location)
    if scheme != "s3":
        raise InputError(
            location, [Problem("store", f"unknown kind of store {scheme}://; give s3://BUCKET/PREFIX or a folder")]
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
