"""A store that accepts connections and says nothing delays its own runs, and nothing else."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.test_chunks import all_done, new_state
from tests.operator_io.test_isolation import SPEC, Namespace, preflights

from opsgym_core.store import mounted as mounted_module
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import BATCH, TENANT, THREADS, NoAnswerError, StoreConfig, Stores
from opsgym_core.store.s3 import S3Store
from opsgym_core.store.silence import Answers
from opsgym_operator.config import OperatorConfig
from opsgym_operator.plan.desired import Load
from opsgym_operator.state import run_state as run_state_module
from opsgym_operator.state.turns import REST_S, Turns


@pytest.fixture
def silent() -> Iterator[str]:
    """Address of a server that accepts connections and never answers."""
    accepted: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    accepted.append(server.accept()[0])
                except OSError:
                    return

        thread = Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in accepted:
                connection.close()


@pytest.fixture
def stores_of(store_config: StoreConfig, silent: str, mounted: Path) -> Iterator[Stores]:
    """The store `results`, and `hanging`, whose server says nothing."""
    for part in ("access-key-id", "secret-access-key"):
        (mounted / "hanging").mkdir(exist_ok=True)
        (mounted / "hanging" / part).write_text("x")
    stores = Stores({"results": store_config, "hanging": hanging(store_config, silent)}, mounted)
    try:
        yield stores
    finally:
        stores.close()


def hanging(results: StoreConfig, url: str) -> StoreConfig:
    return results.model_copy(update={"name": "hanging", "endpoint_url": url})


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as served:
        monkeypatch.setenv("KUBECONFIG", str(served.kubeconfig(tmp_path)))
        yield served


def get(store: Store, key: str) -> bytes | None:
    return store.get(key)


def test_reconciles_go_on_while_a_store_hangs(
    server: ApiServer, stores_of: Stores, config: OperatorConfig, store_config: StoreConfig, silent: str
) -> None:
    both = config.model_copy(update={"stores": [*config.stores, hanging(store_config, silent)]})
    namespace = Namespace(server, stores_of, both)
    for number in range(30):
        namespace.apply(f"stuck-{number}", SPEC | {"resultStore": "hanging"})
    namespace.apply("healthy", metadata={"creationTimestamp": "2026-11-22T11:30:00Z"})
    began = time.monotonic()
    namespace.reconcile(lambda: bool(preflights(namespace, "healthy")))
    assert time.monotonic() - began < 20, "30 runs at 4 x 60 s each would have taken hours"


def test_a_run_whose_store_hangs_delays_the_readiness_and_metrics_of_all_for_seconds_only(
    server: ApiServer,
    stores_of: Stores,
    config: OperatorConfig,
    store_config: StoreConfig,
    silent: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_state_module, "LATE_S", 0.2)
    both = config.model_copy(update={"stores": [*config.stores, hanging(store_config, silent)]})
    namespace = Namespace(server, stores_of, both)
    namespace.apply("stuck", SPEC | {"resultStore": "hanging"})
    # Longer than a minute, after which the read is given up, is an error of the helper.
    namespace.reconcile(lambda: namespace.reconciler is not None and namespace.reconciler.synced)
    assert namespace.condition("stuck")[1] != "StoreUnreachable", "a store that is late is not out of reach"


def test_a_call_of_a_hanging_store_is_given_up_and_other_stores_answer_meanwhile(
    stores_of: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounted_module, "PROMPT_S", 1.0)

    stores_of.get("results")
    stores_of.get("hanging")

    async def calls() -> None:
        stuck = [asyncio.create_task(stores_of.call_promptly("hanging", get, "k")) for _ in range(2 * THREADS)]
        await asyncio.sleep(0)
        assert await stores_of.call_promptly("results", get, "runs/k") is None
        results = await asyncio.gather(*stuck, return_exceptions=True)
        assert {type(result) for result in results} == {NoAnswerError}
        assert all("no answer within 1 s" in str(result) for result in results)

    asyncio.run(calls())


def test_after_the_first_failure_of_a_batch_the_rest_is_not_tried(stores_of: Stores) -> None:
    tried: list[int] = []

    def fail(store: Store, number: int) -> None:
        tried.append(number)
        raise StoreError("results", "k", "access denied")

    with pytest.raises(StoreError, match="access denied"):
        asyncio.run(stores_of.call_each("results", fail, range(100 * BATCH)))
    assert len(tried) <= BATCH


# Reads of whole runs


@pytest.fixture
def released() -> Iterator[Event]:
    """Set at the end of a test, so that what waits for it in threads ends."""
    event = Event()
    try:
        yield event
    finally:
        event.set()


def test_a_call_that_waits_for_a_thread_is_not_the_silence_of_the_store(
    stores: Stores, released: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounted_module, "PROMPT_S", 1.0)

    async def calls() -> None:
        busy = [asyncio.create_task(stores.call("results", lambda _: released.wait())) for _ in range(THREADS)]
        call = asyncio.create_task(stores.call_promptly("results", lambda _: "answer"))
        assert not (await asyncio.wait({call}, timeout=1.5))[0]
        released.set()
        assert await call == "answer"
        await asyncio.gather(*busy)

    asyncio.run(calls())


def test_threads_that_are_given_up_take_their_queue_with_them(
    stores: Stores, released: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounted_module, "PROMPT_S", 0.5)
    begun: list[int] = []

    def hang(_: Store, number: int) -> None:
        begun.append(number)
        released.wait()

    async def calls() -> None:
        hanging = [stores.call_promptly("results", hang, number) for number in range(3 * THREADS)]
        results = await asyncio.gather(*hanging, return_exceptions=True)
        assert {type(result) for result in results} == {NoAnswerError}
        assert await stores.call("results", lambda _: "answer") == "answer"

    asyncio.run(calls())
    assert len(begun) == THREADS


def test_tenants_whose_calls_wait_for_a_thread_take_turns(stores: Stores, released: Event) -> None:
    begun: list[str] = []

    async def call(tenant: str, operation: Callable[[Store], object]) -> None:
        TENANT.set(tenant)
        await stores.call("results", operation)

    async def calls() -> None:
        hold = [asyncio.create_task(call("large", lambda _: released.wait())) for _ in range(THREADS)]
        await asyncio.sleep(0)
        many = [asyncio.create_task(call("large", lambda _: begun.append("large"))) for _ in range(500)]
        await asyncio.sleep(0)
        few = [asyncio.create_task(call("small", lambda _: begun.append("small"))) for _ in range(3)]
        await asyncio.sleep(0)
        released.set()
        await asyncio.gather(*hold, *many, *few)

    asyncio.run(calls())
    assert begun.count("small") == 3
    assert "small" not in begun[3 * THREADS :], "they wait for about as many calls of the other tenant as there are"


def test_a_call_that_is_cancelled_while_it_waits_leaves_its_thread_to_others(stores: Stores, released: Event) -> None:
    async def calls() -> None:
        hold = [asyncio.create_task(stores.call("results", lambda _: released.wait())) for _ in range(THREADS)]
        await asyncio.sleep(0)
        gone = [asyncio.create_task(stores.call("results", lambda _: "gone")) for _ in range(THREADS)]
        await asyncio.sleep(0)
        for call in gone:
            call.cancel()
        released.set()
        await asyncio.gather(*hold)
        assert await stores.call_each("results", lambda _, number: number, range(2 * THREADS)) == [*range(2 * THREADS)]

    asyncio.run(calls())


def test_a_store_that_hangs_in_the_middle_of_a_read_costs_other_stores_one_turn(
    server: ApiServer,
    stores: Stores,
    config: OperatorConfig,
    store_config: StoreConfig,
    mounted: Path,
    released: Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mounted_module, "SILENT_S", 0.5)
    own = store_config.model_copy(update={"name": "own", "url": f"{store_config.url}/own"})
    (mounted / "own").symlink_to(mounted / "results")
    reading, get = Event(), S3Store.get

    def hang(self: S3Store, key: str) -> bytes | None:
        if self.prefix.endswith("own/"):
            reading.wait(30)  # its run comes after one that hangs has its turn
        elif key.endswith("run.json"):
            reading.set()
            released.wait()
        return get(self, key)

    monkeypatch.setattr(S3Store, "get", hang)
    both = Stores({"results": store_config, "own": own}, mounted)
    namespace = Namespace(server, both, config.model_copy(update={"stores": [store_config, own]}))
    stuck = [f"stuck-{number}" for number in range(5)]
    for name in stuck:
        namespace.apply(name)
    namespace.apply("healthy", SPEC | {"resultStore": "own"})
    try:
        reconciler = namespace.reconcile(
            lambda: (
                bool(preflights(namespace, "healthy"))
                and {namespace.condition(name)[1] for name in stuck} == {"StoreUnreachable"}
            )
        )
    finally:
        released.set()
        both.close()
    assert reconciler.synced


def test_a_read_that_was_given_up_makes_no_further_request(
    stores: Stores, released: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounted_module, "SILENT_S", 0.2)
    ended, requests = Event(), list[str]()

    def hang(_: S3Store, key: str) -> None:
        requests.append(key)
        released.wait()

    def read_two(store: Store) -> None:
        try:
            store.get("first")
            store.get("second")
        finally:
            ended.set()

    monkeypatch.setattr(S3Store, "get", hang)

    async def call() -> None:
        with pytest.raises(NoAnswerError, match=r"no answer within 0\.2 s"):
            await stores.call_while_answering("results", read_two)
        released.set()
        assert await asyncio.to_thread(ended.wait, 30)

    asyncio.run(call())
    assert requests == ["first"]


def test_a_store_is_silent_while_it_owes_answers_and_gives_none() -> None:
    now = 0.0
    answers = Answers(lambda: now)
    now = 100.0
    assert answers.silent_s == 0, "it owes nothing, however long a read computes"
    with answers.owed("s", "a"):
        now = 110.0
        with answers.owed("s", "b"):
            assert answers.silent_s == 10
        assert answers.silent_s == 0, "one of two answers came"
        now = 115.0
        assert answers.silent_s == 5
    assert answers.silent_s == 0


def test_a_store_without_an_answer_has_no_turn_for_a_while() -> None:
    now = 0.0

    async def take(turns: Turns) -> None:
        nonlocal now
        with pytest.raises(NoAnswerError):
            async with turns.turn("hanging"):
                raise NoAnswerError("hanging", "k", "no answer")
        with pytest.raises(StoreError, match="not answered another read"):
            async with turns.turn("hanging"):
                raise AssertionError("it had a turn")
        async with turns.turn("results"):
            pass
        now += REST_S
        async with turns.turn("hanging"):
            pass

    asyncio.run(take(Turns(lambda: now)))


def test_a_run_that_waits_for_its_turn_for_long_delays_readiness_no_more(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_state_module, "TURN_S", 0.1)

    async def wait() -> None:
        state, reconciles = new_state(stores), asyncio.Event()
        state.enqueue = reconciles.set
        async with state.turns.turn("another"):
            state.read([Load.STORED_RUN])
            async with asyncio.timeout(30):
                await reconciles.wait()
            assert state.late
        await all_done(state)
        assert state.stored is not None
        assert not state.late

    asyncio.run(wait())
