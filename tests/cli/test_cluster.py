"""`opsgym results NAME` where a cluster knows the run: the real kubectl against a stub API server.

A real cluster is asked in `tests/cluster/test_helm.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.api_server import ApiServer
from tests.cli.pages import read_report
from tests.cli.runs import CELL, put_run, put_trial

from opsgym.main import invoke
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_core.store.local import LocalStore

RUN = "evals.nightly.0c1f"


def _store(folder: Path, run: str = RUN) -> str:
    """Writes a run into a store; returns the value of `.status.results`."""
    store = LocalStore(folder)
    put_run(store, run, [PlannedCell(cell=CELL, task_ids=["t"])])
    put_trial(store, run, "t", Outcome.PASSED)
    return f"{folder}/runs/{run}"


def test_results_of_a_clusters_run_are_found_by_name(
    api: ApiServer, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.put("nightly", {"results": _store(home / "bucket")})
    assert invoke(["results", "nightly"]) == 0
    assert f"run {RUN}" in capsys.readouterr().out


def test_a_report_of_a_clusters_run_is_written_by_name(api: ApiServer, home: Path) -> None:
    api.put("nightly", {"results": _store(home / "bucket")})
    assert invoke(["report", "nightly", "--out", "page"]) == 0
    assert read_report(home / "page").page.run.id == RUN


def test_a_run_in_the_local_folder_comes_first(api: ApiServer, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _store(home / "results", "nightly.local")
    api.put("nightly", {"results": _store(home / "bucket")})
    assert invoke(["results", "nightly"]) == 0
    assert "run nightly.local" in capsys.readouterr().out
    assert api.paths == []


def test_kubectl_opsgym_means_the_cluster(api: ApiServer, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _store(home / "results", "nightly.local")
    api.put("nightly", {"results": _store(home / "bucket")})
    assert invoke(["results", "nightly"], "kubectl opsgym") == 0
    assert f"run {RUN}" in capsys.readouterr().out


def test_kubectl_opsgym_reads_a_store_that_is_named(
    api: ApiServer, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _store(home / "results", "nightly.local")
    assert invoke(["results", "nightly", "--store", "results"], "kubectl opsgym") == 0
    assert "run nightly.local" in capsys.readouterr().out
    assert api.paths == []


def test_kubectl_finds_the_plugin(api: ApiServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    api.put("nightly", {"results": _store(home / "bucket")})
    done = subprocess.run(
        ["kubectl", "opsgym", "results", "nightly"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"run {RUN}" in done.stdout


@pytest.mark.parametrize("options", [["--namespace", "b"], ["-n", "b"], ["--context", "other"]])
def test_namespace_and_context_are_kubectls(
    api: ApiServer, home: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _store(home / "results", "nightly.local")
    api.put("nightly", {"results": _store(home / "bucket")}, namespace="b")
    assert invoke(["results", "nightly", *options]) == 0
    assert f"run {RUN}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nightly", "-n", "gone"], "EvalRun nightly in namespace gone: does not exist; `kubectl get"),
        (
            ["nightly", "--context", "gone"],
            "EvalRun nightly of context gone: the context does not exist; `kubectl config",
        ),
        (["Not/A_Name", "-n", "evals"], "Not/A_Name: is not a valid name of an EvalRun"),
        (["-n", "evals"], "name an EvalRun; `kubectl get evalruns` lists them"),
        (["nightly", "-n", "evals", "--store", "results"], "--store cannot be combined with --namespace or --context"),
    ],
)
def test_a_mistake_of_the_user_is_reported_with_exit_code_2(
    api: ApiServer, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["results", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_run_is_reported_for_cluster_and_store(api: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["results", "nightly"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "EvalRun nightly: does not exist; `kubectl get evalruns --all-namespaces` lists all EvalRuns",
        "results: holds no run 'nightly'; runs there: none",
    ]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({}, "has no results yet: the operator has not seen it; check that it runs and watches this namespace"),
        (
            {
                "phase": "Stalled",
                "conditions": [
                    {"type": "Accepted", "status": "True", "reason": "Accepted", "message": "fine"},
                    {
                        "type": "Stalled",
                        "status": "True",
                        "reason": "SecretMissing",
                        "message": "Secret key is missing",
                    },
                ],
            },
            "has no results yet: Stalled; Secret key is missing",
        ),
    ],
)
def test_a_run_without_results_is_reported_with_the_reason(
    api: ApiServer, status: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api.put("nightly", status)
    assert invoke(["results", "nightly", "-n", "evals"]) == 2
    assert f"EvalRun nightly in namespace evals: {message}" in capsys.readouterr().err


def test_a_cluster_without_crds_needs_the_chart_of_crds(api: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    api.serve_kinds(None)
    assert invoke(["results", "nightly", "-n", "evals"]) == 2
    assert "the cluster has no kind EvalRun; install the chart opsgym-crds" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "reason", "message"),
    [
        (403, "Forbidden", "you are not allowed to read it; ask for the role `opsgym-viewer` in that namespace"),
        (401, "Unauthorized", "the cluster rejects your credentials; sign in again"),
        (500, "InternalError", "EvalRun nightly in namespace evals: Error from server (InternalError): no"),
    ],
)
def test_a_refusal_of_the_api_server_ends_with_exit_code_1(
    api: ApiServer, code: int, reason: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api.refuse("nightly", code, reason)
    assert invoke(["results", "nightly", "-n", "evals"]) == 1
    assert message in capsys.readouterr().err


def test_an_unreachable_cluster_ends_with_exit_code_1(
    api: ApiServer, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = home / ".kube" / "config"
    config.write_text(config.read_text().replace(api.url, "http://127.0.0.1:1"))
    assert invoke(["results", "nightly", "-n", "evals"]) == 1
    assert "the cluster cannot be reached; check that `kubectl get evalruns` works" in capsys.readouterr().err


def test_without_a_kubeconfig_a_named_namespace_is_refused(
    home: Path, kubectl: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["results", "nightly", "-n", "evals"]) == 2
    assert "kubeconfig not found; set KUBECONFIG" in capsys.readouterr().err


def test_an_invalid_kubeconfig_is_reported(api: ApiServer, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".kube" / "config").write_text("[]")
    assert invoke(["results", "nightly", "-n", "evals"]) == 2
    assert "the kubeconfig cannot be read" in capsys.readouterr().err


def test_a_missing_kubectl_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(home))
    assert invoke(["results", "nightly", "-n", "evals"]) == 1
    assert "kubectl is not installed" in capsys.readouterr().err


def test_an_unreachable_store_is_reported_with_a_port_forward(
    api: ApiServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "never-to-be-seen",
    }.items():
        monkeypatch.setenv(name, value)
    api.put("nightly", {"results": f"s3://bucket/prefix/runs/{RUN}"})
    assert invoke(["results", "nightly", "-n", "evals"]) == 1
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"s3://bucket/prefix: cannot access runs/{RUN}/run.json: ")
    assert "kubectl port-forward" in stderr
    assert "AWS_ENDPOINT_URL_S3" in stderr
    assert "never-to-be-seen" not in stderr
