"""The stores of an installation: each is opened once, and its blocking calls run in threads of its own.

Invariant: credentials come from files that the kubelet mounts and never appear in a message. A store that fails is
opened again with the credentials then mounted, so a rotated Secret needs no restart. A store that hangs uses up its own
threads and no others. Silence is counted from when a thread has begun a call, so a store that is slow under many calls
does not count as hung.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Annotated, Concatenate, ParamSpec, TypeVar

from pydantic import Field, SecretStr

from opsgym_api.base import Document
from opsgym_api.errors import InputError
from opsgym_api.kinds.evalmodel import Name, Url
from opsgym_core.store.base import ErasableStore, Store, StoreError, UnreadableObjectError
from opsgym_core.store.location import open_erasable, open_store
from opsgym_core.store.s3 import S3Access
from opsgym_core.store.silence import Answers, FollowedErasableStore, FollowedStore

P = ParamSpec("P")
A = TypeVar("A")
T = TypeVar("T")

MOUNTED = Path("/etc/opsgym/stores")
"""Parent of one folder per store, named after the store, which holds its credentials; `OPSGYM_STORES` overrides it."""
THREADS = 16
"""Calls of one store at the same time; a store answers each in tens of milliseconds."""
BATCH = 64
"""Calls of `call_each` that wait for a thread at the same time."""
PROMPT_S = 60.0
"""Seconds after which a prompt call is given up: a server that accepts a connection and says nothing would keep it for
minutes."""
SILENT_S = 15.0
"""Seconds after which a long read is given up if the store owes it answers and gives none."""


TENANT: ContextVar[str] = ContextVar("tenant", default="")
"""For whom a store is called, usually a namespace: tenants whose calls wait for a thread take turns."""


class NoAnswerError(StoreError):
    """The store hangs: it keeps a request for longer than it may."""


class _Pool:
    """Threads of a store. Calls that wait for one get it by tenants in turn, so that no tenant's many delay another's.

    Args:
        name: Name of the store.
    """

    def __init__(self, name: str) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix=f"store {name}")
        self._free = THREADS
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """Turns by tenant; the first tenant is the next one."""
        self._given_up: NoAnswerError | None = None

    async def run(self, operation: Callable[[], T]) -> T:
        """Runs a blocking operation in a thread, once one is free.

        Raises:
            NoAnswerError: The pool was given up before the operation began.
        """
        loop = asyncio.get_running_loop()
        await self._turn(loop)
        if self._given_up is not None:
            raise self._given_up
        call = self._threads.submit(operation)
        call.add_done_callback(lambda _: self._leave_soon(loop))
        return await asyncio.wrap_future(call)

    async def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(TENANT.get(), deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave()  # the turn came when the call was cancelled
            raise

    def _leave_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.call_soon_threadsafe(self._leave)
        except RuntimeError:  # the loop has ended, and with it whatever waited
            self._free += 1

    def _leave(self) -> None:
        """Gives a thread to the next call."""
        while self._waiting:
            tenant = next(iter(self._waiting))
            turns = self._waiting.pop(tenant)
            turn = turns.popleft()
            if turns:
                self._waiting[tenant] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def give_up(self, error: NoAnswerError) -> None:
        """Fails the calls that wait. The threads end when their connections do."""
        self._given_up = error
        self._threads.shutdown(wait=False)
        turns = [turn for of_tenant in self._waiting.values() for turn in of_tenant if not turn.done()]
        self._waiting.clear()
        for turn in turns:
            turn.set_exception(error)

    def close(self) -> None:
        """Cancels calls that have not begun, without waiting for those that have."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class StoreConfig(Document):
    """A store that EvalRuns name in `spec.resultStore` and `spec.suite.objectStore.store`."""

    name: Name
    """Name that EvalRuns use."""
    url: Annotated[str, Field(pattern=r"^s3://[^/\s]+(/\S*)?$")]
    """Location: `s3://bucket/prefix`."""
    endpoint_url: Url | None = None
    """Address of the S3 server; the provider's public one if absent."""
    region: Annotated[str, Field(min_length=1)] | None = None
    """Region of the bucket."""
    secret: Name | None = None
    """Secret with keys `access-key-id` and `secret-access-key`, in the operator's namespace and in each EvalRun's; if
    absent, pods use the identity of their service account."""
    pod_secret: Name | None = None
    """Secret in each EvalRun's namespace whose key its pods use in place of `secret`, which may do less."""
    namespaces: list[Name] = []
    """Namespaces whose EvalRuns may use the store; all that the operator serves if empty."""
    shared_suites: list[Annotated[str, Field(min_length=1)]] = []
    """Beginnings of keys of suites that every namespace of the store may read, besides its own below
    `suites/<namespace>/`. In a store of one namespace it may read every key."""
    shared_baselines: list[Name] = []
    """Namespaces whose runs may be baselines of runs in the store's other namespaces."""


class Stores:
    """The installation's stores, by name.

    Args:
        configs: The installation's configuration of each store, by name.
        mounted: Parent folder of the mounted credentials.
    """

    def __init__(self, configs: Mapping[str, StoreConfig], mounted: Path = MOUNTED) -> None:
        self._configs = configs
        self._mounted = mounted
        self._open: dict[str, Store] = {}
        self._opening: defaultdict[str, Lock] = defaultdict(Lock)
        """By store: held while it is opened, so that concurrent calls open it once."""
        self._pools: dict[str, _Pool] = {}

    def get(self, name: str) -> Store:
        """The store of that name. Blocks for half a second when the process opens its first S3 store.

        Raises:
            StoreError: The store cannot be opened, for instance because its Secret is not mounted.
        """
        with self._opening[name]:
            store = self._open.get(name)
            if store is None:
                config = self._configs[name]
                try:
                    store = self._open[name] = open_store(config.url, self._access(config))
                except InputError as error:
                    raise StoreError(f"store {name}", config.url, str(error)) from None
            return store

    async def call(
        self, name: str, operation: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Runs a blocking operation on the store of that name in a thread; returns its result.

        A store that fails is opened again by the next call, not so one of which an object cannot be read.

        Raises:
            StoreError: The store cannot be read or written.
        """
        try:
            return await self._pool(name).run(lambda: operation(self.get(name), *args, **kwargs))
        except StoreError as error:
            if not isinstance(error, UnreadableObjectError):
                self._open.pop(name, None)
            raise

    async def call_promptly(
        self, name: str, operation: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `call`, for an operation on few objects, which is given up `PROMPT_S` after a thread has begun it.

        Raises:
            StoreError: The store cannot be read or written.
            NoAnswerError: It does not answer.
        """
        answers = Answers()

        def followed(store: Store) -> T:
            with answers.owed(f"store {name}", self._configs[name].url):
                return operation(store, *args, **kwargs)

        return await self._until_silent(name, answers, PROMPT_S, followed)

    async def call_while_answering(
        self, name: str, operation: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `call`, for a read of many objects, which is given up once the store is silent for `SILENT_S`.

        Raises:
            StoreError: The store cannot be read.
            NoAnswerError: It does not answer.
        """
        answers = Answers()

        def followed(store: Store) -> T:
            return operation(FollowedStore(store, answers), *args, **kwargs)

        return await self._until_silent(name, answers, SILENT_S, followed)

    async def delete_while_answering(
        self, name: str, operation: Callable[Concatenate[ErasableStore, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `call_while_answering`, for an operation that deletes.

        Raises:
            StoreError: The store cannot be read, or refuses a deletion.
            NoAnswerError: It does not answer.
        """
        answers = Answers()

        def followed(_: Store) -> T:
            config = self._configs[name]
            store = open_erasable(config.url, self._access(config))
            return operation(FollowedErasableStore(store, answers), *args, **kwargs)

        return await self._until_silent(name, answers, SILENT_S, followed)

    async def _until_silent(self, name: str, answers: Answers, most_s: float, operation: Callable[[Store], T]) -> T:
        """Runs an operation; gives it up, with the store's threads and whatever waits for one, once it is silent."""
        pool = self._pool(name)
        call = asyncio.ensure_future(self.call(name, operation))
        try:
            while not (await asyncio.wait({call}, timeout=max(most_s - answers.silent_s, 0.01)))[0]:
                if answers.silent_s >= most_s:
                    raise self._given_up(name, pool, most_s)
            return call.result()
        finally:
            call.cancel()
            answers.give_up()

    def _pool(self, name: str) -> _Pool:
        if name not in self._pools:
            self._pools[name] = _Pool(name)
        return self._pools[name]

    def _given_up(self, name: str, pool: _Pool, seconds: float) -> NoAnswerError:
        """Lets further calls of a store open it anew, with new threads; why the call is given up."""
        error = NoAnswerError(f"store {name}", self._configs[name].url, f"no answer within {seconds:g} s")
        if self._pools.get(name) is pool:
            self._open.pop(name, None)
            del self._pools[name]
            pool.give_up(error)
        return error

    async def call_each(self, name: str, operation: Callable[[Store, A], T], arguments: Sequence[A]) -> list[T]:
        """Runs an operation promptly for each argument; after the first failure those that have not begun never do.

        Returns:
            The results, in the order of the arguments.

        Raises:
            StoreError: A call failed.
        """
        results: list[T] = []
        for start in range(0, len(arguments), BATCH):
            try:
                async with asyncio.TaskGroup() as group:
                    batch = [
                        group.create_task(self.call_promptly(name, operation, argument))
                        for argument in arguments[start : start + BATCH]
                    ]
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None
            results += [task.result() for task in batch]
        return results

    def close(self) -> None:
        """Cancels calls that have not begun, without waiting for those that have."""
        for pool in self._pools.values():
            pool.close()

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
