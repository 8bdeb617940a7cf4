"""Namespaces that are deleted and come back, beside others that go on: real HTTP, a stub of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.test_isolation import NOW, Namespace, manifest, preflights

from opsgym_core.kube.client import EVALRUNS, Client
from opsgym_core.kube.login import login
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller import reconciler as reconciler_module
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.controller import Controller
from opsgym_operator.kube.leadership import SERVED, SKIPPED, Claim


class Tenant:
    """A namespace that a release claims, as its watches report it."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self.claims: list[Claim] = []
        self.answer = SERVED
        self.left: list[str] = []
        self.controller = Controller()

    def report(self, *runs: str) -> None:
        """The watches report these EvalRuns and no other object."""
        items = [manifest(EVALRUNS, run) for run in runs]
        self.namespace.cache._indexes = {"EvalRun": {"team": items} if items else {}}
        self.controller.enqueue("team")

    async def claim(self, _: str) -> Claim:
        self.claims.append(self.answer)
        return self.answer

    def operate(self, steps: Callable[[Tenant], Awaitable[None]]) -> None:
        """Operates the namespace while the steps run."""

        async def run() -> None:
            async with Client(login) as client, AsyncExitStack() as stack, asyncio.timeout(60):
                self.controller.context = ControllerContext(
                    client,
                    self.namespace.cache,
                    self.namespace._stores,
                    self.namespace._config,
                    self.namespace.metrics,
                    since=NOW,
                    now=lambda: NOW,
                    claim=self.claim,
                    leave=self.left.append,
                )
                stack.push_async_callback(self.controller.close)
                await steps(self)

        asyncio.run(run())

    def shows(self, text: str) -> bool:
        return text in self.namespace.metrics.text().decode()


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - others are served
        await asyncio.sleep(0.01)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as served:
        monkeypatch.setenv("KUBECONFIG", str(served.kubeconfig(tmp_path)))
        yield served


@pytest.fixture
def tenant(server: ApiServer, stores: Stores, config: OperatorConfig, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    monkeypatch.setattr(reconciler_module, "DEBOUNCE_S", 0.0)
    monkeypatch.setattr(reconciler_module, "RESYNC_S", 0.05)
    namespace = Namespace(server, stores, config)
    namespace.apply("first")
    return Tenant(namespace)


def test_the_reconciler_of_a_deleted_namespace_ends_without_an_error_and_one_begins_when_it_is_back(
    tenant: Tenant,
) -> None:
    async def steps(tenant: Tenant) -> None:
        tenant.report("first")
        await until(lambda: bool(preflights(tenant.namespace, "first")) and tenant.shows('run="first"'))
        tenant.answer = SKIPPED
        tenant.report()
        await until(lambda: not tenant.controller.reconcilers)
        assert tenant.left == ["team"]
        assert not tenant.shows('run="first"')
        tenant.answer = SERVED
        tenant.report("first")
        await until(lambda: tenant.shows('run="first"'))

    tenant.operate(steps)
    assert not tenant.shows("opsgym_reconcile_errors_total{")


def test_a_namespace_that_lost_the_operators_role_is_served_again_once_it_has_it(tenant: Tenant) -> None:
    async def steps(tenant: Tenant) -> None:
        tenant.answer = SKIPPED
        tenant.report("first")
        # Nothing is reported in between: the watches have not changed.
        await until(lambda: len(tenant.claims) > 2)
        assert tenant.controller.ready(["team"])
        assert not preflights(tenant.namespace, "first")
        tenant.answer = SERVED
        await until(lambda: bool(preflights(tenant.namespace, "first")))

    tenant.operate(steps)
    assert tenant.left == []
    assert not tenant.shows("opsgym_reconcile_errors_total{")
