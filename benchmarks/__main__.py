"""`python -m benchmarks [databases|differences|calls …]`: measures, and prints the tables of docs/benchmarks.md.

`python -m benchmarks careless` plays careless agents, which takes long, and `python -m benchmarks testtime FOLDER`
reads what a test run wrote; both are run only by their names.
"""

from __future__ import annotations

import asyncio
import sys

from benchmarks import (
    calls,
    careless,
    cluster,
    coverage,
    databases,
    differences,
    episodes,
    memory,
    paint,
    report,
    size,
    summaries,
    test_time,
)

ALL = {
    "databases": databases.measure,
    "differences": differences.measure,
    "calls": calls.measure,
    "episodes": episodes.measure,
    "memory": memory.measure,
    "summaries": summaries.measure,
    "coverage": coverage.measure,
    "report": report.measure,
    "paint": paint.measure,
    "cluster": cluster.measure,
    "size": size.measure,
}


def main() -> None:
    """Runs the benchmarks named on the command line, or all of them."""
    named = {"careless": careless.measure_arguments, "testtime": test_time.measure_arguments}
    if sys.argv[1:] and sys.argv[1] in named:
        print("\n".join(named[sys.argv[1]](sys.argv[2:])))
        return
    for name in sys.argv[1:] or ALL:
        print(f"\n### {name}\n")
        print("\n".join(asyncio.run(ALL[name]())), flush=True)


if __name__ == "__main__":
    main()
