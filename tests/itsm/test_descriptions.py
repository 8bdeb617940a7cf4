"""Overlays replace the descriptions that agents read; an overlay that cannot be used is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.gym import gym_server

from opsgym_domains.itsm.domain import DOMAIN
from opsgym_domains.serve import main

TOOLS = DOMAIN.toolbox.tools


def test_an_overlay_replaces_descriptions_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "words.json"
    file.write_text(json.dumps({"get_user": "Who is this?"}))
    with gym_server("itsm", "--descriptions", str(file)) as gym:
        listed = gym.client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json()
    shown = {tool["name"]: tool for tool in listed["result"]["tools"]}
    assert shown["get_user"]["description"] == "Who is this?"
    assert shown["get_user"]["inputSchema"] == TOOLS["get_user"].input_schema
    assert shown["list_users"]["description"] == TOOLS["list_users"].description


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"get_user": "x", "get_usr": "y"}', "unknown tool 'get_usr'"),
        ('{"get_user": 5}', "must be a JSON object"),
        ("[]", "must be a JSON object"),
        ("{", "is not valid JSON"),
        (None, "cannot be read"),
    ],
)
def test_an_overlay_that_cannot_be_used_ends_the_server_with_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, problem: str
) -> None:
    file = tmp_path / "words.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SystemExit) as ended:
        main(["itsm", "--descriptions", str(file)])
    message = capsys.readouterr().err
    assert ended.value.code == 2
    assert problem in message
    assert str(file) in message
    assert TOOLS["get_user"].description != "x", "no part of such an overlay is used"
