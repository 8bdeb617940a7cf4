"""Every query of a public verifier runs on our tables, and reads what it names."""

from __future__ import annotations

import pytest
from tests.support.upstream import upstream
from tools.conformance.verifiers import Evidence, PublishedVerifier, evidence_of, read_verifiers, render_evidence

WRONG = {("itsm", "no such column: applies_to_priority")}
"""A column that the published table never had; its publisher has changed the row since."""


def verifier(query: str, domain: str = "drive") -> PublishedVerifier:
    return PublishedVerifier("a-row", domain, query, 1)


@pytest.mark.published
def test_every_public_query_runs() -> None:
    evidence = [evidence_of(one) for one in read_verifiers(upstream())]
    assert len(evidence) > 1500
    problems = [one for one in evidence if one.problem and (one.verifier.domain, one.problem) not in WRONG]
    assert [f"{one.verifier.row} {one.problem}: {one.verifier.query}" for one in problems] == []


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
