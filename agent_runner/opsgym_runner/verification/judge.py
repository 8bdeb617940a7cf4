"""The judge: a model that marks how well an answer agrees with a query's result.

Invariant: a mark is a number from 0 to 10 that the judge gave; without a mark the attempt is not scored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.records.outcomes import InfraReason
from opsgym_runner.context import AttemptContext
from opsgym_runner.errors import AgentFailed, NotScored, infra_error
from opsgym_runner.job import JUDGE, ResolvedModel
from opsgym_runner.json_text import values_in
from opsgym_runner.models.client import Message, ModelClient
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.prompting import load_prompts, rendered
from opsgym_runner.support_models import ask_support_model

BEST_MARK = 10
MAX_REPLIES = 2
"""Replies that are requested until one contains a mark."""
_PROMPT = load_prompts("opsgym_runner", "judge")["judge"]
_AGAIN = (
    f"That contains no mark. Reply with nothing but a JSON object: "
    f'{{"mark": <number from 0 to {BEST_MARK}>, "reason": "<one or two sentences>"}}'
)


@dataclass(frozen=True)
class JudgeVerdict:
    """A judge's mark with its reason."""

    mark: float
    """From 0 to 10."""
    reason: str
    """The judge's explanation; empty if it gave none."""


class Judge:
    """Marks the answers of one episode.

    Args:
        model: The judge's model.
        client: A client of the model.
        context: Records the judge's replies and cost.
    """

    def __init__(self, model: ResolvedModel, client: ModelClient, context: AttemptContext) -> None:
        self._name = model.name
        self._client = client
        self._context = context

    async def mark(self, question: str, rows: Sequence[Mapping[str, Any]], answer: str) -> JudgeVerdict:
        """Asks the judge for a mark.

        Args:
            question: What the judge must judge.
            rows: Result of the verifier's query, which the answer must agree with.
            answer: The agent's final answer.

        Raises:
            NotScored: The judge cannot be reached, or gave no mark.
            StoreError: The attempt record cannot be written.
        """
        facts = json.dumps(list(rows), indent=2, ensure_ascii=False, default=str)
        prompt = rendered(_PROMPT, {"facts": facts, "answer": answer or "(no answer)", "question": question})
        messages: list[Message] = [{"role": "user", "content": prompt}]
        for _ in range(MAX_REPLIES):
            try:
                reply = await ask_support_model(self._client, messages, self._context, JUDGE)
            except (ModelFailure, AgentFailed) as failure:
                raise self._failed(str(failure)) from None
            verdict = verdict_in(reply.text)
            if verdict is not None:
                return verdict
            messages += [reply.message, {"role": "user", "content": _AGAIN}]
        raise self._failed(f"gave no mark in {MAX_REPLIES} replies; the last began: {reply.text[:200]!r}")

    def _failed(self, problem: str) -> NotScored:
        return infra_error(InfraReason.JUDGE_FAILED, f"judge {self._name}: {problem}")


def verdict_in(text: str) -> JudgeVerdict | None:
    """The verdict in a judge's reply: its last JSON object with a mark; None if it has none."""
    verdicts = (_verdict(value) for value in values_in(text) if isinstance(value, dict))
    return next(reversed([verdict for verdict in verdicts if verdict is not None]), None)


def _verdict(value: Mapping[str, Any]) -> JudgeVerdict | None:
    mark = value.get("mark", value.get("score"))  # `score` is the published harness's name, which models tend to use
    if isinstance(mark, bool) or not isinstance(mark, int | float | str):
        return None
    try:
        number = float(mark)
    except ValueError:
        return None
    if not math.isfinite(number) or not 0 <= number <= BEST_MARK:
        return None
    return JudgeVerdict(number, str(value.get("reason") or value.get("reasoning") or ""))
