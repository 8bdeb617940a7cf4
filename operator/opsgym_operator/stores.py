"""The stores that the installation mounts, each opened once and asked in threads.

Invariant: credentials come from files that the kubelet mounts. They are read anew after a store has refused or could
not be reached, so a rotated Secret needs no restart; they appear in no message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from pydantic import SecretStr

from opsgym_api.errors import InputError
from opsgym_api.store import S3Access, Store, StoreError, open_store
from opsgym_operator.config import StoreConfig

P = ParamSpec("P")
T = TypeVar("T")

MOUNTED = Path("/etc/opsgym/stores")
"""Folder in which each store has one of its name, with its credentials; `OPSGYM_STORES` names another."""
THREADS = 16
"""Objects fetched at the same time: a store answers each in tens of milliseconds."""


class Stores:
    """Stores by name.

    Args:
        configs: What the installation says of them.
        mounted: Folder of their credentials.
    """

    def __init__(self, configs: Mapping[str, StoreConfig], mounted: Path = MOUNTED) -> None:
        self._configs = configs
        self._mounted = mounted
        self._open: dict[str, Store] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")

    def __contains__(self, name: object) -> bool:
        """Whether the installation has a store of that name."""
        return name in self._configs

    def get(self, name: str) -> Store:
        """A store. Blocks for half a second when S3 is opened for the first time.

        Raises:
            StoreError: It cannot be opened, for instance because its Secret is not mounted.
        """
        if name not in self._open:
            config = self._configs[name]
            try:
                self._open[name] = open_store(config.url, self._access(config))
            except InputError as error:
                raise StoreError(f"store {name}", config.url, str(error)) from None
        return self._open[name]

    async def ask(
        self, name: str, question: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Asks a store in a thread; one that fails is opened anew next time.

        Raises:
            StoreError: The store cannot be read or written.
        """
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, lambda: question(self.get(name), *args, **kwargs))
        except StoreError:
            self._open.pop(name, None)
            raise

    def close(self) -> None:
        """Lets the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _access(self, config: StoreConfig) -> S3Access:
        folder = self._mounted / config.name
        key_id, secret = _text(folder / "access-key-id"), _text(folder / "secret-access-key")
        if config.secret is not None and (key_id is None or secret is None):
            problem = f"Secret {config.secret} has no access-key-id and secret-access-key, or is not mounted"
            raise StoreError(f"store {config.name}", config.url, problem)
        return S3Access(
            endpoint_url=config.endpoint_url,
            region=config.region,
            access_key_id=key_id,
            secret_access_key=None if secret is None else SecretStr(secret),
        )


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
