"""Writes the built-in seeds and suites into the domains' packages, the examples' recording, and a table of the docs;
opens and pins their editions.

Invariant: every generated file of the repository that depends on tasks or a seed is written here, and only if all tasks
keep the authoring rules and no row of the pinned edition changes without a reason; `--check` fails if a file is stale.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from opsgym_domains.registry import PARTS
from opsgym_suites.calendar.authored import AUTHORED as CALENDAR
from opsgym_suites.csm.authored import AUTHORED as CSM
from opsgym_suites.drive.authored import AUTHORED as DRIVE
from opsgym_suites.email.authored import AUTHORED as EMAIL
from opsgym_suites.hr.authored import AUTHORED as HR
from opsgym_suites.hybrid.authored import AUTHORED as HYBRID
from opsgym_suites.hybrid.authored import SEEDS as COMPANY
from opsgym_suites.itsm.authored import AUTHORED as ITSM
from opsgym_suites.itsm.authored import QUICKSTART
from opsgym_suites.itsm.recording import recording
from opsgym_suites.kit.authoring_rules import AuthoredTask, seed_violations, violations
from opsgym_suites.kit.card import with_card
from opsgym_suites.kit.data_files import AuthoredDomain, json_lines, stale, write
from opsgym_suites.kit.difficulty_table import with_table
from opsgym_suites.kit.edition_files import EditionFiles
from opsgym_suites.kit.editions import SuiteRows
from opsgym_suites.kit.selections import selections
from opsgym_suites.kit.suite import Suite
from opsgym_suites.teams.authored import AUTHORED as TEAMS

DOMAINS = (ITSM, CSM, CALENDAR, EMAIL, HR, DRIVE, TEAMS, HYBRID, *COMPANY)
ROOT = Path(__file__).parents[2]
"""The checkout."""
PAGE = ROOT / "docs" / "domains.md"
CARD = ROOT / "docs" / "suites.md"
SELECTED = ROOT / "domain_images" / "opsgym_domains" / "data"
"""Folder of the ids of suites that have some of the tasks of others."""
RECORDING = ROOT / "examples" / "recordings" / "mixed.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m opsgym_suites`; the process's exit code."""
    parser = argparse.ArgumentParser(prog="opsgym_suites", description="Writes the built-in seeds and suites.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
    what.add_argument(
        "--open", metavar="EDITION", help="open the next edition, so that rows of the pinned one may change"
    )
    what.add_argument("--pin", metavar="EDITION", help="pin the suites as they are as the open edition")
    options = parser.parse_args(arguments)
    worlds = [
        (f"{gym} {part.seed}", world)
        for authored in DOMAINS
        for suite in authored.suites
        for part in suite.parts
        for gym, world in suite.worlds(part).items()
    ]
    tasks = {name: of_suite for authored in DOMAINS for name, of_suite in authored.tasks_by_suite().items()}
    broken = violations([task for of_suite in tasks.values() for task in of_suite])
    broken += (f"{seed}: {text}" for seed, world in worlds for text in seed_violations(world))
    now = {suite.name: _now(authored, suite) for authored in DOMAINS for suite in authored.suites}
    files = edition_files()
    if options.open:
        problem = files.open(options.open)
        for line in [problem] if problem else files.report(options.open, now):
            sys.stdout.write(f"{line}\n")
        return 1 if problem else 0
    broken += files.problems(now)
    if broken:
        sys.stderr.write("".join(f"{violation}\n" for violation in broken))
        return 1
    if options.pin:
        sys.stdout.write("".join(f"{line}\n" for line in files.report(options.pin, now)))
        if problem := files.pin(options.pin, now, _selected(tasks)):
            sys.stderr.write(f"{problem}\n")
            return 1
    outdated = {path: text for path, text in generated(tasks).items() if stale(path, text)}
    for path, text in outdated.items():
        if options.check:
            sys.stderr.write(f"{path} is stale; `make generate` writes it\n")
        else:
            write(path, text)
            sys.stdout.write(f"wrote {path}\n")
    return 1 if options.check and outdated else 0


def generated(tasks: Mapping[str, Sequence[AuthoredTask]]) -> Mapping[Path, str]:
    """The text that each generated file must hold, by path.

    Args:
        tasks: The tasks of each suite, by its name.
    """
    data = {
        ROOT / "domain_images" / "opsgym_domains" / authored.domain / "data" / f"{name}.zst": text
        for authored in DOMAINS
        for name, text in authored.texts().items()
    }
    large = _large(tasks)
    chosen = _selected(tasks)
    data |= {SELECTED / f"{name}.txt.zst": "".join(f"{each}\n" for each in ids) for name, ids in chosen.items()}
    page = with_table(PAGE.read_text(encoding="utf-8"), tasks)
    card = with_card(CARD.read_text(encoding="utf-8"), large, chosen)
    return data | {RECORDING: json_lines(list(recording(QUICKSTART, QUICKSTART.drafts))), PAGE: page, CARD: card}


def edition_files() -> EditionFiles:
    """Editions of the built-in suites in the checkout."""
    data = {suite.name: SELECTED.parent / authored.domain / "data" for authored in DOMAINS for suite in authored.suites}
    return EditionFiles(data, SELECTED, ROOT / "suites" / "editions")


def _now(authored: AuthoredDomain, suite: Suite) -> SuiteRows:
    """A suite as it is, with the seeds that its rows start from."""
    rows = {row["task_id"]: row for row in authored.whole_rows(suite)}
    seeds = {(server.domain, part.seed) for server in suite.servers.values() for part in suite.parts}
    made = {(each.domain, name): make for each in DOMAINS for name, make in each.seeds.items()}
    return SuiteRows(rows, {f"{domain}/{seed}": made[domain, seed]() for domain, seed in sorted(seeds)})


def _selected(tasks: Mapping[str, Sequence[AuthoredTask]]) -> Mapping[str, Sequence[str]]:
    return selections([authored for name in PARTS for authored in tasks[name]])


def _large(tasks: Mapping[str, Sequence[AuthoredTask]]) -> Mapping[str, Sequence[AuthoredTask]]:
    """Tasks of the large suites, by domain: all but the quickstart, whose tasks are a tour of opsgym."""
    large = [suite.name for authored in DOMAINS for suite in authored.suites if suite is not QUICKSTART]
    return {name.removesuffix("-core"): tasks[name] for name in large}


if __name__ == "__main__":
    sys.exit(main())
