"""Lists of CSM: filters with rules of their own, and searches in articles. `tests/domains` covers the other filters."""

from __future__ import annotations

from typing import Any

import pytest
from tests.domains.csm import LISTS
from tests.support.gym import GymDatabase

from opsgym_domains.csm.domain import DOMAIN

TOOLS = DOMAIN.toolbox.tools


def ids(tool: str, database: GymDatabase, **given: Any) -> list[int]:
    key = next(iter(DOMAIN.metadata.tables[LISTS[tool].table].primary_key)).name
    return [row[key] for row in database.call_with(tool, given).data]


def test_every_tool_that_returns_a_list_is_declared() -> None:
    lists = {name for name, tool in TOOLS.items() if tool.output_schema["type"] == "array"}
    grouped = {name for name in lists if name.startswith(("avg", "average", "count", "get_count"))}
    assert lists - grouped == set(LISTS)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search_cases", {"number": "CS-000000"}),
        ("search_cases", {"number": "cs-0000001"}),
        ("search_cases", {"case_id": 4}),
        ("search_cases", {"short_description": "%"}),
        ("search_cases", {"short_description": "box_is"}),
        ("retrieve_knowledge", {"kb_number": "KB-0000006"}),
        ("retrieve_knowledge", {"title": "queue"}),
        ("retrieve_knowledge", {"limit": 0}),
        ("find_notifications", {"email": "@acme.test", "type": "alert"}),
        ("find_interactions", {"case_id": 404}),
        ("list_users", {"email": "_@desk.test"}),
        ("find_locations", {"city": "new_york"}),
        ("find_products", {"name": "mail%"}),
        ("get_accounts", {"account_types": ["partner"], "active": False}),
        ("find_contracts", {"contract_price_range_start": 1201}),
        ("find_contracts", {"contract_price_range_end": 1199}),
    ],
)
def test_a_filter_value_that_no_row_has_selects_nothing(
    unchanged: GymDatabase, tool: str, given: dict[str, Any]
) -> None:
    expected = [2] if given.get("short_description") == "%" else []
    assert ids(tool, unchanged, **given) == expected


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("search_cases", "closed_on"),
        ("find_case_slas", "breach_time"),
        ("find_interactions", "ended_at"),
        ("find_notifications", "sys_created_on"),
        ("find_contracts", "end_date"),
        ("retrieve_installed_products", "warranty_end"),
        ("installed_product_warranties_ended_count", "on_date"),
        ("delete_notifications", "created_after"),
        ("delete_case_slas", "start_time"),
    ],
)
def test_an_unreadable_time_is_refused_by_its_name(unchanged: GymDatabase, tool: str, name: str) -> None:
    for text in ("soon", "2025-13-01", "31/12/2025"):
        refused = unchanged.call_with(tool, {name: text})
        assert refused.code == "INVALID_DATE"
        assert f"{name}: " in refused.text


# --- searches in articles ------------------------------------------------------------------------------------------


def test_a_search_returns_the_best_article_first_with_its_score(unchanged: GymDatabase) -> None:
    articles = unchanged.call("retrieve_knowledge", search_text="mail relay").data
    assert [(row["knowledge_id"], row["score"]) for row in articles] == [(1, 106.5), (6, 5.0), (2, 0.5), (3, 0.0)]


def test_articles_with_equal_scores_come_newest_first(unchanged: GymDatabase) -> None:
    assert ids("retrieve_knowledge", unchanged, search_text="printer") == [2, 1, 3, 6]


def test_a_search_is_limited_to_the_filtered_articles(unchanged: GymDatabase) -> None:
    assert ids("retrieve_knowledge", unchanged, search_text="mail relay", state="published", limit=1) == [1]
    assert ids("retrieve_knowledge", unchanged, search_text="mail relay", visibility="external") == [2, 3]


def test_a_limit_shortens_the_list(unchanged: GymDatabase) -> None:
    assert ids("retrieve_knowledge", unchanged, limit=2) == [2, 3]
    assert ids("retrieve_knowledge", unchanged, limit=100) == [2, 3, 1, 6]
    assert unchanged.call("retrieve_knowledge", limit=-1).code == "VALUE_TOO_SMALL"
