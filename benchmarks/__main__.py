"""`python -m benchmarks [databases|differences|calls …]`: measures, and prints the tables of docs/benchmarks.md."""

from __future__ import annotations

import asyncio
import sys

from benchmarks import calls, cluster, databases, differences, episodes, memory, paint, report, size, summaries

ALL = {
    "databases": databases.measure,
    "differences": differences.measure,
    "calls": calls.measure,
    "episodes": episodes.measure,
    "memory": memory.measure,
    "summaries": summaries.measure,
    "report": report.measure,
    "paint": paint.measure,
    "cluster": cluster.measure,
    "size": size.measure,
}


def main() -> None:
    """Runs the benchmarks named on the command line, or all."""
    for name in sys.argv[1:] or ALL:
        print(f"\n### {name}\n")
        print("\n".join(asyncio.run(ALL[name]())), flush=True)


if __name__ == "__main__":
    main()
