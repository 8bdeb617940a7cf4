"""Enumerations of the service desk that the published schemas mention only in descriptions, or not at all.

Invariant: an enumeration's values are the published ones, in their order. Those that the schemas list are in
`shapes.json`.
"""

from __future__ import annotations

from typing import Literal

Role = Literal["admin", "manager", "agent", "reporter"]
Level = Literal["high", "medium", "low"]
Priority = Literal["critical", "high", "moderate", "low", "planning"]

ProblemStatus = Literal["new", "assess", "root_cause", "fix_in_progress", "resolved", "closed"]
ProblemCategory = Literal["network", "software", "hardware", "database"]

ChangeStatus = Literal["new", "assess", "authorize", "scheduled", "implement", "review", "closed", "canceled"]
ChangeCategory = Literal[
    "network",
    "software",
    "hardware",
    "documentation",
    "system_software",
    "application_software",
    "service",
    "telecom",
    "other",
]
ChangePriority = Literal["critical", "high", "moderate", "low"]
CloseCode = Literal["successful", "successful_with_issues", "unsuccessful"]

UsedAs = Literal["suggested", "applied", "resolution"]
SlaStage = Literal["in_progress", "paused", "completed", "cancelled", "breached"]
