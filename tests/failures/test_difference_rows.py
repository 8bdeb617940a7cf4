"""What rules read from `state_difference` verifiers, where a task has no reference solution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.cli.runs import verifier
from tests.failures.trials import FIND, WHO, call, failed, finding, modes_of, task

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_console.analysis.failures import FailedTrial, Mode

GYM = "gym-itsm-mcp"


def expected(*rows: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {"verifier_type": "state_difference", "gym_name": GYM, "validation_config": {"rows": rows, **fields}}


def incident(key: str, **values: Any) -> dict[str, Any]:
    return {"table": "incident", "change": "changed", "keys": [{"incident_id": key}], "values": values}


def update(key: str, **values: Any) -> Any:
    return call("update_incident", {"incident_id": key, **values}, {"incident_id": key, **values})


def changed(key: str, **after: Any) -> RowDifference:
    return RowDifference(change="changed", key={"incident_id": key}, before=dict.fromkeys(after), after=after)


SEEN = call("list_incidents", {}, [{"incident_id": f"INC_{number:03}"} for number in (*range(12, 17), 99)])
"""Shows every id, so that none was guessed."""


def trial(rows: list[dict[str, Any]], calls: list[Any], *after: RowDifference, unexpected: Any = ()) -> FailedTrial:
    """A trial of a task without a solution; the final database differs from the seed by `after`."""
    check = verifier(
        passed=False,
        verifier_type="state_difference",
        gym_name=GYM,
        actual={"unmet": [], "unexpected": list(unexpected)},
    )
    difference = StateDifference(tables=[TableDifference(table="incident", rows=list(after))])
    row = task(verifiers=[expected(*rows)])
    return failed(FIND, SEEN, WHO, *calls, row=row, verifiers=[check], state_differences={GYM: difference})


ASSIGNED = [incident("INC_012", assigned_to="USER_008"), incident("INC_013", assigned_to="USER_008")]
FIRST = update("INC_012", assigned_to="USER_008")


def test_an_expected_row_that_was_not_changed_is_a_missed_follow_up_that_names_the_row() -> None:
    result = finding(trial(ASSIGNED, [FIRST], changed("INC_012", assigned_to="USER_008")), Mode.MISSED_FOLLOW_UP)
    (evidence,) = result.evidence
    assert '"INC_013"' in evidence.detail
    assert "incident with incident_id" in evidence.detail


def test_the_same_change_of_a_record_that_nobody_expects_is_an_incorrect_id() -> None:
    other = update("INC_099", assigned_to="USER_008")
    after = [changed(key, assigned_to="USER_008") for key in ("INC_012", "INC_099")]
    result = finding(trial(ASSIGNED, [FIRST, other], *after, unexpected=["incident INC_099: …"]), Mode.INCORRECT_ID)
    assert result.evidence[0].detail == 'incident_id is "INC_099"; a verifier expects "INC_013"'


def test_a_change_that_is_expected_of_another_record_is_no_wrong_attempt() -> None:
    rows = [*ASSIGNED, incident("INC_014", assigned_to="USER_008", state="open")]
    done = [FIRST, update("INC_014", assigned_to="USER_008", state="open")]
    after = [changed("INC_012", assigned_to="USER_008"), changed("INC_014", assigned_to="USER_008", state="open")]
    assert modes_of(trial(rows, done, *after)) == {Mode.MISSED_FOLLOW_UP}


def test_less_than_half_of_the_expected_rows_is_a_premature_end() -> None:
    rows = [incident(f"INC_{number:03}", assigned_to="USER_008") for number in range(12, 17)]
    assert modes_of(trial(rows, [FIRST], changed("INC_012", assigned_to="USER_008"))) == {Mode.PREMATURE_TERMINATION}


def test_a_row_that_no_verifier_expects_is_state_corruption() -> None:
    after = [changed("INC_012", assigned_to="USER_008"), changed("INC_013", assigned_to="USER_008")]
    both = [FIRST, update("INC_013", assigned_to="USER_008")]
    result = finding(
        trial(ASSIGNED, both, *after, unexpected=["incident INC_050: column state"]), Mode.STATE_CORRUPTION
    )
    assert result.evidence[0].detail == "incident INC_050: column state"


def test_a_wrong_value_of_the_right_record_is_state_corruption() -> None:
    rows = [incident("INC_012", urgency="high")]
    assert modes_of(trial(rows, [update("INC_012", urgency="low")], changed("INC_012", urgency="low"))) == {
        Mode.STATE_CORRUPTION
    }


def test_a_row_that_should_be_gone_and_is_not_is_a_missed_follow_up() -> None:
    gone = {"table": "incident", "change": "removed", "keys": [{"incident_id": "INC_013"}]}
    rows = [incident("INC_012", assigned_to="USER_008"), gone]
    result = finding(trial(rows, [FIRST], changed("INC_012", assigned_to="USER_008")), Mode.MISSED_FOLLOW_UP)
    assert result.evidence[0].detail.endswith('incident with incident_id "INC_013" is gone')


@pytest.mark.parametrize(
    "condition",
    [{"any_of": ["USER_008", "USER_009"]}, {"has": ["USER", "USER_008"]}, {"text": "user_008"}, {"equals": "USER_008"}],
)
def test_every_condition_about_a_known_value_is_met_by_it(condition: dict[str, Any]) -> None:
    rows = [incident("INC_012", assigned_to=condition), incident("INC_013", assigned_to="USER_008")]
    result = finding(trial(rows, [FIRST], changed("INC_012", assigned_to="USER_008")), Mode.MISSED_FOLLOW_UP)
    assert all("INC_013" in evidence.detail for evidence in result.evidence)


def test_rows_of_alternatives_and_optional_rows_are_not_demanded() -> None:
    either = {"either": [[incident("INC_013", state="open")], [incident("INC_014", state="open")]]}
    rows: list[dict[str, Any]] = [{**incident("INC_015", state="open"), "optional": True}, either]
    assert Mode.MISSED_FOLLOW_UP not in modes_of(trial(rows, [FIRST], changed("INC_012", assigned_to="USER_008")))
