"""When a namespace is reconciled, what a reconcile measures, and that runs are applied side by side."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier
from typing import Any, cast

import kopf
import pytest
from tests.operator_io.api_server import api_server
from tests.operator_io.large import NOW, MemoryServer, evalrun
from tests.operator_io.large_operator import CONFIG, HangingStores
from tests.operator_io.test_isolation import API, SPEC, Namespace, manifest

from opsgym_core.kube.client import EVALRUNS, EVALSCHEDULES, Client
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.reconciler import NamespaceReconciler, debounce_s
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.kube.settings import kopf_settings
from opsgym_operator.observe import parse as parse_module


@pytest.fixture
def namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stores: Stores, config: OperatorConfig
) -> Iterator[Namespace]:
    with api_server() as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(tmp_path)))
        yield Namespace(server, stores, config)


def test_runs_are_applied_at_the_same_time(namespace: Namespace) -> None:
    both = Barrier(2, timeout=25)  # no status is written before the other one arrives
    for name in ("one", "two"):
        namespace.apply(name, spec={"models": []})
        [(status, patched)] = namespace.server.answers["PATCH", f"{API}/evalruns/{name}/status"]

        def wait(change: Any, patched: Callable[[Any], Any] = patched) -> Any:
            if not namespace.statuses.keys() & {"one", "two"}:
                both.wait()
            return patched(change)

        namespace.server.answers["PATCH", f"{API}/evalruns/{name}/status"] = [(status, wait)]
    namespace.reconcile(until=lambda: {"one", "two"} <= namespace.statuses.keys())
    assert not both.broken


def test_a_reconcile_reports_its_own_cpu_time(namespace: Namespace) -> None:
    namespace.apply("one")
    namespace.reconcile(until=lambda: "one" in namespace.statuses)
    registry = namespace.metrics.registry
    assert registry.get_sample_value("opsgym_reconcile_cpu_seconds_count")
    assert registry.get_sample_value("opsgym_reconcile_cpu_seconds_sum")


@pytest.mark.parametrize(("cpu_s", "seconds"), [(0.0, 0.5), (0.1, 0.5), (0.2, 0.8), (10.0, 5.0)])
def test_a_namespace_that_takes_long_is_reconciled_less_often(cpu_s: float, seconds: float) -> None:
    assert debounce_s(cpu_s) == pytest.approx(seconds)


class _Uncopied(dict[str, Any]):
    def __deepcopy__(self, _: Any) -> _Uncopied:
        raise AssertionError("copied")


def test_kopf_copies_no_object_to_learn_what_has_changed() -> None:
    content: Any = _Uncopied(metadata=_Uncopied(name="pod"), status=_Uncopied(phase="Running"))
    body = kopf.Body(content)
    storage = kopf_settings().persistence.diffbase_storage
    assert storage.build(body=body) == {}
    assert storage.fetch(body=body) is None


def test_an_evalrun_is_parsed_when_it_changes_and_in_no_other_reconcile(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: Counter[str] = Counter()
    parse = parse_module.parse

    def counted(model: type[Any], content: object, prefix: str) -> Any:
        parsed[model.__name__] += 1
        return parse(model, content, prefix)

    monkeypatch.setattr(parse_module, "parse", counted)
    cache = ObjectCache(lambda _: None)
    client = cast("Client", MemoryServer(cache))
    context = ControllerContext(client, cache, HangingStores(), CONFIG, Metrics(), since=NOW, now=lambda: NOW)
    nightly = manifest(EVALSCHEDULES, "nightly", spec={"schedule": "0 3 * * *", "runTemplate": {"spec": SPEC}})
    cache.record_write(EVALSCHEDULES, nightly)
    runs = [evalrun(f"run-{number}", f"uid-{number}") for number in range(3)]
    for run in runs:
        run["metadata"]["ownerReferences"] = [
            {"kind": "EvalSchedule", "name": "nightly", "uid": "uid-nightly", "controller": True}
        ]
        cache.record_write(EVALRUNS, run)

    async def reconciles() -> None:
        reconciler = NamespaceReconciler("team", context)
        for _ in range(3):  # until their statuses are written
            await reconciler.reconcile_once()
        parsed.clear()
        await reconciler.reconcile_once()
        assert parsed["EvalRunSpec"] == parsed["EvalRunStatus"] == 0
        runs[0]["metadata"]["resourceVersion"] = "1000"
        cache.record_write(EVALRUNS, runs[0])
        await reconciler.reconcile_once()
        assert parsed["EvalRunSpec"] == parsed["EvalRunStatus"] == 1

    asyncio.run(reconciles())
