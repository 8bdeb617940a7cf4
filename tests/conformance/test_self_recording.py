"""The harness held against our own servers: what they answered on a known database, they answer again in the world
that was inferred from their answers alone; and an answer that was tampered with is noticed.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from tests.conformance.self_recording import record
from tests.csm.examples import EXAMPLES as CSM_EXAMPLES
from tests.csm.seed import EMAIL
from tests.csm.seed import SEED as CSM_SEED
from tests.itsm.examples import EXAMPLES as ITSM_EXAMPLES
from tests.itsm.seed import SEED as ITSM_SEED
from tests.itsm.seed import TOKEN
from tests.support.gym import Gym
from tools.conformance.corpus import replay_all
from tools.conformance.recordings import Recording
from tools.conformance.replay import Judgement

from opsgym_domains import registry

DESKS: dict[str, tuple[dict[str, dict[str, Any]], str, str]] = {
    "csm": (CSM_EXAMPLES, CSM_SEED, EMAIL),
    "itsm": (ITSM_EXAMPLES, ITSM_SEED, TOKEN),
}
"""By domain: a call of every tool, the seed they succeed on, and who makes them."""
CALLS_A_RECORDING = 12
NOT_INFERABLE = {
    # The address must be a user's; no other answer shows whose, and the domain's tables do not require one.
    ("itsm", "send_notification"),
}
NEW_CASE = {"account_id": 1, "contact_id": 1, "channel": "web", "priority": "low", "state": "new"}
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("find_contracts", {"account_id": 1}),
    ("create_new_case", {**NEW_CASE, "short_description": "Slow"}),
    ("update_case", {"case_id": 10, "priority": "high", "assigned_to": 2, "assignment_group_id": 1}),
    ("search_cases", {"account_id": 1, "priority": "high"}),
    ("find_user", {"name": "Bo Lund"}),
    ("update_user_details", {"user_id": 2, "active": False}),
    ("list_users", {"user_id": 2}),
]


def replayed(gym: Gym, domain: str, recordings: list[Recording]) -> list[Judgement]:
    known = {recording.task_id: DESKS[domain][2] for recording in recordings}
    return [judgement.judgement for judgement in replay_all(gym, domain, recordings, known)]


def recorded(gym: Gym, domain: str, name: str, calls: list[tuple[str, dict[str, Any]]]) -> Recording:
    _, seed, identity = DESKS[domain]
    return record(gym, name, seed, {registry.load(domain).identity_header: identity}, calls)


@pytest.mark.parametrize("domain", DESKS)
def test_every_tool_answers_the_same_in_the_inferred_world(domain: str, request: pytest.FixtureRequest) -> None:
    gym: Gym = request.getfixturevalue(domain)
    calls = list(DESKS[domain][0].items())
    parts = [calls[start : start + CALLS_A_RECORDING] for start in range(0, len(calls), CALLS_A_RECORDING)]
    judged = replayed(gym, domain, [recorded(gym, domain, f"part {n}", part) for n, part in enumerate(parts)])
    assert len(judged) == len(registry.load(domain).toolbox.tools)
    wrong = [judgement for judgement in judged if judgement.verdict in ("different", "consequence")]
    assert {(domain, judgement.call.tool) for judgement in wrong} <= NOT_INFERABLE, [
        judgement.reason for judgement in wrong
    ]
    impossible = [judgement for judgement in judged if judgement.verdict == "impossible"]
    assert len(impossible) < len(judged) / 5
    assert all(judgement.reason for judgement in impossible)


def test_what_was_tampered_with_is_noticed(csm: Gym) -> None:
    honest = recorded(csm, "csm", "honest", CHANGES)
    assert [judgement.verdict for judgement in replayed(csm, "csm", [honest])] == ["equal"] * len(CHANGES)
    tampered = [_tampered(honest, *place) for place in _places(honest)]
    assert len(tampered) > 15
    for recording in tampered:
        verdicts = {judgement.verdict for judgement in replayed(csm, "csm", [recording])}
        assert verdicts != {"equal"}, f"{recording.task_id} is not noticed"


def _places(recording: Recording) -> Iterator[tuple[int, str]]:
    """Values that are read and follow from earlier calls: of a row that was made, and of one that was read before."""
    for index in (3, 6):
        (shown,) = (row if isinstance(row, dict) else row[0] for row in [recording.calls[index].result])
        yield from ((index, name) for name in shown if name not in NOT_IN_OTHER_ANSWERS.get(index, ()))


NOT_IN_OTHER_ANSWERS = {6: ("phone", "location_id", "sys_created_on")}
"""Values of each call that no other call shows."""


def _tampered(recording: Recording, index: int, name: str) -> Recording:
    calls = list(recording.calls)
    result = deepcopy(calls[index].result)
    row = result if isinstance(result, dict) else result[0]
    row[name] = _other(row[name])
    calls[index] = replace(calls[index], result=result)
    return replace(recording, task_id=f"call {index} with another {name}", calls=tuple(calls))


def _other(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str) and value[:2] == "20":
        return f"2031{value[4:]}"
    return "something" if value is None else f"{value} else"
