"""Records that tasks in access `strict` are about, for the seed `desk` only."""

from __future__ import annotations

from opsgym_domains.itsm.seeds.stories import ChangeStory, IncidentStory, ProblemStory

CHANGES: tuple[ChangeStory, ...] = ()
PROBLEMS: tuple[ProblemStory, ...] = ()
INCIDENTS: tuple[IncidentStory, ...] = ()
