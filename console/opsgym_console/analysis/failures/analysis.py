"""Analyses failed trials.

Invariant: the same trial always has the same findings, in the order of `Mode`; if there are any, the first is primary.
"""

from __future__ import annotations

from dataclasses import replace

from opsgym_console.analysis.failures.findings import Finding
from opsgym_console.analysis.failures.modes import RULES
from opsgym_console.analysis.failures.trial import Case, FailedTrial


def analyse(trial: FailedTrial) -> list[Finding]:
    """The failure modes of a trial, primary first; none if no rule has evidence.

    The order of `Mode` says which explains the others: whether to act at all comes first, then how the agent worked
    (stopped early, in circles, without lookups), then what it did wrongly, then what it left out, and last what agents
    often recover from.

    Args:
        trial: A scored trial that did not pass, with its stored objects.
    """
    case = Case(trial)
    findings = [finding for rule in RULES.values() if (finding := rule(case)) is not None]
    return [replace(finding, primary=position == 0) for position, finding in enumerate(findings)]
