"""How long what runs wrote stays in their store."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from opsgym_api.base import Document

MOST_DAYS = 36_500
"""Most days that objects can be kept; without a number they stay for ever."""


class Keep(Document):
    """How long objects stay: while their run is younger than `days` or among the newest `runs`."""

    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None = None
    """Days since the run began."""
    runs: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Newest runs of the same EvalSchedule; of the same name, for runs that no schedule made."""

    @model_validator(mode="after")
    def _something_is_kept(self) -> Keep:
        if self.days is None and self.runs is None:
            raise ValueError("states no time; give days, runs or both")
        return self


class History(Document):
    """How long what runs wrote stays in their store; for ever where nothing is stated. Runs that go on, pinned runs and
    what a gate compares with stay in any case.
    """

    records: Keep | None = None
    """The whole run: its scores are gone with it."""
    transcripts: Keep | None = None
    """Transcripts, reasoning, and pages about the run, which repeat them."""
    states: Keep | None = None
    """Final databases and their differences, by which `opsgym rescore` judges again."""
