"""Failure analysis: rules that detect the failure modes of failed trials."""

from __future__ import annotations

from opsgym_console.analysis.failures.analysis import analyse
from opsgym_console.analysis.failures.findings import Basis, Evidence, Finding, Mode
from opsgym_console.analysis.failures.trial import FailedTrial

__all__ = ["Basis", "Evidence", "FailedTrial", "Finding", "Mode", "analyse"]
