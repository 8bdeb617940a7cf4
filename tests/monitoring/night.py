"""A made-up night of a fleet, for pictures of dashboards: an operator's metrics over a day, in a real Prometheus.

Invariant: every number of the runs was made by the operator's own metrics from attempts and times, and is the same each
time. What only a process has (`up`, memory, CPU) is made up, too.
"""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from tests.monitoring.boards import View
from tests.support.prometheus import Prometheus, program, prometheus

from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell, Timings, Usage, Verdict
from opsgym_operator.book import Book
from opsgym_operator.metrics import Metrics, RunCondition, ScheduleTimes, run_figures

END = datetime(2026, 3, 12, 8, 30, tzinfo=UTC)
DAY = timedelta(days=1)
TICK = timedelta(minutes=2)
TARGET = 'instance="10.0.3.7:9100",job="opsgym-operator"'
MODES = ("oracle", "plus_5_tools", "plus_10_tools")
DOMAINS = ("csm", "itsm")


@dataclass(frozen=True)
class Model:
    """How a model does."""

    skill: float
    """Success rate with the tools that a task needs."""
    usd: float
    """Price of an attempt."""
    seconds: float
    """Length of an attempt."""
    ceiling: int


MODELS: Mapping[str, Model] = {
    "large": Model(0.62, 0.11, 95, 8),
    "small": Model(0.41, 0.018, 48, 12),
    "open": Model(0.33, 0.006, 140, 6),
}


@dataclass(frozen=True)
class Plan:
    """A run of the night."""

    name: str
    begins: timedelta
    """Before the end of the picture."""
    lasts: timedelta
    """Until all trials have ended, if nothing holds it up."""
    models: Sequence[str]
    modes: Sequence[str]
    tasks: int
    """In each cell."""
    budget: float
    verdict: Verdict | None = None
    regression: float | None = None
    handicap: float = 0.0
    """Loss of success against what the models do otherwise."""
    stalled: str = ""


HOUR = timedelta(hours=1)
PLANS = (
    Plan("nightly-29554380", 9.5 * HOUR, 4.2 * HOUR, ("large", "small", "open"), MODES, 110, 150, "GO", -0.012),
    Plan("pr-412", 15 * HOUR, 1.6 * HOUR, ("small",), ("oracle", "plus_5_tools"), 90, 12, "NO-GO", 0.118, 0.13),
    Plan("prompt-draft", 19 * HOUR, 2.1 * HOUR, ("large",), ("oracle",), 60, 25, "INCONCLUSIVE", 0.021),
    Plan("long-context", 2.6 * HOUR, 3.4 * HOUR, ("large", "open"), ("oracle", "plus_10_tools"), 120, 60),
    Plan("new-provider", 5 * HOUR, 3 * HOUR, ("open",), ("oracle",), 80, 5, stalled="SecretMissing"),
)


def attempts(plan: Plan, dice: random.Random) -> list[tuple[datetime, AttemptRecord]]:
    """Every attempt of a run, and when it ends, in that order."""
    begins = END - plan.begins
    found = []
    for cell in cells(plan):
        model = MODELS[cell.model]
        skill = model.skill - plan.handicap - 0.07 * MODES.index(cell.mode) - 0.08 * (cell.domain == "csm")
        for task in range(plan.tasks):
            share = (task + dice.random()) / plan.tasks
            at = begins + plan.lasts * (0.02 + 0.98 * share)
            number = 0
            # The provider of one model is out of order for a while.
            outage = cell.model == "open" and END - 7.2 * HOUR < at < END - 6.6 * HOUR
            if dice.random() < (0.5 if outage else 0.012):
                found.append((at, attempt(cell, task, number, Outcome.INFRA_ERROR, at, dice)))
                number, at = 1, at + dice.random() * timedelta(minutes=10)
            outcome = Outcome.PASSED if dice.random() < skill else Outcome.FAILED
            found.append((at, attempt(cell, task, number, outcome, at, dice)))
    return sorted(found, key=lambda ended: (ended[0], ended[1].task_id))


def cells(plan: Plan) -> list[Cell]:
    """The cells of a run."""
    return [
        Cell(model=model, agent="react", mode=mode, domain=domain)
        for model in plan.models
        for mode in plan.modes
        for domain in DOMAINS
    ]


def attempt(cell: Cell, task: int, number: int, outcome: Outcome, at: datetime, dice: random.Random) -> AttemptRecord:
    """An attempt that ended so."""
    model = MODELS[cell.model]
    broken = dice.choice(("model_unavailable",) * 4 + ("gym_lost",))
    total = model.seconds * dice.lognormvariate(0, 0.45)
    lost = outcome is Outcome.INFRA_ERROR
    refused = dice.choice((0, 0, 0, 1, 2)) if cell.model == "open" else int(dice.random() < 0.08)
    return AttemptRecord(
        run="night",
        cell=cell,
        task_id=f"task-{task}",
        trial=0,
        attempt=number,
        outcome=outcome,
        reason={Outcome.FAILED: "verifiers", Outcome.INFRA_ERROR: broken}.get(outcome, ""),
        usage=Usage(model_calls=9, prompt_tokens=round(210 * total), completion_tokens=round(14 * total)),
        cost_usd=model.usd * dice.lognormvariate(0, 0.3) * (0.4 if lost else 1),
        steps=9,
        tool_calls=round(6 + 6 * dice.random()),
        model_retries=refused + 3 * lost,
        rate_limits=refused,
        timings=Timings(
            started_at=(at - timedelta(seconds=total)).isoformat(),
            seed_s=0.1 + 0.1 * dice.random(),
            connect_s=0.2,
            model_s=0.84 * total,
            wait_s=4.0 * refused,
            tools_s=0.11 * total,
            verify_s=0.4,
            total_s=total,
        ),
    )


class Night:
    """An operator through a night.

    Args:
        seed: Of everything that is left to chance.
    """

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._metrics = Metrics()
        self._books = {plan.name: Book(infra_retries=2) for plan in PLANS}
        self._left = {plan.name: [] if plan.stalled else attempts(plan, self._dice) for plan in PLANS}
        self._finished: dict[str, datetime] = {}
        self._memory = 92e6
        self._cpu = 0.0

    def lines(self) -> Iterator[str]:
        """Everything that Prometheus would have scraped, in its exchange format."""
        now = END - DAY
        while now <= END:
            yield from self._scraped(now)
            now += TICK
        yield "# EOF\n"

    def _scraped(self, now: datetime) -> Iterator[str]:
        ended = sum(self._advanced(plan, now) for plan in PLANS)
        self._worked(now, ended)
        busy = Counter({model: min(MODELS[model].ceiling, self._waiting(model, now)) for model in MODELS})
        self._metrics.show_models("evals", busy, {name: model.ceiling for name, model in MODELS.items()})
        due = END - 9.5 * HOUR
        last = due if now >= due else due - DAY
        good = due + 4.3 * HOUR if now >= due + 4.3 * HOUR else due - DAY + 4.1 * HOUR
        self._metrics.show_schedules("evals", {"nightly": ScheduleTimes(last, good, last + DAY)})
        stamp = now.timestamp()
        for family in self._metrics.registry.collect():
            for sample in family.samples:
                if not sample.name.startswith("process_"):
                    yield _line(sample.name, sample.labels, sample.value, stamp)
        for name, value in self._process(ended):
            yield _line(name, {}, value, stamp)

    def _advanced(self, plan: Plan, now: datetime) -> int:
        """Books what has ended of a run; how many attempts that are."""
        if now < END - plan.begins:
            return 0
        book, left = self._books[plan.name], self._left[plan.name]
        self._shown(plan, now)
        count = 0
        while left and left[0][0] <= now:
            _, record = left.pop(0)
            book.note(record)
            assert record.outcome is not None
            self._metrics.count_attempt(record)
            if record.outcome.scored:
                self._metrics.count_trial(record.cell, record.outcome, record.reason)
            count += 1
        if not left and not plan.stalled:
            self._finished.setdefault(plan.name, now)
        self._shown(plan, now)
        return count

    def _shown(self, plan: Plan, now: datetime) -> None:
        book, finished = self._books[plan.name], self._finished.get(plan.name)
        planned = dict.fromkeys(cells(plan), plan.tasks)
        self._metrics.show_run("evals", plan.name, run_figures(book, planned, plan.budget))
        young = now - (END - plan.begins) < timedelta(minutes=12)
        pending = self._dice.randint(2, 7) if young else self._dice.choice((0, 0, 0, 1))
        condition = RunCondition(plan.stalled, 0 if finished or plan.stalled else pending, finished)
        self._metrics.show_condition("evals", plan.name, condition)
        if finished:
            self._metrics.show_gate("evals", plan.name, plan.verdict, plan.regression)
            if finished == now and plan.verdict:
                self._metrics.count_notice("finished", "sent")

    def _waiting(self, model: str, now: datetime) -> int:
        """Trials that could use a model now."""
        return sum(
            record.cell.model == model
            for plan in PLANS
            if now >= END - plan.begins
            for _, record in self._left[plan.name]
        )

    def _worked(self, now: datetime, ended: int) -> None:
        """Passes since the tick before: more where more ends, and some that the API server failed."""
        for _ in range(2 + min(ended, 10)):
            took = 0.012 * self._dice.lognormvariate(0.6, 0.7)
            at = now.timestamp() - self._dice.uniform(1, 50)
            with (
                patch("prometheus_client.context_managers.default_timer", _timer(took)),
                patch("time.time", lambda at=at: at),
                self._metrics.timed_pass(),
            ):
                pass
        if now.hour == 1 and now.minute < 8:
            self._metrics.count_error("api")

    def _process(self, ended: int) -> Iterator[tuple[str, float]]:
        """What only a process has."""
        self._memory += self._dice.uniform(-2e5, 2.6e5) + 2e3 * ended
        self._cpu += 0.9 + 0.11 * ended * self._dice.uniform(0.8, 1.2)
        yield "up", 1
        yield "process_resident_memory_bytes", self._memory
        yield "process_cpu_seconds_total", self._cpu
        yield "process_start_time_seconds", (END - 3 * DAY).timestamp()


def _timer(seconds: float) -> object:
    readings = iter((0.0, seconds))
    return lambda: next(readings)


def _line(name: str, labels: Mapping[str, str], value: float, stamp: float) -> str:
    written = ",".join([*(f'{label}="{text}"' for label, text in labels.items()), TARGET])
    return f"{name}{{{written}}} {value} {stamp:.0f}\n"


@contextmanager
def night(folder: Path) -> Iterator[tuple[Prometheus, View]]:
    """A Prometheus that holds the night, and a view of all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "night.txt").open("w", encoding="utf-8") as file:
        file.writelines(Night(seed=7).lines())
    blocks = ("tsdb", "create-blocks-from", "openmetrics", str(folder / "night.txt"), str(folder / "data"))
    subprocess.run([str(program("promtool")), *blocks], check=True, capture_output=True, timeout=600)
    every = dict.fromkeys(("model", "mode", "domain", "job"), ".*")
    chosen = {**every, "namespace": "evals", "run": "long-context"}
    with prometheus(folder, {}) as server:
        yield server, View((END - DAY).timestamp(), END.timestamp(), TICK.total_seconds(), chosen)
