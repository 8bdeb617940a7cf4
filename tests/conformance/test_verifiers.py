"""Every query of a public verifier runs on our tables, and reads what it names."""

from __future__ import annotations

import pytest
from tests.support.upstream import upstream
from tools.conformance.verifiers import (
    Evidence,
    PublishedVerifier,
    evidence_of,
    read_verifiers,
    render_evidence,
    unknown_names,
    unknown_states,
)

WRONG = {("itsm", "no such column: applies_to_priority")}
"""A column that the published table never had; its publisher has changed the row since."""

FREE = ("properties", "app_properties", "change_request_values")
"""Columns whose JSON has names of the caller's choice."""
NEVER_REACHED = {
    ("drive", "status = accepted"): "counts what must not be there",
    ("drive", "status = rejected"): "the same",
    ("drive", "status = pending_admin_review"): "the same",
    ("hr", "status = resolved"): "one of two, of which the other can be reached",
}
"""States that a query names and no row can have."""


def verifier(query: str, domain: str = "drive") -> PublishedVerifier:
    return PublishedVerifier("a-row", domain, query, 1)


@pytest.mark.published
def test_every_public_query_runs() -> None:
    evidence = [evidence_of(one) for one in read_verifiers(upstream())]
    assert len(evidence) > 1500
    problems = [one for one in evidence if one.problem and (one.verifier.domain, one.problem) not in WRONG]
    assert [f"{one.verifier.row} {one.problem}: {one.verifier.query}" for one in problems] == []


@pytest.mark.published
def test_every_state_that_a_query_wants_can_be_reached() -> None:
    evidence = [evidence_of(one) for one in read_verifiers(upstream())]
    unknown = {(one.verifier.domain, state) for one in evidence for state in unknown_states(one)}
    assert unknown == set(NEVER_REACHED)


@pytest.mark.published
def test_every_name_in_a_path_is_one_that_tools_write() -> None:
    evidence = [evidence_of(one) for one in read_verifiers(upstream())]
    unknown = {(one.verifier.domain, name) for one in evidence for name in unknown_names(one, FREE)}
    assert unknown == set()


def test_a_state_and_a_name_that_our_tables_lack_are_found() -> None:
    made = evidence_of(
        verifier(
            "SELECT COUNT(*) FROM access_proposals WHERE status IN ('pending', 'lost') "
            "AND json_extract(proposed_roles, '$.colour') = 'x'"
        )
    )
    assert list(unknown_states(made)) == ["status = lost"]
    assert list(unknown_names(made, FREE)) == ["proposed_roles has colour"]


def test_tables_columns_and_forms_of_a_query_are_known() -> None:
    made = evidence_of(
        verifier(
            "SELECT COUNT(*) FROM files f WHERE json_extract(f.app_properties, '$.audit') = 'yes' "
            "AND f.properties LIKE '%\"phase\"%' AND f.properties ->> 'team' = 'x'"
        )
    )
    assert made.problem is None
    assert made.columns >= {("files", "app_properties"), ("files", "properties")}
    assert sorted(made.forms) == [("app_properties", "$.audit"), ("properties", '%"phase"%'), ("properties", "team")]


@pytest.mark.parametrize("query", ["SELECT colour FROM files", "SELECT 1 FROM nothing", "DELETE FROM files"])
def test_a_query_that_cannot_run_is_reported(query: str) -> None:
    made: Evidence = evidence_of(verifier(query))
    assert made.problem is not None
    assert "drive        0 of    1 queries run" in render_evidence([made])
    assert f"a-row drive: {made.problem}" in render_evidence([made])
