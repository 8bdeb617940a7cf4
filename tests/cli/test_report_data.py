"""Data of the page of a run: order of trials, comparison, failure modes, tasks, details."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_transcript, put_trial, verifier

from opsgym_api.records.attempt import Timings
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, suite_label
from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import CatalogueRecord, Reasoning, StepReasoning, Transcript, TranscriptEvent
from opsgym_api.tasks.suite import FrozenTask, SuiteIndex
from opsgym_console.report.bundling import DetailLocation, pack
from opsgym_console.report.columns import Positions, finished_trials
from opsgym_console.report.data import PageContext, load_context, page_data
from opsgym_console.report.details import load_detail
from opsgym_console.report.model import PageData, ToolEntry, TrialDetail
from opsgym_console.report.modes import analyse_sample, sample
from opsgym_console.report.texts import MAX_TEXT
from opsgym_core.results.load import load_record, load_rows
from opsgym_core.results.score import summarise
from opsgym_core.results.transcripts import encode_record
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore

RUN = "demo.1"
BEFORE = "before.1"
NOW = "2026-01-03T00:00:00Z"
OTHER = CELL.model_copy(update={"model": "a-model"})


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "results")


def page(store: Store, context: PageContext | None = None) -> PageData:
    return page_data(load_rows(store, RUN), context or PageContext(written_at=NOW))


def shown(data: PageData) -> list[tuple[str, str, int]]:
    """Model, task and number of each row."""
    columns = data.trials
    rows = zip(columns.cell, columns.task, columns.trial, strict=True)
    return [(data.cells[cell].cell.model, data.tasks[task].id, trial) for cell, task, trial in rows]


def detail(store: Store, task_id: str, trial: int = 0, *, run: str = RUN) -> TrialDetail | None:
    return load_detail(store, load_record(store, run), CELL, task_id, trial)


def loaded_detail(store: Store, task_id: str, trial: int = 0, *, run: str = RUN) -> TrialDetail:
    loaded = detail(store, task_id, trial, run=run)
    assert loaded is not None
    return loaded


def at(second: float, total: float = 1.0) -> Timings:
    return Timings(started_at=f"2026-01-01T00:00:{second:06.3f}Z", total_s=total)


# Order of trials


def test_failed_trials_come_first_then_unscored_ones_in_the_order_of_the_plan(store: LocalStore) -> None:
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


def test_trials_of_a_live_page_are_in_the_order_of_their_end(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b", "c", "d"])])
    put_trial(store, RUN, "c", Outcome.PASSED, timings=at(1, 2))
    put_trial(store, RUN, "a", Outcome.FAILED, timings=at(0, 9))
    live = PageContext(written_at=NOW, live=True)
    first = page(store, live)
    put_attempt(store, RUN, "b", Outcome.INFRA_ERROR, reason="gym_lost", timings=at(9, 1))
    put_trial(store, RUN, "d", Outcome.PASSED, timings=at(8, 3.5))
    then = page(store, live)
    assert [task for _, task, _ in shown(then)] == ["c", "a", "b", "d"]
    for name, column in first.trials:
        assert name == "offset" or getattr(then.trials, name)[:2] == column, "rows already shown do not change"
    assert then.outcomes[:2] == first.outcomes
    assert then.reasons[:2] == first.reasons


def test_cells_and_tasks_outside_the_plan_are_shown_last(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["b"])])
    put_trial(store, RUN, "b", Outcome.PASSED)
    put_trial(store, RUN, "a", Outcome.PASSED, OTHER)
    rows = load_rows(store, RUN)
    assert list(Positions.of(rows).cells) == [cell_score.cell.key for cell_score in summarise(rows).cells]
    assert shown(page(store)) == [("m", "b", 0), ("a-model", "a", 0)]


def test_a_retried_trial_is_one_row(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, reason="gym_lost", cost_usd=0.5)
    put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, reason="model_auth", attempt=1, cost_usd=0.25)
    put_attempt(store, RUN, "b", Outcome.INFRA_ERROR)
    put_trial(store, RUN, "b", Outcome.PASSED, attempt=1, verifiers=[verifier(), verifier(1, executed=False)])
    data = page(store)
    columns = data.trials
    assert [data.reasons[place] for place in columns.reason] == ["model_auth", ""]
    assert columns.cost_usd == [0.25, 0.25]
    assert (columns.verifiers_passed, columns.verifiers) == ([0, 1], [0, 1])
    assert columns.published_score == [None, 1]


def test_a_running_attempt_has_no_row(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_attempt(store, RUN, "a", Outcome.INFRA_ERROR)
    put_attempt(store, RUN, "a", None, attempt=1)
    assert finished_trials(load_rows(store, RUN)) == []


# Comparison


def test_flips_list_losses_before_wins_and_larger_changes_first(store: LocalStore) -> None:
    passes = {"half-lost": "PF FF", "lost": "PP FF", "same": "PF PF", "turned": "PF FP", "won": "FF PF", "all": "FF PP"}
    for run, part in ((BEFORE, 0), (RUN, 1)):
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=list(passes))], trials=2)
        for task_id, passed_of_runs in passes.items():
            for trial, mark in enumerate(passed_of_runs.split()[part]):
                outcome = Outcome.PASSED if mark == "P" else Outcome.FAILED
                put_trial(store, run, task_id, outcome, trial=trial)
    data = page_data(
        load_rows(store, RUN), load_context(store, load_rows(store, RUN), written_at=NOW, baseline="before")
    )
    assert data.baseline is not None
    flips = data.baseline.flips
    assert [data.tasks[flip.task].id for flip in flips] == ["lost", "half-lost", "all", "won", "turned"]
    assert [(flip.before.passed, flip.after.passed, flip.after.total) for flip in flips[:2]] == [(2, 0, 2), (1, 0, 2)]
    flipped = dict(zip(shown(data), data.trials.flip, strict=True))
    assert [flipped["m", "turned", trial] for trial in (0, 1)] == [-1, 1]
    assert [flipped["m", "half-lost", trial] for trial in (0, 1)] == [-1, 0]


def test_a_trial_scored_in_only_one_run_does_not_flip(store: LocalStore) -> None:
    for run in (RUN, BEFORE):
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    put_trial(store, RUN, "a", Outcome.FAILED)
    put_trial(store, BEFORE, "b", Outcome.PASSED)
    put_attempt(store, RUN, "b", Outcome.INFRA_ERROR)
    context = load_context(store, load_rows(store, RUN), written_at=NOW, baseline=BEFORE)
    assert page(store, context).trials.flip == [0, 0]


# Failure modes


def test_variants_of_the_suite_stand_beside_the_run_with_their_spread(store: LocalStore) -> None:
    """The newest run of each other variant; runs that differ in anything else are left out."""
    for run, variant, scores in (
        *(("v.1", 1, (0, 0, 0, 1)), ("v.2", 1, (0, 0, 1, 1)), (RUN, None, (1, 1, 1, 1))),
        ("other.1", 3, (0, 0, 0, 0)),
    ):
        suite = {"builtin": "csm-core"} | ({"variant": variant} if variant else {})
        spec = {"suite": suite, "trials": 5 if run == "other.1" else 4}
        put_run(
            store, run, [PlannedCell(cell=CELL, task_ids=["a"])], spec=spec, created_at=f"2026-02-0{run[-1]}T00:00:00Z"
        )
        for number, score in enumerate(scores):
            put_trial(store, run, "a", Outcome.PASSED if score else Outcome.FAILED, trial=number)
    rows = load_rows(store, RUN)
    data = page_data(rows, load_context(store, rows, written_at=NOW))
    assert data.variants is not None
    assert [(one.variant, one.run, [cell and cell.rate for cell in one.successes]) for one in data.variants.runs] == [
        (0, RUN, [1.0]),
        (1, "v.2", [0.5]),
    ]
    (spread,) = data.variants.spreads
    assert spread is not None
    assert (spread.variants, spread.mean, spread.lowest, spread.highest) == (2, 0.75, 0.5, 1.0)


def test_a_run_of_the_only_variant_has_no_spread(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])], spec={"suite": {"builtin": "csm-core"}})
    rows = load_rows(store, RUN)
    assert page_data(rows, load_context(store, rows, written_at=NOW)).variants is None


def test_a_sample_is_spread_over_cells_and_deterministic(store: LocalStore) -> None:
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
    assert [task for cell, task, _ in drawn if cell == CELL] != tasks[:4], (
        "the sample is not the first tasks of the suite"
    )


def test_a_failed_trial_without_a_transcript_is_not_analysed(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    for task_id in ("a", "b"):
        put_trial(store, RUN, task_id, Outcome.FAILED, answer="I cannot do that.")
    put_transcript(store, RUN, "b", TranscriptEvent(kind="assistant", content="I cannot do that.", step=1))
    rows = load_rows(store, RUN)
    data = page(store, PageContext(written_at=NOW, findings=analyse_sample(store, rows)))
    modes = data.failure_modes
    assert modes is not None
    assert (modes.analysed, modes.failed) == (1, 2)
    assert [(mode.mode, mode.trials, mode.primary) for mode in modes.modes] == [("wrong_refusal", [1], [1])]
    assert modes.modes[0].description == "The agent declined a feasible task."
    assert data.trials.modes == [0, 1]
    (finding,) = loaded_detail(store, "b").findings
    assert (finding.mode, finding.primary) == ("wrong_refusal", True)
    assert finding.evidence[0].detail


# Texts and suite


def test_characters_that_utf_8_cannot_encode_are_replaced(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    data = page(store, PageContext(written_at=NOW, message="half \ud83d and \x00", phase="Running", live=True))
    assert data.run.message == "half \N{REPLACEMENT CHARACTER} and \N{REPLACEMENT CHARACTER}"
    assert (data.run.phase, data.run.live, data.run.written_at) == ("Running", True, NOW)
    data.model_dump_json().encode()


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ({"builtin": "quickstart"}, "quickstart@2026-12"),
        ({"builtin": "quickstart@2026-12", "variant": 7}, "quickstart@2026-12, variant 7"),
        ({"builtin": "quickstart", "heldOut": True}, "quickstart@2026-12, held out"),
        ({"path": "suite/tasks.json"}, "suite/tasks.json"),
        ({"configMap": {"name": "mine", "key": "tasks.json"}}, "mine/tasks.json"),
        ({"objectStore": {"store": "evals", "key": "suites/itsm/"}}, "evals/suites/itsm/"),
        ({}, ""),
        (None, ""),
    ],
)
def test_a_suite_is_named_by_its_source_and_edition(suite: dict[str, Any] | None, name: str) -> None:
    assert suite_label({"suite": suite}, "2026-12" if suite and "builtin" in suite else "") == name


def put_suite(store: Store, **prompts: str) -> None:
    for task_id, prompt in prompts.items():
        frozen = FrozenTask(row={"user_prompt": prompt}, seeds={})
        store.put(RunKeys(RUN).suite_task(task_id), frozen.model_dump_json().encode())
    store.put(RunKeys(RUN).suite_index, SuiteIndex(entries=[]).model_dump_json().encode())


def test_the_summary_of_a_task_is_one_line(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a", "b", "c"])])
    put_suite(store, a="Close\n\n  it.\x00", b="word " * 1000)
    summaries = load_context(store, load_rows(store, RUN), written_at=NOW).summaries
    assert summaries["a"] == "Close it.\N{REPLACEMENT CHARACTER}"
    assert len(summaries["b"]) == 160
    assert summaries["b"].endswith("…")
    assert "c" not in summaries


def test_a_run_without_its_suite_has_tasks_without_summaries(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    assert load_context(store, load_rows(store, RUN), written_at=NOW).summaries == {}
    put_suite(store)
    store.put(RunKeys(RUN).suite_task("a"), b"{")
    assert load_context(store, load_rows(store, RUN), written_at=NOW).summaries == {}


# Details


def test_all_attempts_of_a_trial_are_reported_in_order(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    for attempt in (10, 2, 0):
        put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, attempt=attempt, message=f"try {attempt}")
    put_trial(store, RUN, "a", Outcome.PASSED, attempt=11)
    put_attempt(store, RUN, "a", Outcome.PASSED, attempt=11)
    put_transcript(store, RUN, "a", TranscriptEvent(kind="assistant", content="scored"))
    put_transcript(store, RUN, "a", TranscriptEvent(kind="assistant", content="lost"), attempt=10)
    loaded = loaded_detail(store, "a")
    assert [attempt.attempt for attempt in loaded.attempts] == [0, 2, 10, 11]
    assert [entry.event.content for entry in loaded.transcript] == ["scored"]


def test_a_trial_without_a_score_shows_the_last_transcript_that_an_attempt_left(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    for attempt in range(3):
        put_attempt(store, RUN, "a", Outcome.INFRA_ERROR, attempt=attempt)
    for attempt in (0, 1):
        put_transcript(store, RUN, "a", TranscriptEvent(kind="assistant", content=f"try {attempt}"), attempt=attempt)
    loaded = loaded_detail(store, "a")
    assert loaded.scored is None
    assert [entry.event.content for entry in loaded.transcript] == ["try 1"]
    assert loaded.findings == []


def test_a_trial_without_records_has_no_detail(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED)
    assert detail(store, "a") is not None
    assert detail(store, "a", 1) is None
    assert load_detail(store, load_record(store, RUN), OTHER, "a", 0) is None
    for name in ("b", "..", "../../x", "a/0", "a\x00", ""):
        assert detail(store, name) is None
        assert load_detail(store, load_record(store, RUN), CELL.model_copy(update={"model": name}), "a", 0) is None


def test_a_trial_outside_the_plan_has_a_detail(store: LocalStore) -> None:
    put_run(store, RUN, [])
    put_trial(store, RUN, "a", Outcome.PASSED)
    assert loaded_detail(store, "a").scored is not None


def test_state_differences_are_returned_apart_from_the_record(store: LocalStore) -> None:
    row = RowDifference(change="changed", key={"id": 1}, before={"status": "new"}, after={"status": "closed"})
    state = {"gym-itsm-mcp": StateDifference(tables=[TableDifference(table="incident", changed=1, rows=[row])])}
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    record = put_trial(store, RUN, "a", Outcome.PASSED, state_differences=state)
    loaded = loaded_detail(store, "a")
    assert loaded.differences == state
    assert loaded.scored == replace(record, state_differences={})


def test_the_transcript_of_a_rescored_run_is_that_of_the_run_it_was_made_from(store: LocalStore) -> None:
    put_run(store, "first.1", [PlannedCell(cell=CELL, task_ids=["a"])])
    put_transcript(store, "first.1", "a", TranscriptEvent(kind="assistant", content="Done.", step=1))
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])], rescored_from="first.1")
    put_trial(store, RUN, "a", Outcome.FAILED)
    assert [entry.event.content for entry in loaded_detail(store, "a").transcript] == ["Done."]


def test_long_texts_are_truncated_with_a_note(store: LocalStore) -> None:
    long = "x" * (MAX_TEXT + 1234)
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED, answer=long, verifiers=[verifier(actual=[{"text": long}])])
    call = TranscriptEvent(kind="tool", tool_name="find", arguments={"text": [long]}, content=long)
    put_transcript(store, RUN, "a", call)
    loaded = loaded_detail(store, "a")
    cut = f"{long[:MAX_TEXT]}\n… 1,234 more characters, in the store"
    assert loaded.scored is not None
    assert loaded.scored.answer == cut
    assert loaded.scored.verifiers[0].actual == [{"text": cut}]
    assert loaded.transcript[0].event.content == cut
    assert loaded.transcript[0].event.arguments == {"text": [cut]}


def test_control_characters_are_replaced_and_escaped_surrogates_kept(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED, answer="\x1b[31m\ttab\n")
    half = json.dumps({"half": "\ud83d"})
    put_transcript(store, RUN, "a", TranscriptEvent(kind="tool", arguments={"\x00": "\x7f"}, content=half))
    loaded = loaded_detail(store, "a")
    assert loaded.scored is not None
    assert loaded.scored.answer == "\N{REPLACEMENT CHARACTER}[31m\ttab\n"
    assert loaded.transcript[0].event.arguments == {"\N{REPLACEMENT CHARACTER}": "\N{REPLACEMENT CHARACTER}"}
    assert loaded.transcript[0].event.content == half


def test_a_record_that_cannot_be_read_is_named(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    store.put(RunKeys(RUN).trial(CELL, "a", 0).record, b"{}")
    trial_detail = detail(store, "a")
    assert trial_detail is not None
    (problem,) = trial_detail.problems
    assert "a/0.json: is not a valid TrialRecord of this version" in problem


# Reasoning and catalogue


def test_the_detail_of_a_trial_has_its_reasoning_and_its_tools(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED)
    keys = RunKeys(RUN).trial(CELL, "a", 0)
    events = [
        TranscriptEvent(kind="user", content="Do it."),
        *(TranscriptEvent(kind="assistant", step=n) for n in (1, 2)),
    ]
    transcript = Transcript(task_id="a", tools=["find"], catalogue_digest="d1", events=events)
    store.put(keys.transcript, encode_record(transcript))
    steps = [StepReasoning(event=1, text="Look first."), StepReasoning(event=2, text="", parts=[{"data": "b3Bh"}])]
    store.put(keys.reasoning, encode_record(Reasoning(task_id="a", steps=steps)))
    function = {"name": "find", "description": "Find it.", "parameters": {"type": "object"}}
    catalogue = CatalogueRecord(digest="d1", tools=[{"type": "function", "function": function}])
    store.put(RunKeys(RUN).catalogue("d1"), catalogue.model_dump_json().encode())

    loaded = loaded_detail(store, "a")

    assert [(entry.reasoning, entry.encrypted) for entry in loaded.transcript] == [
        ("", False), ("Look first.", False), ("", True),
    ]  # fmt: skip
    assert [(tool.name, json.loads(tool.definition)) for tool in loaded.catalogue] == [("find", function)]


def test_definitions_of_tools_are_in_a_report_once(store: LocalStore) -> None:
    tool = ToolEntry(name="find", definition='{"name": "find"}')
    details = [
        TrialDetail(
            cell=CELL, task_id=task_id, trial=0, scored=None, attempts=[], differences={}, findings=[], tools=["find"],
            catalogue=[tool], transcript=[],
        )
        for task_id in ("a", "b")
    ]  # fmt: skip

    bundle = pack(details, DetailLocation.INLINE, lambda name, content: None)

    assert bundle.texts == [tool.definition]
    assert [[(one.text, one.definition) for one in detail.catalogue] for detail in bundle.inline.values()] == [
        [(0, "")], [(0, "")],
    ]  # fmt: skip


def test_an_unreadable_catalogue_is_named_and_costs_nothing_else(store: LocalStore) -> None:
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["a"])])
    put_trial(store, RUN, "a", Outcome.PASSED)
    transcript = Transcript(task_id="a", tools=["find"], catalogue_digest="d1", events=[])
    store.put(RunKeys(RUN).trial(CELL, "a", 0).transcript, encode_record(transcript))
    store.put(RunKeys(RUN).catalogue("d1"), b"{}")

    loaded = loaded_detail(store, "a")

    assert (loaded.tools, loaded.catalogue) == (["find"], [])
    assert [RunKeys(RUN).catalogue("d1") in problem for problem in loaded.problems] == [True]
