"""The agent called a tool with invalid arguments.

Looks at: refused calls, and why the server refused them.
Holds when: a call was refused because an argument is missing, of the wrong type, outside its values, unknown, or
names a record that does not exist. Refusals by a rule of the policy are `policy_violation`; faults of the server do
not count. One call is enough, even if the next one was correct: it shows what the agent does not know about its tools.
Example: an incident's status is set to "done", which is not a valid status.
"""

from __future__ import annotations

import re

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.trial import Case

_INVALID = re.compile(
    r"VALIDATION|INVALID|MISSING|REQUIRED|TOO_LONG|NOT_FOUND|_type\b|\brequired\b|must be|must have|must name|invalid|"
    r"not[ _]found|unknown (?:argument|tool|field)|unexpected|not a valid|is not one of|Input should be|"
    r"extra_forbidden",
)
_BY_RULE = re.compile(r"\brule [A-Z]{2,}-\d+|PERMISSION|FORBIDDEN")
_SERVER_FAULT = re.compile(
    r"argument after \*\*|Traceback|Internal server error|NoneType|has no attribute", re.IGNORECASE
)


def find(case: Case) -> Finding | None:
    """The finding, if a call was refused for its arguments."""
    refused = [call for call in case.trajectory.calls if call.is_error and _for_arguments(call.text)]
    evidence = [
        Evidence(
            f"refused: {call.text[:200]}",
            call.step,
            call.number,
            call.tool,
            next((name for name in call.arguments if name in call.text), None),
        )
        for call in refused
    ]
    return Finding(Mode.INVALID_ARGUMENTS, Basis.TRANSCRIPT, tuple(evidence)) if evidence else None


def _for_arguments(message: str) -> bool:
    return bool(_INVALID.search(message)) and not _BY_RULE.search(message) and not _SERVER_FAULT.search(message)
