"""A store in this process's memory: records of episodes are read once, and then forgotten."""

from __future__ import annotations

from collections.abc import Iterator


class MemoryStore:
    """Objects by key, until they are forgotten."""

    name = "memory"

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """Content of the object; None if no object has that key."""
        return self._objects.get(key)

    def put(self, key: str, content: bytes) -> None:
        """Writes the object, replacing an older one."""
        self._objects[key] = content

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the object unless one has that key; returns whether it wrote."""
        return self._objects.setdefault(key, content) is content

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, sorted."""
        return iter(sorted(key for key in [*self._objects] if key.startswith(prefix)))

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders directly below a folder, sorted."""
        start = f"{folder.rstrip('/')}/" if folder else ""
        below = (key.removeprefix(start).split("/") for key in self.keys(start))
        return iter(sorted({parts[0] for parts in below if len(parts) > 1}))

    def forget(self, *prefixes: str) -> None:
        """Drops the objects whose keys begin with one of the prefixes."""
        for key in [key for key in [*self._objects] if key.startswith(prefixes)]:
            self._objects.pop(key, None)
