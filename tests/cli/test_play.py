"""`opsgym play`: a person gets what a model gets, types calls and an answer, and reads the verdict."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli import standing
from tests.cli.world import World

from opsgym.play.person import Left, Person, arguments_in
from opsgym_domains.suite_rows import load_suite

TASK = next(task for task in load_suite("quickstart") if task.task_id == "itsm-qs-002-escalate-tracking-outage")
TOOL = {
    "name": "get_user",
    "description": "Read a user.\nBy id.",
    "parameters": {"properties": {"user_id": {"type": "string"}}, "required": ["user_id"]},
}
CONVERSATION = [{"role": "system", "content": "Rule 1"}, {"role": "user", "content": "Who is USER_1?"}]
GOLD = [f"{call.name} {json.dumps(call.arguments)}" for call in TASK.gold_actions or []]


def played(store: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "opsgym.main", "play", TASK.task_id, "--store", str(store)]
    typed = "".join(f"{line}\n" for line in lines)
    return subprocess.run(command, input=typed, capture_output=True, text=True, timeout=600, check=False)


def played_beside(urls: dict[str, str], store: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """The same with gym servers that are running, by their URLs; only the run is another process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opsgym.commands.play.PROGRAM", (sys.executable, standing.__file__, json.dumps(urls)))
        patch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return World(store).inline("play", TASK.task_id, "--store", str(store))


def typed(*lines: str, messages: list[dict[str, Any]] = CONVERSATION) -> tuple[dict[str, Any], str]:
    """The reply that lines make, and what was shown."""
    rest, shown = iter(lines), list[str]()

    def read(_prompt: str) -> str:
        try:
            return next(rest)
        except StopIteration:
            raise EOFError from None

    person = Person(read, shown.append)
    return person.reply({"messages": messages, "tools": [{"function": TOOL}]}), "\n".join(shown)


def test_the_reference_solution_passes_when_a_person_types_it(tmp_path: Path) -> None:
    done = played(tmp_path, "policy", *GOLD, f"answer {TASK.gold_answer}")
    assert done.returncode == 0, done.stderr
    assert TASK.user_prompt in done.stdout
    assert TASK.system_prompt.splitlines()[0] in done.stdout
    assert f"PASSED  {TASK.task_id}, {len(GOLD)} calls" in done.stdout


def test_a_person_who_does_nothing_reads_what_failed(tmp_path: Path, desk_url: dict[str, str]) -> None:
    done = played_beside(desk_url, tmp_path, "answer I could not find it.")
    assert done.returncode == 0, done.stderr
    assert f"FAILED  {TASK.task_id}, 0 calls" in done.stdout
    assert "FAILED  task_completion  update_incident" in done.stdout


def test_input_that_ends_without_an_answer_scores_nothing(tmp_path: Path, desk_url: dict[str, str]) -> None:
    done = played_beside(desk_url, tmp_path, GOLD[0])
    assert done.returncode == 130
    assert done.stderr.strip() == "left without an answer: nothing is scored"
    assert "PASSED" not in done.stdout
    assert "FAILED" not in done.stdout


def test_an_unknown_task_is_named(tmp_path: Path) -> None:
    done = World(tmp_path).inline("play", "itsm-qs-002-escalate-tracking-outrage")
    assert done.returncode == 2
    assert "did you mean itsm-qs-002-escalate-tracking-outage?" in done.stderr


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        (
            "user_id=USER_1 limit=5 active=true name='Ann B' tags='[\"a\"]' note=null",
            {"user_id": "USER_1", "limit": 5, "active": True, "name": "Ann B", "tags": ["a"], "note": None},
        ),
        ('{"user_id": "USER_1"}', {"user_id": "USER_1"}),
        ("query=a=b", {"query": "a=b"}),
    ],
)
def test_arguments_are_pairs_or_json(text: str, arguments: dict[str, Any]) -> None:
    assert arguments_in(text) == arguments


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("get_user USER_1", "get_user: 'USER_1' has no =; write name=value"),
        ("get_user {user_id: 1}", "get_user: the arguments are not JSON"),
        ("get_user name='Ann", "get_user: No closing quotation"),
        ("get_usr user_id=1", "unknown tool 'get_usr'; did you mean get_user?"),
        ("what now", "unknown tool 'what'; type tools to list them"),
        ("help get_user", "user_id  (string, required)"),
        ("tools user", "get_user  Read a user."),
        ("policy", "Rule 1"),
    ],
)
def test_a_line_that_is_no_reply_is_explained_and_the_next_one_read(line: str, message: str) -> None:
    reply, shown = typed(line, "answer done")
    assert reply == {"role": "assistant", "content": "done"}
    assert message in shown


def test_an_answer_of_several_lines_ends_with_a_full_stop() -> None:
    reply, _ = typed("answer", "first", "", "second", ".")
    assert reply["content"] == "first\n\nsecond"


def test_results_are_shown_without_their_envelope_and_without_control_characters() -> None:
    result = json.dumps(
        {
            "content": [{"type": "text", "text": '{"name": "A"}'}, {"type": "text", "text": "\x1b[2J gone"}],
            "isError": True,
        }
    )
    _, shown = typed("answer x", messages=[*CONVERSATION, {"role": "tool", "content": result}])
    assert 'Error: {\n  "name": "A"\n}\n␛[2J gone' in shown


def test_the_end_of_input_leaves() -> None:
    with pytest.raises(Left):
        typed("help")
