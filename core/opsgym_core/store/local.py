"""A local folder as an object store.

Invariant: a file is written beside its final place and then renamed or linked to it, so a killed process leaves at most
a hidden file that no reader sees.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from opsgym_core.store.base import FREE_SPACE, StoredObject, StoreError, require_key


class LocalStore:
    """Objects as files below a folder; the key is the file's path relative to that folder."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self.name = str(root)

    def get(self, key: str) -> bytes | None:
        """Content of the file; None if it does not exist or is a folder."""
        path = self._path(key)
        with self._access(key):
            try:
                return path.read_bytes()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None

    def put(self, key: str, content: bytes) -> None:
        """Writes the file whole, replacing an older one."""
        path = self._path(key)
        with self._access(key), _draft(path, content) as draft:
            draft.replace(path)

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the file unless it exists. Exactly one of several concurrent writers gets True."""
        path = self._path(key)
        with self._access(key), _draft(path, content) as draft:
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
            require_key(self.name, folder)
        with self._access(prefix):
            keys = sorted(key for key in self._walk(self.root / folder) if key.startswith(prefix))
        yield from keys

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders in a folder, sorted, including an empty one that a failed write left behind."""
        top = self._path(folder.rstrip("/"))
        with self._access(folder):
            try:
                names = sorted(entry.name for entry in os.scandir(top) if entry.is_dir() and entry.name[0] != ".")
            except (FileNotFoundError, NotADirectoryError):
                names = []
        yield from names

    def objects(self, prefix: str) -> Iterator[StoredObject]:
        """Files below the folder whose keys begin with a prefix, sorted by key."""
        for key in self.keys(prefix):
            with self._access(key), suppress(FileNotFoundError):  # deleted since it was listed
                status = self._path(key).stat()
                yield StoredObject(key, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))

    def delete(self, keys: Sequence[str]) -> None:
        """Deletes files, and folders that are then empty."""
        for key in keys:
            path = self._path(key)
            with self._access(key):
                path.unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                for folder in path.relative_to(self.root).parents[:-1]:
                    (self.root / folder).rmdir()

    def _walk(self, top: Path) -> Iterator[str]:
        def stop(error: OSError) -> None:
            # A folder that does not exist, or a file of that name, has no keys.
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                raise error

        for folder, _, files in os.walk(top, onerror=stop):
            base = Path(folder).relative_to(self.root)
            yield from ((base / file).as_posix() for file in files if not file.startswith("."))

    def _path(self, key: str) -> Path:
        return self.root / require_key(self.name, key)

    @contextmanager
    def _access(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(self.name, key, _ADVICE.get(error.errno or 0, error.strerror or str(error))) from error


_ADVICE: Mapping[int, str] = {
    errno.ENOSPC: f"the disk is full; {FREE_SPACE}",
    errno.EDQUOT: f"the disk quota is used up; {FREE_SPACE}",
    errno.EFBIG: f"the file is larger than this process or file system may write; raise the limit, or {FREE_SPACE}",
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


@contextmanager
def _draft(path: Path, content: bytes) -> Iterator[Path]:
    """A hidden file with the content, in the folder of `path`; deleted on exit unless it was moved."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with draft.open("xb") as file:
            file.write(content)
        yield draft
    finally:
        draft.unlink(missing_ok=True)
