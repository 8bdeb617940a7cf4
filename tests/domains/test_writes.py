"""Tools of every domain that write: what they make, change and delete, and that they touch nothing else.

Every tool is tried: tables, columns, defaults and references are the domain's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import Table
from tests.domains.declaration import DomainDeclaration, Tables, UpdateTool, as_argument
from tests.support.gym import Gym, GymDatabase, Outcome


def test_every_tool_that_writes_is_declared_once(declared: DomainDeclaration) -> None:
    names = [*declared.creates, *declared.updates, *declared.deletes, *declared.other_writes]
    assert sorted(names) == sorted(name for name, tool in declared.tools.items() if tool.writes)


def stored(value: Any) -> Any:
    """A returned value as SQLite has it."""
    if isinstance(value, list | Mapping):
        return json.dumps(value, ensure_ascii=False)
    is_time = isinstance(value, str) and len(value) == 19 and value[10] == "T"
    return value.replace("T", " ") if is_time else value


def differing_tables(before: Tables, after: Tables) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def flat(arguments: Mapping[str, Any], columns: Mapping[str, str], table: Table) -> dict[str, Any]:
    """Columns that a call sets; the fields of an object argument without a column stand beside the others, blank ones
    set nothing.
    """
    values: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, Mapping) and name not in table.columns:
            values |= {inner: given for inner, given in value.items() if given != ""}
        else:
            values[columns.get(name, name)] = value
    return values


def is_text_of_number(values: Mapping[str, Any], argument: str, row: Mapping[str, Any]) -> bool:
    """Whether a call gives a number as text, as some servers want ids."""
    return isinstance(values[argument], str) and isinstance(row.get(argument), int)


# --- creates -------------------------------------------------------------------------------------------------------


def created_row_problems(
    declared: DomainDeclaration, database: GymDatabase, name: str, optional: Mapping[str, Any]
) -> list[str]:
    tool = declared.creates[name]
    given = declared.examples[name] if tool.given is None else tool.given
    table = declared.domain.metadata.tables[tool.table]
    expected = {**flat(given, tool.columns, table), **tool.filled, **flat(optional, tool.columns, table)}
    expected |= {name: value for name, value in tool.by_name.items() if name in {**given, **optional}}
    for kind in ("created", "updated"):
        if column := declared.time_column(tool.table, kind):
            expected[column] = declared.now
    before = declared.tables(database)
    outcome = database.call_with(name, {**given, **optional})
    if outcome.is_error:
        return [f"{name}: {outcome.text}"]
    row, after = outcome.data, declared.tables(database)
    problems = [
        f"{name}: {column} is {row.get(column, 'absent')!r} instead of {value!r}"
        for column, value in expected.items()
        if row.get(column, "absent") != value
    ]
    if differing_tables(before, after) != {tool.table, *tool.also_writes}:
        problems.append(f"{name}: changed the tables {differing_tables(before, after)}")
    if list(after[tool.table])[:-1] != list(before[tool.table]):
        problems.append(f"{name}: changed other rows of {tool.table}")
    columns = declared.domain.metadata.tables[tool.table].columns.keys()
    last = dict(zip(columns, after[tool.table][-1], strict=True))
    problems += [
        f"{name}: returned {column} {row[column]!r}, stored {value!r}"
        for column, value in last.items()
        if column in row and stored(row[column]) != value
    ]
    return problems


def test_a_new_row_has_the_next_key_the_given_values_the_defaults_and_the_time(
    declared: DomainDeclaration, gym: Gym
) -> None:
    problems: list[str] = []
    for name, tool in declared.creates.items():
        for optional in ({}, tool.optional) if tool.optional else ({},):
            with declared.database(gym) as database:
                problems += created_row_problems(declared, database, name, optional)
    assert problems == []


# --- updates -------------------------------------------------------------------------------------------------------


def fields(declared: DomainDeclaration, name: str, tool: UpdateTool) -> dict[str, tuple[str | None, str]]:
    """What an update may change: object argument that holds it, if one does, and column, by argument."""
    changeable: dict[str, tuple[str | None, str]] = {}
    for argument, parameter in declared.tools[name].parameters.items():
        if argument in (tool.key, *tool.other_keys):
            continue
        if parameter.fields and argument not in declared.domain.metadata.tables[tool.table].columns:
            changeable |= {field: (argument, field) for field in parameter.fields}
        else:
            changeable[argument] = None, tool.columns.get(argument, argument)
    return changeable


def stored_values(declared: DomainDeclaration, database: GymDatabase, name: str) -> dict[str, Any]:
    """Arguments that set every field which has a value to this value."""
    tool = declared.updates[name]
    row = declared.row(database, tool.table, tool.record)
    arguments: dict[str, Any] = {}
    for field, (holder, column) in fields(declared, name, tool).items():
        if row[column] is None:
            continue
        if holder is None:
            arguments[field] = declared.as_argument(name, field, row[column], tool.by_name)
        else:
            arguments.setdefault(holder, {})[field] = row[column]
    return arguments


def test_an_update_changes_the_given_fields_and_the_time_of_update_only(declared: DomainDeclaration, gym: Gym) -> None:
    problems: list[str] = []
    for name, tool in declared.updates.items():
        example = declared.examples[name]
        record = tool.record if tool.values else example[tool.key]
        values = tool.values or {argument: value for argument, value in example.items() if argument != tool.key}
        steps = [values] if tool.whole else [{argument: value} for argument, value in values.items()]
        with declared.database(gym) as database:
            required = {argument: declared.row(database, tool.table, record)[argument] for argument in tool.always}
            for step in ({**required, **step} for step in steps):
                problems += updated_row_problems(declared, database, name, record, step)
    assert problems == []


def updated_row_problems(
    declared: DomainDeclaration, database: GymDatabase, name: str, record: Any, values: Mapping[str, Any]
) -> list[str]:
    tool = declared.updates[name]
    moved = declared.time_column(tool.table, "updated")
    row, before = declared.row(database, tool.table, record), declared.tables(database)
    outcome = database.call_with(name, {tool.key: record, **values})
    if outcome.is_error:
        return [f"{name} {values}: {outcome.text}"]
    table = declared.domain.metadata.tables[tool.table]
    after = declared.row(database, tool.table, record)
    named = {argument for argument in values if argument in tool.by_name or is_text_of_number(values, argument, after)}
    given = flat({argument: values[argument] for argument in values if argument not in named}, tool.columns, table)
    expected = row | {column: stored(value) for column, value in given.items()} | {name: after[name] for name in named}
    problems = [] if row != expected else [f"{name} {values}: the declared values are the stored ones"]
    expected |= {moved: declared.now.replace("T", " ")} if moved else {}
    problems += [
        f"{name} {values}: {column} is {after[column]!r}" for column in row if after[column] != expected[column]
    ]
    problems += [
        f"{name} {values}: {argument} is {after[argument]!r}"
        for argument in named
        if declared.as_argument(name, argument, after[argument], tool.by_name) != values[argument]
    ]
    problems += [
        f"{name} {values}: returned {column} {value!r}"
        for column, value in outcome.data.items()
        if column in expected and stored(value) != expected[column]
    ]
    changed = declared.tables(database)
    if not differing_tables(before, changed) <= {tool.table, *tool.also_writes}:
        problems.append(f"{name} {values}: changed the tables {differing_tables(before, changed)}")
    if sum(old != new for old, new in zip(before[tool.table], changed[tool.table], strict=True)) > 1:
        problems.append(f"{name} {values}: changed other rows")
    return problems


def test_an_update_to_the_stored_values_is_refused_or_only_moves_the_time_of_update(
    declared: DomainDeclaration, gym: Gym
) -> None:
    problems: list[str] = []
    with declared.database(gym) as database:
        for name, tool in declared.updates.items():
            before = declared.row(database, tool.table, tool.record)
            arguments = {tool.key: tool.record, **stored_values(declared, database, name)}
            assert len(arguments) >= 3, f"the record of {name} has too few values"
            outcome = database.call_with(name, arguments)
            moved = None if declared.refuses_no_op else declared.time_column(tool.table, "updated")
            expected = before | ({moved: declared.now} if moved else {})
            answered = refused(outcome, "NO_CHANGES_DETECTED") if declared.refuses_no_op else not outcome.is_error
            if not answered or declared.row(database, tool.table, tool.record) != expected:
                problems.append(f"{name}: {outcome.text}")
    assert problems == []


def test_an_update_without_a_field_is_refused_before_its_row_is_looked_up(
    declared: DomainDeclaration, unchanged: GymDatabase
) -> None:
    outcomes = {
        (name, str(given)): unchanged.call_with(name, given)
        for name, tool in declared.updates.items()
        if not tool.whole and not tool.always
        for key in (tool.record, as_argument(declared.tools[name], tool.key, declared.unknown_key))
        for given in ({tool.key: key}, {**dict.fromkeys(declared.tools[name].parameters), tool.key: key})
    }
    assert {
        call: outcome.text for call, outcome in outcomes.items() if not refused(outcome, "NO_FIELDS_TO_UPDATE")
    } == {}


def refused(outcome: Outcome, code: str) -> bool:
    return outcome.is_error and outcome.codes == [code]


def test_an_update_of_an_unknown_row_is_refused_and_names_the_key(
    declared: DomainDeclaration, unchanged: GymDatabase
) -> None:
    problems: list[str] = []
    for name, tool in declared.updates.items():
        values = stored_values(declared, unchanged, name)
        unknown = as_argument(declared.tools[name], tool.key, declared.unknown_key)
        outcome = unchanged.call_with(name, {**values, tool.key: unknown})
        if not refused(outcome, tool.missing) or repr(declared.unknown_key) not in outcome.text:
            problems.append(f"{name}: {outcome.text}")
    assert problems == []


# --- references ----------------------------------------------------------------------------------------------------


def selects(declared: DomainDeclaration, name: str, argument: str) -> bool:
    """Whether an argument selects the row that is written."""
    update = declared.updates.get(name)
    keys = () if update is None else (update.key, *update.other_keys)
    return argument in keys or (name, argument) in declared.selecting


@pytest.mark.declares("references")
def test_a_reference_to_an_unknown_row_is_refused_by_the_name_of_the_record(
    declared: DomainDeclaration, unchanged: GymDatabase
) -> None:
    references = [
        (name, argument)
        for name, tool in declared.tools.items()
        if tool.writes and name not in declared.deletes
        for argument in tool.parameters
        if argument in declared.references and not selects(declared, name, argument)
    ]
    assert len(references) > 40
    problems: list[str] = []
    for name, argument in references:
        unknown = as_argument(declared.tools[name], argument, declared.unknown_key)
        outcome = unchanged.call_with(name, {**declared.examples[name], argument: unknown})
        if not refused(outcome, declared.references[argument]) or repr(declared.unknown_key) not in outcome.text:
            problems.append(f"{name} {argument}: {outcome.text}")
    assert problems == []


# --- deletes -------------------------------------------------------------------------------------------------------


def test_a_delete_removes_the_selected_rows_and_nothing_else(declared: DomainDeclaration, gym: Gym) -> None:
    problems: list[str] = []
    for name, tool in declared.deletes.items():
        for arguments, keys in tool.removes:
            with declared.database(gym) as database:
                before = declared.tables(database)
                outcome = database.call_with(name, arguments)
                after = declared.tables(database)
            removed = {row[0] for row in before[tool.table]} - {row[0] for row in after[tool.table]}
            if outcome.is_error or removed != keys or differing_tables(before, after) != {tool.table}:
                problems.append(f"{name} {arguments}: removed {removed}; {outcome.text}")
            elif not reports_removed(outcome.data, keys):
                problems.append(f"{name} {arguments}: reports {outcome.text}")
    assert problems == []


def reports_removed(data: Any, keys: Any) -> bool:
    """Whether a result says how many rows are gone, or which."""
    if not isinstance(data, Mapping):
        return data is True
    count = data.get("deleted", data.get("deleted_count"))
    lists = [value for value in data.values() if isinstance(value, list)]
    listed = {next(iter(row.values())) for rows in lists for row in rows}
    return count in (None, len(keys)) and (not lists or listed == keys)


def test_a_delete_that_selects_nothing_is_refused(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    outcomes = {
        (name, str(given)): (unchanged.call_with(name, given), tool.incomplete_code)
        for name, tool in declared.deletes.items()
        for given in tool.incomplete
    }
    assert {
        call: outcome.text
        for call, (outcome, code) in outcomes.items()
        if not outcome.is_error or set(outcome.codes) != {code}
    } == {}


def test_a_delete_of_rows_that_do_not_exist_changes_nothing(
    declared: DomainDeclaration, unchanged: GymDatabase
) -> None:
    problems: list[str] = []
    for name, tool in declared.deletes.items():
        for given, code in tool.misses:
            outcome = unchanged.call_with(name, given)
            right = outcome.data == {"deleted": 0} if code is None else refused(outcome, code)
            if not right:
                problems.append(f"{name} {given}: {outcome.text}")
    assert problems == []
