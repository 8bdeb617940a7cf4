"""What `make test` makes of tests that fail: real pytest processes on a folder of tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tools.test_run import repeat
from tools.test_run.__main__ import MOST_REPEATED, Part, PartRunner, Verdict, counts, report

FLAKY = """
from pathlib import Path
import pytest

def test_fails_the_first_time():
    seen = Path(__file__).with_name("seen")
    first = not seen.exists()
    seen.touch()
    assert not first, "the machine was busy"
"""
GREEN = "def test_passes():\n    assert True\n"
RED = "def test_fails_always():\n    assert False, 'a fault'\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the tests of files."""
    return Run(tmp_path, monkeypatch)


class Run:
    """A run over the test files of a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.state = folder / "state"
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
        monkeypatch.chdir(folder)

    def __call__(self, *, options: str = "-p no:cacheprovider", **files: str) -> list[Verdict]:
        for name, text in files.items():
            (self.folder / f"test_{name}.py").write_text(text)
        parts = {name: [f"test_{name}.py", *options.split()] for name in files}
        runner = PartRunner(parts, [], self.state)
        return [runner.judge(part) for part in runner.run(list(files))]

    def report(self, verdicts: list[Verdict], capfd: pytest.CaptureFixture[str]) -> list[str]:
        capfd.readouterr()
        report(verdicts, self.state / "flaky.jsonl", datetime(2026, 11, 28, tzinfo=UTC))
        return capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("options", ["-p no:cacheprovider", "-p no:cacheprovider -n 2"])
def test_a_test_that_passes_when_played_again_is_flaky_and_not_red(
    run: Run, options: str, capfd: pytest.CaptureFixture[str]
) -> None:
    verdicts = run(options=options, one=FLAKY + GREEN)
    assert [verdict.is_green for verdict in verdicts] == [True]
    lines = run.report(verdicts, capfd)
    assert lines[:2] == [
        "FLAKY test_one.py::test_fails_the_first_time",
        "    first error: AssertionError: the machine was busy",
    ]
    assert lines[-1] == "tests: 2 passed, 0 failed, 0 skipped"
    [entry] = [json.loads(line) for line in (run.state / "flaky.jsonl").read_text().splitlines()]
    assert entry["test"] == "test_one.py::test_fails_the_first_time"
    assert entry["time"] == "2026-11-28T00:00:00+00:00"


def test_a_test_of_a_group_is_played_again(run: Run) -> None:
    grouped = 'import pytest\npytestmark = pytest.mark.xdist_group("one browser")\n' + FLAKY
    [verdict] = run(options="-p no:cacheprovider -n 2 --dist loadgroup", one=grouped)
    assert verdict.is_green
    assert list(verdict.flaky) == ["test_one.py::test_fails_the_first_time"]


def test_a_test_that_fails_again_is_red_and_says_how_to_repeat_it(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    verdicts = run(one=FLAKY + RED)
    assert [verdict.is_green for verdict in verdicts] == [False]
    lines = run.report(verdicts, capfd)
    assert "FAILED test_one.py::test_fails_always" in lines
    assert "    again, alone: .venv/bin/pytest test_one.py::test_fails_always" in lines
    assert lines[-1] == "tests: 1 passed, 1 failed, 0 skipped"


def test_a_test_that_is_skipped_when_played_again_has_not_passed(run: Run) -> None:
    [verdict] = run(one=FLAKY.replace("    assert not first", "    first or pytest.skip()\n    assert not first"))
    assert not verdict.is_green


def test_a_fixture_that_fails_after_its_test_is_played_again(run: Run) -> None:
    text = FLAKY.replace("def test_fails_the_first_time():", "@pytest.fixture\ndef late():\n    yield")
    [verdict] = run(one=f"{text}\ndef test_passes(late):\n    pass\n")
    assert verdict.is_green
    assert list(verdict.flaky) == ["test_one.py::test_passes"]


def test_every_part_runs_to_its_end_and_the_others_output_is_printed(
    run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    verdicts = run(one=RED, two=GREEN, three=RED)
    assert [verdict.is_green for verdict in verdicts] == [False, True, False]
    assert "1 passed" in capfd.readouterr().out
    assert counts(verdicts) == "tests: 1 passed, 2 failed, 0 skipped"


def test_a_module_that_cannot_be_imported_is_red(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    verdicts = run(one="import no_such_module\n")
    assert not verdicts[0].is_green
    assert run.report(verdicts, capfd)[-1] == "tests: 0 passed, 1 failed, 0 skipped"


def test_a_folder_without_tests_is_red(run: Run) -> None:
    assert not run(one="")[0].is_green


def test_many_failures_are_not_played_again(run: Run) -> None:
    text = FLAKY.replace("def test_fails", f"@pytest.mark.parametrize('n', range({MOST_REPEATED + 1}))\ndef test_fails")
    [verdict] = run(one=text.replace("time():", "time(n):").replace('"seen"', 'f"seen{n}"'))
    assert len(verdict.still_failing) == MOST_REPEATED + 1


def test_a_run_without_results_is_red() -> None:
    assert not Verdict(Part("one", 0, None), frozenset()).is_green


def test_repeated_rounds_count_how_often_a_test_fails(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    (run.folder / "test_it.py").write_text(FLAKY + GREEN)
    (run.folder / "seen").unlink(missing_ok=True)
    assert repeat.main(["--times", "3", "--load", "0", "test_it.py"]) == 1
    shown = capsys.readouterr().out
    assert "round 1 of 3: 1 passed, 1 failed" in shown
    assert "AssertionError: the machine was busy" in shown
    assert "round 3 of 3: 2 passed, 0 failed" in shown
    assert "FAILED 1 of 3 times: test_it.py::test_fails_the_first_time" in shown


def test_tests_of_the_ledger_are_repeated_once_each(tmp_path: Path) -> None:
    ledger = tmp_path / "flaky.jsonl"
    assert repeat.ledgered(ledger) == []
    ledger.write_text("".join(json.dumps({"test": test, "error": "x"}) + "\n" for test in ("b", "a", "b")))
    assert repeat.ledgered(ledger) == ["b", "a"]


def test_a_file_that_is_missing_ends_the_repetition(run: Run) -> None:
    with pytest.raises(SystemExit, match="cannot run test_missing"):
        repeat.main(["--times", "2", "--load", "0", "test_missing.py"])
