"""Exit codes of the command `opsgym`, which scripts and CI depend on."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opsgym_api.records.gate import Verdict


class Exit(IntEnum):
    """Exit code of a command. What to do follows `Do:`."""

    OK = 0
    """Success. For a run: every trial is scored and its gate, if it has one, says GO."""
    NOT_SCORED = 1
    """Some trials are not scored, or a store, gym server or cluster failed.
    Do: run the same command again, it continues; the output names what failed."""
    BAD_INPUT = 2
    """A file, row, argument or environment variable must be corrected. Do: correct what the message names."""
    NO_GO = 3
    """The run's gate says NO-GO. Do: do not ship what was evaluated; `opsgym gate RUN` shows what decided."""
    INCONCLUSIVE = 4
    """The run's gate says INCONCLUSIVE: no condition fails, but there are too few trials to decide all of them.
    Do: play more tasks or trials; `opsgym gate --plan FILE` says how many."""
    QUOTA = 5
    """The quota or credit of a model's account is used up: the run stopped before all trials were run.
    Do: add credit, or wait until the quota is renewed, and run the same command again."""
    HELD = 6
    """Another process plays the run: nothing was started.
    Do: wait for the process that the message names, or stop it."""
    FAULT = 70
    """A bug in opsgym. Do: report it with the file that the message names."""
    INTERRUPTED = 130
    """Interrupted by Ctrl-C. Do: run the same command again to continue."""
    TERMINATED = 143
    """Ended by SIGTERM. Do: run the same command again to continue."""

    @classmethod
    def of_gate(cls, verdict: Verdict) -> Exit:
        """The exit code for the verdict of a gate."""
        codes: dict[Verdict, Exit] = {"GO": cls.OK, "NO-GO": cls.NO_GO, "INCONCLUSIVE": cls.INCONCLUSIVE}
        return codes[verdict]
