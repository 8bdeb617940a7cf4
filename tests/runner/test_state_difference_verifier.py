"""`state_difference` verifiers: which final states pass, and which row and column a failure names."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_api.tasks.expected_difference import ExpectedDifference
from opsgym_runner.verification.state_difference import Findings, TooManyAssignmentsError, judge_difference

Rows = list[tuple[str, RowDifference]]


def changed(table: str, key: Any, before: dict[str, Any] | None = None, **after: Any) -> tuple[str, RowDifference]:
    old = before or dict.fromkeys(after, "before")
    return table, RowDifference(change="changed", key={f"{table}_id": key}, before=old, after=after)


def added(table: str, key: Any, **after: Any) -> tuple[str, RowDifference]:
    row = {f"{table}_id": key, **after}
    return table, RowDifference(change="added", key={f"{table}_id": key}, after=row)


def removed(table: str, key: Any) -> tuple[str, RowDifference]:
    row = {f"{table}_id": key}
    return table, RowDifference(change="removed", key=row, before=row)


def difference(*rows: tuple[str, RowDifference]) -> StateDifference:
    tables: dict[str, list[RowDifference]] = {}
    for table, row in rows:
        tables.setdefault(table, []).append(row)
    return StateDifference(tables=[TableDifference(table=table, rows=rows) for table, rows in sorted(tables.items())])


IGNORED = {"case": ["case_id"], "note": ["note_id"], "incident": ["updated_at"]}


def config(*rows: dict[str, Any], nothing_else: bool = True) -> ExpectedDifference:
    return ExpectedDifference.model_validate({"rows": rows, "nothing_else": nothing_else, "ignored": IGNORED})


def judged(expected: ExpectedDifference, *rows: tuple[str, RowDifference]) -> Findings:
    return judge_difference({0: expected}, difference(*rows))[0]


def passes(expected: ExpectedDifference, *rows: tuple[str, RowDifference]) -> bool:
    findings = judged(expected, *rows)
    return not findings.unmet and not findings.unexpected


def of_incident(key: str = "INC_1", **more: Any) -> dict[str, Any]:
    return {"table": "incident", "change": "changed", "keys": [{"incident_id": key}], **more}


def new(table: str, **more: Any) -> dict[str, Any]:
    return {"table": table, "change": "added", **more}


# Columns that an added row must not have


@pytest.mark.parametrize("value", [0, "", False, "text"])
def test_an_added_row_holds_nothing_that_is_not_expected_but_null(value: object) -> None:
    expected = config(new("note", values={"text": "Done"}))
    assert passes(expected, added("note", 1, text="Done", extra=None))
    assert not passes(expected, added("note", 1, text="Done", extra=value))


# Conditions


@pytest.mark.parametrize(
    ("condition", "right", "wrong"),
    [
        ("resolved", ["resolved"], ["Resolved", "resolved ", None, 1]),
        (3, [3, 3.0, "3"], [4, None, "three"]),
        (True, [1, True], [0, None]),
        (None, [None], ["", 0]),
        ("2026-11-16T10:00:00", ["2026-11-16 10:00:00", "2026-11-16T11:00:00+01:00"], ["2026-11-16 10:00:01", "now"]),
        ({"equals": {"a": [1]}}, [{"a": [1.0]}], [{"a": []}, '{"a": [1]}']),
        ({"has": "Firmware 7.2"}, ["the firmware\n 7.2 helped"], ["firmware 7", None]),
        ({"has": ["a", "b"]}, ["B and A"], ["a"]),
        ({"any_of": ["x", None, 2]}, ["x", None, 2, "2"], ["y", 3]),
        ({"not_null": True}, ["", 0, "x"], [None]),
        ({"matches": r"^INC\d+$"}, ["INC12"], ["inc12", "INC", None]),
        ({"at_least": 2}, [2, 3.5, "4"], [1, None, "many"]),
        ({"at_least": 1, "at_most": 2}, [1, 2, 1.5], [0.9, 2.1]),
        (
            {"at_least": "2026-11-16T10:00:00", "at_most": "2026-11-16 11:00"},
            ["2026-11-16 10:00:00", "2026-11-16T10:30:00"],
            ["2026-11-16 09:59:59", "2026-11-16 12:00:00", 10],
        ),
        ({"text": "Gone for good."}, ["gone  for good", "Gone for good!"], ["gone", "it is gone for good", None]),
    ],
    ids=str,
)
def test_conditions(condition: object, right: list[Any], wrong: list[Any]) -> None:
    expected = config(of_incident(values={"status": condition}))
    assert [value for value in right if not passes(expected, changed("incident", "INC_1", status=value))] == []
    assert [value for value in wrong if passes(expected, changed("incident", "INC_1", status=value))] == []


def test_a_table_whose_columns_are_all_ignored_is_not_judged() -> None:
    expected = ExpectedDifference.model_validate({"nothing_else": True, "ignored": {"log": ["*"]}})
    assert passes(expected, added("log", 1, text="read"), changed("log", 2, text="read"), removed("log", 3))
    assert not passes(expected, added("log", 1, text="read"), added("note", 1, text="read"))


# Cases: what is expected, what is there, and the messages

RESOLVED = of_incident(values={"status": "resolved"}, may=["resolved"])
HIGH = new("case", values={"priority": "high"})
NOTED = new("note", values={"text": {"has": "done"}})


@pytest.mark.parametrize(
    ("expected", "rows"),
    [
        (config(), []),
        (config(RESOLVED), [changed("incident", "INC_1", status="resolved")]),
        (config(RESOLVED), [changed("incident", "INC_1", status="resolved", resolved="now", updated_at="now")]),
        (config(), [changed("incident", "INC_1", updated_at="now")]),
        (
            config(of_incident(values={"status": "x"}, may={"urgency": {"any_of": ["low", "high"]}})),
            [changed("incident", "INC_1", status="x", urgency="low")],
        ),
        (config(of_incident(may=["urgency"], optional=True)), []),
        (config(of_incident(may=["urgency"], optional=True)), [changed("incident", "INC_1", urgency="low")]),
        (
            config(RESOLVED | {"keys": [{"incident_id": "INC_1"}, {"incident_id": "INC_2"}]}),
            [changed("incident", key, status="resolved") for key in ("INC_2", "INC_1")],
        ),
        (
            config(of_incident(values={"status": "x"}), of_incident(values={"urgency": "y"})),
            [changed("incident", "INC_1", status="x", urgency="y")],
        ),
        (config(HIGH | {"count": 2}), [added("case", 7, priority="high"), added("case", 8, priority="high")]),
        (config(HIGH), [added("case", 7, priority="high", note=None)]),
        (config(HIGH | {"may": ["note"]}), [added("case", 7, priority="high", note="x")]),
        (config(HIGH | {"may": {"note": "x"}}), [added("case", 7, priority="high", note=None)]),
        (config(HIGH | {"optional": True}), []),
        (config(HIGH | {"optional": True}), [added("case", 7, priority="high")]),
        (config({"table": "case", "change": "removed", "keys": [{"case_id": "7"}]}), [removed("case", 7)]),
        (
            config({"table": "member", "change": "removed", "keys": [{"who": "ann"}]}),
            [("member", RowDifference(change="removed", key={}, before={"who": "ann", "group": 1}))] * 2,
        ),
    ],
)
def test_what_passes(expected: ExpectedDifference, rows: Rows) -> None:
    assert judged(expected, *rows) == Findings([], [])


@pytest.mark.parametrize(
    ("expected", "rows", "unmet", "unexpected"),
    [
        (
            config(RESOLVED),
            [changed("incident", "INC_1", status="open")],
            ["incident INC_1: column status is 'open', expected 'resolved'"],
            [],
        ),
        (config(RESOLVED), [], ["incident INC_1: column status is unchanged, expected 'resolved'"], []),
        (
            config(RESOLVED),
            [changed("incident", "INC_1", resolved="now")],
            ["incident INC_1: column status is unchanged, expected 'resolved'"],
            [],
        ),
        (config(RESOLVED), [removed("incident", "INC_1")],
            ["incident INC_1: was removed, expected it to be changed"], ["incident INC_1: was removed, unexpected"]),
        (
            config(RESOLVED),
            [changed("incident", "INC_1", {"status": "new", "urgency": "low"}, status="resolved", urgency="high")],
            [],
            ["incident INC_1: column urgency is 'high', expected it to stay 'low'"],
        ),
        (
            config(of_incident(values={"status": "x"}, may={"urgency": "low"})),
            [changed("incident", "INC_1", status="x", urgency="high")],
            ["incident INC_1: column urgency is 'high', expected 'low'"],
            [],
        ),
        (
            config(of_incident(values={"status": "x"}, optional=True)),
            [changed("incident", "INC_1", status="y")],
            [],
            ["incident INC_1: column status is 'y', expected it to stay 'before'"],
        ),
        (config(HIGH), [], ["case: no row was added with priority 'high'"], []),
        (
            config(HIGH),
            [added("case", 7, priority="low"), added("note", 1, text="x")],
            ["case 7, the nearest added row: column priority is 'low', expected 'high'"],
            ["note 1: was added, unexpected"],
        ),
        (
            config(HIGH),
            [added("case", 7, priority="high", cause="moon")],
            ["case 7, the nearest added row: column cause is 'moon', expected null"],
            [],
        ),
        (
            config(HIGH | {"may": {"note": "x"}}),
            [added("case", 7, priority="high", note="y")],
            ["case 7, the nearest added row: column note is 'y', expected 'x'"],
            [],
        ),
        (config(HIGH), [added("case", 7, priority="high"), added("case", 8, priority="high")], [],
            ["case 8: was added, unexpected"]),
        (config(HIGH | {"count": 2}), [added("case", 7, priority="high")],
            ["case: no row was added with priority 'high'"], []),
        (
            config(HIGH | {"optional": True}),
            [added("case", 7, priority="low")],
            [],
            ["case 7: was added, unexpected; as an optional row: column priority is 'low', expected 'high'"],
        ),
        (config(), [removed("case", 7)], [], ["case 7: was removed, unexpected"]),
        (
            config({"table": "case", "change": "removed", "keys": [{"case_id": 7}]}),
            [changed("case", 7, priority="low")],
            ["case 7: was changed, expected it to be removed"],
            ["case 7: column priority is 'low', expected it to stay 'before'"],
        ),
        (config({"table": "case", "change": "removed", "keys": [{"case_id": 7}]}), [],
            ["case 7: is still there, expected it to be removed"], []),
    ],
)  # fmt: skip
def test_what_fails_names_row_and_column(
    expected: ExpectedDifference, rows: Rows, unmet: list[str], unexpected: list[str]
) -> None:
    assert judged(expected, *rows) == Findings(unmet, unexpected)


def test_without_nothing_else_only_its_own_rows_count() -> None:
    rows = [changed("incident", "INC_1", status="resolved", urgency="x"), added("case", 7, priority="low")]
    assert passes(config(RESOLVED, nothing_else=False), *rows)


def test_verifiers_are_judged_together_and_each_reports_its_own() -> None:
    expected = {
        3: config(of_incident(values={"status": "resolved"}), nothing_else=False),
        5: config(of_incident(values={"urgency": "low"}), HIGH, nothing_else=False),
        8: config(),
    }
    rows = [changed("incident", "INC_1", status="open", urgency="low"), added("case", 7, priority="high")]
    findings = judge_difference(expected, difference(*rows, removed("note", 1)))
    assert findings == {
        3: Findings(["incident INC_1: column status is 'open', expected 'resolved'"], []),
        5: Findings([], []),
        8: Findings([], ["note 1: was removed, unexpected"]),
    }


# Assignment


def test_a_row_that_serves_two_expectations_serves_the_one_that_has_no_other() -> None:
    loose, exact = new("case", values={"priority": {"not_null": True}}), HIGH
    rows = [added("case", 7, priority="high"), added("case", 8, priority="low")]
    for expected in (config(loose, exact), config(exact, loose)):
        assert passes(expected, *rows)
        assert passes(expected, *reversed(rows))
        assert not passes(expected, rows[1], added("case", 9, priority="low"))


def test_a_required_row_is_served_before_an_optional_one() -> None:
    optional = HIGH | {"optional": True}
    assert passes(config(optional, HIGH), added("case", 7, priority="high"))
    assert not passes(config(optional, HIGH), *(added("case", key, priority="high") for key in (7, 8, 9)))


EITHER = {"either": [[RESOLVED], [of_incident(values={"status": "closed"}), NOTED], []]}


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ([changed("incident", "INC_1", status="resolved")], True),
        ([changed("incident", "INC_1", status="closed"), added("note", 1, text="done")], True),
        ([], True),
        ([changed("incident", "INC_1", status="closed")], False),
        ([changed("incident", "INC_1", status="resolved"), added("note", 1, text="done")], False),
        ([added("note", 1, text="done")], False),
    ],
)
def test_exactly_one_alternative_is_expected(rows: Rows, right: bool) -> None:
    assert passes(config(EITHER), *rows) == right


def test_of_two_alternatives_the_one_that_covers_more_is_chosen() -> None:
    either = {"either": [[RESOLVED], [RESOLVED, NOTED]]}
    assert passes(config(either), changed("incident", "INC_1", status="resolved"), added("note", 1, text="done"))


def test_a_failure_names_the_nearest_alternative() -> None:
    either = {"either": [[of_incident(values={"status": "a", "urgency": "b"})], [HIGH, NOTED]]}
    assert judged(config(either), changed("incident", "INC_1", status="a")).unmet == [
        "incident INC_1: column urgency is unchanged, expected 'b' (the nearest of 2 alternatives)"
    ]


def test_many_independent_alternatives_are_judged_one_by_one() -> None:
    items = [
        {"either": [[of_incident(f"INC_{n}", values={"status": status})] for status in ("a", "b", "c")]}
        for n in range(40)
    ]
    assert passes(config(*items), *(changed("incident", f"INC_{n}", status="abc"[n % 3]) for n in range(40)))


def test_too_many_alternatives_for_the_same_rows_are_refused() -> None:
    items = [
        {"either": [[new("case", values={"priority": "high"})], [new("case", values={"priority": {"has": str(n)}})]]}
        for n in range(20)
    ]
    with pytest.raises(TooManyAssignmentsError):
        judged(config(*items), added("case", 7, priority="high"))


# References


CASE = new("case", values={"priority": "high"}, **{"as": "case"})
NOTE = new("note", values={"case": {"key_of": "case"}})


def test_a_reference_means_the_key_of_the_named_row() -> None:
    assert passes(config(CASE, NOTE), added("note", 1, case=7), added("case", 7, priority="high"))
    findings = judged(config(CASE, NOTE), added("note", 1, case=8), added("case", 7, priority="high"))
    assert findings.unmet == ["note 1, the nearest added row: column case is 8, expected the key of 'case'"]
    assert judged(config(CASE, NOTE), added("note", 1, case=8)).unmet == [
        "case: no row was added with priority 'high'",
        "note 1, the nearest added row: column case is 8, expected the key of 'case'",
    ]


def test_references_to_a_row_that_differs_are_judged_all_the_same() -> None:
    assert judged(config(CASE, NOTE), added("note", 1, case=7), added("case", 7, priority="low")).unmet == [
        "case 7, the nearest added row: column priority is 'low', expected 'high'"
    ]


def test_rows_that_only_references_tell_apart_are_assigned_consistently() -> None:
    def pair(name: str, text: str) -> list[dict[str, Any]]:
        named = new("case", values={"priority": "high"}, **{"as": name})
        return [named, new("note", values={"case": {"key_of": name}, "text": text})]

    expected = config(*pair("one", "a"), *pair("two", "b"))
    cases = [added("case", 7, priority="high"), added("case", 8, priority="high")]
    assert passes(expected, *cases, added("note", 1, case=8, text="a"), added("note", 2, case=7, text="b"))
    assert not passes(expected, *cases, added("note", 1, case=8, text="a"), added("note", 2, case=8, text="b"))


def test_a_named_row_may_refer_to_another() -> None:
    child = new("case", values={"parent": {"key_of": "case"}}, **{"as": "child"})
    note = new("note", values={"case": {"key_of": "child"}})
    rows = [added("case", 7, priority="high"), added("case", 8, parent=7), added("note", 1, case=8)]
    assert passes(config(note, child, CASE), *rows)
    assert not passes(config(note, child, CASE), *rows[:2], added("note", 1, case=7))


def test_a_key_of_several_columns_is_referred_to_by_the_column_of_the_same_name() -> None:
    named = new("member", values={"group": 1, "user": 2}, **{"as": "member"})
    key = {"group": 1, "user": 2}
    member = "member", RowDifference(change="added", key=key, after=key)
    for value, right in ((2, True), (1, False)):
        expected = config(named, new("note", values={"user": {"key_of": "member"}}))
        assert passes(expected, member, added("note", 1, user=value)) == right


# Order

statuses = st.sampled_from(["a", "b"])
some_rows = st.lists(st.tuples(st.sampled_from(["case", "note"]), statuses, st.integers(0, 3)), max_size=5)


@settings(max_examples=60, deadline=None)
@given(rows=some_rows, specified=some_rows, seed=st.integers(0, 1000))
def test_neither_the_order_of_rows_nor_of_expectations_matters(
    rows: list[tuple[str, str, int]], specified: list[tuple[str, str, int]], seed: int
) -> None:
    actual = [added(table, key, status=status) for key, (table, status, _) in enumerate(rows)]
    expected = [
        new(table, values={"status": {"any_of": ["a", "b"]} if number == 0 else status}, optional=number == 1)
        for table, status, number in specified
    ]
    verdict = passes(config(*expected), *actual)
    random.Random(seed).shuffle(actual)
    random.Random(seed).shuffle(expected)
    assert passes(config(*expected), *actual) == verdict


@settings(max_examples=60, deadline=None)
@given(rows=some_rows, seed=st.integers(0, 1000))
def test_a_difference_that_is_expected_row_by_row_passes_and_one_without_a_row_fails(
    rows: list[tuple[str, str, int]], seed: int
) -> None:
    actual = [added(table, key, status=status, rank=rank) for key, (table, status, rank) in enumerate(rows)]
    expected = [new(table, values={"status": status, "rank": rank}) for table, status, rank in rows]
    random.Random(seed).shuffle(expected)
    assert passes(config(*expected), *actual)
    if actual:
        assert not passes(config(*expected), *actual[1:])
        assert not passes(config(*expected[1:]), *actual)


def neutral(table: str, key: Any, **after: Any) -> tuple[str, RowDifference]:
    """An added row that changes nothing in meaning."""
    return table, added(table, key, **after)[1].model_copy(update={"neutral": True})


def of_note(**values: Any) -> dict[str, Any]:
    return {"table": "note", "change": "added", "values": values}


def test_a_neutral_row_is_never_unexpected_and_meets_an_expectation() -> None:
    assert passes(config(), neutral("note", 1, text="default"))
    assert not passes(config(), added("note", 1, text="default"))
    assert passes(config(of_note(text="default")), neutral("note", 1, text="default"))


def test_a_neutral_row_leaves_an_expectation_to_a_row_that_is_not() -> None:
    rows = [neutral("note", 1, text="done"), added("note", 2, text="done")]
    assert passes(config(of_note(text="done")), *rows)
    assert not passes(config(of_note(text="done")), *rows, added("note", 3, text="done"))
