"""`python -m benchmarks [databases|differences|calls …]`: measures, and prints the tables of docs/benchmarks.md.

Run only by their names: `python -m benchmarks careless` plays careless agents, `whole` plays the whole benchmark twice,
`equivalence` beside the published harness, `mini` simulates agents, `real_model` plays a small real model, and
`testtime FOLDER` reads what a test run wrote.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence

from benchmarks import (
    calls,
    careless,
    cluster,
    coverage,
    databases,
    differences,
    episode_service,
    episodes,
    equivalence,
    memory,
    mini,
    model_client,
    paint,
    podstart,
    real_model,
    report,
    searches,
    size,
    summaries,
    test_time,
    whole,
)

ALL = {
    "databases": databases.measure,
    "differences": differences.measure,
    "calls": calls.measure,
    "searches": searches.measure,
    "model_client": model_client.measure,
    "episodes": episodes.measure,
    "service": episode_service.measure,
    "podstart": podstart.measure,
    "memory": memory.measure,
    "summaries": summaries.measure,
    "coverage": coverage.measure,
    "report": report.measure,
    "paint": paint.measure,
    "cluster": cluster.measure,
    "size": size.measure,
}


NAMED: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "careless": careless.measure_arguments,
    "equivalence": equivalence.measure_arguments,
    "mini": mini.measure_arguments,
    "real_model": real_model.measure_arguments,
    "testtime": test_time.measure_arguments,
    "whole": whole.measure_arguments,
}
"""Benchmarks that are run only by their names; the arguments after the name are theirs."""


def main() -> None:
    """Runs the benchmarks named on the command line, or all of them."""
    if sys.argv[1:] and sys.argv[1] in NAMED:
        print("\n".join(NAMED[sys.argv[1]](sys.argv[2:])))
        return
    for name in _names():
        print(f"\n### {name}\n")
        print("\n".join(asyncio.run(ALL[name]())), flush=True)


def _names() -> Sequence[str]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures, and prints Markdown tables.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"{', '.join(ALL)} (all of these if none is named); by themselves, with arguments of their own: "
        f"{', '.join(NAMED)}",
    )
    names: list[str] = parser.parse_args().names
    unknown = [name for name in names if name not in ALL]
    if unknown:
        parser.error(f"benchmark {unknown[0]!r} not found; --help lists them")
    return names or list(ALL)


if __name__ == "__main__":
    main()
