"""A gate's verdict as text: the verdict, then one line for each condition."""

from __future__ import annotations

from opsgym_api.records.gate import GateCheck, GateRecord


def gate_text(record: GateRecord) -> str:
    """Lines with the verdict and every condition; conditions that do not say GO come first."""
    checks = sorted(record.checks, key=lambda check: check.verdict == "GO")
    return "\n".join([f"gate: {record.verdict}", *(f"  {check_line(check)}" for check in checks)])


def check_line(check: GateCheck) -> str:
    """One condition of a gate."""
    return f"{check.verdict:<12}  {check.message}"
