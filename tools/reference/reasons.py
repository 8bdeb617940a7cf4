"""Every outcome, reason and exit code with its meaning and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from tools.reference.tables import cell, member_docs, table

from opsgym.clusterruns.advice import ADVICE, TRIAL_ADVICE
from opsgym.exits import Exit
from opsgym_api.jobs.exit_codes import Exit as PodExit
from opsgym_api.records.outcomes import ConfigReason, FailReason, FinishReason, InfraReason, Outcome
from opsgym_operator.observe.schedules import ScheduleReason
from opsgym_operator.plan.status.status import STALLED, WAITING, Phase, Reason

_EVAL_MODEL = (
    "An EvalModel has no status: the API server refuses an invalid one, and the EvalRuns that name it show "
    "`ModelNotFound` or `ModelInvalid`.\n"
)


def reasons_page() -> str:
    """A section for each kind of reason."""
    return "\n".join([
        "",
        f"## Exit codes\n\n{_table('code', Exit)}",
        f"## Outcomes of a trial\n\n{_table('outcome', Outcome)}",
        f"## `failed`: a result of the agent\n\n{_table('reason', FailReason, TRIAL_ADVICE)}",
        f"## `infra_error`: not scored\n\n{_table('reason', InfraReason, TRIAL_ADVICE)}",
        f"## `config_error`: not scored\n\n{_table('reason', ConfigReason, TRIAL_ADVICE)}",
        f"## How a reply ended\n\n{_table('finish_reason', FinishReason)}",
        f"## Conditions of an EvalRun\n\n{_conditions()}",
        f"## Conditions of an EvalSchedule\n\n{_table('reason', ScheduleReason)}",
        f"## EvalModels\n\n{_EVAL_MODEL}",
        f"## Exit codes of the runner's container\n\n{_table('code', PodExit)}",
    ])  # fmt: skip


def _table(name: str, kind: type[Enum], advice: Mapping[str, str] | None = None) -> str:
    """A row for each member; what to do is from `advice`, or follows `Do:` in its docstring."""
    rows = []
    for value, text in member_docs(kind).items():
        meaning, _, act = text.partition("Do: ")
        rows.append((f"`{value}`", cell(meaning), cell(advice[value] if advice else act).rstrip(".")))
    if not any(row[2] for row in rows):
        return table((name, "meaning"), (row[:2] for row in rows))
    return table((name, "meaning", "do"), rows)


def _conditions() -> str:
    rows = [
        (f"`{value}`", _phase(Reason(value)), cell(text), cell(ADVICE.get(value, "")))
        for value, text in member_docs(Reason).items()
    ]
    return table(("reason", "phase", "meaning", "do"), rows)


def _phase(reason: Reason) -> str:
    return Phase.STALLED if reason in STALLED else Phase.WAITING if reason in WAITING else ""
