"""Faults that `make mutants` puts into a line, and what it makes of them: real pytest processes on a small tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.mutants.__main__ import mutants_in, survives
from tools.mutants.mutations import mutations_of


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("ok = a < b <= c", ["ok = a <= b <= c", "ok = a < b < c"]),
        (
            "ok = a is not None and not b",
            ["ok = a is None and not b", "ok = a is not None or not b", "ok = a is not None and b"],
        ),
        ("ok = x in y + [1]", ["ok = x not in y + [1]", "ok = x in y - [1]", "ok = x in y + [2]"]),
        ("ok: bool = True", ["ok: bool = False"]),
        ("ok = total // 2 * n", ["ok = total / 2 * n", "ok = total // 3 * n", "ok = total // 2 / n"]),
        ('"""More than 1 and not 2."""', []),
        ("def f(a: Literal[1] | None) -> Literal[2] | None: ...", []),
        ("ok = 'é' == a", []),
    ],
)
def test_each_operator_constant_and_condition_of_a_line_is_changed_alone(line: str, mutants: list[str]) -> None:
    assert [mutation.on(line) for mutation in mutations_of(line)] == mutants


@pytest.mark.parametrize(("limit", "lives"), [(5, True), (10, False)], ids=["no boundary tested", "boundary tested"])
def test_a_fault_survives_if_no_test_notices_it(tmp_path: Path, limit: int, lives: bool) -> None:
    code = tmp_path / "core" / "rule.py"
    code.parent.mkdir()
    code.write_text("def is_late(minutes):\n    return minutes > 10\n")
    (tmp_path / "test_rule.py").write_text(
        f"from rule import is_late\n\ndef test_rule():\n    assert not is_late({limit})\n"
    )
    boundary = mutants_in(tmp_path, ["core"])[0]
    assert boundary.name == "core/rule.py: return minutes > 10 [>=, column 19]"
    assert survives(tmp_path, boundary, ["test_rule.py"]) is lives
    assert "minutes > 10" in code.read_text()
