"""`python -m tools.failure_docs [modes|refusals|recorded|mutants …] [--write]`: prints the parts of docs/failures.md,
or writes them there.

`recorded` needs the published benchmark's facts (OPSGYM_UPSTREAM); `mutants` plays some 250 episodes, which takes
minutes.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.failure_docs import docs_page
from tools.failure_docs.measure import (
    OF_EACH,
    MutantResult,
    mutant_scores,
    recorded_scores,
    run_mutants,
    without_solution,
)
from tools.failure_docs.refusal_answers import refusal_table

from opsgym.local.gym_servers import GymServers


def recorded() -> str:
    """The table of recorded runs."""
    folder = os.environ.get("OPSGYM_UPSTREAM")
    if not folder:
        sys.exit("OPSGYM_UPSTREAM does not name the published benchmark's facts")
    halves = [(name, recorded_scores(Path(folder), half)) for name, half in docs_page.HALVES]
    return docs_page.table(halves)


def mutants() -> str:
    """The table of mutants."""
    results = asyncio.run(_mutants())
    for result in results:
        actual, detected = result.pair
        if result.trial is None or actual != detected:
            problem = f"{sorted(actual - detected)} missed, {sorted(detected - actual)} detected in error"
            label = f"{result.mutant.case.task.task_id}: {result.mutant.label}"
            print(f"{label}: {'passed' if result.trial is None else problem}", file=sys.stderr)
    passed = Counter(result.mutant.mode for result in results if result.trial is None)
    omitted = ", ".join(f"{count} of `{mode}`" for mode, count in passed.items()) or "none"
    both = [("without solution", without_solution(results)), ("with solution", results)]
    table = docs_page.table([(name, mutant_scores(trials)) for name, trials in both])
    return f"{table}\n\nMutants that passed all verifiers and are left out: {omitted}."


async def _mutants() -> list[MutantResult]:
    async with GymServers(["itsm"], lambda message: print(message, file=sys.stderr)) as servers:
        await servers.start()
        await servers.ready(["itsm"])
        return await asyncio.to_thread(run_mutants, servers.urls["itsm"], OF_EACH, admin_tokens=servers.admin_tokens)


PARTS: Mapping[str, Callable[[], str]] = {
    "modes": docs_page.modes,
    "refusals": refusal_table,
    "recorded": recorded,
    "mutants": mutants,
}


def main() -> None:
    """Prints the parts named on the command line, or all; with `--write`, puts them into the page."""
    names = [name for name in sys.argv[1:] if name != "--write"] or list(PARTS)
    for name in names:
        content = PARTS[name]()
        if "--write" in sys.argv[1:]:
            page = docs_page.PAGE.read_text(encoding="utf-8")
            docs_page.PAGE.write_text(docs_page.with_part(name, content, page), encoding="utf-8")
        print(f"\n### {name}\n\n{content}", flush=True)


if __name__ == "__main__":
    main()
