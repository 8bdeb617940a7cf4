"""Summary of 50,000 records: seconds and memory of a new process, from a folder and from an S3 server."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from devcluster.binaries import program

from benchmarks.large_run import RUN, put_large_run
from opsgym_core.results.compaction import compact
from opsgym_core.results.load import load_record, load_rows
from opsgym_core.results.score import summarise
from opsgym_core.store.local import LocalStore
from opsgym_core.store.location import open_store

CELLS, TASKS = 50, 1000
PORT = 17_070
ROUNDS = 3
ACCESS = {
    "AWS_ACCESS_KEY_ID": "benchmark",
    "AWS_SECRET_ACCESS_KEY": "benchmark-secret",
    "AWS_REGION": "us-east-1",
    "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{PORT}",
}


async def measure() -> list[str]:
    """Lines of the report."""
    with tempfile.TemporaryDirectory() as folder:
        bucket = Path(folder) / "bucket"
        store = LocalStore(bucket)
        put_large_run(store, CELLS, TASKS)
        loose = _summarise_in_process(str(bucket), {})
        began = time.perf_counter()
        compact(store, load_record(store, RUN))
        compacting = time.perf_counter() - began
        chunks = list((bucket / "runs" / RUN / "chunks").iterdir())
        size = sum(chunk.stat().st_size for chunk in chunks) / 1e6
        local = min(_summarise_in_process(str(bucket), {}) for _ in range(ROUNDS))
        with _s3(Path(folder)):
            remote = min(_summarise_in_process("s3://bucket", ACCESS) for _ in range(ROUNDS))
    rows = {"folder, single records": loose, "folder, chunks": local, "S3 server, chunks": remote}
    return [
        f"{CELLS * TASKS:,} trials in {CELLS} cells, one attempt and 6 verifiers each:",
        "",
        "| read from | seconds | CPU seconds | largest RSS |",
        "| --- | --- | --- | --- |",
        *(f"| {name} | {wall:.1f} | {cpu:.1f} | {memory:.0f} MB |" for name, (wall, cpu, memory) in rows.items()),
        "",
        f"Whole processes, imports included. Compacting took {compacting:.0f} s: {len(chunks)} chunks, {size:.1f} MB.",
    ]


def _summarise_in_process(location: str, environment: Mapping[str, str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds and megabytes of a process that only summarises the run."""
    command = [sys.executable, "-m", "benchmarks.summaries", location]
    began = time.perf_counter()
    completed = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    seconds = time.perf_counter() - began
    usage = json.loads(completed.stdout)
    return seconds, usage["cpu"], usage["megabytes"]


@contextmanager
def _s3(folder: Path) -> Iterator[None]:
    """Runs an S3 server whose buckets are the subfolders of a folder."""
    users = {"ROOT_ACCESS_KEY": ACCESS["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": ACCESS["AWS_SECRET_ACCESS_KEY"]}
    command = [str(program("versitygw")), "--port", f"127.0.0.1:{PORT}", "--quiet", "posix", "--nometa", str(folder)]
    server = subprocess.Popen(command, env={**os.environ, **users}, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Summarises the run of the store given as argument, and prints the usage of this process."""
    summary = summarise(load_rows(open_store(sys.argv[1]), RUN))
    if summary.total.scored != CELLS * TASKS:
        raise SystemExit(f"only {summary.total.scored} trials have a score")
    print(json.dumps(process_usage()))


def process_usage() -> dict[str, float]:
    """CPU seconds of this process so far, and its largest resident set in megabytes."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Not ru_maxrss: it includes the memory of the parent at the time of the fork.
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    return {"cpu": used.ru_utime + used.ru_stime, "megabytes": peak * 1024 / 1e6}


if __name__ == "__main__":
    main()
