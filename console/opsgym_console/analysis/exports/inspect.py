"""Export as Inspect logs, written by Inspect's own library: a log for each cell, a sample for each trial.

Invariant: a sample's score is ours: `C` passed, `I` failed; trials without a score are counted in the log's header and
have no sample.

Source: https://inspect.aisi.org.uk/eval-logs.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import Cell, Usage
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_console.analysis.exports.trials import ScoredTrial
from opsgym_core.results.transcripts import result_text

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage, ModelUsage

SCORER = "opsgym"


def write_logs(trials: Iterable[ScoredTrial], not_scored: dict[str, int], out: Path) -> list[Path]:
    """Writes a log for each cell. Returns the files.

    Args:
        trials: ScoredTrial trials, those of a cell together.
        not_scored: Trials without a score, by cell key.
        out: Folder; exists.

    Raises:
        InputError: Inspect is not installed.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError:
        advice = "install Inspect's library: pip install 'opsgym[inspect]'"
        raise InputError("--format inspect", [Problem("", advice)]) from None
    files = []
    for cell, of_cell in groupby(trials, key=lambda scored: scored.record.cell):
        file = out / f"{cell.key}.eval"
        write_eval_log(_log(cell, list(of_cell), not_scored.get(cell.key, 0)), str(file))
        files.append(file)
    return files


def _log(cell: Cell, trials: Sequence[ScoredTrial], not_scored: int) -> EvalLog:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalMetric,
        EvalResults,
        EvalScore,
        EvalSpec,
        EvalStats,
    )

    first = trials[0]
    passed = sum(scored.record.score for scored in trials)
    ids = list(dict.fromkeys(scored.record.task_id for scored in trials))
    started = sorted(scored.record.timings.started_at for scored in trials)
    total = len(trials) + not_scored
    accuracy = EvalMetric(name="accuracy", value=passed / len(trials))
    score = EvalScore(
        name=SCORER,
        scorer=SCORER,
        scored_samples=len(trials),
        unscored_samples=not_scored,
        metrics={"accuracy": accuracy},
    )
    return EvalLog(
        status="success",
        eval=EvalSpec(
            run_id=first.run.run,
            created=started[0],
            task=f"{first.run.name}/{cell.mode}/{cell.domain}",
            solver=cell.agent,
            dataset=EvalDataset(name=cell.domain, samples=len(ids), sample_ids=list(ids)),
            model=first.litellm_id,
            config=EvalConfig(epochs=first.run.trials),
            packages={"opsgym": first.record.versions.opsgym},
            metadata={**cell.model_dump(), "profile": first.record.profile},
        ),
        results=EvalResults(total_samples=total, completed_samples=len(trials), scores=[score]),
        stats=EvalStats(
            started_at=started[0],
            completed_at=started[-1],
            model_usage={first.litellm_id: _usage(_sum(scored.record.usage for scored in trials))},
        ),
        samples=[_sample(scored) for scored in trials],
    )


def _sum(usages: Iterable[Usage]) -> Usage:
    return sum(usages, Usage())


def _usage(usage: Usage) -> ModelUsage:
    from inspect_ai.model import ModelUsage

    return ModelUsage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
        input_tokens_cache_read=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _sample(scored: ScoredTrial) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import CORRECT, INCORRECT, Score

    record = scored.record
    failed = [result for result in record.verifiers if not result.passed]
    score = Score(
        value=CORRECT if record.score else INCORRECT,
        answer=record.answer,
        explanation="; ".join(_explained(result.name, result.expected, result.actual) for result in failed),
        metadata={"verifiers": [result.to_dict() for result in record.verifiers]},
    )
    return EvalSample(
        id=record.task_id,
        epoch=record.trial + 1,
        input=scored.task.user_prompt,
        target="",
        messages=list(_messages(scored.transcript.events)),
        output=ModelOutput.from_content(scored.litellm_id, record.answer),
        scores={SCORER: score},
        model_usage={scored.litellm_id: _usage(record.usage)},
        total_time=record.timings.total_s,
        started_at=record.timings.started_at,
        metadata={
            "outcome": record.outcome.value,
            "reason": record.reason,
            "published_score": record.published_score,
            "feasible": record.feasible,
            "horizon": record.horizon,
            "variant": record.variant,
            "cost_usd": record.cost_usd,
            "steps": record.steps,
        },
    )


def _explained(name: str, expected: Any, actual: Any) -> str:
    return f"{name or 'unnamed'}: expected {expected!r}, actual {actual!r}"


def _messages(events: Iterable[TranscriptEvent]) -> Iterator[ChatMessage]:
    """The conversation; a tool's result follows the call that asked for it, in the order in which calls ran."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall, ToolCallError

    waiting: list[str] = []
    for number, event in enumerate(events):
        if event.kind == "system":
            yield ChatMessageSystem(content=event.content)
        elif event.kind == "user":
            yield ChatMessageUser(content=event.content)
        elif event.kind == "assistant":
            calls = [
                ToolCall(id=f"{number}.{place}", function=call["name"], arguments=call.get("arguments") or {})
                for place, call in enumerate(event.tool_calls)
            ]
            waiting = [call.id for call in calls]
            yield ChatMessageAssistant(content=event.content, tool_calls=calls or None)
        elif event.kind == "tool":
            text = result_text(event.content)
            yield ChatMessageTool(
                content=text,
                function=event.tool_name,
                tool_call_id=waiting.pop(0) if waiting else None,
                error=ToolCallError(type="unknown", message=text) if event.is_error else None,
            )
