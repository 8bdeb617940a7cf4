"""Writes the built-in seeds and suites into the domains' packages, the examples' recording, and tables of the docs;
opens and pins their editions.

Invariant: every generated file of the repository that depends on tasks or a seed is written here, and only if all tasks
keep the authoring rules and no row of the pinned edition changes without a reason; `--check` fails if a file is stale.
A domain is built only if something that it is made of has changed (`kit.build_cache`).
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.data_files import read_data
from opsgym_domains.editions import FOLDER, NEXT
from opsgym_domains.suite_rows import suite_rows
from opsgym_suites.kit.authoring_rules import SuiteTask, duplicates, facts, seed_violations, violations
from opsgym_suites.kit.build_cache import BuildCache, Facts, text_digest
from opsgym_suites.kit.card import with_card
from opsgym_suites.kit.data_files import AuthoredDomain, json_lines, stale, write
from opsgym_suites.kit.difficulty_table import with_table
from opsgym_suites.kit.edition_files import EditionFiles
from opsgym_suites.kit.editions import SuiteRows
from opsgym_suites.kit.selections import selections
from opsgym_suites.kit.suite import HYBRID

NAMES = ("calendar", "csm", "drive", "email", "hr", HYBRID, "itsm", "teams")
"""Domains with suites; each has a folder with a module `authored`."""
TOUR = "quickstart"
"""The suite whose tasks are a tour of opsgym; it is not in the tables of the large ones."""
ROOT = Path(__file__).parents[2]
"""The checkout."""
PAGE = ROOT / "docs" / "domains.md"
CARD = ROOT / "docs" / "suites.md"
PACKAGES = ROOT / "domain_images" / "opsgym_domains"
SELECTED = PACKAGES / "data"
"""Folder of the ids of suites that have some of the tasks of others."""
RECORDING = ROOT / "examples" / "recordings" / "mixed.jsonl"
TABLES = "tables"
"""Name of the cache's entry of what depends on all suites."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m opsgym_suites`; the process's exit code."""
    options = _parser().parse_args(arguments)
    names = options.domain or NAMES
    store = Store(BuildCache(ROOT, NAMES), check=options.check)
    if options.open:
        return _opened(options.open)
    built = [store.build(name) for name in names]
    done = all(built)
    if options.domain:
        sys.stdout.write("selections and tables are of all domains; `python -m opsgym_suites` writes them\n")
    elif done:
        done = store.build_tables()
    return _pinned(options.pin) if done and options.pin else int(not done)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="opsgym_suites", description="Writes the built-in seeds and suites.")
    parser.add_argument("domain", nargs="*", type=_domain, metavar="DOMAIN", help=f"only: {', '.join(NAMES)}")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
    what.add_argument(
        "--open", metavar="EDITION", help="open the next edition, so that rows of the pinned one may change"
    )
    what.add_argument("--pin", metavar="EDITION", help="pin the suites as they are as the open edition")
    return parser


def _domain(text: str) -> str:
    if text not in NAMES:
        raise argparse.ArgumentTypeError(f"unknown domain {text!r}; domains with suites: {', '.join(NAMES)}")
    return text


@cache
def authored(name: str) -> Sequence[AuthoredDomain]:
    """The suites of a domain, and seeds that ship with other domains for them.

    Importing a domain's tasks takes seconds, so nothing is imported that is not built.
    """
    module = import_module(f"opsgym_suites.{name}.authored")
    return (module.AUTHORED, *getattr(module, "SEEDS", ()))


def all_authored() -> list[AuthoredDomain]:
    """The suites and seeds of all domains."""
    return [each for name in NAMES for each in authored(name)]


@dataclass(frozen=True)
class Store:
    """Builds what has changed, and writes it or compares it with what is there."""

    cache: BuildCache
    check: bool
    """Whether to write nothing."""

    def build(self, name: str) -> bool:
        """Builds a domain's suites if something has changed; whether its files are current now."""
        sources = self._sources(name)
        if self.cache.fresh(name, sources):
            return True
        suites = [(each, suite) for each in authored(name) for suite in each.suites]
        tasks = [task for each in authored(name) for task in each.tasks()]
        broken = violations(tasks)
        broken += (
            f"{gym} {part.seed}: {text}"
            for _, suite in suites
            for part in suite.parts
            for gym, world in suite.worlds(part).items()
            for text in seed_violations(world)
        )
        texts = {
            PACKAGES / each.domain / "data" / f"{file}.zst": text
            for each in authored(name)
            for file, text in each.texts().items()
        }
        if name == "itsm":
            texts[RECORDING] = _recording()
        seeds = {(each.domain, seed): make() for each in authored(name) for seed, make in each.seeds.items()}
        now = {}
        for each, suite in suites:
            rows = {row["task_id"]: row for row in each.whole_rows(suite)}
            named = sorted((server.domain, part.seed) for server in suite.servers.values() for part in suite.parts)
            now[suite.name] = SuiteRows(rows, {f"{domain}/{seed}": seeds[domain, seed] for domain, seed in named})
        broken += edition_files().problems(now)
        return self._finish(name, sources, broken, texts, [facts(task) for task in tasks])

    def build_tables(self) -> bool:
        """Builds selections and tables if a suite has changed; whether they are current now."""
        entries = {name: self.cache.fresh(name, self._sources(name)) for name in NAMES}
        pinned = [text_digest(file) for file in sorted((SELECTED / FOLDER).glob("*"))]
        sources = hashlib.sha256(repr([*(entry and entry.sources for entry in entries.values()), pinned]).encode())
        if self.cache.fresh(TABLES, sources.hexdigest()):
            return True
        broken = [*duplicates([fact for entry in entries.values() if entry for fact in entry.facts])]
        broken += edition_files().idle_lines(suites_now())
        tasks = suite_tasks()
        chosen = selections([task for name in registry.PARTS for task in tasks[name]])
        large = {name.removesuffix("-core"): of_suite for name, of_suite in tasks.items() if name != TOUR}
        texts = {SELECTED / f"{name}.txt.zst": "".join(f"{each}\n" for each in ids) for name, ids in chosen.items()}
        texts[PAGE] = with_table(PAGE.read_text(encoding="utf-8"), tasks)
        texts[CARD] = with_card(CARD.read_text(encoding="utf-8"), large, chosen)
        return self._finish(TABLES, sources.hexdigest(), broken, texts, [])

    def _sources(self, name: str) -> str:
        return self.cache.sources(name, NAMES if name == HYBRID else ())

    def _finish(
        self, name: str, sources: str, broken: Sequence[str], texts: Mapping[Path, str], of_tasks: Sequence[Facts]
    ) -> bool:
        """Reports problems, or else writes or compares files; whether they are current."""
        sys.stderr.write("".join(f"{violation}\n" for violation in broken))
        outdated = {} if broken else {path: text for path, text in texts.items() if stale(path, text)}
        for path, text in outdated.items():
            if self.check:
                sys.stderr.write(f"{path} is stale; `make generate` writes it\n")
            else:
                write(path, text)
                sys.stdout.write(f"wrote {path}\n")
        if broken or (self.check and outdated):
            return False
        self.cache.save(name, sources, texts.keys(), of_tasks)
        return True


def _recording() -> str:
    from opsgym_suites.itsm.authored import QUICKSTART
    from opsgym_suites.itsm.recording import recording

    return json_lines(list(recording(QUICKSTART, QUICKSTART.drafts)))


# --- suites as they are written ------------------------------------------------------------------------------------


def _suites() -> Mapping[str, str]:
    """Packages of the built-in suites by name, in the order of the tables."""
    return {name: registry.declared(registry.SUITES)[name].module for name in (*registry.PARTS, TOUR)}


def suite_tasks() -> Mapping[str, Sequence[SuiteTask]]:
    """The tasks of each suite, by its name."""
    tasks = {}
    for name in _suites():
        rows = map(Task.model_validate, suite_rows(f"{name}@{NEXT}"))
        tasks[name] = [
            SuiteTask({server.mcp_server_name: registry.load(server.domain) for server in row.gym_servers_config}, row)
            for row in rows
        ]
    return tasks


def suites_now() -> Mapping[str, SuiteRows]:
    """Every suite with the seeds that its rows start from."""
    return {name: _suite_now(name) for name in _suites()}


def _suite_now(name: str) -> SuiteRows:
    rows = {row["task_id"]: row for row in suite_rows(f"{name}@{NEXT}")}
    servers = [server for row in rows.values() for server in Task.model_validate(row).gym_servers_config]
    named = sorted({(server.domain, str(server.seed_database_file).removeprefix("builtin:")) for server in servers})
    return SuiteRows(
        rows, {f"{domain}/{seed}": read_data(f"opsgym_domains.{domain}", f"{seed}.sql") for domain, seed in named}
    )


# --- editions ------------------------------------------------------------------------------------------------------


def edition_files() -> EditionFiles:
    """Editions of the built-in suites in the checkout."""
    data = {name: PACKAGES / package.rpartition(".")[2] / "data" for name, package in _suites().items()}
    return EditionFiles(data, SELECTED, ROOT / "suites" / "editions")


def _opened(name: str) -> int:
    """Opens an edition and prints what it changes so far; the exit code."""
    files = edition_files()
    if problem := files.open(name):
        sys.stderr.write(f"{problem}\n")
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in files.report(name, suites_now())))
    return 0


def _pinned(name: str) -> int:
    """Prints what an edition changes and pins it; the exit code."""
    files, now = edition_files(), suites_now()
    report = list(files.report(name, now))
    selected = {suite: [row["task_id"] for row in suite_rows(f"{suite}@{NEXT}")] for suite in registry.SELECTIONS}
    if problem := files.pin(name, now, selected):
        sys.stderr.write(f"{problem}\n")
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
