"""Progress shown during a local run."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.text import Text
from tests.cli.plans import make_attempt, make_cells
from tests.cli.world import HeldModel, World, row

from opsgym.formats.numbers import dollars, percent, seconds
from opsgym.local.display import Display, LineDisplay, TableDisplay, requests_line
from opsgym.local.progress import Progress
from opsgym_api.records.outcomes import Outcome
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.planning.trials import PlannedTrial, plan_trials
from opsgym_runner.models.endpoints import Delay
from opsgym_runner.models.limiter import LimitState


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


class Run:
    """A run of four trials in two cells, with a clock under the test's control."""

    def __init__(self) -> None:
        cells = make_cells(2, "gold", "other")
        self.trials = plan_trials(cells, 1, frozenset())
        self.clock = Clock()
        self.ledger = AttemptLedger(2)
        self.progress = Progress({cell.cell: len(cell.tasks) for cell in cells}, self.ledger, self.clock)
        self.out = io.StringIO()

    def end(self, display: Display, planned: PlannedTrial, outcome: Outcome, **fields: object) -> None:
        display.started(planned)
        self.clock.time += 2
        record = make_attempt(planned, 0, outcome, **fields)
        self.ledger.record(record)
        display.settled(planned, record)

    def table_lines(self) -> list[list[str]]:
        """Title, header and rows of the live table, as words."""
        from rich.console import Console

        out = io.StringIO()
        Console(file=out, width=120).print(TableDisplay(self.progress, out).table())
        return [line.split() for line in out.getvalue().splitlines()]


@pytest.fixture
def run() -> Run:
    return Run()


def test_each_trial_that_ends_is_one_line(run: Run) -> None:
    display = LineDisplay(run.progress, run.out)
    first, second, third, fourth = run.trials
    run.end(display, first, Outcome.PASSED, steps=1)
    run.end(display, second, Outcome.FAILED, reason="step_limit", steps=9, cost_usd=0.5)
    run.end(display, third, Outcome.INFRA_ERROR, reason="gym_lost", message="gym itsm is gone")
    display.started(fourth)
    lost = make_attempt(fourth, 0, Outcome.INFRA_ERROR, reason="model_rate_limited", message="HTTP 429")
    display.retrying(fourth, lost, 4.0)
    assert run.out.getvalue().splitlines() == [
        "[1/4] passed  gold/react/oracle/itsm  t0  1 step  1.0 s",
        "[2/4] failed  other/react/oracle/itsm  t0  step_limit  9 steps  1.0 s  $0.5000",
        "[3/4] infra_error  gold/react/oracle/itsm  t1  gym_lost: gym itsm is gone",
        "retry in 4.0 s  other/react/oracle/itsm  t1  model_rate_limited: HTTP 429",
    ]


def test_trials_that_end_at_once_are_counted_one_after_the_other(run: Run) -> None:
    display = LineDisplay(run.progress, run.out)
    records = [make_attempt(planned, 0, Outcome.PASSED) for planned in run.trials]
    for planned, record in zip(run.trials, records, strict=True):
        display.started(planned)
        run.ledger.record(record)
    for planned, record in zip(run.trials, records, strict=True):
        display.settled(planned, record)
    assert [line[:5] for line in run.out.getvalue().splitlines()] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]


def test_the_table_counts_each_cell_with_unscored_trials_by_reason(run: Run) -> None:
    display = LineDisplay(run.progress, io.StringIO())
    first, second, third, fourth = run.trials
    run.end(display, first, Outcome.PASSED, cost_usd=1.5)
    run.end(display, second, Outcome.FAILED, cost_usd=None)
    run.end(display, third, Outcome.INFRA_ERROR, reason="gym_lost")
    display.started(fourth)
    title, _, gold, other = run.table_lines()
    assert title == ["running", "━" * 24, "3/4", "trials,", "6.0", "s,", "about", "2.0", "s", "left,", "$1.50"]
    success = ["100.0%", "(20.7%–100.0%)"]
    assert gold == ["gold", "react", "oracle", "itsm", "2/2", "0", "1", "0", "1", "gym_lost", *success, "$1.50"]
    success = ["0.0%", "(0.0%–79.3%)"]
    assert other == ["other", "react", "oracle", "itsm", "1/2", "1", "0", "1", *success, "unknown"]


def test_the_table_says_from_the_first_moment_that_the_run_is_prepared(run: Run) -> None:
    assert run.table_lines()[0][:3] == ["preparing", "━" * 24, "0/4"]


def test_the_bar_is_filled_as_far_as_trials_have_ended(run: Run) -> None:
    display = TableDisplay(run.progress, run.out)
    run.end(display, run.trials[0], Outcome.PASSED)
    title = display.table().title
    assert isinstance(title, Text)
    assert [(title.plain[span.start : span.end], span.style) for span in title.spans[1:3]] == [
        ("━" * 6, "green"), ("━" * 18, "dim"),
    ]  # fmt: skip


def test_several_trials_of_a_task_have_no_interval_while_they_run(run: Run) -> None:
    run.end(LineDisplay(run.progress, run.out), run.trials[0], Outcome.PASSED)
    repeated = Progress(run.progress.cells, run.ledger, run.clock, trials=3)
    assert repeated.success_in(run.trials[0].cell) == (1.0, None)


def test_the_table_names_the_last_trial_that_failed(run: Run) -> None:
    display = TableDisplay(run.progress, run.out)
    run.end(display, run.trials[0], Outcome.FAILED, reason="step_limit", steps=9)
    run.end(display, run.trials[1], Outcome.PASSED)
    assert display.table().caption == "last failure: gold/react/oracle/itsm  t0  step_limit  9 steps  1.0 s"


def test_a_trial_that_is_retried_is_not_done_until_its_last_attempt(run: Run) -> None:
    display = LineDisplay(run.progress, io.StringIO())
    planned = run.trials[0]
    cell = planned.cell
    lost = make_attempt(planned, 0, Outcome.INFRA_ERROR, reason="gym_lost")
    display.started(planned)
    run.ledger.record(lost)
    display.retrying(planned, lost, 1.0)
    assert (run.progress.done, run.progress.running_in(cell), run.progress.reasons_in(cell)) == (0, 0, {})
    display.started(planned)
    assert (run.progress.done, run.progress.running_in(cell), run.progress.reasons_in(cell)) == (0, 1, {})
    passed = make_attempt(planned, 1, Outcome.PASSED)
    run.ledger.record(passed)
    display.settled(planned, passed)
    assert (run.progress.done, run.progress.passed_in(cell), run.progress.running_in(cell)) == (1, 1, 0)


def test_trials_of_earlier_invocations_count_as_done_and_not_towards_the_pace(run: Run) -> None:
    first, second, third, _ = run.trials
    run.ledger.record(make_attempt(first, 0, Outcome.PASSED))
    run.ledger.record(make_attempt(second, 0, Outcome.CONFIG_ERROR, reason="seed_not_found"))
    assert (run.progress.done, run.progress.eta_s) == (2, None)
    run.clock.time += 50  # gym servers start
    run.end(LineDisplay(run.progress, run.out), third, Outcome.PASSED)
    assert run.progress.eta_s == 2.0
    assert run.progress.reasons_in(second.cell) == {"seed_not_found": 1}


def test_the_live_table_shows_why_a_trial_is_not_scored(run: Run) -> None:
    display = TableDisplay(run.progress, run.out)
    display.open()
    try:
        run.end(display, run.trials[0], Outcome.PASSED)
        run.end(display, run.trials[1], Outcome.CONFIG_ERROR, reason="seed_refused", message="[bold]line 3[/bold]")
    finally:
        display.close()
    output = run.out.getvalue()
    assert "config_error  other/react/oracle/itsm  t0  seed_refused: [bold]line 3[/bold]" in output
    assert "passed  gold" not in output


@pytest.mark.parametrize(
    ("amount", "text"),
    [(None, "unknown"), (0.0, "$0"), (0.00001, "<$0.0001"), (0.0123, "$0.0123"), (1.0, "$1.00"), (1234.5, "$1234.50")],
)
def test_dollars_are_never_rounded_to_nothing(amount: float | None, text: str) -> None:
    assert dollars(amount) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7440, "2 h 04 min")],
)
def test_durations_are_formatted_for_people(duration: float, text: str) -> None:
    assert seconds(duration) == text


def test_a_share_of_nothing_is_a_dash() -> None:
    assert (percent(None), percent(0.0), percent(1 / 3)) == ("–", "0.0%", "33.3%")


def test_the_live_table_shows_requests_in_flight_and_reduced_limits(run: Run) -> None:
    display = TableDisplay(run.progress, run.out)
    display.show_limits(
        lambda: {
            "gpt": LimitState(in_flight=5, allowed=8, ceiling=8, waiting=0),
            "claude": LimitState(in_flight=2, allowed=2, ceiling=8, waiting=3),
        },
        dict,
    )
    assert display.table().caption == "requests: claude 2/2 of 8, gpt 5/8"


DELAYS = {
    "gpt": [Delay("http://a", 12, 8.0, 3.0), Delay("http://b", 0, 0.0, 0.0)],
    "slow": [Delay("http://c", 0, 0.0, 95.0)],
    "well": [Delay("http://d", 3, 0.0, 29.0)],
}
WAITING = (
    "waiting: gpt: http://a, 12 requests refused (HTTP 429), next one in 8.0 s; "
    "slow: http://c, oldest request without an answer for 1 min 35 s"
)


def test_paused_and_hanging_addresses_are_named_while_they_are(run: Run) -> None:
    table, lines = TableDisplay(run.progress, run.out), LineDisplay(run.progress, run.out)
    for display in (table, lines):
        display.show_limits(dict, lambda: DELAYS)
    assert table.table().caption == WAITING
    lines.tick()
    assert run.out.getvalue() == f"{WAITING}\n"
    lines.show_limits(dict, lambda: {"well": DELAYS["well"]})
    lines.tick()
    assert run.out.getvalue() == f"{WAITING}\n"


def test_a_run_says_that_a_request_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opsgym.local.run.TICK_S", 0.01)
    monkeypatch.setattr("opsgym.local.display.SLOW_S", 0.01)
    world = World(tmp_path)
    world.write_suite([row("one")])
    with HeldModel.serving() as model:
        model.hold()
        note = LineDisplay.note

        def noted(display: LineDisplay, text: str) -> None:
            note(display, text)
            if text.startswith("waiting: held: "):
                model.release()

        monkeypatch.setattr(LineDisplay, "note", noted)
        world.write_run({"held": {"model": "openai/stub", "endpoints": [{"url": model.url}], "allowUnpriced": True}})
        done = world.inline("run", "run.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert f"waiting: held: {model.url}, oldest request without an answer for " in done.stderr


def test_a_run_without_model_calls_shows_no_requests() -> None:
    assert requests_line({}) is None
