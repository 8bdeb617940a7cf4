"""Data of pages about made-up runs, large or small; the same every time."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from opsgym_api.records.attempt import (
    NO_FINISHES,
    AttemptRecord,
    Cell,
    Timings,
    TrialRecord,
    Usage,
    VerifierResult,
    Versions,
)
from opsgym_api.records.gate import GateCheck, GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_api.records.transcript import ModelCall, RefusedCall, TranscriptEvent
from opsgym_console.report.model import (
    AgentView,
    BaselineView,
    CellChangeView,
    CellView,
    CheckView,
    DeviationView,
    Evidence,
    FailureModesView,
    FailureModeView,
    FindingView,
    FlipView,
    PageData,
    ReferenceCall,
    ReferenceView,
    RunView,
    TaskView,
    ToolEntry,
    TranscriptEntry,
    TrialColumns,
    TrialDetail,
    VariantsView,
    VariantView,
)
from opsgym_core.results.compare import Change
from opsgym_core.results.coverage import Coverage
from opsgym_core.results.score import Published, Ratio, Score, Success
from opsgym_core.results.statistics import Interval
from opsgym_core.results.variants import spread_of

RUN = "nightly.0123456789ab"
BEFORE = "nightly.00aa11bb22cc"
MODELS = ("gpt-large", "gpt-small", "claude-mid", "open-70b")
MODES = ("oracle", "plus_10_tools", "all_tools")
DOMAINS = ("itsm", "csm")
OUTCOMES = ["passed", "failed", "infra_error"]
REASONS = ["", "verifiers", "step_limit", "gym_lost"]
CATEGORIES = ("task_completion", "integrity", "permission_process", "side_effect", "refusal")
BINS = {"<=4": (1, 4), "5-8": (5, 8), "9-12": (9, 12), "13-16": (13, 16), ">=17": (17, 34)}
TAGS = {"hostile": True, "not hostile": False}
"""Groups of tasks by whether the first task is in them."""
FAILURE_MODES = {
    "missed_follow_up": "The agent did most of the task, and left out a change that had to follow.",
    "incorrect_id": "The agent named a record that is not the one that was meant.",
    "looping": "The agent repeated itself without getting any further.",
}
RULE = "Pause the SLA of an incident on hold.\n\n| status | stage |\n| --- | --- |\n| on hold | paused |"
PROMPTS = ["You are the service desk assistant.\nKeep the policy.", "Please put the printer incident on hold."]
_WORK = ("Close the login incident", "Reset the shop's password", "Escalate the late refund", "Link the outage problem")


@dataclass(frozen=True)
class Trial:
    """A row of the table, before it is a row."""

    cell: int
    task: int
    trial: int
    outcome: str
    reason: str
    modes: int
    flip: int
    cost: float
    horizon: int
    checks: int
    checked: int


def plan(models: int, modes: int, tasks: int, trials: int) -> tuple[list[Cell], list[Trial]]:
    """Cells, and trials with an outcome that depends on model, mode and horizon."""
    dice = random.Random(20_260_101)
    cells = [
        Cell(model=model, agent="react", mode=mode, domain=domain)
        for model, mode, domain in product(_models(models), MODES[:modes], DOMAINS)
    ]
    rows = [
        _trial(dice, cells, cell, task, trial)
        for cell, task, trial in product(range(len(cells)), range(tasks), range(trials))
    ]
    return cells, rows


def _models(many: int) -> list[str]:
    return [*MODELS, *(f"model-{number}" for number in range(5, many + 1))][:many]


def _trial(dice: random.Random, cells: Sequence[Cell], cell: int, task: int, trial: int) -> Trial:
    horizon = _horizon(task)
    rank = _models(len(cells)).index(cells[cell].model)
    chance = max(0.08, 0.85 - 0.13 * (rank % 5) - 0.02 * horizon - 0.08 * MODES.index(cells[cell].mode))
    thrown = dice.random()
    outcome = "infra_error" if thrown > 0.985 else "passed" if thrown < chance else "failed"
    reason = {"passed": "", "infra_error": "gym_lost"}.get(outcome) or dice.choice(["verifiers"] * 5 + ["step_limit"])
    checks = 3 + task % 5
    return Trial(
        cell=cell,
        task=task,
        trial=trial,
        outcome=outcome,
        reason="" if outcome == "passed" else reason,
        modes=dice.randrange(1, 2 ** len(FAILURE_MODES)) if outcome == "failed" else 0,
        flip=0,
        cost=round(0.002 * (1 + 3 / (1 + rank)) * horizon * (0.7 + dice.random()), 6),
        horizon=horizon,
        checks=checks,
        checked=checks if outcome == "passed" else dice.randrange(checks),
    )


def page_of(
    models: int = 3,
    modes: int = 3,
    tasks: int = 12,
    trials: int = 1,
    *,
    details: Any = "inline",
    texts: Sequence[str] = (),
    **run: Any,
) -> PageData:
    """A page about a run of this shape, compared with a baseline and judged by a gate.

    Args:
        models: Number of models.
        modes: Number of modes.
        tasks: Tasks of each cell.
        trials: Trials of each task.
        details: Where details are.
        texts: Texts that details share.
        run: Fields of the run that are otherwise.
    """
    cells, rows = plan(models, modes, tasks, trials)
    flips = [row for row in rows if row.outcome != "infra_error"][:: max(1, len(rows) // 7)]
    flipped = {(row.cell, row.task, row.trial): 1 if row.outcome == "passed" else -1 for row in flips}
    agents = list(dict.fromkeys((cell.model, cell.agent, cell.mode) for cell in cells))
    return PageData(
        run=_run(trials, score(rows), run),
        total=score(rows),
        cells=[CellView(cell=cell, score=score(of_cell(rows, {i}))) for i, cell in enumerate(cells)],
        agents=[_agent(agent, cells, rows) for agent in agents],
        failure_modes=_failure_modes(cells, rows),
        baseline=_baseline(cells, rows, flipped),
        variants=_variants(cells),
        tasks=[_task(n) for n in range(tasks)],
        outcomes=OUTCOMES,
        reasons=REASONS,
        trials=columns(rows, flipped),
        texts=list(texts),
        details=details,
        details_per_file=2 if details == "beside" else 0,
    )


def _task(number: int) -> TaskView:
    work = f"{_WORK[number % 4]} of customer {number}, politely."
    return TaskView(
        id=f"task-{number:04}",
        summary=work,
        feasible=number % 5 > 0,
        horizon=_horizon(number),
        tags=["hostile"] if number == 0 else [],
    )


def _horizon(task: int) -> int:
    return 2 + task * 7 % 20


def _variants(cells: Sequence[Cell]) -> VariantsView:
    """Two variants beside the tasks as written; the last cell has scores in one of them only."""
    rates = [[0.5 + place / 100 for place in range(len(cells))], [0.25] * len(cells), [0.75] * (len(cells) - 1)]
    runs = [
        VariantView(
            variant=variant,
            run=f"run.{variant}",
            successes=[
                one if one is None else Success(9, Ratio(0, 9), one, None, _covered(9))
                for one in [*of_variant, None][: len(cells)]
            ],
        )
        for variant, of_variant in zip((0, 3, 7), rates, strict=True)
    ]
    by_cell = zip(*(run.successes for run in runs), strict=True)
    return VariantsView(
        runs=runs, spreads=[spread_of([one.rate for one in row if one and one.rate is not None]) for row in by_cell]
    )


def of_cell(rows: Iterable[Trial], cells: set[int]) -> list[Trial]:
    return [row for row in rows if row.cell in cells]


def columns(rows: Sequence[Trial], flipped: dict[tuple[int, int, int], int], offset: int = 0) -> TrialColumns:
    """Rows as columns."""
    return TrialColumns(
        offset=offset,
        cell=[row.cell for row in rows],
        task=[row.task for row in rows],
        trial=[row.trial for row in rows],
        outcome=[OUTCOMES.index(row.outcome) for row in rows],
        reason=[REASONS.index(row.reason) for row in rows],
        cost_usd=[row.cost for row in rows],
        steps=[row.horizon + 2 for row in rows],
        tool_calls=[row.horizon + 1 for row in rows],
        tool_errors=[int(row.outcome == "failed" and row.task % 3 == 0) for row in rows],
        seconds=[round(1.5 * row.horizon, 2) for row in rows],
        verifiers_passed=[row.checked for row in rows],
        verifiers=[row.checks for row in rows],
        horizon=[row.horizon for row in rows],
        published_score=[int(row.outcome == "passed") if row.outcome != "infra_error" else None for row in rows],
        modes=[row.modes for row in rows],
        flip=[flipped.get((row.cell, row.task, row.trial), 0) for row in rows],
    )  # fmt: skip


def score(rows: Sequence[Trial]) -> Score:
    """What rows add up to."""
    ended = Counter(row.outcome for row in rows)
    scored = [row for row in rows if row.outcome != "infra_error"]
    cost = sum(row.cost for row in rows)
    lost = ended["infra_error"]
    return Score(
        passed=ended["passed"],
        failed=ended["failed"],
        fail_reasons=dict(Counter(row.reason for row in rows if row.outcome == "failed")),
        success=replace(
            success(scored),
            coverage=Coverage(
                planned=len(rows),
                scored=len(scored),
                lost={"infra_error/gym_lost": lost} if lost else {},
                worst=ended["passed"] / len(rows) if rows else None,
                best=(ended["passed"] + lost) / len(rows) if rows else None,
            ),
            attempts=len(rows),
        ),
        attempts=len(rows),
        published=Published(
            len({(row.cell, row.task) for row in rows}), Ratio(ended["passed"], len(rows)), success(scored).rate
        ),
        feasible={},
        horizons=_horizons(scored),
        tags={name: success([row for row in scored if (row.task == 0) is first]) for name, first in TAGS.items()},
        verifiers=Ratio(passed=sum(row.checked for row in scored), total=sum(row.checks for row in scored)),
        categories={
            name: Ratio(passed=sum(row.checked > i for row in scored), total=len(scored))
            for i, name in enumerate(CATEGORIES)
        },
        repeats=[],
        planner_usage=Usage(),
        judge_usage=Usage(),
        finish_reasons=NO_FINISHES,
        usage=Usage(model_calls=9 * len(rows), prompt_tokens=9100 * len(rows), completion_tokens=700 * len(rows)),
        cost_usd=cost,
        judge_cost_usd=0.0,
        mean_steps=9.4,
        mean_tool_calls=8.4,
        mean_seconds=21.0,
        p50_seconds=20.0,
        p95_seconds=34.0,
    )


def _horizons(scored: Sequence[Trial]) -> dict[str, Success]:
    bins = {name: [row for row in scored if low <= row.horizon <= high] for name, (low, high) in BINS.items()}
    return {name: success(rows) for name, rows in bins.items() if rows}


def success(scored: Sequence[Trial]) -> Success:
    passed = sum(row.outcome == "passed" for row in scored)
    by_task = defaultdict(list)
    for row in scored:
        by_task[row.cell, row.task].append(row.outcome == "passed")
    rate = passed / len(scored) if scored else None
    half = 0 if rate is None else 1.96 * (rate * (1 - rate) / len(scored)) ** 0.5
    interval = None if rate is None else Interval(low=max(0, rate - half), high=min(1, rate + half))
    covered = _covered(len(scored), rate)
    return Success(len(by_task), Ratio(passed, len(scored)), rate, interval, covered)


def _covered(trials: int, rate: float | None = None) -> Coverage:
    return Coverage(planned=trials, scored=trials, lost={}, worst=rate, best=rate)


def _agent(agent: tuple[str, str, str], cells: Sequence[Cell], rows: Sequence[Trial]) -> AgentView:
    model, name, mode = agent
    own = {i for i, cell in enumerate(cells) if (cell.model, cell.agent, cell.mode) == agent}
    got = score(of_cell(rows, own))
    return AgentView(
        model=model,
        agent=name,
        mode=mode,
        score=got,
        success_over_domains=got.success.rate,
        worst_over_domains=got.worst_rate,
        best_over_domains=got.best_rate,
        domains_interval=got.success.interval,
    )


def _run(trials: int, total: Score, given: dict[str, Any]) -> RunView:
    rate = 100 * (total.success.rate or 0)
    checks = [
        GateCheck(condition="minSuccessRate", verdict="NO-GO", message=f"success {rate:.1f}%, at least 60.0%"),
        GateCheck(condition="maxInfraErrorRate", verdict="GO", message="infra errors 1.6%, at most 5.0%"),
    ]
    fields: dict[str, Any] = {
        "id": RUN,
        "name": "nightly",
        "schedule": "",
        "created_at": "2026-01-01T02:00:00Z",
        "opsgym": "0.1.0",
        "suite": "opsgym-1150",
        "rescored_from": "",
        "trials": trials,
        "gate": GateRecord(run=RUN, verdict="NO-GO", checks=checks, baseline=BEFORE, decided_at="2026-01-01T03:00:00Z"),
        "live": False,
        "phase": None,
        "message": "",
        "store": "s3://evals/nightly runs",
        "budget_usd": 25.0,
        "written_by": "0.1.0",
        "written_at": "2026-01-01T03:05:00Z",
        **given,
    }
    return RunView(**fields)


def _failure_modes(cells: Sequence[Cell], rows: Sequence[Trial]) -> FailureModesView:
    failed = [row for row in rows if row.outcome == "failed"]

    def per_cell(chosen: Sequence[Trial]) -> list[int]:
        counts = Counter(row.cell for row in chosen)
        return [counts[i] for i in range(len(cells))]

    views = [
        FailureModeView(
            mode=mode,
            description=definition,
            trials=per_cell([row for row in failed if row.modes >> bit & 1]),
            primary=per_cell([row for row in failed if row.modes & -row.modes == 1 << bit]),
            share=0.4 / (bit + 1),
            interval=Interval(0.3 / (bit + 1), 0.5 / (bit + 1)),
            intervals=[Interval(0.1, 0.6)] * len(cells),
            weak=mode != "looping",
        )
        for bit, (mode, definition) in enumerate(FAILURE_MODES.items())
    ]
    note = "Triage: not how often they occur."
    return FailureModesView(analysed=len(failed), failed=len(failed), note=note, modes=views)


def _baseline(cells: Sequence[Cell], rows: Sequence[Trial], flipped: dict[tuple[int, int, int], int]) -> BaselineView:
    one, none = Ratio(passed=1, total=1), Ratio(passed=0, total=1)
    ways = sorted(flipped.items(), key=lambda item: item[1])
    flips = [
        FlipView(cell=cell, task=task, before=one if way < 0 else none, after=none if way < 0 else one)
        for (cell, task, _), way in ways
    ]
    return BaselineView(
        run=BEFORE,
        name="nightly",
        created_at="2025-12-31T02:00:00Z",
        same_suite=True,
        total=_change(rows, list(flipped.values())),
        cells=[
            CellChangeView(
                cell=i,
                change=_change(of_cell(rows, {i}), [way for (cell, _, _), way in flipped.items() if cell == i]),
            )
            for i in range(len(cells))
        ],
        flips=flips,
    )


def _change(rows: Sequence[Trial], ways: Sequence[int]) -> Change:
    after = success([row for row in rows if row.outcome != "infra_error"]).rate or 0.0
    moved = sum(ways) / max(1, len(rows))
    return Change(
        tasks=len(rows),
        trials=len(rows),
        lost=ways.count(-1),
        won=ways.count(1),
        before=after - moved,
        after=after,
        difference=moved,
        interval=Interval(low=moved - 0.03, high=moved + 0.03),
        p_value=0.453,
        only_before=0,
        only_after=0,
    )


# --- details ---------------------------------------------------------------------------------------------------------


def detail_of(page: PageData, row: int, words: str = "", *, shared: bool = True) -> TrialDetail:
    """Everything about a trial, in keeping with its row.

    Args:
        page: The page it belongs to.
        row: Its row.
        words: Content of every text, instead of the usual one.
        shared: Whether prompts are in the page's texts, not in the detail's own.
    """
    trials = page.trials
    cell, task = page.cells[trials.cell[row]].cell, page.tasks[trials.task[row]].id
    number = trials.trial[row]
    outcome = Outcome(page.outcomes[trials.outcome[row]])
    scored = outcome in {Outcome.PASSED, Outcome.FAILED}
    names = {"run": page.run.id, "cell": cell, "task_id": task, "trial": number}
    reason = page.reasons[trials.reason[row]]
    return TrialDetail(
        cell=cell,
        task_id=task,
        trial=number,
        scored=_record(names, outcome, reason, words) if scored else None,
        attempts=[
            AttemptRecord.from_dict(
                {**names, "attempt": 0, "outcome": Outcome.INFRA_ERROR, "reason": "gym_lost", "timings": TIMINGS}
                | {"message": words or "The gym server is gone; the trial is tried again."}
            ),
            AttemptRecord.from_dict(
                {**names, "attempt": 1, "outcome": outcome, "reason": reason, "cost_usd": 0.02, "timings": TIMINGS}
            ),
        ],
        differences={words or "gym-itsm-mcp": _difference(words)},
        findings=_findings(words) if outcome is Outcome.FAILED else [],
        checks=_checks(words) if outcome is Outcome.FAILED else [],
        rules={"SLA-2": words or RULE},
        reference=_reference(words) if outcome is Outcome.FAILED else None,
        tools=["get_incident", "update_incident", words or "list_users"],
        catalogue=[ToolEntry(name=words or "list_users", definition=_definition(words))],
        transcript=_transcript(words),
        texts=[] if shared else PROMPTS,
    )


TIMINGS = Timings(
    started_at="2026-01-01T02:10:00Z", seed_s=0.1, connect_s=0.3, model_s=9.0, wait_s=2.0, tools_s=1.2, verify_s=0.2,
    total_s=11.0,
)  # fmt: skip


def _record(names: dict[str, Any], outcome: Outcome, reason: str, words: str) -> TrialRecord:
    passed = outcome is Outcome.PASSED
    checks = [
        verifier(0, words or "incident_on_hold", passed=True),
        verifier(1, words or "sla_paused", passed=passed, expected=1, actual=int(passed), query=words or SLA_QUERY),
        verifier(2, words or "caller_told", passed=passed, published_passed=True, expected=words or ["a", "b"]),
    ]
    return TrialRecord.from_dict(
        names
        | {"attempt": 1, "outcome": outcome, "reason": reason, "score": int(passed), "published_score": int(passed)}
        | {"verifiers": checks, "answer": words or "The incident is on hold.", "stopped_by": "answer"}
        | {"usage": Usage(model_calls=4, prompt_tokens=9000, completion_tokens=600), "cost_usd": 0.02, "steps": 4}
        | {"tool_calls": 3, "tool_errors": 1, "model_retries": 0, "timings": TIMINGS}
        | {"versions": Versions(opsgym="0.1.0", python="3.11", litellm="1.80", task_digest="0a1b")}
    )


SLA_QUERY = "SELECT COUNT(*) FROM incident_sla\nWHERE incident_id = 'INC_007' AND stage = 'paused'"


def verifier(index: int, name: str, *, passed: bool, **fields: Any) -> VerifierResult:
    """A verifier's result."""
    values: dict[str, Any] = {
        "index": index,
        "name": name,
        "verifier_type": "database_state",
        "category": "task_completion",
        "gym_name": "gym-itsm-mcp",
        "executed": True,
        "passed": passed,
        "published_passed": passed,
        "expected": 1,
        "actual": 1,
        "comparison": "equals",
        "query": "SELECT 1",
    }
    return VerifierResult(**{**values, **fields})


def _findings(words: str) -> list[FindingView]:
    evidence = [
        Evidence(detail=words or "update_incident_sla was never called", verifier=1),
        Evidence(detail=words or "INC_9999 does not exist", step=2, call=1, tool="update_incident"),
    ]
    return [FindingView(mode="missed_follow_up", primary=True, basis="verifiers", evidence=evidence)]


def _checks(words: str) -> list[CheckView]:
    return [
        CheckView(
            index=1,
            sentence=words or "The SLA is paused",
            rules=["SLA-2"],
            shortfalls=[words or "incident_sla SLA_3: column stage is 'running', expected 'paused'"],
        ),
        CheckView(index=2, sentence="", rules=["SLA-2"], shortfalls=[words or "the answer was “Done.”"]),
    ]


def _reference(words: str) -> ReferenceView:
    """A solution of three calls: one that reads, one made for another incident, one not made."""
    common: dict[str, Any] = {"gym": words or None, "day": None}
    other = DeviationView(argument=words or "incident_id", due=words or "INC_007", given=words or "INC_9999")
    return ReferenceView(
        calls=[
            ReferenceCall(name="get_incident", arguments={}, state="read", call=None, deviations=[], **common),
            ReferenceCall(
                name=words or "update_incident", arguments={"incident_id": words or "INC_007"}, state="different",
                call=1, deviations=[other], **common,
            ),
            ReferenceCall(name="pause_sla", arguments={}, state="missing", call=None, deviations=[], **common),
        ],
        parting=1,
        answer=words or "The incident is on hold.",
    )  # fmt: skip


def _definition(words: str) -> str:
    return json.dumps({"name": "list_users", "description": words or "List the users.", "parameters": {}}, indent=2)


def _transcript(words: str) -> list[TranscriptEntry]:
    result = '{"content": [{"type": "text", "text": "{\\"incident_id\\": \\"INC_007\\", \\"status\\": \\"new\\"}"}]}'
    refused = '{"content": [{"type": "text", "text": "NOT_FOUND: there is no incident INC_9999"}], "isError": true}'
    long = "\n".join(f"line {n}: {words}" for n in range(200))
    calls = [{"id": "1", "name": words or "get_incident", "arguments": {}}]
    events = [
        TranscriptEvent(kind="assistant", by="planner", content=words or "1. Read it. 2. Put it on hold.", step=1),
        TranscriptEvent(
            kind="assistant",
            content=words or "I look first.",
            step=1,
            seconds=2.1,
            tool_calls=calls,
            call=_model_call(words),
            refused_calls=[
                RefusedCall(name=words or "get_user", raw=words or '{"id": ', problem=words or "not valid JSON")
            ],
        ),
        _call("get_incident", {"incident_id": words or "INC_007"}, words or result, step=1),
        TranscriptEvent(kind="assistant", content="", step=2, seconds=1.9, tool_calls=calls),
        _call("update_incident", {"incident_id": "INC_9999", words: words}, refused, step=2, is_error=True),
        TranscriptEvent(kind="assistant", content="", step=3, seconds=1.5, tool_calls=calls),
        _call("list_users", {}, long, step=3),
        TranscriptEvent(kind="assistant", content=words or "The incident is on hold.", step=4, seconds=1.0),
        TranscriptEvent(kind="note", content=words or "The agent answered.", step=4),
    ]
    prompts = [TranscriptEvent(kind="system"), TranscriptEvent(kind="user")]
    return [
        *(TranscriptEntry(event=event, text=i) for i, event in enumerate(prompts)),
        *(TranscriptEntry(event=event) for event in events[:1]),
        TranscriptEntry(event=events[1], reasoning=words or "The incident has to be read first."),
        *(TranscriptEntry(event=event) for event in events[2:]),
    ]


def _model_call(words: str) -> ModelCall:
    usage = Usage(model_calls=1, prompt_tokens=2000, cached_tokens=500, completion_tokens=150, reasoning_tokens=90)
    return ModelCall(
        usage=usage, cost_usd=0.005, model=words or "gpt-2026-01-05", request_id=words or "req_7", retries=1
    )


def _call(tool: str, arguments: dict[str, Any], content: str, step: int, *, is_error: bool = False) -> TranscriptEvent:
    return TranscriptEvent(
        kind="tool", tool_name=tool, arguments=arguments, content=content, step=step, seconds=0.02, is_error=is_error
    )


def _difference(words: str) -> StateDifference:
    changed = RowDifference(
        change="changed", key={"incident_id": "INC_007"}, before={"status": words or "new", "reason": None},
        after={"status": words or "on_hold", "reason": "waiting"},
    )  # fmt: skip
    added = RowDifference(change="added", key={"note_id": 12}, after={"note_id": 12, "text": words or "Put on hold."})
    return StateDifference(
        tables=[
            TableDifference(table=words or "incident", changed=1, rows=[changed]),
            TableDifference(table="incident_note", added=3, rows=[added]),
        ]
    )
