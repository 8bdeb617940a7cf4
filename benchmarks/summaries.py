"""50,000 records summarised: seconds and memory of a fresh process, from a folder and from an S3 server."""

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

from tests.cluster.binaries import program

from benchmarks.large_run import RUN, put_large_run
from opsgym_api.chunks import compact
from opsgym_api.results import load_record, load_rows
from opsgym_api.scores import summarise
from opsgym_api.store import LocalStore, open_store

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
        loose = _fresh(str(bucket), {})
        began = time.perf_counter()
        compact(store, load_record(store, RUN))
        compacting = time.perf_counter() - began
        chunks = list((bucket / "runs" / RUN / "chunks").iterdir())
        size = sum(chunk.stat().st_size for chunk in chunks) / 1e6
        local = min(_fresh(str(bucket), {}) for _ in range(ROUNDS))
        with _s3(Path(folder)):
            remote = min(_fresh("s3://bucket", ACCESS) for _ in range(ROUNDS))
    rows = {"folder, single records": loose, "folder, chunks": local, "S3 server, chunks": remote}
    return [
        f"{CELLS * TASKS:,} trials in {CELLS} cells, one attempt and 6 verifiers each:",
        "",
        "| read from | seconds | CPU seconds | RSS at most |",
        "| --- | --- | --- | --- |",
        *(f"| {name} | {wall:.1f} | {cpu:.1f} | {memory:.0f} MB |" for name, (wall, cpu, memory) in rows.items()),
        "",
        f"Whole processes, imports included. Compacting took {compacting:.0f} s: {len(chunks)} chunks, {size:.1f} MB.",
    ]


def _fresh(location: str, environment: Mapping[str, str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds and megabytes of a process that does nothing else."""
    command = [sys.executable, "-m", "benchmarks.summaries", location]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    took = time.perf_counter() - began
    said = json.loads(done.stdout)
    return took, said["cpu"], said["megabytes"]


@contextmanager
def _s3(folder: Path) -> Iterator[None]:
    """An S3 server that serves the folders of a folder as buckets."""
    users = {"ROOT_ACCESS_KEY": ACCESS["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": ACCESS["AWS_SECRET_ACCESS_KEY"]}
    command = [str(program("versitygw")), "--port", f"127.0.0.1:{PORT}", "--quiet", "posix", "--nometa", str(folder)]
    server = subprocess.Popen(command, env={**os.environ, **users}, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Summarises the run in the store at the location given, and prints what that took."""
    summary = summarise(load_rows(open_store(sys.argv[1]), RUN))
    if summary.total.scored != CELLS * TASKS:
        raise SystemExit(f"only {summary.total.scored} trials were found")
    print(json.dumps(spent()))


def spent() -> dict[str, float]:
    """What this process has used: seconds of CPU, and megabytes at most."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Not ru_maxrss: it begins with the memory of whoever started this process.
    status = Path("/proc/self/status").read_text()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    return {"cpu": used.ru_utime + used.ru_stime, "megabytes": peak * 1024 / 1e6}


if __name__ == "__main__":
    main()
