"""What a page about a run is told: order of trials, comparison, failure modes, tasks, details."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_transcript, put_trial, verifier

from opsgym.report.columns import Positions, ended_trials
from opsgym.report.data import About, load_about, page_data, suite_name
from opsgym.report.details import load_detail
from opsgym.report.model import PageData, TrialDetail
from opsgym.report.modes import analyse_sample, sample
from opsgym.report.texts import MAX_TEXT
from opsgym_api.errors import InputError
from opsgym_api.layout import RunKeys
from opsgym_api.orders import FrozenTask, SuiteIndex
from opsgym_api.outcomes import Outcome
from opsgym_api.records import (
    PlannedCell,
    RowDifference,
    StateDifference,
    TableDifference,
    Timings,
    TranscriptEvent,
)
from opsgym_api.results import load_record, load_rows
from opsgym_api.scores import summarise
from opsgym_api.store import LocalStore, Store

RUN = "demo.1"
BEFORE = "before.1"
NOW = "2026-01-03T00:00:00Z"
OTHER = CELL.model_copy(update={"model": "a-model"})


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "results")


def page(store: Store, about: About | None = None) -> PageData:
    return page_data(load_rows(store, RUN), about or About(written_at=NOW))


def shown(found: PageData) -> list[tuple[str, str, int]]:
    """Model, task and number of each row."""
    columns = found.trials
    rows = zip(columns.cell, columns.task, columns.trial, strict=True)
    return [(found.cells[cell].cell.model, found.tasks[task].id, trial) for cell, task, trial in rows]


def detail(store: Store, task_id: str, trial: int = 0, *, run: str = RUN) -> TrialDetail | None:
    return load_detail(store, load_record(store, run), CELL, task_id, trial)


def found_detail(store: Store, task_id: str, trial: int = 0, *, run: str = RUN) -> TrialDetail:
    found = detail(store, task_id, trial, run=run)
    assert found is not None
    return found


def at(second: float, total: float = 1.0) -> Timings:
    return Timings(started_at=f"2026-01-01T00:00:{second:06.3f}Z", total_s=total)


# Order of trials


def test_what_failed_comes_first_then_what_is_not_scored_in_the_order_of_the_plan(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=cell, task_ids=["z", "a"]) for cell in (CELL, OTHER)], task_ids=["z", "a"])
    for cell in (OTHER, CELL):
        put_trial(store, RUN, "a", Outcome.PASSED, cell)
        put_trial(store, RUN, "z", Outcome.FAILED, cell)
    put_trial(store, RUN, "a", Outcome.FAILED, OTHER, trial=1)
    put_attempt(store, RUN, "z", Outcome.CANCELLED, trial=1)
    assert shown(page(store)) == [
        ("m", "z", 0),
        ("a-model", "z", 0),
        ("a-model", "a", 1),
        ("m", "z", 1),
        ("m", "a", 0),
        ("a-model", "a", 0),
    ]


def test_trials_of_a_live_page_stand_in_the_order_in_which_they_ended(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b", "c", "d"])])
    put_trial(store, RUN, "c", Outcome.PASSED, timings=at(1, 2))
    put_trial(store, RUN, "a", Outcome.FAILED, timings=at(0, 9))
    live = About(written_at=NOW, live=True)
    first = page(store, live)
    put_attempt(store, RUN, "b", Outcome.INFRA_ERROR, reason="gym_lost", timings=at(9, 1))
    put_trial(store, RUN, "d", Outcome.PASSED, timings=at(8, 3.5))
    then = page(store, live)
    assert [task for _, task, _ in shown(then)] == ["c", "a", "b", "d"]
    for name, column in first.trials:
        assert name == "offset" or getattr(then.trials, name)[:2] == column, "what was shown stays as it was"
    assert then.outcomes[:2] == first.outcomes
    assert then.reasons[:2] == first.reasons


def test_cells_and_tasks_that_nobody_planned_are_shown_last(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["b"])])
    put_trial(store, RUN, "b", Outcome.PASSED)
    put_trial(store, RUN, "a", Outcome.PASSED, OTHER)
    rows = load_rows(store, RUN)
    assert list(Positions.of(rows).cells) == [found.cell.key for found in summarise(rows).cells]
    assert shown(page(store)) == [("m", "b", 0), ("a-model", "a", 0)]


def test_a_trial_that_was_tried_again_is_one_row(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, reason="gym_lost", cost_usd=0.5)
    put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, reason="model_auth", attempt=1, cost_usd=0.25)
    put_attempt(store, RUN, "b", Outcome.INFRA_ERROR)
    put_trial(store, RUN, "b", Outcome.PASSED, attempt=1, verifiers=[verifier(), verifier(1, executed=False)])
    found = page(store)
    columns = found.trials
    assert [found.reasons[place] for place in columns.reason] == ["model_auth", ""]
    assert columns.cost_usd == [0.25, 0.25]
    assert (columns.verifiers_passed, columns.verifiers) == ([0, 1], [0, 1])
    assert columns.published_score == [None, 1]


def test_an_attempt_that_still_runs_is_no_row(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_attempt(store, RUN, "a", Outcome.INFRA_ERROR)
    put_attempt(store, RUN, "a", None, attempt=1)
    assert ended_trials(load_rows(store, RUN)) == []


# Comparison


def test_losses_come_first_then_wins_the_largest_change_first(store: LocalStore) -> None:
    passes = {"half-lost": "PF FF", "lost": "PP FF", "same": "PF PF", "turned": "PF FP", "won": "FF PF", "all": "FF PP"}
    for run, part in ((BEFORE, 0), (RUN, 1)):
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=list(passes))], trials=2)
        for task_id, told in passes.items():
            for trial, letter in enumerate(told.split()[part]):
                outcome = Outcome.PASSED if letter == "P" else Outcome.FAILED
                put_trial(store, run, task_id, outcome, trial=trial)
    found = page_data(
        load_rows(store, RUN), load_about(store, load_rows(store, RUN), written_at=NOW, baseline="before")
    )
    assert found.baseline is not None
    flips = found.baseline.flips
    assert [found.tasks[flip.task].id for flip in flips] == ["lost", "half-lost", "all", "won", "turned"]
    assert [(flip.before.passed, flip.after.passed, flip.after.total) for flip in flips[:2]] == [(2, 0, 2), (1, 0, 2)]
    flipped = dict(zip(shown(found), found.trials.flip, strict=True))
    assert [flipped["m", "turned", trial] for trial in (0, 1)] == [-1, 1]
    assert [flipped["m", "half-lost", trial] for trial in (0, 1)] == [-1, 0]


def test_a_trial_that_the_baseline_did_not_score_is_no_flip(store: LocalStore) -> None:
    for run in (RUN, BEFORE):
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    put_trial(store, RUN, "a", Outcome.FAILED)
    put_trial(store, BEFORE, "b", Outcome.PASSED)
    put_attempt(store, RUN, "b", Outcome.INFRA_ERROR)
    about = load_about(store, load_rows(store, RUN), written_at=NOW, baseline=BEFORE)
    assert page(store, about).trials.flip == [0, 0]


# Failure modes


def test_a_sample_is_spread_over_cells_and_the_same_each_time(store: LocalStore) -> None:
    tasks = [f"t{number:02}" for number in range(12)]
    put_run(store, RUN, [PlannedCell(cell=cell, task_ids=tasks) for cell in (CELL, OTHER)])
    for task_id in tasks:
        put_trial(store, RUN, task_id, Outcome.FAILED)
    for task_id in tasks[:2]:
        put_trial(store, RUN, task_id, Outcome.FAILED, OTHER)
    put_trial(store, RUN, tasks[2], Outcome.PASSED, OTHER)
    rows = load_rows(store, RUN)
    drawn = sample(rows, 6)
    assert [sum(cell == one for cell, _, _ in drawn) for one in (CELL, OTHER)] == [4, 2]
    assert drawn == sample(rows, 6) == sample(rows, 100)[:6]
    assert len(sample(rows, 100)) == 14
    assert sample(rows, 0) == []
    assert [task for cell, task, _ in drawn if cell == CELL] != tasks[:4], "neighbours in a suite are alike"


def test_a_failed_trial_without_a_transcript_was_not_looked_into(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    for task_id in ("a", "b"):
        put_trial(store, RUN, task_id, Outcome.FAILED, answer="I cannot do that.")
    put_transcript(store, RUN, "b", TranscriptEvent(kind="assistant", content="I cannot do that.", step=1))
    rows = load_rows(store, RUN)
    found = page(store, About(written_at=NOW, findings=analyse_sample(store, rows)))
    modes = found.failure_modes
    assert modes is not None
    assert (modes.analysed, modes.failed) == (1, 2)
    assert [(mode.mode, mode.trials, mode.primary) for mode in modes.modes] == [("wrong_refusal", [1], [1])]
    assert modes.modes[0].description == "The agent declined a task that can be done."
    assert found.trials.modes == [0, 1]
    (finding,) = found_detail(store, "b").findings
    assert (finding.mode, finding.primary) == ("wrong_refusal", True)
    assert finding.evidence[0].detail


# What a page tells besides


def test_texts_from_elsewhere_fit_into_utf_8(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    found = page(store, About(written_at=NOW, message="half \ud83d and \x00", phase="Running", live=True))
    assert found.run.message == "half \N{REPLACEMENT CHARACTER} and \N{REPLACEMENT CHARACTER}"
    assert (found.run.phase, found.run.live, found.run.written_at) == ("Running", True, NOW)
    found.model_dump_json().encode()


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ({"builtin": "quickstart"}, "quickstart"),
        ({"path": "suite/tasks.json"}, "suite/tasks.json"),
        ({"configMap": {"name": "mine", "key": "tasks.json"}}, "mine/tasks.json"),
        ({"objectStore": {"store": "evals", "key": "suites/itsm/"}}, "evals/suites/itsm/"),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_suite_is_named_by_its_source(suite: object, name: str) -> None:
    assert suite_name({"suite": suite}) == name


def put_suite(store: Store, **prompts: str) -> None:
    for task_id, prompt in prompts.items():
        frozen = FrozenTask(row={"user_prompt": prompt}, seeds={})
        store.put(RunKeys(RUN).suite_task(task_id), frozen.model_dump_json().encode())
    store.put(RunKeys(RUN).suite_index, SuiteIndex(entries=[]).model_dump_json().encode())


def test_a_task_is_summed_up_on_one_line(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    put_suite(store, a="Close\n\n  it.\x00", b="word " * 1000)
    found = load_about(store, load_rows(store, RUN), written_at=NOW).summaries
    assert found["a"] == "Close it.\N{REPLACEMENT CHARACTER}"
    assert len(found["b"]) == 160
    assert found["b"].endswith("…")
    assert "c" not in found


def test_a_run_without_its_suite_has_tasks_without_summaries(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    assert load_about(store, load_rows(store, RUN), written_at=NOW).summaries == {}
    put_suite(store)
    store.put(RunKeys(RUN).suite_task("a"), b"{")
    with pytest.raises(InputError, match=r"suite/tasks/a\.json: is no FrozenTask of this version"):
        load_about(store, load_rows(store, RUN), written_at=NOW)


# Details


def test_all_attempts_of_a_trial_are_told_in_order(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    for attempt in (10, 2, 0):
        put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, attempt=attempt, message=f"try {attempt}")
    put_trial(store, RUN, "a", Outcome.PASSED, attempt=11)
    put_attempt(store, RUN, "a", Outcome.PASSED, attempt=11)
    put_transcript(store, RUN, "a", TranscriptEvent(kind="assistant", content="scored"))
    put_transcript(store, RUN, "a", TranscriptEvent(kind="assistant", content="lost"), attempt=10)
    found = found_detail(store, "a")
    assert [attempt.attempt for attempt in found.attempts] == [0, 2, 10, 11]
    assert [said.event.content for said in found.said] == ["scored"]


def test_a_trial_without_a_score_shows_the_last_transcript_that_an_attempt_left(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    for attempt in range(3):
        put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, attempt=attempt)
    for attempt in (0, 1):
        put_transcript(store, RUN, "a", TranscriptEvent(kind="assistant", content=f"try {attempt}"), attempt=attempt)
    found = found_detail(store, "a")
    assert found.scored is None
    assert [said.event.content for said in found.said] == ["try 1"]
    assert found.findings == []


def test_a_trial_of_which_nothing_is_there_has_no_detail(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED)
    assert detail(store, "a") is not None
    assert detail(store, "a", 1) is None
    assert load_detail(store, load_record(store, RUN), OTHER, "a", 0) is None
    for name in ("b", "..", "../../x", "a/0", "a\x00", ""):
        assert detail(store, name) is None
        assert load_detail(store, load_record(store, RUN), CELL.model_copy(update={"model": name}), "a", 0) is None


def test_a_trial_that_nobody_planned_has_a_detail(store: LocalStore) -> None:
    put_run(store, RUN, [])
    put_trial(store, RUN, "a", Outcome.PASSED)
    assert found_detail(store, "a").scored is not None


def test_a_difference_stands_beside_its_record(store: LocalStore) -> None:
    row = RowDifference(change="changed", key={"id": 1}, before={"status": "new"}, after={"status": "closed"})
    state = {"gym-itsm-mcp": StateDifference(tables=[TableDifference(table="incident", changed=1, rows=[row])])}
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    record = put_trial(store, RUN, "a", Outcome.PASSED, state_differences=state)
    found = found_detail(store, "a")
    assert found.differences == state
    assert found.scored == record.model_copy(update={"state_differences": {}})


def test_the_transcript_of_a_rescored_run_is_that_of_the_run_it_was_made_from(store: LocalStore) -> None:
    put_run(store, "first.1", [PlannedCell(cell=CELL, task_ids=["a"])])
    put_transcript(store, "first.1", "a", TranscriptEvent(kind="assistant", content="Done.", step=1))
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])], rescored_from="first.1")
    put_trial(store, RUN, "a", Outcome.FAILED)
    assert [said.event.content for said in found_detail(store, "a").said] == ["Done."]


def test_long_texts_are_cut_and_say_so(store: LocalStore) -> None:
    long = "x" * (MAX_TEXT + 1234)
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED, answer=long, verifiers=[verifier(actual=[{"told": long}])])
    call = TranscriptEvent(kind="tool", tool_name="find", arguments={"text": [long]}, content=long)
    put_transcript(store, RUN, "a", call)
    found = found_detail(store, "a")
    cut = f"{long[:MAX_TEXT]}\n… 1,234 more characters, in the store"
    assert found.scored is not None
    assert found.scored.answer == cut
    assert found.scored.verifiers[0].actual == [{"told": cut}]
    assert found.said[0].event.content == cut
    assert found.said[0].event.arguments == {"text": [cut]}


def test_control_characters_are_replaced_and_half_a_character_stays_as_it_was_written(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED, answer="\x1b[31m\ttab\n")
    half = json.dumps({"half": "\ud83d"})
    put_transcript(store, RUN, "a", TranscriptEvent(kind="tool", arguments={"\x00": "\x7f"}, content=half))
    found = found_detail(store, "a")
    assert found.scored is not None
    assert found.scored.answer == "\N{REPLACEMENT CHARACTER}[31m\ttab\n"
    assert found.said[0].event.arguments == {"\N{REPLACEMENT CHARACTER}": "\N{REPLACEMENT CHARACTER}"}
    assert found.said[0].event.content == half


def test_a_record_that_cannot_be_read_is_named(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    store.put(RunKeys(RUN).trial(CELL, "a", 0).record, b"{}")
    with pytest.raises(InputError, match=r"a/0\.json: is no TrialRecord of this version"):
        detail(store, "a")
