"""Export as results of the published harness: one JSON file for each task, as its own scripts read them.

Invariant: scores in these files are those of the published rules, so that scripts written for the published harness
compute our `published_score`: the last of several verifiers of one name stands for all, and `equals` is Python's.
Trials without a published score are left out.

The published scripts average files, each by its own success rate. Therefore all trials of a task are runs of one file:
a file for each trial would weigh tasks by their number of scored trials, while our rate is the mean over tasks.

Source: result files and writer of ServiceNow/EnterpriseOps-Gym (`benchmark/executor.py`, `evaluate.py`). Its scripts
take each folder below the one they are given as a mode, and each file as one task with one or more runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePosixPath
from statistics import fmean
from typing import Any

from opsgym_api.records.attempt import Cell, VerifierResult
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_console.analysis.exports.trials import ScoredTrial
from opsgym_core.results.provenance import Provenance

_ROLES = {"system": "system_message", "user": "user_message"}


def file_of(cell: Cell, task_id: str) -> PurePosixPath:
    """Path of a task's file: `<model>/<agent>/<mode>/run_1/results_<mode>__<domain>__<task>.json`."""
    name = f"results_{cell.mode}__{cell.domain}__{task_id}.json"
    return PurePosixPath(cell.model, cell.agent, cell.mode, "run_1", name)


def result_of(trials: Sequence[ScoredTrial]) -> dict[str, Any]:
    """The trials of a task in a cell in the format of the published harness; at least one."""
    runs = [_run(scored) for scored in trials]
    return {"benchmark_config": _config(trials), "runs": runs, "statistics": _statistics(runs)}


def _config(trials: Sequence[ScoredTrial]) -> dict[str, Any]:
    scored = trials[0]
    servers = scored.task.gym_servers_config
    return {
        "model": scored.litellm_id,
        "profile": scored.record.profile,
        "provenance": asdict(Provenance.of(scored.run)),
        "number_of_runs": len(trials),
        "user_prompt": scored.task.user_prompt,
        "gym_servers": [
            {
                "name": server.mcp_server_name,
                "url": server.mcp_server_url,
                "seed_database_file": server.seed_database_file,
                "uses_cloning": True,
            }
            for server in servers
        ],
        "total_gyms": len(servers),
        "total_tools_available": len(scored.transcript.tools),
    }


def _run(scored: ScoredTrial) -> dict[str, Any]:
    record, events = scored.record, scored.transcript.events
    calls = [event for event in events if event.kind == "tool"]
    results = {
        result.name or f"verifier_{result.index + 1}": _verification(result) for result in record.verifiers
    }  # of several with one name the last one counts, as in the published harness
    passed = sum(result["passed"] for result in results.values())
    return {
        "run_number": record.trial + 1,
        "started_at": record.timings.started_at,
        "execution_time_ms": round(record.timings.total_s * 1000),
        "model_response": record.answer,
        "conversation_flow": [entry for event in events if (entry := _conversation_entry(event)) is not None],
        "tools_used": list(dict.fromkeys(event.tool_name for event in calls)),
        "tool_results": [_tool_result(event) for event in calls],
        "verification_results": results,
        "verification_summary": {
            "total": len(results),
            "passed": passed,
            "failed": len(results) - passed,
            "pass_rate": passed / len(results) if results else 0.0,
        },
        "overall_success": bool(record.published_score),
    }


def _verification(result: VerifierResult) -> dict[str, Any]:
    verification: dict[str, Any] = {
        "passed": result.published_passed,
        "expected": result.expected,
        "actual": result.actual,
    }
    if result.comparison is not None:
        verification["comparison_type"] = result.comparison
        verification["query"] = result.query
        verification["details"] = f"Comparison {result.comparison}: {result.actual} vs {result.expected}"
    return verification


def _conversation_entry(event: TranscriptEvent) -> dict[str, Any] | None:
    """An entry of the conversation; None for notes, which the published harness does not write."""
    if event.kind in _ROLES:
        return {"type": _ROLES[event.kind], "content": event.content}
    if event.kind == "assistant":
        calls = [{"name": call["name"], "args": call.get("arguments") or {}} for call in event.tool_calls]
        return {"type": "ai_message", "content": event.content, **({"tool_calls": calls} if calls else {})}
    if event.kind == "tool":
        return {"type": "tool_result", "tool_name": event.tool_name, "result": _envelope(event)}
    return None


def _tool_result(event: TranscriptEvent) -> dict[str, Any]:
    return {
        "tool_name": event.tool_name,
        "arguments": event.arguments or {},
        "result": _envelope(event),
        "gym_server": event.gym,
    }


def _envelope(event: TranscriptEvent) -> dict[str, Any]:
    try:
        result = json.loads(event.content)
    except ValueError:
        result = {"content": [{"type": "text", "text": event.content}], "isError": event.is_error}
    return {"success": True, "result": result, "error": None}


def _statistics(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    successes = [float(run["overall_success"]) for run in runs]
    summaries = [run["verification_summary"] for run in runs]
    return {
        "total_runs": len(runs),
        "successful_runs": int(sum(successes)),
        "overall_success_rate": fmean(successes),
        "pass_at_1": fmean(successes),
        "verifier_level_pass_rate": fmean(summary["pass_rate"] for summary in summaries),
        "total_verifiers_checked": sum(summary["total"] for summary in summaries),
        "total_verifiers_passed": sum(summary["passed"] for summary in summaries),
        "individual_verifier_stats": _verifier_statistics(runs),
        "mean_execution_time_ms": fmean(run["execution_time_ms"] for run in runs),
        "tool_usage": dict(Counter(tool for run in runs for tool in run["tools_used"])),
    }


def _verifier_statistics(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    passed: dict[str, list[bool]] = {}
    for run in runs:
        for name, result in run["verification_results"].items():
            passed.setdefault(name, []).append(result["passed"])
    return {
        name: {"passed": sum(results), "total": len(results), "pass_rate": fmean(results)}
        for name, results in passed.items()
    }
