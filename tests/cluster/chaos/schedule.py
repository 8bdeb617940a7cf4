"""When faults happen, to whom and for how long: a pure function of a seed and a duration.

Invariant: the same seed, duration and kinds give the same schedule on every machine. Faults that concern every tenant
follow one another, and so do those that concern some tenants; the two sequences run side by side. In each sequence
every kind comes once before any comes again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PAUSE_S = (6.0, 12.0)
"""Shortest and longest time between the end of a fault and the beginning of the next one of its sequence."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes:
        name: Its name.
        groups: Groups of tenants, of which a fault concerns one; empty if it concerns every tenant.
        seconds: Shortest and longest duration; zeros for what is over at once.
    """

    name: str
    groups: tuple[tuple[str, ...], ...] = ()
    seconds: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Planned:
    """A fault of a schedule.

    Attributes:
        at: Seconds from the start of the schedule to its beginning.
        pause: Seconds from the end of its predecessor in its sequence, or from the start of the schedule.
        fault: Name of its kind.
        tenants: The tenants that it concerns; empty for all.
        seconds: How long it lasts; 0 if it is over at once.
    """

    at: float
    pause: float
    fault: str
    tenants: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        """One line of a log."""
        return f"{self.at:6.1f} s  {self.fault} ({', '.join(self.tenants) or 'all'}) for {self.seconds:.0f} s"


def plan_faults(seed: str, duration: float, kinds: Sequence[Kind]) -> list[Planned]:
    """The faults of a schedule, by their beginning.

    Args:
        seed: Any text.
        duration: Seconds in which every fault has begun and ended.
        kinds: The kinds of fault.
    """
    shared = [kind for kind in kinds if not kind.groups]
    others = [kind for kind in kinds if kind.groups]
    planned = [*_sequence(f"{seed}/all", duration, shared), *_sequence(f"{seed}/some", duration, others)]
    return sorted(planned, key=lambda fault: (fault.at, fault.fault))


def _sequence(seed: str, duration: float, kinds: Sequence[Kind]) -> Iterator[Planned]:
    """Faults one after the other."""
    # Not for secrets: the same numbers every time are the purpose.
    chance = random.Random(seed)
    end = 0.0
    while kinds:
        for kind in chance.sample(kinds, len(kinds)):
            pause, seconds = round(chance.uniform(*PAUSE_S), 1), round(chance.uniform(*kind.seconds), 1)
            if end + pause + seconds > duration:
                return
            tenants = chance.choice(kind.groups) if kind.groups else ()
            yield Planned(round(end + pause, 1), pause, kind.name, tenants, seconds)
            end += pause + seconds
