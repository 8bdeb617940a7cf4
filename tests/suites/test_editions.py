"""Editions: what a name means, what may change in a pinned edition, and how another one is opened and pinned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from opsgym_domains import data_files, registry, suites
from opsgym_domains.editions import UnknownSuiteError, editions, listing, resolved
from opsgym_domains.suite_rows import suite_rows
from opsgym_suites.kit.data_files import json_lines, write
from opsgym_suites.kit.edition_files import EditionFiles
from opsgym_suites.kit.editions import Reasons, SuiteRows, differing_fields, row_digest

MINI, HARD = registry.SELECTIONS
SUITES = [*registry.PARTS, "quickstart"]


def row(task: str, prompt: str = "Close it.", policy: str = "Be kind.") -> dict[str, Any]:
    return {
        "task_id": task,
        "system_prompt": policy,
        "user_prompt": prompt,
        "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp", "seed_database_file": "builtin:works"}],
        "verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["closed"]}}],
    }


@dataclass
class Checkout:
    """A checkout whose suites have two tasks each; reading suites reads from it."""

    root: Path
    suites: dict[str, SuiteRows]

    @property
    def files(self) -> EditionFiles:
        data = {name: self.data(name) for name in self.suites}
        return EditionFiles(data, self.root / "opsgym_domains" / "data", self.root / "editions")

    def data(self, suite: str) -> Path:
        return self.root / registry.declared(registry.SUITES)[suite].module.replace(".", "/") / "data"

    def write(self) -> None:
        """Writes the suites as `next`."""
        for name, suite in self.suites.items():
            write(self.data(name) / f"{name}.jsonl.zst", json_lines(list(suite.rows.values())))
        for name, ids in self.selected.items():
            write(self.root / "opsgym_domains" / "data" / f"{name}.txt.zst", "".join(f"{each}\n" for each in ids))

    @property
    def selected(self) -> dict[str, list[str]]:
        firsts = [next(iter(self.suites[part].rows)) for part in registry.PARTS]
        return {MINI: firsts[:2], HARD: firsts[2:4]}

    def pin(self, edition: str) -> None:
        assert self.files.open(edition) == ""
        assert list(self.files.problems(self.suites)) == []
        assert self.files.pin(edition, self.suites, self.selected) == ""

    def change(self, task: str, **fields: Any) -> None:
        """Changes a row of hr-core in `next`."""
        before = self.suites["hr-core"]
        self.suites["hr-core"] = replace(before, rows={**before.rows, task: {**before.rows[task], **fields}})
        self.write()

    def reason(self, edition: str, *lines: str) -> None:
        assert self.files.open(edition) == ""
        write(self.files.reasons / f"{edition}.txt", "# why\n" + "".join(f"{line}\n" for line in lines))

    @property
    def problems(self) -> list[str]:
        return [*self.files.problems(self.suites), *self.files.idle_lines(self.suites)]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setattr(data_files, "files", lambda package: tmp_path / package.replace(".", "/"))
    seeds = {"itsm/works": "INSERT INTO incident VALUES (1);"}
    made = {name: SuiteRows({f"{name}-{n}": row(f"{name}-{n}") for n in (1, 2)}, seeds) for name in SUITES}
    checkout = Checkout(tmp_path, made)
    checkout.write()
    return checkout


# What a name means


def test_without_a_pinned_edition_a_name_means_next(checkout: Checkout) -> None:
    assert [resolved(name) for name in ("hr-core", "hr-core@next", "opsgym-1150", MINI)] == [
        "hr-core@next", "hr-core@next", "opsgym-1150@next", f"{MINI}@next"
    ]  # fmt: skip


def test_a_name_without_an_edition_means_the_pinned_one(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    assert [resolved(name) for name in ("hr-core", "hr-core@next", "opsgym-1150", MINI)] == [
        "hr-core@2026-12", "hr-core@next", "opsgym-1150@2026-12", f"{MINI}@2026-12"
    ]  # fmt: skip


@pytest.mark.parametrize("edition", ["2026-11", "", "NEXT", "@next"])
def test_an_unknown_edition_is_refused_with_those_that_exist(checkout: Checkout, edition: str) -> None:
    checkout.pin("2026-12")
    with pytest.raises(UnknownSuiteError, match="editions in this release: 2026-12, next"):
        resolved(f"hr-core@{edition}")


def test_an_unknown_suite_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UnknownSuiteError, match=r"unknown built-in suite 'hr-cor'; built-in suites: .*hr-core"):
        resolved("hr-cor@2026-12")


def test_a_part_without_the_edition_leaves_the_whole_without_it(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    (checkout.data("hr-core") / "editions" / "hr-core@2026-12.txt").unlink()
    assert editions("opsgym-1150") == []
    assert editions("itsm-core") == ["2026-12"]


# A pinned edition stays as it is


def test_the_rows_of_a_pinned_edition_stay_when_next_moves(checkout: Checkout) -> None:
    pinned = {name: suite_rows(name) for name in ("hr-core", "opsgym-1150", MINI)}
    checkout.pin("2026-12")
    checkout.change("hr-core-1", user_prompt="Close it now.", system_prompt="Be strict.")
    assert {name: suite_rows(name) for name in pinned} == pinned
    assert suite_rows("hr-core@next")[0]["user_prompt"] == "Close it now."
    assert "Close it now." in [each["user_prompt"] for each in suite_rows("opsgym-1150@next")]


def test_a_pinned_selection_keeps_its_ids(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    moved = checkout.selected[HARD]
    write(checkout.files.selections / f"{MINI}.txt.zst", "".join(f"{task}\n" for task in moved))
    assert [each["task_id"] for each in suite_rows(MINI)] == checkout.selected[MINI]
    assert [each["task_id"] for each in suite_rows(f"{MINI}@next")] == moved


def test_a_listing_names_each_row_with_its_digest_and_each_seed(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    text = (checkout.data("hr-core") / "editions" / "hr-core@2026-12.txt").read_text()
    digest = row_digest(row("hr-core-1"))
    assert text.splitlines()[0] == f"hr-core-1 {digest}"
    assert text.splitlines()[-1].startswith("seed itsm/works ")
    assert listing("hr-core", "2026-12") == checkout.suites["hr-core"].listing
    assert listing(MINI, "2026-12").rows.keys() == set(checkout.selected[MINI])


def test_the_digest_of_a_row_does_not_depend_on_defaults_or_the_order_of_fields() -> None:
    plain = row("one")
    assert row_digest({**plain, "restricted_tools": [], "feasible": True}) == row_digest(plain)
    assert row_digest(dict(reversed(plain.items()))) == row_digest(plain)
    assert row_digest({**plain, "feasible": False}) != row_digest(plain)


# What is refused


def corrected(checkout: Checkout) -> None:
    verifiers = [{"verifier_type": "answer_match", "validation_config": {"patterns": ["closed", "shut"]}}]
    checkout.change("hr-core-1", user_prompt="Close it now.", verifiers=verifiers)


def removed(checkout: Checkout) -> None:
    before = checkout.suites["hr-core"]
    checkout.suites["hr-core"] = replace(before, rows={"hr-core-2": before.rows["hr-core-2"]})


def new_world(checkout: Checkout) -> None:
    for name, suite in checkout.suites.items():
        checkout.suites[name] = replace(suite, seeds={"itsm/works": "INSERT INTO incident VALUES (2);"})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            corrected,
            (
                "hr-core-1: user_prompt, verifiers[0].validation_config.patterns differs from the row that edition "
                "2026-12 pins; restore it, or open an edition with `python -m opsgym_suites --open NAME` and give the "
                "reason as a line `corrected hr-core-1: WHY` in suites/editions/NAME.txt"
            ),
        ),
        (
            removed,
            (
                "hr-core-1: is missing, unlike the row that edition 2026-12 pins; restore it, or open an edition with "
                "`python -m opsgym_suites --open NAME` and give the reason as a line `removed hr-core-1: WHY` in "
                "suites/editions/NAME.txt"
            ),
        ),
    ],
)
def test_a_pinned_row_changes_only_for_a_reason(
    checkout: Checkout, change: Callable[[Checkout], None], problem: str
) -> None:
    checkout.pin("2026-12")
    change(checkout)
    assert checkout.problems == [problem]
    checkout.reason("2027-03")
    assert checkout.problems == [
        problem.replace("open an edition with `python -m opsgym_suites --open NAME` and ", "").replace(
            "NAME", "2027-03"
        )
    ]
    kind = "corrected" if change is corrected else "removed"
    checkout.reason("2027-03", f"{kind} hr-core-1: two readings")
    assert checkout.problems == []


def test_a_task_is_added_without_a_reason(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    before = checkout.suites["hr-core"]
    checkout.suites["hr-core"] = replace(before, rows={"hr-core-0": row("hr-core-0"), **before.rows})
    assert checkout.problems == []


def test_a_pinned_seed_never_changes_even_for_a_reason(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    new_world(checkout)
    checkout.reason("2027-03")
    problem = (
        "seed itsm/works: differs from the one that edition 2026-12 pins; a pinned seed never changes, because its "
        "tasks would start elsewhere: restore it, and write the change as a new seed, such as itsm/works-2"
    )
    assert set(checkout.problems) == {problem}


def test_a_reason_for_what_did_not_change_and_an_unreadable_line_are_named(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    checkout.reason("2027-03", "corrected hr-core-2: nothing", "hr-core-1: forgot the kind")
    assert checkout.problems == [
        "suites/editions/2027-03.txt: 'hr-core-1: forgot the kind' is not `corrected TASK: WHY` or `removed TASK: WHY`",
        "suites/editions/2027-03.txt: corrected hr-core-2: the row is as edition 2026-12 pins it; delete the line",
    ]


def test_a_file_of_a_pinned_edition_that_was_edited_is_named(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    rows = [row("hr-core-1", "Another."), row("hr-core-2")]
    write(checkout.data("hr-core") / "editions" / "hr-core@2026-12.jsonl.zst", json_lines(rows))
    assert checkout.problems == ["hr-core@2026-12: rows and list do not fit together; restore both from the history"]


# Opening and pinning


def test_the_next_edition_replaces_the_pinned_one_and_reports_what_changed(checkout: Checkout) -> None:
    checkout.pin("2026-12")
    corrected(checkout)
    before = checkout.suites["itsm-core"]
    only, new = before.rows["itsm-core-2"], row("itsm-core-3")
    checkout.suites["itsm-core"] = replace(before, rows={"itsm-core-2": only, "itsm-core-3": new})
    checkout.write()
    checkout.reason("2027-03", "corrected hr-core-1: two readings", "removed itsm-core-1: cannot be solved")
    assert list(checkout.files.report("2027-03", checkout.suites)) == [
        "edition 2027-03, since 2026-12: 3 changes",
        "  corrected  hr-core-1 (user_prompt, verifiers[0].validation_config.patterns): two readings",
        "  added      itsm-core-3",
        "  removed    itsm-core-1: cannot be solved",
    ]
    checkout.pin("2027-03")
    assert (checkout.files.newest, checkout.files.opened) == ("2027-03", "")
    assert editions("hr-core") == ["2027-03"]
    assert [each["task_id"] for each in suite_rows("itsm-core")] == ["itsm-core-2", "itsm-core-3"]
    assert suite_rows("hr-core")[0]["user_prompt"] == "Close it now."
    with pytest.raises(UnknownSuiteError, match="editions in this release: 2027-03, next"):
        suite_rows("hr-core@2026-12")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("2026-11", "edition '2026-11' is not newer than 2026-12, which is pinned"),
        ("2026-12", "edition '2026-12' is not newer than 2026-12, which is pinned"),
        ("spring", "an edition is named by its month or day, such as 2026-12 or 2026-12-15, not 'spring'"),
        ("next", "an edition is named by its month or day, such as 2026-12 or 2026-12-15, not 'next'"),
    ],
)
def test_an_edition_is_named_by_a_date_after_the_pinned_one(checkout: Checkout, name: str, problem: str) -> None:
    checkout.pin("2026-12")
    assert checkout.files.open(name) == problem
    assert checkout.files.pin(name, checkout.suites, checkout.selected) == problem


def test_one_edition_is_open_at_a_time_and_only_that_one_is_pinned(checkout: Checkout) -> None:
    assert checkout.files.open("2026-12") == ""
    assert checkout.files.open("2026-12") == ""
    assert "edition 2026-12 is open" in checkout.files.open("2027-03")
    assert "edition 2027-03 is not open" in checkout.files.pin("2027-03", checkout.suites, checkout.selected)


def test_reasons_are_lines_and_comments_are_not() -> None:
    reasons = Reasons.parse("# head\n\ncorrected a: one: two\nremoved b: x\ncorrected c:\nadded d: y\n")
    assert reasons.by_change == {("corrected", "a"): "one: two", ("removed", "b"): "x"}
    assert reasons.faults == ["corrected c:", "added d: y"]


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, []),
        ({"a": 1, "b": 2}, {"a": 2, "c": 3}, ["a", "b", "c"]),
        ({"tools": ["x", "y"]}, {"tools": ["y", "x"]}, ["tools"]),
        ({"rows": [{"k": 1}]}, {"rows": [{"k": 2}, {"k": 3}]}, ["rows[0].k", "rows[1]"]),
    ],
)
def test_the_fields_that_differ_are_named_by_path(before: Any, after: Any, fields: list[str]) -> None:
    assert list(differing_fields(before, after)) == fields


# The repository


def test_the_pinned_edition_of_the_repository_has_the_rows_that_it_lists() -> None:
    for name in registry.suites():
        for edition in editions(name) if name != registry.WHOLE else []:
            digests = {each["task_id"]: row_digest(each) for each in suite_rows(f"{name}@{edition}")}
            assert digests == listing(name, edition).rows


def test_a_cluster_reads_the_edition_that_a_name_means(
    checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.pin("2026-12")
    checkout.change("hr-core-1", user_prompt="Close it now.")
    exported = {}
    for name in ("hr-core", "hr-core@2026-12", "hr-core@next"):
        assert suites.main(["export", name, str(tmp_path / name)]) == 0
        text = (tmp_path / name / "tasks.jsonl").read_text(encoding="utf-8")
        exported[name] = ((tmp_path / name / "edition").read_text(), "Close it now." in text)
    assert exported == {
        "hr-core": ("2026-12", False), "hr-core@2026-12": ("2026-12", False), "hr-core@next": ("next", True),
    }  # fmt: skip
    assert suites.main(["export", "hr-core@2026-11", str(tmp_path / "none")]) == suites.EXIT_UNKNOWN
    assert "editions in this release: 2026-12, next" in capsys.readouterr().err
