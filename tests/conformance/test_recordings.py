"""Published recordings, replayed: how many of their answers are ours too."""

from __future__ import annotations

from functools import cache

import pytest
from tests.support.gym import Gym
from tests.support.upstream import upstream
from tools.conformance.corpus import headers_of, recordings_of, replay_all
from tools.conformance.report import Judged, render, tally

pytestmark = pytest.mark.published

UPSTREAM = upstream()


@pytest.fixture(scope="module")
def judged(csm: Gym) -> list[Judged]:
    return replay_all(csm, "csm", recordings_of(UPSTREAM, "csm"), headers_of(UPSTREAM, "csm"))


@cache
def number_of_calls() -> int:
    return sum(len(recording.calls) for recording in recordings_of(UPSTREAM, "csm"))


def test_every_recorded_call_is_accounted_for(judged: list[Judged]) -> None:
    total = tally(judged)
    assert total.calls == number_of_calls() == total.judged + total.consequence + total.impossible
    assert total.calls >= 584


def test_what_follows_a_write_can_be_judged_and_is_equal(judged: list[Judged]) -> None:
    later = tally(item for item in judged if item.judgement.follows_write)
    assert later.calls > 300
    assert later.judged_share >= 0.8
    assert later.equal_share >= 0.98


def test_so_is_what_was_not_inferred_from_its_own_answer(judged: list[Judged]) -> None:
    proving = tally(item for item in judged if item.judgement.follows_write and not item.judgement.own)
    assert proving.calls > 200
    assert proving.judged_share >= 0.8
    assert proving.equal_share >= 0.98


def test_whatever_is_not_equal_has_a_reason(judged: list[Judged]) -> None:
    assert all(item.judgement.reason for item in judged if item.judgement.verdict != "equal")


def test_the_report_names_every_tool_and_every_call_that_is_not_equal(judged: list[Judged]) -> None:
    text = render("csm", judged)
    assert all(f"\n{item.judgement.call.tool} " in text for item in judged)
    unequal = [item for item in judged if item.judgement.verdict != "equal"]
    assert all(f"{item.task_id} call {item.judgement.index} " in text for item in unequal)
