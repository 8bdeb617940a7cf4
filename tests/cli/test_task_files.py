"""Task files: their grammar, references to results, where arguments come from, and the rows that are built."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.gym import Gym

from opsgym.taskbuild.build import Builder
from opsgym.taskbuild.files import task_files
from opsgym.taskbuild.provenance import Sources, unsourced
from opsgym_api.errors import InputError
from opsgym_api.tasks.references import ReferenceFaultError, resolved
from opsgym_runner.gyms.client import http_client

NOW = datetime(2026, 11, 16, 10, 0)  # noqa: DTZ001 - tables keep UTC without a zone
CASES = {"data": [{"id": 7, "state": "open", "at": "2026-01-02"}, {"id": 8, "state": "open", "at": "2026-01-01"}]}
READ = Sources("Please move CS-1 to 1 December, with three copies for Ida.", '{"owner": "Marek Sobol", "id": 17}')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$cases(id=7).at", "2026-01-02"),
        ("$cases(state=open and lowest at).id", 8),
        ("$cases(highest at).id", 7),
        ("$cases(all).id", [7, 8]),
        ("$one.users(2)", "13"),
        ("$one.names(1)", "Ida"),
        ("$cases.data(id=$one.id).at", "2026-01-02"),
        ("No ${one.id}: ${one.id}", "No 7: 7"),
        ({"ids": ["$one.id"]}, {"ids": [7]}),
    ],
)
def test_a_reference_means_a_value_of_a_result(text: Any, value: Any) -> None:
    assert resolved(text, {"cases": CASES, "one": {"record": {"id": 7, "users": "[9, 13]", "names": ["Ida"]}}}) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("$cases.id", "finds 2 values; choose one by a condition"),
        ("$cases(state=closed).id", "finds nothing"),
        ("$case.id", "no earlier call is named case; named are: $cases"),
        ("$cases(newest at).id", "has the condition 'newest at'"),
        ("$cases", "is not a reference"),
        ("$cases(id=7).at(2)", "at lists 1 values"),
    ],
)
def test_a_reference_that_means_no_single_value_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ReferenceFaultError, match=problem.replace("$", r"\$")):
        resolved(text, {"cases": CASES})


@pytest.mark.parametrize(
    ("value", "described"),
    [
        ("CS-1", {}),
        ("2026-12-01", {}),
        (3, {}),
        ("marek sobol", {}),
        ("high", {"enum": ["high"]}),
        ("A note in words of the agent", {}),
        ("$case.id", {}),
        (True, {}),
    ],
)
def test_what_request_schema_or_result_state_has_a_source(value: Any, described: dict[str, Any]) -> None:
    assert unsourced({"field": value}, {}, {"properties": {"field": described}}, READ) == []


@pytest.mark.parametrize("value", ["owner_team", "2026-12-02", 17, "theo@inn.example", "See CS-9 for all of it", ["x"]])
def test_what_stands_nowhere_is_refused_unless_the_author_says_why(value: Any) -> None:
    (problem,) = unsourced({"field": value}, {}, {}, READ)
    assert "stands in no request, policy, tool schema or earlier result" in problem
    assert unsourced({"field": value}, {"field": "a day later [CAS-2]"}, {}, READ) == []


def test_an_address_of_a_known_company_and_the_bounds_of_a_search_need_no_source() -> None:
    read = Sources("You act for ida.moe@inn.example.", '{"name": "Márek Sobol"}')
    assert unsourced({"email": "marek.sobol@inn.example"}, {}, {}, read) == []
    assert unsourced({"email": "marek.sobol@bank.example"}, {}, {}, read) != []
    assert unsourced({"email": "theo.sobol@inn.example"}, {}, {}, read) != []
    assert unsourced({"after": "2026-11-02T00:00:00Z"}, {}, {}, read, reads=True) == []
    assert unsourced({"due": "2026-11-02T00:00:00Z"}, {}, {}, read) != []


def test_no_rule_gives_an_identifier() -> None:
    (problem,) = unsourced({"case_id": "17"}, {"case_id": "the usual one"}, {}, READ)
    assert "refer to the result that has it" in problem


# --- files -----------------------------------------------------------------------------------------------------------


def content(**changed: Any) -> dict[str, Any]:
    """A task file."""
    return {
        "id": "assign-printer",
        "world": "itsm/quickstart",
        "actor": "Ines Carvalho",
        "request": "Please assign INC-004197 to Joon Park, in progress, and tell me who reported it.",
        "solution": [
            {"find_incident_by_number": {"number": "INC-004197"}, "as": "incident"},
            {"get_user_using_name": {"first_name": "Joon", "last_name": "Park"}, "as": "joon"},
            {"get_user": {"user_id": "$incident.caller_id"}, "as": "caller"},
            {
                "update_incident": {
                    "incident_id": "$incident.incident_id",
                    "assigned_to": "$joon.user_id",
                    "status": "in_progress",
                }
            },
        ],
        "answer": "It was reported by ${caller.first_name} ${caller.last_name}.",
        "report": {"names the caller": "$caller.last_name"},
        "also": {"more words": {"answer": "Done. ${caller.last_name} did."}},
        "wrong": {"puts it on hold": {"change": {"update_incident": {"status": "on_hold"}}}},
        **changed,
    }


def written(folder: Path, **changed: Any) -> Path:
    """The path of a task file."""
    path = folder / "task.yaml"
    path.write_text(yaml.safe_dump(content(**changed), sort_keys=False))
    return path


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"worl": "itsm/quickstart"}, "did you mean world"),
        ({"world": "quickstart"}, "must be DOMAIN/SEED"),
        ({"access": "open"}, "'open' is not allowed; allowed: 'published' or 'strict'"),
        ({"solution": [{"as": "a"}]}, "must name one tool"),
        ({"solution": [{"get_user": {"user_id": "$joon.user_id"}}]}, "needs an earlier step with `as: joon`"),
        ({"solution": [{"get_user": {"user_id": "$joon"}}]}, "'\\$joon' is not a reference"),
        ({"solution": [{"get_user": {"user_id": "x"}, "day": 2}], "wrong": {}}, "day 2 does not exist"),
        ({"wrong": {"none": {}}}, "must differ from the solution"),
        ({"wrong": {"all": {"calls": [], "then": [{"get_user": {}}]}}}, "calls are all calls"),
        ({"report": {"names it": {"dat": "2026-11-16"}}}, "is not a fact; write a text"),
        ({"report": {"names it": "/(/"}}, "is not a regular expression"),
        ({"declines": {"names": "Ida"}}, "declines.because"),
        ({"report": {"names it": {"date": 5}}}, "Invalid isoformat string: '5'"),
        ({"report": {"names it": {"span": ["a"]}}}, "is not a list of two facts"),
        ({"accept": {"update_incidnt": {}}}, "'update_incidnt' is called by no step"),
        ({"events": [{"after_step": 1, "changes": [{"table": "incident", "key": {"a": 1}}]}]}, "needs `key` and `set`"),
        ({"wrong": {"none": {"without": ["case"]}}}, "'case' is neither the name nor the tool of a step"),
    ],
)
def test_a_fault_of_the_grammar_names_field_line_and_remedy(tmp_path: Path, changed: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as error:
        task_files(written(tmp_path, **changed))
    assert "(line " in str(error.value)


def test_two_files_with_one_id_are_refused(tmp_path: Path) -> None:
    text = written(tmp_path).read_text()
    (tmp_path / "second.yaml").write_text(text)
    with pytest.raises(InputError, match=r"'assign-printer' is the id of .*second\.yaml; each task has its own"):
        task_files(tmp_path)


# --- building --------------------------------------------------------------------------------------------------------


@pytest.fixture
def built(gym_servers: Callable[[str], Gym], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Builds the row of a task file on a running server."""

    def build(**changed: Any) -> dict[str, Any]:
        url = gym_servers("itsm").url  # a server starts outside of an event loop
        ((path, file),) = task_files(written(tmp_path, **changed))

        async def run() -> dict[str, Any]:
            async with http_client() as http:
                return await Builder(http, {"itsm": url}, NOW).build(path, file)

        return asyncio.run(run())

    return build


def verifiers_of(row: dict[str, Any]) -> dict[str, Any]:
    """Configurations of a row's verifiers, by name."""
    return {verifier["name"]: verifier["validation_config"] for verifier in row["verifiers"]}


def test_a_built_row_has_the_values_of_its_references_and_judges_what_was_done(built: Callable[..., Any]) -> None:
    row = built()
    assert [call["arguments"] for call in row["gold_actions"][2:]] == [
        {"user_id": "USER_013"},
        {"incident_id": "INC_067", "assigned_to": "USER_005", "status": "in_progress"},
    ]
    verifiers = verifiers_of(row)
    assert list(verifiers) == ["incident", "nothing_else_changes", "names_the_caller", "looked_up_before_writing"]
    (expected,) = verifiers["incident"]["rows"]
    assert expected["values"] == {"assigned_to": "USER_005", "status": "in_progress"}
    assert verifiers["looked_up_before_writing"]["rows"] == [{"column": "incident_id", "value": "INC_067"}]


def test_a_row_may_have_what_the_file_accepts_and_what_optional_calls_write(built: Callable[..., Any]) -> None:
    accept = {"update_incident": {"status": {"any_of": ["in_progress", "on_hold"]}, "priority": {"may": None}}}
    update = {"incident_id": "$incident.incident_id", "worknotes": "Joon has it"}
    row = built(accept=accept, optional=[{"update_incident": update}], wrong={"closes it": {
        "change": {"update_incident": {"status": "closed"}}}})  # fmt: skip
    (expected,) = verifiers_of(row)["incident"]["rows"]
    assert expected["values"]["status"] == {"any_of": ["in_progress", "on_hold"]}
    assert expected["may"] == {"priority": None}


def test_a_request_that_is_declined_must_name_the_record_and_a_reason(built: Callable[..., Any]) -> None:
    row = built(
        request="Please close INC-004197 without a resolution.",
        solution=[{"find_incident_by_number": {"number": "INC-004197"}, "as": "incident"}],
        feasible=False, answer="INC-004197 stays open: it needs a resolution.", report={}, also={},
        declines={"names": "INC-004197", "because": ["resolution", "rule"]}, evidence=["$incident.incident_id"],
        wrong={"gives no reason": {"answer": "INC-004197 was not closed."}},
    )  # fmt: skip
    assert list(verifiers_of(row))[1:3] == ["says_it_was_not_done", "says_why"]


def test_rows_that_an_event_changes_are_expected(built: Callable[..., Any]) -> None:
    change = {"table": "incident", "key": {"incident_id": "INC_050"}, "set": {"priority": "critical"}}
    changes = [{**change, "replace": {"worknotes": ["a", "b"]}}]
    row = built(events=[{"after_step": 1, "changes": changes}])
    (statement,) = row["events"][0]["sql"]
    assert statement.startswith("UPDATE incident SET priority = 'critical', worknotes = replace(worknotes, 'a', 'b') ")
    changed = [key for one in verifiers_of(row)["incident"]["rows"] for key in one["keys"]]
    assert {"incident_id": "INC_050"} in changed


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"wrong": {"asks": {"then": [{"get_user": {"user_id": "$joon.user_id"}}], "refused": "INC-5"}}}, "INC-5"),
        ({"report": {"names it": "$caller.nickname"}}, r"report, evidence or accept: \$caller\.nickname finds nothing"),
        ({"accept": {"update_incident": {"notes": {"states": [None]}}}}, "None is not a fact"),
        ({"actor": "Ines Carvahlo"}, r"actor: unknown user 'Ines Carvahlo'; did you mean Ines Carvalho\?"),
        ({"world": "itsm/quickstar"}, r"world: unknown seed of itsm 'quickstar'; did you mean quickstart\?"),
        ({"also": {"on hold": {"change": {"update_incident": {"status": "on_hold"}}}}}, "also.on hold: does not pass"),
        ({"wrong": {"more words": {"answer": "${caller.last_name} has reported it."}}}, "wrong.more words: passes"),
        ({"solution": [], "also": {}, "wrong": {}, "answer": "", "report": {}}, "an agent that does nothing passes"),
    ],
)
def test_a_task_that_does_not_tell_right_from_wrong_is_not_built(
    built: Callable[..., Any], changed: Any, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        built(**changed)


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ({"find_incident_by_numbr": {}}, r"did you mean find_incident_by_number\?"),
        ({"find_incident_by_number": {"number": "INC-004198"}}, r"\.number: 'INC-004198' stands in no request"),
        ({"get_user": {"user_id": "USER_999"}}, r"is refused: "),
        ({"list_incidents": {}, "as": "all"}, r""),
    ],
)
def test_a_call_that_no_agent_could_make_is_refused(built: Callable[..., Any], step: Any, problem: str) -> None:
    rest = {"also": {}, "wrong": {}, "answer": "", "report": {}}
    follow_up = [{"get_user": {"user_id": "$all.caller_id"}}] if "as" in step else []
    with pytest.raises(InputError, match=problem or r"solution\[1\] \(get_user\): \$all\.caller_id finds \d+ values"):
        built(solution=[step, *follow_up], **rest)
