"""Variants of seeds and rows: deterministic, injective, without the original's names, in the original's order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import DateTime, Table
from tests.domains.declaration import SOAK

from opsgym_api.kinds.evalrun import Suite
from opsgym_api.kinds.variants import LAST
from opsgym_domains import registry
from opsgym_domains.kit import sqlite
from opsgym_domains.kit.schema import Kind, is_counted
from opsgym_domains.suite_rows import load_suite, suite_rows
from opsgym_domains.variants.companies import rewriting_of
from opsgym_domains.variants.rewriting import Rewriting, Shift
from opsgym_domains.variants.tasks import for_row, varied_rows
from opsgym_domains.variants.words import (
    COMPANY_WORDS,
    FAMILY_NAMES,
    GIVEN_NAMES,
    SITE_WORDS,
    STREET_WORDS,
    TITLE_WORDS,
    ZONES,
)
from opsgym_domains.variants.worlds import YEARS, SeedScripts, World, read_world, rewriting, varied_script

DOMAINS = ["calendar", "csm", "drive", "email", "hr", "itsm", "teams"]
NOW = datetime(2026, 1, 1)  # noqa: DTZ001 - databases store UTC without time zone
CHANGE = Rewriting(
    words={
        "Grace": "Robin",
        "Grace Labs": "Onyx Labs",
        "Ines": "Alex",
        "G100": "Q100",
        "Don": "Nil",
        "João": "Kai",
        "joão": "kai",
    },
    parts={"ines": "alex", "gracelabs": "onyxlabs"},
    codes={"G": "Q"},
    numbers={"INC_": Shift(1000, {1: 2, 2: 1}), "CS-": Shift(5000)},
    keys={"case_id": Shift(5000), "assigned_to": Shift(70)},
    years=11,
    first_year=2024,
    last_year=2028,
    digits=105,
    bits=(0xFF << 120) | 0x3,
)


@cache
def _worlds(domain: str, variant: int) -> tuple[World, World]:
    loaded = registry.load(domain)
    script = next(iter(loaded.seeds.values()))()
    return tuple(
        read_world(loaded.metadata, text) for text in (script, varied_script(loaded.metadata, script, variant))
    )  # type: ignore[return-value]


def test_the_lists_of_words_have_no_word_in_common() -> None:
    words = [*GIVEN_NAMES, *FAMILY_NAMES, *COMPANY_WORDS, *SITE_WORDS, *STREET_WORDS, *TITLE_WORDS]
    assert len({word.lower() for word in words}) == len(words)


@pytest.mark.parametrize(
    ("domain", "seed"), [(domain, seed) for domain in DOMAINS for seed in registry.load(domain).seeds]
)
def test_a_varied_seed_has_no_name_of_the_original(domain: str, seed: str) -> None:
    loaded = registry.load(domain)
    script = loaded.seeds[seed]()
    all_words = rewriting(loaded.metadata, script, 5).words
    words = {name: word for name, word in all_words.items() if name not in all_words.values()}
    capitals = {name for name in words if name[0].isupper() and name.lower() not in script}
    names = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")
    assert {*names.findall(script)} >= capitals
    assert names.findall(varied_script(loaded.metadata, script, 5)) == []
    assert len({*words.values()}) == len(words)
    assert {word for name, word in words.items() if " " not in name} & {*re.findall(r"\w+", script)} == set()


def test_enumerated_cities_trade_places_and_keep_their_countries() -> None:
    before, after = _worlds("csm", 5)
    loaded = registry.load("csm")
    words = rewriting(loaded.metadata, loaded.seeds["quickstart"](), 5).words
    assert before.cities() == after.cities()
    for city, country in before.cities():
        assert words[city] != city
        assert words[city.replace("_", " ").title()] == words[city].replace("_", " ").title()
        assert (words[city], words[country]) in after.cities()


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("years", [0, *YEARS])
def test_cities_that_replace_one_another_have_the_same_clock(zone: str, years: int) -> None:
    city, others = ZONES[zone]
    neighbours = [zone.replace(city, other) for other in others]
    days = [datetime(2026 + years, 3, 1, 12, tzinfo=UTC) + timedelta(days=number) for number in range(365)]
    for neighbour in neighbours:
        one, other = ([day.astimezone(ZoneInfo(name)).utcoffset() for day in days] for name in (zone, neighbour))
        assert one == other, neighbour


def test_amounts_are_multiplied_in_rows_calls_and_the_texts_that_state_them() -> None:
    row: dict[str, Any] = {
        "gold_actions": [{"name": "update_product", "arguments": {"product_id": 7, "product_price": 400}}],
        "verifiers": [],
        "user_prompt": "It costs 50 more, so 400 at 14:00 on day 4 (serial 1400).",
        "user_prompts": ["For 400, that is 50 up."],
    }
    change = for_row(replace(CHANGE, amounts=frozenset({"product_price"}), factor=3), row)
    assert change.value({"product_price": "59.50"}) == {"product_price": "178.50"}
    assert change.value({"column": "product_price", "value": 40}) == {"column": "product_price", "value": 120}
    assert change.value(row["gold_actions"])[0]["arguments"] == {"product_id": 7, "product_price": 1200}
    assert change.text(row["user_prompt"]) == "It costs 150 more, so 1200 at 14:00 on day 4 (serial 1400)."
    assert change.text(row["user_prompts"][0]) == "For 1200, that is 150 up."
    assert change.pattern(r"\b400\b|(?<!\w)50(?!\w)") == r"\b1200\b|(?<!\w)150(?!\w)"


@pytest.mark.parametrize("suite", ["itsm-core", "csm-core", "calendar-core", "hr-core", "teams-core", "drive-core"])
def test_prompts_of_a_variant_name_no_site_or_city_of_the_original(suite: str) -> None:
    texts = {"user_prompt", "gold_actions", "verifiers", "gold_answer"}
    offenders = []
    for task in load_suite(suite, 5):
        names = _sites_and_cities(task.domain, task.gym_servers_config[0].seed_database_file.partition("@")[0])
        text = task.model_dump_json(include=texts).lower()
        within = [name for name in names if name.lower() in text]
        offenders += [f"{task.task_id}: {name}" for name in within if re.search(rf"\b{name.lower()}\b", text)]
    assert offenders == []


@cache
def _sites_and_cities(domain: str, seed: str) -> list[str]:
    """Names of sites, and of cities that time zones are named after."""
    loaded = registry.load(domain)
    world = read_world(loaded.metadata, loaded.seeds[seed.removeprefix("builtin:")]())
    return [*world.texts(Kind.PLACE), *(ZONES[zone][0] for zone in world.texts(Kind.ZONE) if zone in ZONES)]


@pytest.mark.parametrize("variant", [3, 4, 8] if SOAK else [3])
@pytest.mark.parametrize("domain", DOMAINS)
def test_keys_in_the_order_of_creation_stay_so_and_other_rows_trade_places(domain: str, variant: int) -> None:
    for table, rows, varied in _tables(domain, variant):
        created = table.info["created"]
        place = list(table.columns.keys()).index(created) if created else 0
        times = [[row[place] for row in sorted(of, key=_key)] for of in (rows, varied)]
        if is_counted(table) and created and times[0] == sorted(times[0]):
            assert times[1] == sorted(times[1]), table.name
        if len(table.primary_key) == 1 and not is_counted(table) and len(rows) > 9 and len({*times[0]}) == 1:
            assert _repetitions(rows) != _repetitions(varied), table.name


def _repetitions(rows: Sequence[Any]) -> list[list[int]]:
    """Where the values of each column stand first."""
    columns = [[row[index] for row in rows] for index in range(len(rows[0]))]
    return [[values.index(value) for value in values] for values in columns]


def _key(row: Sequence[Any]) -> tuple[int, str]:
    return len(str(row[0])), str(row[0])


def _tables(domain: str, variant: int) -> Iterator[tuple[Table, Sequence[Any], Sequence[Any]]]:
    before, after = _worlds(domain, variant)
    for (table, rows), (_, varied) in zip(before.tables, after.tables, strict=True):
        yield table, rows, varied


@pytest.mark.parametrize("domain", DOMAINS)
def test_times_keep_their_order_and_keys_are_as_many_steps_ahead(domain: str) -> None:
    """Sorted, since rows trade places."""
    for table, rows, varied in _tables(domain, 3):
        for index, column in enumerate(table.columns):
            if isinstance(column.type, DateTime) or (is_counted(table) and column.primary_key):
                assert _sorted_ranks(rows, index) == _sorted_ranks(varied, index), f"{table.name}.{column.name}"


def _sorted_ranks(rows: Any, index: int) -> list[int]:
    values = sorted(str(row[index]) for row in rows if row[index] is not None)
    order = {value: rank for rank, value in enumerate(sorted({*values}))}
    return [order[value] for value in values]


@pytest.mark.parametrize("domain", DOMAINS)
def test_texts_that_were_distinct_remain_distinct(domain: str) -> None:
    before, after = _worlds(domain, 3)
    for (table, rows), (_, varied) in zip(before.tables, after.tables, strict=True):
        for index, column in enumerate(table.columns):
            distinct = [len({row[index] for row in of}) for of in (rows, varied)]
            assert distinct[0] == distinct[1], f"{table.name}.{column.name}"


def test_a_variant_is_the_same_each_time_and_differs_from_the_next_one() -> None:
    loaded = registry.load("csm")
    script = loaded.seeds["quickstart"]()
    first, again, other = (varied_script(loaded.metadata, script, variant) for variant in (4, 4, 5))
    assert first == again
    assert first != other


def test_a_varied_seed_is_read_by_its_name_and_states_a_time() -> None:
    loaded = registry.load("itsm")
    scripts = SeedScripts(loaded.metadata, loaded.seeds)
    assert list(scripts) == list(loaded.seeds)
    assert "desk@9" in scripts
    assert sqlite.run_seed(loaded.metadata, scripts["desk@9"](), NOW).timeless
    assert re.match(r"-- now: (2009|2015|2037|2043|2054)-11-16T10:00:00\n", scripts["desk@9"]())


@pytest.mark.parametrize("name", ["desk@0", "desk@", "desk@07", f"desk@{LAST + 1}", "desk@x", "nowhere@1", "nowhere"])
def test_an_unknown_seed_or_variant_is_refused(name: str) -> None:
    loaded = registry.load("itsm")
    scripts = SeedScripts(loaded.metadata, loaded.seeds)
    assert name not in scripts
    with pytest.raises(KeyError):
        scripts[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Ineses asked Grace's team. Don't ask Dons.", "The Ineses asked Robin's team. Don't ask Nils."),
        ("both Graces of João, in short joão", "both Robins of Kai, in short kai"),
        ("UNTIL=20261129T235959Z, since 3.11.2026", "UNTIL=20371129T235959Z, since 3.11.2037"),
        ("/0f000000-0000-4000-8000-000000000001-0f000000/", "/f0000000-0000-4000-8000-000000000002-f0000000/"),
        ("0f000000-0000-5000-8000-000000000001", "0f000000-0000-5000-8000-000000000001"),
        ("Grace of Grace Labs wrote on 16 November 2026.", "Robin of Onyx Labs wrote on 16 November 2037."),
        ("01JBQM3K8TGHZX9RNVQM5Y2P8C", "01WEZ2PT8TGHZX9RNVQM5Y2P8F"),
        (
            "01JBQM3K8T00000000ABCDEFGH of 5MXD0K8ZK3F5ZJ9P3V0T9Q2WX1",
            "01WEZ2PT8T00000000ABCDEFGH of 5MXD0K8ZK3F5ZJ9P3V0T9Q2WX1",
        ),
        ("Graceful Ineson, grace period", "Graceful Ineson, grace period"),
        ("ines@gracelabs.example, '2026-11-16T10:00:00'", "alex@onyxlabs.example, '2037-11-16T10:00:00'"),
        ("INC_494, INC_001, CS-0003518 and CS-00035x", "INC_1494, INC_1002, CS-0008518 and CS-00035x"),
        ("+44 20 5550 1999", "+44 20 5550 1104"),
        ("the Gateway G100 with serial number G1-25-14110", "the Gateway Q100 with serial number Q1-25-17995"),
        ("2028-02-29, 1999, 2026 or 2031", "2039-02-28, 1999, 2037 or 2031"),
    ],
)
def test_texts_are_rewritten_by_words_and_forms(text: str, expected: str) -> None:
    assert CHANGE.text(text) == expected


def test_milliseconds_move_by_whole_years_where_a_domain_has_them() -> None:
    text = "1794819600000, 1709200800000, 17948196000001, 1425168000000"
    assert CHANGE.text(text) == text
    moved = replace(CHANGE, moments=True).text(text)
    assert moved == "2141974800000, 2056269600000, 17948196000001, 1425168000000"


@pytest.mark.parametrize("years", YEARS)
@pytest.mark.parametrize(
    "zone", ["Europe/Lisbon", "Europe/Rome", "America/Toronto", "America/Vancouver", "Australia/Sydney"]
)
def test_days_keep_their_weekday_and_the_clocks_of_every_zone(years: int, zone: str) -> None:
    days = [datetime(2026, 3, 1, 12, tzinfo=ZoneInfo(zone)) + timedelta(days=number) for number in range(365)]
    moved = [day.replace(year=day.year + years) for day in days]
    assert [(day.weekday(), day.utcoffset()) for day in days] == [(day.weekday(), day.utcoffset()) for day in moved]


def test_a_phrase_is_found_in_a_pattern_with_any_form_of_spaces() -> None:
    assert CHANGE.pattern(r"\bGrace\ Labs\b") == r"\bOnyx\ Labs\b"
    assert CHANGE.pattern(r"(?<!\w)Grace[\s_-]+Labs[\s_-]+2026(?!\w) Ines") == (
        r"(?<!\w)Onyx[\s_-]+Labs[\s_-]+2037(?!\w) Alex"
    )


def test_patterns_keep_their_syntax() -> None:
    assert (
        CHANGE.pattern(r"(?s)(?=.*\bGrace\b)(?=.*\b(ines|4)\b)\d{4}") == r"(?s)(?=.*\bRobin\b)(?=.*\b(alex|4)\b)\d{4}"
    )


def test_keys_are_shifted_where_their_column_is_named() -> None:
    call = {"case_id": 7, "assigned_to_user_id": 3, "limit": 7, "name": "Ines", "active": True}
    assert CHANGE.value(call) == {
        "case_id": 5007,
        "assigned_to_user_id": 73,
        "limit": 7,
        "name": "Alex",
        "active": True,
    }
    expected = {"table": "t", "keys": [{"case_id": 7}], "values": {"assigned_to": {"any_of": [3, "4"]}}}
    varied = {"table": "t", "keys": [{"case_id": 5007}], "values": {"assigned_to": {"any_of": [73, "74"]}}}
    assert CHANGE.value(expected) == varied
    assert CHANGE.value({"column": "case_id", "value": 7}) == {"column": "case_id", "value": 5007}


def test_keys_in_statements_are_shifted() -> None:
    update = "UPDATE t SET assigned_to = '3', steps = 3 WHERE case_id IN ('7', '8') AND note = 'Ines''s (7)'"
    varied = "UPDATE t SET assigned_to = '73', steps = 3 WHERE case_id IN ('5007', '5008') AND note = 'Alex''s (7)'"
    assert CHANGE.sql(update) == varied
    insert = "INSERT INTO t (case_id, steps, note) VALUES ('7', 7, 'Ines, (7)'), (8, 8, NULL)"
    assert CHANGE.sql(insert) == "INSERT INTO t (case_id, steps, note) VALUES ('5007', 7, 'Alex, (7)'), (5008, 8, NULL)"


def test_a_variant_takes_the_wordings_of_a_prompt_in_turn() -> None:
    row = suite_rows("quickstart")[0] | {"user_prompt": "One.", "user_prompts": ["Two.", "Three."]}
    prompts = [varied_rows([row], variant, rewriting_of)[0]["user_prompt"] for variant in (1, 2, 3, 4)]
    assert prompts == ["Two.", "Three.", "One.", "Two."]


def test_a_task_on_seeds_of_several_companies_has_no_variants() -> None:
    row = suite_rows("quickstart")[0]
    other = {"mcp_server_name": "gym-csm-mcp", "seed_database_file": "builtin:quickstart"}
    with pytest.raises(ValueError, match="different companies have no common variants: quickstart, quickstart"):
        varied_rows([row | {"gym_servers_config": [*row["gym_servers_config"], other]}], 1, rewriting_of)


def test_a_task_with_a_seed_from_a_file_has_no_variants() -> None:
    row = suite_rows("quickstart")[0]
    server = row["gym_servers_config"][0] | {"seed_database_file": "desk.sql"}
    with pytest.raises(ValueError, match="only for tasks with built-in seeds"):
        varied_rows([row | {"gym_servers_config": [server]}], 1, rewriting_of)


@pytest.mark.parametrize("suite", [{"path": "tasks.json", "variant": 1}, {"builtin": "opsgym-1150", "variant": 0}])
def test_only_built_in_suites_have_variants_and_they_are_counted_from_1(suite: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="variant"):
        Suite.model_validate(suite)
