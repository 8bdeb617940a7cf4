"""Names of the objects that the operator creates."""

from __future__ import annotations

import pytest
from tests.operator.fleet import START
from tests.operator.manifests.material import CELL, RUN, SPEC

from opsgym_operator.observe.labels import base_of, job_prefix, label_of, number_of, preflight_name
from opsgym_operator.observe.objects import ObservedRun


@pytest.mark.parametrize("name", ["nightly", "n" * 38])
def test_a_short_name_begins_the_names_of_its_objects(name: str) -> None:
    assert base_of(name) == name


@pytest.mark.parametrize("name", ["a.b", "n" * 39, "n" * 63, "a" * 33 + ".-b" * 10])
def test_every_pod_of_a_run_has_a_host_name(name: str) -> None:
    run = ObservedRun(name, "1234", "team", 1, START, SPEC)
    longest = f"{job_prefix(run, CELL.key)}99999-999"
    assert len(longest) <= 63
    assert set(longest) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(preflight_name(run, "content")) <= 57, "a pod's name has six characters after it"


def test_runs_and_cells_never_share_names() -> None:
    others = [
        (RUN, CELL.key),
        (RUN, "gpt_react_oracle_itsm"),
        (ObservedRun("nightly", "5678", "team", 1, START, SPEC), CELL.key),
        (ObservedRun("night.ly", "1234", "team", 1, START, SPEC), CELL.key),
        (ObservedRun("night-ly", "1234", "team", 1, START, SPEC), CELL.key),
    ]
    assert len({job_prefix(run, cell) for run, cell in others}) == len(others)
    assert label_of("gym-" + "d" * 63) != label_of("gym-" + "d" * 62)


@pytest.mark.parametrize(("name", "number"), [("nightly-a1b2c3-12", 12), ("nightly-a1b2c3-0", 0), ("copy-of-job", -1)])
def test_a_job_of_a_foreign_name_has_no_number(name: str, number: int) -> None:
    assert number_of(name) == number
