"""Reports of large runs: seconds, memory and bytes of `opsgym report` as a process of its own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard

from benchmarks.large_run import put_large_chunks, put_large_run
from benchmarks.summaries import spent
from opsgym.main import invoke
from opsgym.report.modes import SAMPLE
from opsgym_api.chunks import compact
from opsgym_api.layout import RunKeys
from opsgym_api.records import RunRecord, Transcript, TranscriptEvent
from opsgym_api.results import load_record
from opsgym_api.store import LocalStore, Store

ROUNDS = 3
LARGE, EARLIER, SPOKEN = "large.1", "earlier.1", "spoken.1"
CELLS, TASKS = 50, 1000
SPOKEN_CELLS = 4
CALLS = 7
CASES: dict[str, Sequence[str]] = {
    f"{CELLS * TASKS:,} trials, scores alone": (LARGE, "--failure-modes", "none"),
    f"{CELLS * TASKS:,} trials against as many": (LARGE, "--baseline", EARLIER, "--failure-modes", "none"),
    f"{SPOKEN_CELLS * TASKS:,} trials, {SAMPLE:,} failed ones looked into": (SPOKEN, "--transcripts", "none"),
    f"{SPOKEN_CELLS * TASKS:,} trials with transcripts": (SPOKEN, "--transcripts", "beside"),
}


async def measure() -> list[str]:
    """Lines of the report."""
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "store")
        _prepare(store)
        rows = {name: min(_write(store, Path(folder), case) for _ in range(ROUNDS)) for name, case in CASES.items()}
    return [
        "| page | seconds | CPU seconds | RSS at most | page | beside it |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {name} | {took.wall:.1f} | {took.cpu:.1f} | {took.memory:.0f} MB | {took.page:.1f} MB |"
            f" {took.beside:.1f} MB |"
            for name, took in rows.items()
        ),
        "",
        f"Whole processes, imports included; from a folder with chunks. Transcripts are of {CALLS} calls.",
    ]


@dataclass(frozen=True, order=True)
class Took:
    """What writing a report took."""

    cpu: float
    wall: float
    memory: float
    """Megabytes, as all that follow."""
    page: float
    beside: float


def _prepare(store: Store) -> None:
    put_large_chunks(store, CELLS, TASKS, LARGE)
    put_large_chunks(store, CELLS, TASKS, EARLIER)
    put_large_run(store, SPOKEN_CELLS, TASKS, SPOKEN)
    spoken = load_record(store, SPOKEN)
    compact(store, spoken)
    _put_transcripts(store, spoken)


def _put_transcripts(store: Store, run: RunRecord) -> None:
    draw = random.Random(run.run)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randrange(2, 12))) for _ in range(5000)]
    prompt = _text(draw, words, 1500)
    for plan in run.cells:
        for task_id in plan.task_ids:
            events = [TranscriptEvent(kind="system", content=prompt), *_events(draw, words)]
            said = Transcript(task_id=task_id, tools=["find_incidents", "update_incident"], events=events)
            key = RunKeys(run.run).trial(plan.cell, task_id, 0).transcript
            store.put(key, zstandard.compress(said.model_dump_json().encode()))


def _events(draw: random.Random, words: Sequence[str]) -> Iterator[TranscriptEvent]:
    yield TranscriptEvent(kind="user", content=_text(draw, words, 100))
    for step in range(1, CALLS + 1):
        arguments = {"incident_id": f"INC_{draw.randrange(1000):03}", "worknotes": _text(draw, words, 10)}
        yield TranscriptEvent(kind="assistant", content=_text(draw, words, 30), step=step, seconds=draw.random())
        result = '{"content": [{"type": "text", "text": "' + _text(draw, words, 200) + '"}], "isError": false}'
        yield TranscriptEvent(kind="tool", tool_name="find_incidents", arguments=arguments, content=result, step=step)
    yield TranscriptEvent(kind="assistant", content=_text(draw, words, 60), step=CALLS + 1)


def _text(draw: random.Random, words: Sequence[str], length: int) -> str:
    return " ".join(draw.choices(words, k=length))


def _write(store: LocalStore, folder: Path, case: Sequence[str]) -> Took:
    """Writes a report in a process that does nothing else."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        arguments = ["report", *case, "--out", out, "--store", store.name]
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.report", *arguments], capture_output=True, text=True, check=True
        )
        wall = time.perf_counter() - began
        page = (Path(out) / "index.html").stat().st_size
        beside = sum(file.stat().st_size for file in Path(out).glob("trials/*.js"))
    used = json.loads(done.stdout.splitlines()[-1])
    return Took(used["cpu"], wall, used["megabytes"], page / 1e6, beside / 1e6)


def main() -> None:
    """Runs the command line given, and prints what that took."""
    code = invoke(sys.argv[1:])
    if code != 0:
        raise SystemExit(code)
    print(json.dumps(spent()))


if __name__ == "__main__":
    main()
