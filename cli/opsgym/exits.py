"""Exit codes of the command. They are part of its interface: scripts and CI branch on them."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opsgym_api.records import Verdict


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    """Done; for a run: every trial is scored, and its gate, if it has one, says GO."""
    NOT_SCORED = 1
    """Some trials are not scored, or the surroundings (store, gym servers) failed."""
    BAD_INPUT = 2
    """A file, row, argument or variable has to be mended first."""
    NO_GO = 3
    """The run's gate says NO-GO."""
    INCONCLUSIVE = 4
    """The run's gate says INCONCLUSIVE: nothing is broken, but there are too few trials to tell whether all holds."""
    FAULT = 70
    """A fault of opsgym itself."""
    INTERRUPTED = 130
    """Ctrl-C."""
    TERMINATED = 143
    """SIGTERM."""

    @classmethod
    def of_gate(cls, verdict: Verdict) -> Exit:
        """How a command ends that judged a gate."""
        codes: dict[Verdict, Exit] = {"GO": cls.OK, "NO-GO": cls.NO_GO, "INCONCLUSIVE": cls.INCONCLUSIVE}
        return codes[verdict]
