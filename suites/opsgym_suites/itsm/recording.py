"""The recording that `examples/quickstart.yaml` replays: an agent that solves about two thirds of the tasks.

Invariant: it is derived from the reference solutions, so it fits the suite. Each failure is one that real agents show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.suite import Suite

Conduct = tuple[Sequence[ToolCall], str]
"""What an agent did, and what it said at the end."""
Way = Callable[[Draft], Conduct]


def recording(suite: Suite, drafts: Sequence[Draft]) -> Iterator[dict[str, Any]]:
    """Lines of the recording: the calls of each task in order, then its answer."""
    for number, draft in enumerate(drafts, start=1):
        calls, answer = WAYS.get(draft.slug, _as_gold)(draft)
        name = suite.task_id(number, draft)
        for call in calls:
            yield {"task_id": name, "tool": call.name, "arguments": call.arguments}
        yield {"task_id": name, "answer": answer}


def _as_gold(draft: Draft) -> Conduct:
    return draft.gold, draft.answer


def _without_last(tool: str) -> Way:
    """Omits the last call of a tool, and claims to have made it."""

    def way(draft: Draft) -> Conduct:
        last = max(index for index, call in enumerate(draft.gold) if call.name == tool)
        return [call for index, call in enumerate(draft.gold) if index != last], draft.answer

    return way


def _with(tool: str, **arguments: Any) -> Way:
    """Passes other arguments in the calls of a tool."""

    def way(draft: Draft) -> Conduct:
        changed = [
            ToolCall(name=call.name, arguments={**call.arguments, **arguments}) if call.name == tool else call
            for call in draft.gold
        ]
        return changed, draft.answer

    return way


def _refusing(draft: Draft) -> Conduct:
    """Looks at two things and gives up on a task that can be done."""
    return draft.gold[:2], "I am sorry, I cannot do this: I am not allowed to change the records of other users."


def _mistaken(draft: Draft) -> Conduct:
    """Makes the first of the draft's mistakes in addition."""
    first = next(iter(draft.mistakes.values()))
    return [*draft.gold, *first], "Done as you asked."


WAYS: Mapping[str, Way] = {
    "triage-dock-printer": _with("update_incident", priority="high"),
    "hold-for-firmware-change": _without_last("map_change_request"),
    "bundle-checkout-reports": _mistaken,
    "close-what-is-settled": _mistaken,
    "report-sla-breaches": _refusing,
    "refuse-reopen-closed-incident": _mistaken,
}
"""How the recorded agent goes about a task, by slug; like the gold actions where it is not named."""
