"""Task rows are parsed without loss; an invalid row is reported with file, row and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.upstream import upstream

from opsgym_api.errors import InputError
from opsgym_api.kinds.evalrun import Access, Mode
from opsgym_api.tasks.reading import BadRow, parse_row, read_tasks
from opsgym_api.tasks.task import GymServer, Task, ToolCall
from opsgym_api.tasks.verifiers import Category, Comparison, DatabaseState, Verifier

GYM = {"mcp_server_name": "gym-itsm-mcp", "seed_database_file": "seed.sql", "context": None}
COUNT = {"query": "SELECT count(*) FROM incidents", "expected_value": 3}
VERIFIER: dict[str, Any] = {"verifier_type": "database_state", "name": "three", "validation_config": COUNT}
ROW: dict[str, Any] = {
    "task_id": "close-incident",
    "user_prompt": "Close the incident.",
    "gym_servers_config": [GYM],
    "verifiers": [VERIFIER],
}


def parsed(**changes: Any) -> Task:
    row = parse_row(ROW | changes, default_id="file", where="rows.json")
    assert isinstance(row, Task), row.message
    return row


def refused(**changes: Any) -> list[str]:
    row = parse_row(ROW | changes, default_id="file", where="rows.json")
    assert isinstance(row, BadRow)
    assert row.source == "rows.json"
    return row.message.splitlines()


def verifier(kind: str, config: object, **more: Any) -> dict[str, Any]:
    return {"verifiers": [{"verifier_type": kind, "validation_config": config, **more}]}


def rows(*ids: str) -> list[dict[str, Any]]:
    return [ROW | {"task_id": task_id} for task_id in ids]


def write(file: Path, *content: object) -> Path:
    """Writes each JSON value on a line; text as it is."""
    lines = [item if isinstance(item, str) else json.dumps(item) for item in content]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def read_ids(path: Path) -> list[str]:
    tasks, bad = read_tasks(path)
    assert bad == []
    return [task.task_id for task in tasks]


# What is read


def test_the_fields_of_a_row_are_parsed() -> None:
    assert parsed() == Task(
        task_id="close-incident",
        user_prompt="Close the incident.",
        gym_servers_config=[GymServer(mcp_server_name="gym-itsm-mcp", seed_database_file="seed.sql")],
        verifiers=[Verifier(verifier_type="database_state", name="three", validation_config=COUNT)],
    )
    [check] = parsed().verifiers
    assert check.database_state == DatabaseState(
        query=COUNT["query"], expected_value=3, comparison_type=Comparison.EQUALS
    )
    assert (check.category, check.dialect) == (Category.TASK_COMPLETION, "sqlite")


def test_a_file_holds_one_row_or_a_list_of_them(tmp_path: Path) -> None:
    assert read_ids(write(tmp_path / "one.json", ROW)) == ["close-incident"]
    assert read_ids(write(tmp_path / "many.json", rows("b", "a"))) == ["b", "a"]
    assert read_ids(write(tmp_path / "none.json", [])) == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  \n"])
def test_json_lines_may_end_in_any_newline(tmp_path: Path, end: str) -> None:
    # A line separator inside a JSON string ends no line.
    content = [json.dumps(row | {"user_prompt": "one\u2028two\x85three"}, ensure_ascii=False) for row in rows("b", "a")]
    file = tmp_path / "rows.jsonl"
    file.write_bytes((end.join(content) + end).encode())
    assert read_ids(file) == ["b", "a"]


def test_a_folder_is_read_in_name_order_and_other_files_are_skipped(tmp_path: Path) -> None:
    write(tmp_path / "b.json", ROW | {"task_id": "second"})
    write(tmp_path / "a.jsonl", ROW | {"task_id": "first"})
    write(tmp_path / "_samples.json", {"queries": []})
    write(tmp_path / "notes.txt", "no row")
    (tmp_path / "folder.json").mkdir()
    assert read_ids(tmp_path) == ["first", "second"]


@pytest.mark.parametrize(
    "field", ["selected_tools", "restricted_tools", "mode_tools", "gym_servers_config", "verifiers"]
)
def test_json_may_be_held_in_a_string(field: str) -> None:
    full = ROW | {"selected_tools": ["a", "b"], "restricted_tools": ["c"], "mode_tools": {"plus_5_tools": ["a", "d"]}}
    assert parsed(**full | {field: json.dumps(full[field])}) == parsed(**full)


def test_a_verifiers_configuration_may_be_held_in_a_string() -> None:
    assert parsed(**verifier("database_state", json.dumps(COUNT))) == parsed(**verifier("database_state", COUNT))


def test_a_prompt_that_looks_like_json_stays_text() -> None:
    assert parsed(user_prompt='["not", "a", "list"]').user_prompt == '["not", "a", "list"]'
    assert parsed(user_prompt="{unbalanced").user_prompt == "{unbalanced"


def test_null_is_absent_wherever_a_field_may_be() -> None:
    absent = [
        "domain", "system_prompt", "selected_tools", "restricted_tools", "plan", "gold_actions", "gold_answer",
        "feasible", "horizon", "tags", "mode_tools",
    ]  # fmt: skip
    assert parsed(**dict.fromkeys(absent)) == parsed()
    assert parsed().selected_tools == []
    assert parsed(gym_servers_config=[GYM | {"mcp_server_url": None}]) == parsed()
    unnamed = VERIFIER | dict.fromkeys(["name", "description", "gym_name", "category", "dialect"])
    assert parsed(verifiers=[unnamed]) == parsed(verifiers=[VERIFIER | {"name": ""}])
    assert parsed(gold_actions=[{"name": "list_users", "arguments": None}]).gold_actions == [
        ToolCall(name="list_users")
    ]


def test_the_tools_of_a_mode_default_to_those_of_oracle() -> None:
    task = parsed(selected_tools=["a"], mode_tools={"plus_5_tools": ["a", "b"]})
    assert {mode: task.tools_in(mode) for mode in (Mode.ORACLE, Mode.PLUS_5, Mode.PLUS_10)} == {
        Mode.ORACLE: ["a"],
        Mode.PLUS_5: ["a", "b"],
        Mode.PLUS_10: ["a"],
    }


def test_the_expected_value_of_a_query_may_be_null() -> None:
    [check] = parsed(**verifier("database_state", COUNT | {"expected_value": None})).verifiers
    assert check.database_state.expected_value is None


def test_a_row_without_an_id_takes_its_files_name(tmp_path: Path) -> None:
    unnamed = {name: value for name, value in ROW.items() if name != "task_id"}
    write(tmp_path / "task_1.json", unnamed)
    write(tmp_path / "task_1.reconstructed.json", unnamed | {"task_id": None})
    write(tmp_path / "task_2.jsonl", unnamed)
    assert read_ids(tmp_path) == ["task_1", "task_1.reconstructed", "task_2"]


def test_unknown_fields_are_kept() -> None:
    row = parsed(number_of_runs=3, verifiers=[VERIFIER | {"weight": 2}])
    dumped = row.model_dump(mode="json")
    assert dumped["number_of_runs"] == 3
    assert dumped["verifiers"][0]["weight"] == 2


def test_a_row_survives_being_written_and_read_again() -> None:
    row = parsed(
        selected_tools=["a"], gold_actions=[{"name": "a", "arguments": {"n": [1, None]}}], extra={"deep": None}
    )
    again = parse_row(json.loads(row.model_dump_json()), default_id="x", where="x")
    assert again == row


# Domains


@pytest.mark.parametrize(
    ("server", "domain"),
    [
        ("gym-itsm-mcp", "itsm"),
        ("sn-csm-server", "csm"),
        ("gym-teams-mcp", "teams"),
        ("gym-internal-hr-mcp-server", "hr"),
        ("drive", "drive"),
        ("Gym-Email-MCP", "email"),
        ("my-own-crm", "my-own-crm"),
        ("gym-mcp", "gym-mcp"),
    ],
)
def test_the_domain_of_a_gym_server_comes_from_its_name(server: str, domain: str) -> None:
    row = parsed(gym_servers_config=[{"mcp_server_name": server}])
    assert row.gym_servers_config[0].domain == domain
    assert row.domain_name == domain


def test_gym_servers_of_several_domains_make_a_hybrid_task() -> None:
    both = [{"mcp_server_name": "gym-itsm-mcp"}, {"mcp_server_name": "sn-csm-server"}]
    assert parsed(gym_servers_config=both).domain_name == "hybrid"
    assert parsed(gym_servers_config=[*both[:1], {"mcp_server_name": "sn-itsm-server"}]).domain_name == "itsm"


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ("csm", "csm"),
        ("", "itsm"),
        ("HR Service", "hr-service"),
        ("a/../b", "a-..-b"),
        ("x" * 99, "x" * 63),
        ("Ünï", "n"),
    ],
)
def test_the_domain_field_of_a_row_overrides_its_servers_and_is_a_valid_name(domain: str, name: str) -> None:
    assert parsed(domain=domain).domain_name == name


def test_identity_headers_are_named_as_the_published_client_sends_them() -> None:
    context = {"x-Itsm-User-Token": "t", "user_id": "USER_001", " X-Team ": "a"}
    [gym] = parsed(gym_servers_config=[GYM | {"context": context}]).gym_servers_config
    assert gym.headers == {"x-itsm-user-token": "t", "x-user-id": "USER_001", "x-team": "a"}
    assert parsed().gym_servers_config[0].headers == {}


@pytest.mark.parametrize(("horizon", "gold", "steps"), [(4, 1, 4), (None, 2, 2), (None, 0, 0), (None, None, None)])
def test_steps_are_the_horizon_or_the_gold_actions(horizon: int | None, gold: int | None, steps: int | None) -> None:
    actions = None if gold is None else [{"name": "list_users"}] * gold
    assert parsed(horizon=horizon, gold_actions=actions).steps == steps


@pytest.mark.parametrize(
    ("access", "run", "judged"),
    [
        (None, "published", "published"),
        ("published", "strict", "strict"),
        ("strict", "published", "strict"),
        ("strict", "strict", "strict"),
    ],
)
def test_a_task_is_judged_strictly_if_it_or_the_run_asks_for_it(access: str | None, run: str, judged: str) -> None:
    assert parsed(access=access).access_in(Access(run)) == judged


# Refused rows


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"user_prompt": None}, ["user_prompt: must be a valid string, found None"]),
        ({"user_prompt": ""}, ["user_prompt: string should have at least 1 character, found ''"]),
        (
            {"task_id": "../../etc"},
            ["task_id: '../../etc' must be at most 200 letters, digits, '.', '_' and '-', a letter or digit first"],
        ),
        ({"access": "lax"}, ["access: 'lax' is not allowed; allowed: 'published' or 'strict'"]),
        ({"task_id": 7}, ["task_id: must be a valid string, found 7"]),
        ({"gym_servers_config": []}, ["gym_servers_config: must have at least 1 items, found 0"]),
        ({"verifiers": None}, ["verifiers: must be a valid list, found None"]),
        ({"verifiers": []}, ["verifiers: must have at least 1 items, found 0"]),
        ({"selected_tools": ["a", 1]}, ["selected_tools[1]: must be a valid string, found 1"]),
        ({"selected_tools": "a, b"}, ["selected_tools: must be a valid list, found 'a, b'"]),
        ({"mode_tools": {"plus_5_tools": "a"}}, ["mode_tools.plus_5_tools: must be a valid list, found 'a'"]),
        (
            {"verifiers": "[{oops"},
            [
                (
                    "verifiers: is a string that is not JSON: "
                    "Expecting property name enclosed in double quotes: line 1 column 3 (char 2)"
                ),
            ],
        ),
        ({"selected_tools": "[" * 100_000}, ["selected_tools: is a string of JSON that is nested too deeply"]),
        (
            {"gym_servers_config": [GYM | {"context": {"user_id": 5}}]},
            ["gym_servers_config[0].context.user_id: must be a valid string, found 5"],
        ),
        (
            {"gym_servers_config": [{"mcp_server_name": "a b"}]},
            [
                (
                    "gym_servers_config[0].mcp_server_name: 'a b' must be at most 100 letters, "
                    "digits, '.', '_' and '-', a letter or digit first"
                )
            ],
        ),
        (
            {"gold_actions": [{"name": "a"}, {"arguments": []}]},
            ["gold_actions[1].name: is required", "gold_actions[1].arguments: must be a map of fields, found []"],
        ),
        ({"tags": ["two words"]}, ["tags[0]: 'two words' must be 1 to 60 characters without blanks"]),
        ({"horizon": -1}, ["horizon: must be greater than or equal to 0, found -1"]),
        (
            {"user_prompt": 1, "plan": "x" * 500},
            ["user_prompt: must be a valid string, found 1", f"plan: must be a valid list, found '{'x' * 98}…"],
        ),
    ],
)
def test_a_bad_row_is_refused_with_every_field_at_fault(changes: dict[str, Any], problems: list[str]) -> None:
    assert refused(**changes) == [f"rows.json: {problem}" for problem in problems]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            verifier("database", COUNT),
            (
                "verifiers[0].verifier_type: 'database' is not allowed; "
                "allowed: 'database_state', 'tool_execution', 'response_check', 'answer_match', 'state_difference', "
                "'looked_up' or 'never_called'"
            ),
        ),
        (verifier("database_state", None), "verifiers[0].validation_config: must be a map of fields, found None"),
        (
            verifier("database_state", "{oops"),
            (
                "verifiers[0].validation_config: is a string that is not JSON: "
                "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
            ),
        ),
        (
            verifier("database_state", {"query": "SELECT 1"}),
            "verifiers[0]: validation_config.expected_value: is required",
        ),
        (
            verifier("database_state", COUNT | {"comparison_type": "like"}),
            (
                "verifiers[0]: validation_config.comparison_type: 'like' is not allowed; "
                "allowed: 'equals', 'greater_than', 'less_than' or 'contains'"
            ),
        ),
        (
            verifier("database_state", COUNT, gym_name="other"),
            "verifiers[0].gym_name: unknown gym server 'other'; the task has gym-itsm-mcp",
        ),
        (
            verifier("database_state", COUNT, category="luck"),
            (
                "verifiers[0].category: 'luck' is not allowed; allowed: "
                "'task_completion', 'integrity', 'permission_process', 'side_effect' or 'refusal'"
            ),
        ),
        (
            verifier("database_state", COUNT, dialect="mysql"),
            "verifiers[0].dialect: 'mysql' is not allowed; allowed: 'sqlite' or 'postgres'",
        ),
        (
            verifier("tool_execution", {"minimum_tool_calls": -1}),
            "verifiers[0]: validation_config.minimum_tool_calls: must be greater than or equal to 0, found -1",
        ),
        (
            verifier("response_check", {"sql_query": "SELECT 1"}),
            "verifiers[0]: validation_config.comparison_prompt: is required",
        ),
        (
            verifier("answer_match", {"patterns": []}),
            "verifiers[0]: validation_config.patterns: must have at least 1 items, found 0",
        ),
        (
            verifier("answer_match", {"patterns": ["("]}),
            (
                "verifiers[0]: validation_config.patterns: '(' is not a regular expression: "
                "missing ), unterminated subpattern at position 0"
            ),
        ),
    ],
)
def test_a_bad_verifier_is_refused_with_its_field(changes: dict[str, Any], problem: str) -> None:
    assert refused(**changes) == [f"rows.json: {problem}"]


@pytest.mark.parametrize("row", [[ROW], "text", 3, None, True])
def test_a_row_that_is_not_an_object_is_refused(row: object) -> None:
    assert parse_row(row, default_id="file", where="rows.json row 2") == BadRow(
        task_id="file", source="rows.json row 2", message="rows.json row 2: a row must be a JSON object"
    )


def test_a_bad_row_is_reported_beside_the_good_ones_with_file_and_row(tmp_path: Path) -> None:
    good, other = rows("good", "other")
    write(tmp_path / "list.json", [good, ROW | {"task_id": "bad", "verifiers": []}, "text"])
    write(tmp_path / "lines.jsonl", other, "", "{oops", ROW | {"task_id": "worse", "user_prompt": None})
    write(tmp_path / "broken.json", "{", "oops")
    tasks, bad = read_tasks(tmp_path)
    assert [task.task_id for task in tasks] == ["other", "good"]
    assert [(row.task_id, row.source, row.message) for row in bad] == [
        (
            "broken",
            "broken.json",
            "broken.json: line 2, column 1: is not JSON: Expecting property name enclosed in double quotes",
        ),
        (
            "lines",
            "lines.jsonl row 3",
            "lines.jsonl row 3: line 1, column 2: is not JSON: Expecting property name enclosed in double quotes",
        ),
        ("worse", "lines.jsonl row 4", "lines.jsonl row 4: user_prompt: must be a valid string, found None"),
        ("bad", "list.json row 2", "list.json row 2: verifiers: must have at least 1 items, found 0"),
        ("list", "list.json row 3", "list.json row 3: a row must be a JSON object"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "line 1, column 1: is not JSON: Expecting value"), ("[" * 100_000, "is nested too deeply")],
)
def test_a_file_that_is_not_json_is_an_unreadable_row(tmp_path: Path, text: str, message: str) -> None:
    tasks, [bad] = read_tasks(write(tmp_path / "task.json", text))
    assert tasks == []
    assert bad.message == f"task.json: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"user_prompt": "a", "user_prompt": "b"}',
            "has the key 'user_prompt' twice in one object; remove one of them",
        ),
        (
            '[{"verifiers": [{"validation_config": {"expected_value": 1, "query": "x", "expected_value": 2}}]}]',
            "has the key 'expected_value' twice in one object; remove one of them",
        ),
        ('{"expected_value": NaN}', "has the number NaN, which JSON does not have or no database can hold"),
        (
            '{"expected_value": -Infinity}',
            "has the number -Infinity, which JSON does not have or no database can hold",
        ),
        ('{"expected_value": 1e999}', "has the number 1e999, which JSON does not have or no database can hold"),
    ],
)
def test_what_readers_of_json_take_differently_is_refused(tmp_path: Path, text: str, message: str) -> None:
    tasks, [bad] = read_tasks(write(tmp_path / "task.json", text))
    assert tasks == []
    assert bad.message == f"task.json: {message}"


def test_files_are_read_as_editors_and_other_systems_leave_them(tmp_path: Path) -> None:
    """With a byte order mark, and beside the hidden files of a folder that was copied from a Mac."""
    for name, text in (("one.json", json.dumps(ROW)), ("more.jsonl", json.dumps({**ROW, "task_id": "two"}))):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "._one.json").write_bytes(b"\x00\x05\x16\x07")
    tasks, bad = read_tasks(tmp_path)
    assert bad == []
    assert len(tasks) == 2


# Refused suites


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_tasks(path)
    assert caught.value.source.startswith(str(path))
    return "; ".join(str(problem) for problem in caught.value.problems)


def test_ids_that_rows_share_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.json", rows("one", "two", "three"))
    write(tmp_path / "b.jsonl", *rows("two", "four", "one"))
    advice = "give each a task_id of its own (a row without one takes its file's name)"
    assert refusal(tmp_path) == (
        f"task_id: 'one' names several rows: a.json row 1, b.jsonl row 3; {advice}; "
        f"task_id: 'two' names several rows: a.json row 2, b.jsonl row 1; {advice}"
    )


def test_several_rows_of_a_file_need_ids(tmp_path: Path) -> None:
    unnamed = {name: value for name, value in ROW.items() if name != "task_id"}
    assert refusal(write(tmp_path / "rows.json", [unnamed, unnamed])).startswith(
        "task_id: 'rows' names several rows: rows.json row 1, rows.json row 2; "
    )


def test_a_missing_or_empty_path_is_refused_with_the_expected_layout(tmp_path: Path) -> None:
    assert refusal(tmp_path / "missing") == "does not exist; expected a task file, or a folder of them"
    write(tmp_path / "_samples.json", [])
    assert refusal(tmp_path) == "is empty of .json and .jsonl files; expected a task file, or a folder of them"


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "task.json").write_bytes(b'{"user_prompt": "\xff"}')
    assert refusal(tmp_path) == "byte 17: is not UTF-8 text"


def test_a_path_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    # Unlike missing permissions, a name too long stops root too.
    expected = "cannot be read: File name too long; expected a task file, or a folder of them"
    assert refusal(tmp_path / f"{'x' * 300}.json") == expected
    file = write(tmp_path / "task.json", ROW)
    assert refusal(file / "inside") == "does not exist; expected a task file, or a folder of them"
    assert refusal(tmp_path / "nul\0").startswith("does not exist")
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    assert "Too many levels of symbolic links" in refusal(loop)


# The published rows


@pytest.mark.published
@pytest.mark.parametrize("domain", ["itsm", "csm", "teams"])
def test_every_published_row_is_read(domain: str) -> None:
    folder = upstream() / "tasks" / domain
    files = [path.name for path in folder.iterdir() if not path.name.startswith("_")]
    tasks, bad = read_tasks(folder)
    assert [row.message for row in bad] == []
    assert sorted(f"{task.task_id}.json" for task in tasks) == sorted(files)
    assert {task.domain_name for task in tasks} == {domain}
    for task in tasks:
        source = json.loads((folder / f"{task.task_id}.json").read_text(encoding="utf-8"))
        assert len(task.verifiers) == len(source["verifiers"])
        assert task.selected_tools == (source["selected_tools"] or [])
        assert {gym.mcp_server_name for gym in task.gym_servers_config} == {
            gym["mcp_server_name"] for gym in source["gym_servers_config"]
        }
