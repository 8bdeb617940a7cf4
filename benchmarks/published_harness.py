"""What the published harness, unmodified, makes of rows in the published form.

Invariant: its own `evaluate.py` reads the rows, asks the model, drives the gym servers and judges, in a process and an
environment of its own. Nothing of it is imported here, and nothing is written to its work tree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import certifi

PACKAGES = (
    "aiohttp==3.14.5", "datasets==5.2.0", "httpx==0.28.1", "langchain-core==1.8.3", "langchain-openai==1.7.4",
    "nest-asyncio==1.6.0", "openai==3.57.0", "tqdm==4.70.1",
)  # fmt: skip
"""What `evaluate.py` imports for a model of an OpenAI-compatible endpoint."""
ENVIRONMENT = Path.home() / ".cache/opsgym/published-harness"
UV = Path(__file__).parents[1] / ".tools/uv/bin/uv"
CONCURRENCY = 6


@dataclass(frozen=True)
class Verdict:
    """What a harness decided about a row."""

    passed: bool
    verifiers: Mapping[str, bool] = field(default_factory=dict)
    """By name; none if an error ended the run before they ran."""
    reason: str = ""
    """Why the run ended before its time, if it did."""


def install() -> Path:
    """Installs the packages of the harness, unless they are there; the interpreter that has them."""
    installed = ENVIRONMENT / "-".join(PACKAGES)
    python = ENVIRONMENT / "bin/python"
    if not installed.exists():
        subprocess.run([UV, "venv", "--quiet", "--clear", "--python", sys.executable, ENVIRONMENT], check=True)
        subprocess.run([UV, "pip", "install", "--quiet", "--python", python, *PACKAGES], check=True)
        installed.touch()
    return python


def evaluate(
    harness: Path, rows: Mapping[str, Mapping[str, Any]], folder: Path, urls: Mapping[str, str], model_url: str
) -> dict[str, Verdict]:
    """Plays rows once each; verdicts by the rows' ids.

    Args:
        harness: Its work tree.
        rows: Rows by id, which becomes a file's name.
        folder: Folder that seed files are relative to; configurations and results are written to it.
        urls: Base URLs of gym servers by published name.
        model_url: OpenAI-compatible endpoint.

    Raises:
        RuntimeError: The program failed, or a row has no result.
    """
    configurations, results = folder / "configurations", folder / "harness-results"
    configurations.mkdir()
    for name, row in rows.items():
        (configurations / f"{name}.json").write_text(json.dumps(_at(row, urls)))
    model = {"llm_provider": "vllm", "llm_model": "stub", "llm_api_key": "none", "llm_api_endpoint": model_url}
    (folder / "model.json").write_text(json.dumps(model))
    options = {"configs_folder": configurations, "llm_config": "model.json", "output_folder": results}
    numbers = {"num_runs": 1, "concurrency": CONCURRENCY}
    given = [str(part) for name, value in {**options, **numbers}.items() for part in (f"--{name}", value)]
    with (folder / "harness.log").open("wb") as log:
        command = [str(install()), str(harness / "evaluate.py"), *given]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "SSL_CERT_FILE": str(_one_authority(folder))}
        ended = subprocess.run(command, cwd=folder, stdout=log, stderr=log, env=environment, check=False)
    played = {name: results / "run_1" / f"results_{name}.json" for name in rows}
    missing = [name for name, file in played.items() if not file.exists()]
    if ended.returncode or missing:
        end = (folder / "harness.log").read_text(errors="replace")[-3000:]
        raise RuntimeError(f"the published harness ended with {ended.returncode}; without result: {missing}:\n{end}")
    return {name: _verdict(json.loads(file.read_text())) for name, file in played.items()}


def _one_authority(folder: Path) -> Path:
    """A file with one certificate of an authority: the harness reads all of them anew for each request, over HTTP too,
    and that takes it half its time.
    """
    end = "-----END CERTIFICATE-----\n"
    first = Path(certifi.where()).read_text().partition(end)[0] + end
    (folder / "authority.pem").write_text(first[first.index("-----BEGIN") :])
    return folder / "authority.pem"


def _at(row: Mapping[str, Any], urls: Mapping[str, str]) -> dict[str, Any]:
    """A row whose gym servers are at these addresses."""
    servers = [server | {"mcp_server_url": urls[server["mcp_server_name"]]} for server in row["gym_servers_config"]]
    return {**row, "gym_servers_config": servers}


def _verdict(result: Mapping[str, Any]) -> Verdict:
    (run,) = result["runs"]
    judged = {name: verifier["passed"] for name, verifier in run.get("verification_results", {}).items()}
    return Verdict(run["overall_success"], judged, str(run.get("error", "")))
