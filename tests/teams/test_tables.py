"""The tables that published seeds and queries are written for."""

from __future__ import annotations

import json

import pytest
from tests.support.upstream import upstream

from opsgym_domains.teams.tables import METADATA

SHORTER_KEYS = {"teams_users": ["user_id"], "groups": ["group_id"]}
"""Keys without the organisation, since tools name users and groups by id alone."""


@pytest.mark.published
def test_tables_columns_and_keys_are_the_published_ones() -> None:
    tables = json.loads((upstream() / "schema/teams.json").read_text(encoding="utf-8"))["tables"]
    assert list(METADATA.tables) == list(tables)
    assert {name: list(table.columns.keys()) for name, table in METADATA.tables.items()} == {
        name: list(published["columns"]) for name, published in tables.items()
    }
    keys = {name: published["primary_key"] for name, published in tables.items()} | SHORTER_KEYS
    assert {name: [column.name for column in table.primary_key] for name, table in METADATA.tables.items()} == keys
