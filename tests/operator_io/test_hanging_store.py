"""A store that accepts connections and says nothing delays its own runs, and nothing else."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.test_isolation import SPEC, Namespace, preflights

from opsgym_core.store import mounted as mounted_module
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import BATCH, THREADS, StoreConfig, Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.state import run_state as run_state_module


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
        assert {type(result) for result in results} == {StoreError}
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
