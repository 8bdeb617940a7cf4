"""The failure modes, a module for each. Its docstring is published: input, threshold with reason, and an example.

Invariant: every mode of `Mode` has exactly one rule here, a pure function of a `Case`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from opsgym_console.analysis.failures.findings import Finding, Mode
from opsgym_console.analysis.failures.modes import (
    incorrect_id,
    inefficient_tools,
    invalid_arguments,
    looping,
    missed_follow_up,
    missed_refusal,
    missing_lookup,
    policy_violation,
    premature_termination,
    state_corruption,
    wrong_refusal,
)
from opsgym_console.analysis.failures.trial import Case

Rule = Callable[[Case], Finding | None]

MODULES: Mapping[Mode, ModuleType] = {
    Mode.WRONG_REFUSAL: wrong_refusal,
    Mode.MISSED_REFUSAL: missed_refusal,
    Mode.PREMATURE_TERMINATION: premature_termination,
    Mode.LOOPING: looping,
    Mode.MISSING_LOOKUP: missing_lookup,
    Mode.INCORRECT_ID: incorrect_id,
    Mode.POLICY_VIOLATION: policy_violation,
    Mode.STATE_CORRUPTION: state_corruption,
    Mode.MISSED_FOLLOW_UP: missed_follow_up,
    Mode.INVALID_ARGUMENTS: invalid_arguments,
    Mode.INEFFICIENT_TOOLS: inefficient_tools,
}
"""By mode, in the order of `Mode`."""

RULES: Mapping[Mode, Rule] = {mode: module.find for mode, module in MODULES.items()}


def definition(mode: Mode) -> str:
    """The mode in one sentence: the first paragraph of its rule's module docstring."""
    return " ".join((MODULES[mode].__doc__ or "").partition("\n\n")[0].split())
