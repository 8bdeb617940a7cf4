"""Reports of large runs: seconds, memory and output size of `opsgym report` in a process of its own."""

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
from benchmarks.summaries import process_usage
from opsgym.main import invoke
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_console.report.modes import SAMPLE
from opsgym_core.results.compaction import compact
from opsgym_core.results.load import load_record
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore

ROUNDS = 3
LARGE, EARLIER, WITH_TRANSCRIPTS = "large.1", "earlier.1", "transcripts.1"
CELLS, TASKS = 50, 1000
TRANSCRIPT_CELLS = 4
CALLS = 7
CASES: dict[str, Sequence[str]] = {
    f"{CELLS * TASKS:,} trials, scores alone": (LARGE, "--failure-modes", "none"),
    f"{CELLS * TASKS:,} trials against as many": (LARGE, "--baseline", EARLIER, "--failure-modes", "none"),
    f"{TRANSCRIPT_CELLS * TASKS:,} trials, {SAMPLE:,} failures analysed": (WITH_TRANSCRIPTS, "--transcripts", "none"),
    f"{TRANSCRIPT_CELLS * TASKS:,} trials with transcripts": (WITH_TRANSCRIPTS, "--transcripts", "beside"),
}


async def measure() -> list[str]:
    """Lines of the report."""
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "store")
        _prepare(store)
        rows = {name: min(_write(store, Path(folder), case) for _ in range(ROUNDS)) for name, case in CASES.items()}
    return [
        "| page | seconds | CPU seconds | largest RSS | page | beside it |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {name} | {usage.wall:.1f} | {usage.cpu:.1f} | {usage.memory:.0f} MB | {usage.page:.1f} MB |"
            f" {usage.beside:.1f} MB |"
            for name, usage in rows.items()
        ),
        "",
        f"Whole processes, imports included; from a folder with chunks. Transcripts are of {CALLS} calls.",
    ]


@dataclass(frozen=True, order=True)
class ReportUsage:
    """Resource usage and output size of one report."""

    cpu: float
    """CPU seconds."""
    wall: float
    """Wall-clock seconds."""
    memory: float
    """Largest resident set, in megabytes."""
    page: float
    """Size of the page, in megabytes."""
    beside: float
    """Size of the files beside the page, in megabytes."""


def _prepare(store: Store) -> None:
    put_large_chunks(store, CELLS, TASKS, LARGE)
    put_large_chunks(store, CELLS, TASKS, EARLIER)
    put_large_run(store, TRANSCRIPT_CELLS, TASKS, WITH_TRANSCRIPTS)
    run = load_record(store, WITH_TRANSCRIPTS)
    compact(store, run)
    _put_transcripts(store, run)


def _put_transcripts(store: Store, run: RunRecord) -> None:
    draw = random.Random(run.run)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randrange(2, 12))) for _ in range(5000)]
    prompt = _text(draw, words, 1500)
    for plan in run.cells:
        for task_id in plan.task_ids:
            events = [TranscriptEvent(kind="system", content=prompt), *_events(draw, words)]
            transcript = Transcript(task_id=task_id, tools=["find_incidents", "update_incident"], events=events)
            key = RunKeys(run.run).trial(plan.cell, task_id, 0).transcript
            store.put(key, zstandard.compress(transcript.model_dump_json().encode()))


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


def _write(store: LocalStore, folder: Path, case: Sequence[str]) -> ReportUsage:
    """Writes a report in a process of its own."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        arguments = ["report", *case, "--out", out, "--store", store.name]
        began = time.perf_counter()
        completed = subprocess.run(
            [sys.executable, "-m", "benchmarks.report", *arguments], capture_output=True, text=True, check=True
        )
        wall = time.perf_counter() - began
        page = (Path(out) / "index.html").stat().st_size
        beside = sum(file.stat().st_size for file in Path(out).glob("trials/*.js"))
    usage = json.loads(completed.stdout.splitlines()[-1])
    return ReportUsage(usage["cpu"], wall, usage["megabytes"], page / 1e6, beside / 1e6)


def main() -> None:
    """Runs the command line given, and prints the usage of this process."""
    code = invoke(sys.argv[1:])
    if code != 0:
        raise SystemExit(code)
    print(json.dumps(process_usage()))


if __name__ == "__main__":
    main()
