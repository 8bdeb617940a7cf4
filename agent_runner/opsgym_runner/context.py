"""What one attempt writes to and is timed by.

Invariant: one attempt has one context; everything it records, reads of its run's gate or measures goes through it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from opsgym_core.store.base import Store
from opsgym_runner.clock import Clock
from opsgym_runner.recording.journal import Journal
from opsgym_runner.recording.transcript import TranscriptRecorder
from opsgym_runner.start_gate import StartGate


@dataclass(frozen=True)
class AttemptContext:
    """Recorders, start gate and clock of one attempt."""

    store: Store
    """Store of the attempt's run."""
    journal: Journal
    transcript: TranscriptRecorder
    gate: StartGate
    clock: Clock
    cleanups: set[asyncio.Task[None]] = field(default_factory=set)
    """Database deletions in progress. The owner of the HTTP connections awaits them before closing."""
    stored_catalogues: set[str] = field(default_factory=set)
    """Keys of catalogues that are known to be in the store; shared by the attempts of a process."""
