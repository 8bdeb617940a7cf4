"""The card of the built-in suites: what they consist of, beside what the paper states of the published benchmark.

Invariant: every figure of opsgym is counted from rows, drafts and declarations, none is written by hand; a figure that
the paper does not state is a dash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import Category, Verifier
from opsgym_domains import registry
from opsgym_domains.difficulty import Band
from opsgym_domains.registry import WHOLE
from opsgym_suites.kit.authoring_rules import SuiteTask
from opsgym_suites.kit.difficulty_table import band_of
from opsgym_suites.kit.structure import structure_of

PUBLISHED = {
    "calendar": 100, "csm": 186, "drive": 105, "email": 104, "hr": 184, "itsm": 181, "teams": 100, "hybrid": 155
}  # fmt: skip
"""Tasks of the published benchmark by domain, as the paper states them (arXiv 2603.13594)."""
PUBLISHED_WHOLE = {"tasks": "1,150", "mean steps": "9", "longest": "34", "verifiers": "5.3"}
"""What the paper states of all domains together."""
LARGEST = 5
"""Groups whose sizes the card states."""
_PLACE = re.compile(r"(?<=<!-- card -->\n).*(?=<!-- /card -->)", re.DOTALL)
_DASH = "–"


@dataclass(frozen=True)
class Section:
    """Tasks that are counted together."""

    name: str
    tasks: Sequence[SuiteTask]

    @property
    def row(self) -> dict[str, str]:
        """The figures of the table of domains, by column."""
        rows = [authored.task for authored in self.tasks]
        steps = [len(task.gold_actions or []) for task in rows]
        return {
            "tasks": f"{len(rows):,}",
            "mean steps": f"{fmean(steps):.1f}",
            "longest": str(max(steps)),
            "verifiers": f"{fmean(len(task.verifiers) for task in rows):.1f}",
            "conditions": f"{fmean(sum(map(conditions, task.verifiers)) for task in rows):.1f}",
            "infeasible": _count(not task.feasible for task in rows),
            "several days": _count(bool(task.days) for task in rows),
            "with events": _count(bool(task.events) for task in rows),
            "strict access": _count(task.access is Access.STRICT for task in rows),
            "worlds": str(len({_world(task) for task in rows})),
            "groups": str(len(set(map(structure_of, self.tasks)))),
        }


def conditions(verifier: Verifier) -> int:
    """Conditions of a verifier: each row that a `state_difference` requires, and that nothing else differs; else 1."""
    if verifier.verifier_type != "state_difference":
        return 1
    return _required(verifier) + verifier.state_difference.nothing_else


def _required(verifier: Verifier) -> int:
    """Rows that a verifier requires to differ."""
    if verifier.verifier_type != "state_difference":
        return 0
    return sum(not any(row.optional for row in rows[0]) for rows in verifier.state_difference.alternatives)


# What three agents without judgement pass, each at its best: their words are those that the verifiers want.


def declines(task: Task) -> bool:
    """Whether an agent passes that declines whatever it is asked, with the right reason, and calls nothing."""
    return looks_and_declines(task) and not any(each.verifier_type == "looked_up" for each in task.verifiers)


def looks_and_declines(task: Task) -> bool:
    """Whether an agent passes that reads what the reference solution reads, and then declines with the right reason."""
    return not task.feasible and not any(map(_required, task.verifiers))


def does_what_is_asked(task: Task) -> bool:
    """Whether an agent passes that does all that it is asked without a fault, also what it must not do."""
    return task.feasible and not any(each.category is Category.REFUSAL for each in task.verifiers)


BASELINES: Mapping[str, Callable[[Task], bool]] = {
    "always declines": declines,
    "looks and declines": looks_and_declines,
    "does all that is asked": does_what_is_asked,
}


def with_card(page: str, domains: Mapping[str, Sequence[SuiteTask]], selections: Mapping[str, Collection[str]]) -> str:
    """A page with the card in the place that it marks.

    Args:
        page: Markdown with `<!-- card -->` and `<!-- /card -->` on lines of their own.
        domains: Tasks of the large suites, by domain.
        selections: Ids of the tasks of suites that have some of them, by the suite's name.
    """
    card = "".join(f"{line}\n" for line in _lines(domains, selections))
    return _PLACE.sub(lambda _place: card, page)


def _lines(domains: Mapping[str, Sequence[SuiteTask]], selections: Mapping[str, Collection[str]]) -> Iterator[str]:
    sections = [Section(name, domains[name]) for name in sorted(domains)]
    whole = Section("all", [task for section in sections for task in section.tasks])
    columns = list(whole.row)
    yield from _table(
        ["domain", "published tasks", *columns],
        [[section.name, str(PUBLISHED.get(section.name, _DASH)), *section.row.values()] for section in sections]
        + [["**all**", PUBLISHED_WHOLE["tasks"], *whole.row.values()]],
    )
    yield from ("", _published_sum(), _sizes_of_groups(whole))
    yield from _titled("Suites of all domains", _suites(whole, selections))
    yield from _titled("What agents without judgement pass", _baselines([*sections, *_parts(whole, selections)]))
    yield from _titled("Beside the paper", _beside_the_paper(whole))
    yield from _titled("Difficulty", _difficulty([*sections, whole]))
    yield from _titled("Verifiers by category", _categories([*sections, whole]))
    yield from _titled("Tools that a reference solution calls", _tools(whole))
    yield from _titled("Calls of each tool in reference solutions", _calls(whole))


def _published_sum() -> str:
    return (
        f"The paper's numbers of tasks by domain have the sum {sum(PUBLISHED.values()):,}; it states "
        f"{PUBLISHED_WHOLE['tasks']} for all of them together, and does not say where the others are."
    )


def _sizes_of_groups(whole: Section) -> str:
    sizes = sorted(Counter(map(structure_of, whole.tasks)).values(), reverse=True)
    largest = ", ".join(map(str, sizes[:LARGEST]))
    return f"The largest groups have {largest} tasks; groups of a single task: {sizes.count(1)}."


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", f"### {title}", "", *lines)


def _suites(whole: Section, selections: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The whole and its selections, with the tasks of each domain."""
    names = sorted({authored.task.domain for authored in whole.tasks})
    rows = []
    for part in _parts(whole, selections):
        counts, figures = Counter(authored.task.domain for authored in part.tasks), part.row
        shown = [figures[column] for column in ("tasks", "mean steps", "infeasible", "groups")]
        rows.append([f"`{part.name}`", *shown, *(str(counts[domain]) for domain in names)])
    yield from _table(["suite", "tasks", "mean steps", "infeasible", "groups", *names], rows)


def _parts(whole: Section, selections: Mapping[str, Collection[str]]) -> Iterator[Section]:
    """The whole and its selections."""
    yield Section(WHOLE, whole.tasks)
    for name, ids in selections.items():
        yield Section(name, [each for each in whole.tasks if each.task.task_id in ids])


def _baselines(sections: Sequence[Section]) -> Iterator[str]:
    """Success of agents without judgement, as the verifiers of the rows say."""
    yield from (
        "The most that three simple agents can pass, read from what the verifiers ask for. Both that decline give the",
        "right reason each time, and the one that obeys makes no fault. An agent no better than one of them shows no",
        "judgement.",
        "",
    )
    rows = [
        [agent, *(_share([passes(each.task) for each in section.tasks]) for section in sections)]
        for agent, passes in BASELINES.items()
    ]
    yield from _table(["agent", *(section.name for section in sections)], rows)


def _share(those: Sequence[bool]) -> str:
    return f"{100 * fmean(those):.1f} %"


def _beside_the_paper(whole: Section) -> Iterator[str]:
    names = list(PUBLISHED_WHOLE)
    opsgym = whole.row
    yield from _table(
        ["", *names],
        [["published", *PUBLISHED_WHOLE.values()], ["opsgym", *(opsgym[name] for name in names)]],
    )


def _difficulty(sections: Sequence[Section]) -> Iterator[str]:
    counts = {section.name: Counter(map(band_of, section.tasks)) for section in sections}
    yield from _table(["", *counts], [[each, *(str(count[each]) for count in counts.values())] for each in Band])


def _categories(sections: Sequence[Section]) -> Iterator[str]:
    counts = {
        section.name: Counter(verifier.category for authored in section.tasks for verifier in authored.task.verifiers)
        for section in sections
    }
    rows = [[f"`{each}`", *(str(count[each]) for count in counts.values())] for each in Category]
    yield from _table(["", *counts], rows)


def _tools(whole: Section) -> Iterator[str]:
    """Tools of each domain that solutions call, and those that none calls."""
    called = _called(whole)
    offered = {name: set(registry.load(name).toolbox.tools) for name in called}
    rows = [
        [
            name,
            str(len(tools)),
            str(len(called[name])),
            ", ".join(f"`{tool}`" for tool in sorted(tools - called[name].keys())),
        ]
        for name, tools in offered.items()
    ]
    total = [sum(map(len, offered.values())), sum(map(len, called.values()))]
    yield from _table(["domain", "tools", "called", "not called"], [*rows, ["**all**", *map(str, total), ""]])


def _calls(whole: Section) -> Iterator[str]:
    """How often solutions call each tool of a domain, the most frequent ones first."""
    rows = [
        [
            name,
            f"{counts.total():,}",
            ", ".join(
                f"`{tool}` {count}" for tool, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
            ),
        ]
        for name, counts in _called(whole).items()
    ]
    yield from _table(["domain", "calls", "calls of each tool"], rows)


def _called(whole: Section) -> Mapping[str, Counter[str]]:
    """Calls of solutions by domain and tool."""
    called: dict[str, Counter[str]] = {name: Counter() for name in registry.domains()}
    for authored in whole.tasks:
        for call in authored.task.gold_actions or []:
            called[authored.domain_of(call).name][call.name] += 1
    return called


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield "| --- |" + " --- |" * (len(header) - 1)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _count(those: Iterable[bool]) -> str:
    return str(sum(those))


def _world(task: Task) -> frozenset[str]:
    """The seeds of a task's gym servers; those of one company have one name."""
    return frozenset(server.seed_database_file or "" for server in task.gym_servers_config)
