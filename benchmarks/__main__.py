"""`python -m benchmarks [databases|differences|calls …]`: measures, and prints the tables of docs/benchmarks.md.

`python -m benchmarks careless` plays careless agents, which takes long and is run only by its name.
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
    if sys.argv[1:2] == ["careless"]:
        print("\n".join(careless.measure_arguments(sys.argv[2:])))
        return
    for name in sys.argv[1:] or ALL:
        print(f"\n### {name}\n")
        print("\n".join(asyncio.run(ALL[name]())), flush=True)


if __name__ == "__main__":
    main()
