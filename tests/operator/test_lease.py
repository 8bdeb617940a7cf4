"""Of several contenders for a Lease, at most one may write at any moment: injected clocks, no API server."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from opsgym_operator.kube.lease import ABSENT, MARGIN_S, LeaseRecord, LeaseView

DURATION_S = 12.0
AT = "2026-11-22T12:00:00.000000Z"


def accepted(claim: LeaseRecord, version: int) -> LeaseRecord:
    """A claim as the API server stores it."""
    return replace(claim, version=str(version))


def held(view: LeaseView, sent_at: float, version: int = 1) -> LeaseRecord:
    record = accepted(view.claim(AT), version)
    view.hold(record, sent_at)
    return record


def test_an_absent_or_released_lease_is_claimed_at_once() -> None:
    view = LeaseView("a", DURATION_S)
    assert view.claimable(0.0)
    view.observe(LeaseRecord("7", "", DURATION_S, 3, AT, AT), 5.0)
    assert view.claimable(5.0)
    assert view.claim(AT).transitions == 4


def test_a_holder_writes_until_shortly_before_its_renewal_runs_out() -> None:
    view = LeaseView("a", DURATION_S)
    assert view.writable_s(0.0) == 0
    held(view, sent_at=100.0)
    assert view.writable_s(100.0) == DURATION_S - MARGIN_S
    assert view.writable_s(100.0 + DURATION_S - MARGIN_S) == 0


def test_a_contender_waits_for_the_duration_that_the_holder_states_from_when_it_saw_the_renewal() -> None:
    first, second = LeaseView("a", 30.0), LeaseView("b", DURATION_S)
    record = held(first, sent_at=100.0)
    second.observe(record, 103.0)
    assert not second.claimable(132.9)
    assert second.claimable(133.0)
    # The same record seen again does not renew it.
    second.observe(record, 120.0)
    assert second.claimable(133.0)


def test_clocks_of_nodes_need_not_agree() -> None:
    """The times in the record are for people: a holder whose clock is a day late is not taken for expired."""
    view = LeaseView("b", DURATION_S)
    yesterday = "2026-11-21T12:00:00.000000Z"
    view.observe(LeaseRecord("1", "a", DURATION_S, 0, yesterday, yesterday), 0.0)
    assert not view.claimable(DURATION_S - 0.1)


def test_a_restarted_container_resumes_the_lease_of_its_pod_without_waiting() -> None:
    record = held(LeaseView("pod-1", DURATION_S), sent_at=0.0)
    again = LeaseView("pod-1", DURATION_S)
    again.observe(record, 1.0)
    assert again.claimable(1.0)
    assert again.claim(AT).transitions == record.transitions


@pytest.mark.parametrize(
    "taken",
    [
        LeaseRecord("9", "b", DURATION_S, 1, AT, AT),
        # Taken and given back, or taken and taken again by a process of the same name.
        LeaseRecord("9", "", DURATION_S, 1, AT, AT),
        LeaseRecord("9", "a", DURATION_S, 2, AT, AT),
        ABSENT,
    ],
)
def test_a_holder_that_sees_that_somebody_else_had_the_lease_has_lost_it(taken: LeaseRecord) -> None:
    view = LeaseView("a", DURATION_S)
    held(view, sent_at=0.0)
    assert not view.lost
    view.observe(taken, 1.0)
    assert view.lost
    assert view.writable_s(1.0) == 0


class _Contender:
    """A process with a clock of its own, whose requests take time and whose answers may be lost."""

    def __init__(self, name: str, chance: random.Random) -> None:
        self.view = LeaseView(name, DURATION_S)
        self.offset = chance.uniform(-1e6, 1e6)
        self.chance = chance

    def act(self, stored: LeaseRecord, version: int, now: float) -> LeaseRecord | None:
        """One look at the Lease and perhaps a claim, which the API server takes up to three seconds later."""
        clock = now + self.offset
        self.view.observe(stored, clock)
        if self.view.lost:
            self.view.release()
        if not self.view.claimable(clock):
            return None
        claim = accepted(self.view.claim(f"{now}"), version)
        if self.chance.random() < 0.8:
            self.view.hold(claim, clock - self.chance.uniform(0, 3))
        return claim


@pytest.mark.parametrize("seed", range(50))
def test_two_contenders_never_may_write_at_the_same_time(seed: int) -> None:
    """Whatever is delayed or lost, however long one of them is paused."""
    chance = random.Random(seed)
    contenders = [_Contender(name, chance) for name in ("a", "b", "c")]
    stored, now, led = ABSENT, 0.0, set()
    for version in range(1, 400):
        now += chance.choice([0.1, 1.0, 2.0, 5.0, 20.0])
        contender = chance.choice(contenders)
        stored = contender.act(stored, version, now) or stored
        for at in (now, now + 0.05):
            writers = [item.view for item in contenders if item.view.writable_s(at + item.offset) > 0]
            assert len(writers) <= 1
        led |= {stored.holder}
    assert len(led) == 3
