"""Exit codes of the command `opsgym`, which scripts and CI depend on."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opsgym_api.records.gate import Verdict


class Exit(IntEnum):
    """Exit code of a command."""

    OK = 0
    """Success. For a run: every trial is scored and its gate, if it has one, says GO."""
    NOT_SCORED = 1
    """Some trials are not scored, or a store, gym server or cluster failed."""
    BAD_INPUT = 2
    """A file, row, argument or environment variable must be corrected."""
    NO_GO = 3
    """The run's gate says NO-GO."""
    INCONCLUSIVE = 4
    """The run's gate says INCONCLUSIVE: no condition fails, but there are too few trials to decide all of them."""
    QUOTA = 5
    """The quota or credit of a model's account is used up: the run stopped before all trials were run."""
    HELD = 6
    """Another process plays the run: nothing was started."""
    FAULT = 70
    """A bug in opsgym."""
    INTERRUPTED = 130
    """Interrupted by Ctrl-C."""
    TERMINATED = 143
    """Ended by SIGTERM."""

    @classmethod
    def of_gate(cls, verdict: Verdict) -> Exit:
        """The exit code for the verdict of a gate."""
        codes: dict[Verdict, Exit] = {"GO": cls.OK, "NO-GO": cls.NO_GO, "INCONCLUSIVE": cls.INCONCLUSIVE}
        return codes[verdict]
