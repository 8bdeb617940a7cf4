"""Pages of docs/reference say what the declarations say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from tools.reference.__main__ import FOLDER, ROOT, expected, main
from tools.reference.records import SCHEMA

STORED = ROOT / "tests" / "records" / "v1"


@cache
def pages() -> Mapping[Path, str]:
    return expected(ROOT)


def test_every_field_and_command_is_on_a_page() -> None:
    assert "| `spec.models[].inline.maxConcurrency` | integer |" in pages()[FOLDER / "kinds.md"]
    assert "## opsgym tasks validate\n" in pages()[FOLDER / "commands.md"]
    assert "| `cost_usd` | number or null | `0.0` | Spend so far in dollars" in pages()[FOLDER / "records.md"]
    assert "| `GET /api/runs` | The list of runs |" in pages()[FOLDER / "http.md"]
    assert "async run(job: Job" in pages()[FOLDER / "python.md"]


def test_every_reason_and_exit_code_has_a_meaning() -> None:
    rows = [line.split(" | ") for line in pages()[FOLDER / "reasons.md"].splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows if not (row[2] if len(row) == 4 else row[1]).strip(" |")] == []


@pytest.mark.parametrize(("file", "kind"), [("run.json", "RunRecord"), ("gate.json", "GateRecord"), ("0.json", "")])
def test_stored_records_meet_the_schema(file: str, kind: str) -> None:
    schema = json.loads(pages()[SCHEMA])
    schema = {**schema, "anyOf": [{"$ref": f"#/$defs/{kind}"}]} if kind else schema
    stored = [*STORED.rglob(file)]
    assert stored
    for path in stored:
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema)


def test_descriptions_of_services_refer_to_schemas_that_they_have() -> None:
    for path, text in pages().items():
        if path.name.startswith("openapi-"):
            schemas = json.loads(text)["components"].get("schemas", {})
            names = [part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]]
            assert set(names) <= set(schemas), path


def test_a_page_that_is_not_current_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    assert main(tmp_path, check=True) == 1
    assert "docs/reference/commands.md is not current" in capsys.readouterr().err
