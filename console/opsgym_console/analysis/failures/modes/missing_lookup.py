"""The agent wrote a record's id that it could not know.

Looks at: arguments of writes that refer to records (names such as `user_id` and `assigned_to`, values such as
`INC_012`), and whether prompts or earlier results contain them; `tool_execution` verifiers that miss a lookup.
Holds when: a write, carried out or refused, names an id that appears nowhere before it. One such id is enough: ids
cannot be derived. A correct guess is still a guess. Or: a `looked_up` verifier failed.
Example: a case is assigned to group 1 and user 1 although no call looked up groups or users.
"""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.trajectory import Call, is_lookup
from opsgym_console.analysis.failures.trial import Case
from opsgym_console.analysis.failures.values import is_reference, leaves, shown


def find(case: Case) -> Finding | None:
    """The finding, if an id was guessed or a required lookup left out."""
    guessed = [evidence for call in case.trajectory.writes for evidence in _guessed(case, call)]
    if guessed:
        return Finding(Mode.MISSING_LOOKUP, Basis.TRANSCRIPT, tuple(guessed))
    omitted = [
        Evidence(f"{tool} was not called, although it is required", tool=tool, verifier=verifier.index)
        for verifier in case.failed
        if verifier.verifier_type == "tool_execution" and isinstance(verifier.actual, dict)
        for tool in verifier.actual.get("missing_tools", [])
        if is_lookup(tool)
    ]
    omitted += [
        Evidence(message, verifier=verifier.index)
        for verifier in case.failed
        if verifier.verifier_type == "looked_up" and isinstance(verifier.actual, dict)
        for message in verifier.actual.get("not_looked_up", [])
    ]
    return Finding(Mode.MISSING_LOOKUP, Basis.VERIFIERS, tuple(omitted)) if omitted else None


def _guessed(case: Case, call: Call) -> Iterator[Evidence]:
    for name, value in leaves(call.arguments):
        if is_reference(name, value) and not case.trajectory.knows(value, call):
            detail = f"{name} {shown(value)} is in no prompt and no earlier result"
            yield Evidence(detail, call.step, call.number, call.tool, name)
