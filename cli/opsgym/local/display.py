"""Shows a run while it runs: a live table on a terminal, one line for each finished trial elsewhere.

Invariant: progress goes to stdout only if that is a terminal, so that output can be piped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

from opsgym.formats.numbers import cell_name, dollars, percent, seconds
from opsgym.local.output import write_line
from opsgym.local.progress import Progress
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_api.records.outcomes import FailReason, Outcome
from opsgym_core.common.foreign import one_line, visible
from opsgym_core.planning.trials import PlannedTrial
from opsgym_runner.models.endpoints import Delay
from opsgym_runner.models.limiter import LimitState

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

REFRESH_PER_SECOND = 4

TICK_S = 30.0
"""Seconds between two lines about the same delay."""
_LONGEST = 240
"""Characters of a message that the line of a trial shows."""
SLOW_S = 30.0
"""Age of a request from which on it is shown as one that is waited for."""
Limits = Callable[[], Mapping[str, LimitState]]
"""Request limits of each model, by name, as they are now."""
Delays = Callable[[], Mapping[str, Sequence[Delay]]]
"""What requests of each model, by name, wait for now."""


class Display(Protocol):
    """Shows the progress of a run. Also the scheduler's observer, see `scheduler.TrialObserver`."""

    def open(self) -> None:
        """Starts showing progress."""
        ...

    def close(self) -> None:
        """Shows the last state and restores the terminal."""
        ...

    def show_limits(self, limits: Limits, delays: Delays) -> None:
        """Sets the sources of the models' request limits and delays."""
        ...

    def tick(self) -> None:
        """Shows what requests wait for, unless the display redraws it by itself; called every `TICK_S`."""
        ...

    def note(self, text: str) -> None:
        """Shows a message."""
        ...

    def started(self, planned: PlannedTrial) -> None:
        """An attempt starts."""
        ...

    def retrying(self, planned: PlannedTrial, record: AttemptRecord, delay: float) -> None:
        """An attempt ended in an infrastructure error and is retried after a delay, in seconds."""
        ...

    def settled(self, planned: PlannedTrial, record: AttemptRecord) -> None:
        """A trial ended."""
        ...


class LineDisplay:
    """Writes one line for each trial that ends.

    Args:
        progress: Progress of the run.
        out: Stream that lines are written to.
    """

    def __init__(self, progress: Progress, out: TextIO) -> None:
        self._progress = progress
        self._out = out
        self._delays: Delays = dict
        self._shown = progress.done
        """Trials that ended earlier or have a line: several may have ended when one of them is shown."""

    def open(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""

    def show_limits(self, limits: Limits, delays: Delays) -> None:  # noqa: ARG002 - the protocol's
        """Sets the source of delays; reduced limits are logged as warnings, which become lines."""
        self._delays = delays

    def tick(self) -> None:
        """Writes what requests wait for, while they do."""
        if (line := delays_line(self._delays())) is not None:
            self.note(line)

    def note(self, text: str) -> None:
        """Writes a message."""
        write_line(self._out, text)

    def started(self, planned: PlannedTrial) -> None:
        """Counts the attempt; a line follows when the trial ends."""
        self._progress.started(planned)

    def retrying(self, planned: PlannedTrial, record: AttemptRecord, delay: float) -> None:
        """Writes why an attempt is retried."""
        self._progress.retrying(planned)
        self.note(_retry_line(planned, record, delay))

    def settled(self, planned: PlannedTrial, record: AttemptRecord) -> None:
        """Writes how a trial ended."""
        self._progress.settled(planned)
        self._shown += 1
        total = self._progress.total
        self.note(f"[{self._shown:>{len(str(total))}}/{total}] {trial_line(planned, record)}")


class TableDisplay:
    """Redraws a table of cells in place.

    Args:
        progress: Progress of the run.
        out: The terminal.
    """

    def __init__(self, progress: Progress, out: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._progress = progress
        self._limits: Limits = dict
        self._delays: Delays = dict
        self._last_failure = ""
        self._console = Console(file=out, highlight=False)
        self._live = Live(
            get_renderable=self.table, console=self._console, refresh_per_second=REFRESH_PER_SECOND, transient=True
        )

    def open(self) -> None:
        """Draws the table and keeps redrawing it."""
        self._live.start()

    def close(self) -> None:
        """Removes the table; the score table follows."""
        self._live.stop()

    def show_limits(self, limits: Limits, delays: Delays) -> None:
        """Shows request limits and delays below the table."""
        self._limits, self._delays = limits, delays

    def tick(self) -> None:
        """Does nothing: the table is redrawn."""

    def note(self, text: str) -> None:
        """Writes a message above the table."""
        self._console.print(visible(text), markup=False, soft_wrap=True)

    def started(self, planned: PlannedTrial) -> None:
        """Counts the attempt."""
        self._progress.started(planned)

    def retrying(self, planned: PlannedTrial, record: AttemptRecord, delay: float) -> None:
        """Writes why an attempt is retried."""
        self._progress.retrying(planned)
        self.note(_retry_line(planned, record, delay))

    def settled(self, planned: PlannedTrial, record: AttemptRecord) -> None:
        """Counts the trial; writes the reason if it is not scored."""
        self._progress.settled(planned)
        if record.outcome is None or not record.outcome.scored:
            self.note(trial_line(planned, record))
        elif record.outcome is Outcome.FAILED:
            self._last_failure = trial_line(planned, record).removeprefix(record.outcome.value).strip()

    def table(self) -> Table:
        """The progress as a table: state, bar and remaining time in its title, what goes wrong below it."""
        from rich.table import Table

        progress = self._progress
        table = Table(title=_title(progress), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        failure = f"last failure: {self._last_failure}" if self._last_failure else ""
        lines = (failure, requests_line(self._limits()), delays_line(self._delays()))
        table.caption, table.caption_justify = "\n".join(line for line in lines if line) or None, "left"
        for name in ("model", "agent", "mode", "domain"):
            table.add_column(name, no_wrap=True, overflow="ellipsis")
        for name, style in _COLUMNS.items():
            left = name in ("not scored", "success")
            table.add_column(name, justify="left" if left else "right", no_wrap=name != "not scored", style=style)
        for cell, total in progress.cells.items():
            table.add_row(*_table_row(progress, cell, total))
        return table


_COLUMNS = {
    "done": "", "running": "", "passed": "green", "failed": "red", "not scored": "yellow", "success": "", "cost": "",
}  # fmt: skip
"""Columns of counts in the live table, with their colours; rich leaves colours out where NO_COLOR is set."""
BAR_WIDTH = 24


def _title(progress: Progress) -> Text:
    """State, bar, counts, times and cost in one line."""
    from rich.text import Text

    filled = BAR_WIDTH * progress.done // max(1, progress.total)
    state = "running" if progress.has_started else "preparing"
    remaining = "" if progress.eta_s is None else f", about {seconds(progress.eta_s)} left"
    counts = f"{progress.done}/{progress.total} trials, {seconds(progress.elapsed_s)}{remaining}"
    return Text.assemble(
        (f"{state} ", "bold"), ("━" * filled, "green"), ("━" * (BAR_WIDTH - filled), "dim"),
        (f" {counts}, {dollars(progress.ledger.spent)}", "bold"),
    )  # fmt: skip


def display_for(progress: Progress, *, as_json: bool) -> Display:
    """The display that fits the output: a table on a terminal, lines on stderr elsewhere or with `--format json`."""
    if sys.stdout.isatty() and not as_json:
        return TableDisplay(progress, sys.stdout)
    return LineDisplay(progress, sys.stderr)


def delays_line(delays: Mapping[str, Sequence[Delay]]) -> str | None:
    """What requests wait for, by model: addresses that are paused or have not answered for long; None if none is."""
    parts = [
        f"{name}: {part}" for name in sorted(delays) for delay in delays[name] if (part := _delay(delay)) is not None
    ]
    return f"waiting: {'; '.join(parts)}" if parts else None


def _delay(delay: Delay) -> str | None:
    refused = f"{delay.throttled} requests refused (HTTP 429)" if delay.throttled else ""
    paused = f"next one in {seconds(delay.paused_s)}" if delay.paused_s > 0 else ""
    hanging = f"oldest request without an answer for {seconds(delay.oldest_s)}" if delay.oldest_s >= SLOW_S else ""
    if not paused and not hanging:
        return None
    return f"{delay.url}, " + ", ".join(part for part in (refused, paused, hanging) if part)


def requests_line(limits: Mapping[str, LimitState]) -> str | None:
    """Requests in flight of those allowed now, by model: `requests: gpt 5/8, claude 2/2 of 8`; None without models."""
    if not limits:
        return None
    return "requests: " + ", ".join(_requests(name, limits[name]) for name in sorted(limits))


def _requests(model: str, state: LimitState) -> str:
    reduced = f" of {state.ceiling}" if state.allowed < state.ceiling else ""
    return f"{model} {state.in_flight}/{state.allowed}{reduced}"


def _table_row(progress: Progress, cell: Cell, total: int) -> list[str]:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(progress.reasons_in(cell).items()))
    counts = (progress.running_in(cell), progress.passed_in(cell), progress.failed_in(cell))
    return [
        *(cell.model, cell.agent, cell.mode, cell.domain),
        f"{progress.done_in(cell)}/{total}",
        *map(str, counts),
        reasons,
        _success(progress, cell),
        dollars(progress.ledger.cost_in(cell.key)),
    ]


def _success(progress: Progress, cell: Cell) -> str:
    success = progress.success_in(cell)
    if success is None:
        return ""
    rate, interval = success
    return percent(rate) if interval is None else f"{percent(rate)} ({percent(interval.low)}–{percent(interval.high)})"


def trial_line(planned: PlannedTrial, record: AttemptRecord) -> str:
    """How a trial ended, in one line."""
    outcome = (record.outcome or Outcome.CANCELLED).value
    parts = [f"{outcome:<6}", cell_name(planned.cell), _task_name(planned)]
    if record.outcome is Outcome.FAILED and record.reason:
        of_program = record.reason in (FailReason.AGENT_ERROR, FailReason.NO_MODEL_CALLS)
        parts.append(f"{record.reason}: {_both_ends(one_line(record.message))}" if of_program else record.reason)
    if record.outcome is not None and record.outcome.scored:
        parts += [f"{record.steps} {'step' if record.steps == 1 else 'steps'}", seconds(record.timings.total_s)]
    else:
        parts.append(f"{record.reason}: {one_line(record.message)}" if record.message else record.reason)
    if record.cost_usd:
        parts.append(dollars(record.cost_usd))
    return "  ".join(parts)


def _both_ends(text: str) -> str:
    """What happened, and the last words of the program: a traceback between them is in the transcript."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 3]} … {text[-_LONGEST * 2 // 3 :]}"


def _retry_line(planned: PlannedTrial, record: AttemptRecord, delay: float) -> str:
    cause = f"{record.reason}: {one_line(record.message)}"
    return f"retry in {seconds(delay)}  {cell_name(planned.cell)}  {_task_name(planned)}  {cause}"


def _task_name(planned: PlannedTrial) -> str:
    """`TASK`, or `TASK/N` for a trial after the first, as `--trial` takes it."""
    return planned.task.task_id + (f"/{planned.trial}" if planned.trial else "")
