"""When a namespace is reconciled, what a reconcile measures, and that runs are applied side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier
from typing import Any

import kopf
import pytest
from tests.operator_io.api_server import api_server
from tests.operator_io.test_isolation import API, Namespace

from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller.reconciler import debounce_s
from opsgym_operator.kube.settings import kopf_settings


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
