"""Export of runs to the files of the published harness and to Inspect logs.

Inspect is imported within functions: it takes seconds, which every process that collects tests would pay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from tests.cli.runs import CELL, put_attempt, put_run, put_trial, verifier
from tests.cli.world import World, row

from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import ModelCall, Reasoning, StepReasoning, Transcript, TranscriptEvent
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import FrozenSuite, Seed
from opsgym_core.results.transcripts import encode_record
from opsgym_core.store.local import LocalStore

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.scorer import Score

RUN = "demo.1"
GYM = "gym-itsm-mcp"
USAGE = Usage(
    model_calls=1, prompt_tokens=10, completion_tokens=4, cached_tokens=3, cache_write_tokens=2, reasoning_tokens=2
)
CALL = ModelCall(usage=USAGE, cost_usd=0.01, model="gpt-1", request_id="req_1")
ENVELOPE = {"meta": None, "content": [{"type": "text", "text": '{"id": 1}'}], "structuredContent": None}


def conversation(task_id: str) -> Transcript:
    """A conversation of two calls, the second of which fails, and a note."""
    calls = [{"id": "a", "name": "find", "arguments": {"id": 1}}, {"id": "b", "name": "find", "arguments": {}}]
    content = json.dumps({**ENVELOPE, "isError": False})
    events = [
        TranscriptEvent(kind="system", content="Policy."),
        TranscriptEvent(kind="user", content="Do it."),
        TranscriptEvent(kind="assistant", step=1, tool_calls=calls, finish_reason="tool_calls", call=CALL),
        TranscriptEvent(kind="tool", step=1, tool_name="find", gym=GYM, arguments={"id": 1}, content=content),
        TranscriptEvent(kind="note", content="something of the harness"),
        TranscriptEvent(
            kind="tool", step=1, tool_name="find", gym=GYM, arguments={}, content="plain words", is_error=True
        ),
        TranscriptEvent(kind="assistant", content="Done.", step=2),
    ]
    return Transcript(task_id=task_id, tools=["find", "update"], events=events)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A run of three tasks in two trials: of the six trials, one passed, three failed and two have no score."""
    world = World(tmp_path)
    store = world.store
    spec = {"suite": {"builtin": "quickstart"}, "models": [{"name": "m", "inline": {"model": "openai/gpt"}}]}
    tasks = ["one", "two", "three"]
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=tasks)], spec=spec, trials=2)
    suite = FrozenSuite()
    for task_id in tasks:
        suite.add(Task.model_validate(row(task_id)), {"gym-itsm-mcp": Seed(builtin="quickstart")})
    suite.write(store, RUN)
    same = [verifier(0, passed=False, name="twice", published_passed=False), verifier(1, name="twice")]
    good, bad = [verifier(0)], [verifier(0, passed=False, comparison="equals", query="SELECT 1", expected=1, actual=2)]
    for task_id, trial, outcome, verifiers, published in (
        ("one", 0, Outcome.PASSED, good, 1),
        ("one", 1, Outcome.FAILED, [*good, verifier(1, passed=False, name="", expected="x", actual=None)], 0),
        ("two", 0, Outcome.FAILED, same, 1),
        ("three", 0, Outcome.FAILED, bad, 0),
    ):
        fields: dict[str, Any] = {"trial": trial, "verifiers": verifiers, "published_score": published, "usage": USAGE}
        put_trial(store, RUN, task_id, outcome, **fields)
        key = RunKeys(RUN).trial(CELL, task_id, trial).transcript
        store.put(key, zstandard.compress(conversation(task_id).model_dump_json().encode()))
    return world


def exported(world: World, kind: str) -> Path:
    done = world.inline("export", RUN, "--format", kind, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "4 scored trials of run demo.1" in done.stdout
    assert "2 trials without a score are left out" in done.stdout
    return world.folder / "out"


def log_in(folder: Path) -> EvalLog:
    """The only Inspect log of a folder."""
    from inspect_ai.log import read_eval_log

    return read_eval_log(str(folder / f"{CELL.key}.eval"))


def published_scores(folder: Path) -> tuple[float, float]:
    """Success and verifier rates as the published `compute_score.py` takes them: the mean over all files of a mode."""
    statistics = [json.loads(file.read_text())["statistics"] for file in folder.rglob("*.json")]
    count = len(statistics)
    return (
        sum(each["overall_success_rate"] for each in statistics) / count,
        sum(each["verifier_level_pass_rate"] for each in statistics) / count,
    )


def test_the_formula_of_the_published_harness_gives_our_published_rate(world: World) -> None:
    out = exported(world, "eops")
    # Trials of one, two, three: 1 and 0, 1, 0. Verifiers after those of one name are one: 1/1 and 1/2, 1/1, 0/1.
    success, verifiers = published_scores(out / "m" / "react" / "oracle")
    assert success == pytest.approx((0.5 + 1 + 0) / 3)
    assert verifiers == pytest.approx((0.75 + 1 + 0) / 3)


def test_tasks_with_unequal_numbers_of_scored_trials_score_as_in_results(world: World) -> None:
    put_trial(world.store, RUN, "three", Outcome.PASSED, trial=1)
    key = RunKeys(RUN).trial(CELL, "three", 1).transcript
    world.store.put(key, zstandard.compress(conversation("three").model_dump_json().encode()))
    assert world.inline("export", RUN, "--format", "eops", "--out", "out").returncode == 0

    success, _ = published_scores(world.folder / "out" / "m" / "react" / "oracle")

    total = json.loads(world.inline("results", RUN, "--format", "json").stdout)["total"]
    assert success == pytest.approx(total["published_success_rate"]) == pytest.approx(2 / 3)
    assert success != pytest.approx(3 / 5), "the mean over trials"


def test_a_trial_without_a_published_score_is_not_exported_to_the_published_harness(world: World) -> None:
    put_trial(world.store, RUN, "three", Outcome.FAILED, trial=1, published_score=None, reason="task_timeout")
    key = RunKeys(RUN).trial(CELL, "three", 1).transcript
    world.store.put(key, zstandard.compress(conversation("three").model_dump_json().encode()))

    done = world.inline("export", RUN, "--format", "eops", "--out", "out")

    assert (
        "5 scored trials of run demo.1 in 3 files; 1 trials without a score and 1 trials without a published score"
        in done.stdout
    )


def test_eops_files_have_the_layout_of_the_published_harness(world: World) -> None:
    out = exported(world, "eops")
    assert sorted(str(file.relative_to(out / "m/react/oracle")) for file in out.rglob("*.json")) == [
        "run_1/results_oracle__itsm__one.json",
        "run_1/results_oracle__itsm__three.json",
        "run_1/results_oracle__itsm__two.json",
    ]
    result = json.loads((out / "m/react/oracle/run_1/results_oracle__itsm__three.json").read_text())
    assert list(result) == ["benchmark_config", "runs", "statistics"]
    config = result["benchmark_config"]
    assert (config["model"], config["total_gyms"], config["total_tools_available"]) == ("openai/gpt", 1, 2)
    assert config["gym_servers"][0]["name"] == "gym-itsm-mcp"
    (run,) = result["runs"]
    assert [entry["type"] for entry in run["conversation_flow"]] == [
        "system_message", "user_message", "ai_message", "tool_result", "tool_result", "ai_message",
    ]  # fmt: skip
    assert run["conversation_flow"][2]["tool_calls"][0] == {"name": "find", "args": {"id": 1}}
    assert run["tools_used"] == ["find"]
    assert run["tool_results"][0]["result"] == {
        "success": True,
        "result": {**ENVELOPE, "isError": False},
        "error": None,
    }
    assert run["tool_results"][1]["result"]["result"]["isError"] is True
    assert {call["gym_server"] for call in run["tool_results"]} == {"gym-itsm-mcp"}
    assert run["verification_results"] == {
        "check 0": {
            "passed": False, "expected": 1, "actual": 2, "comparison_type": "equals", "query": "SELECT 1",
            "details": "Comparison equals: 2 vs 1",
        }
    }  # fmt: skip


def test_a_verifier_without_a_name_is_named_by_its_index(world: World) -> None:
    file = exported(world, "eops") / "m/react/oracle/run_1/results_oracle__itsm__one.json"
    first, second = json.loads(file.read_text())["runs"]
    assert list(first["verification_results"]) == ["check 0"]
    assert list(second["verification_results"]) == ["check 0", "verifier_2"]


def test_statistics_of_a_file_are_over_the_runs_of_its_task(world: World) -> None:
    file = exported(world, "eops") / "m/react/oracle/run_1/results_oracle__itsm__one.json"
    result = json.loads(file.read_text())
    statistics = result["statistics"]
    assert [run["run_number"] for run in result["runs"]] == [1, 2]
    assert (result["benchmark_config"]["number_of_runs"], statistics["total_runs"]) == (2, 2)
    assert (statistics["successful_runs"], statistics["overall_success_rate"]) == (1, 0.5)
    assert (statistics["total_verifiers_checked"], statistics["total_verifiers_passed"]) == (3, 2)
    assert statistics["individual_verifier_stats"]["check 0"] == {"passed": 2, "total": 2, "pass_rate": 1.0}
    assert statistics["tool_usage"] == {"find": 2}


def test_inspect_reads_the_exported_log_with_our_counts(world: World) -> None:
    log = log_in(exported(world, "inspect"))
    assert (log.status, log.eval.model, log.eval.solver) == ("cancelled", "openai/gpt", "react")
    assert log.results is not None
    (score,) = log.results.scores
    results = json.loads(world.inline("results", RUN, "--format", "json").stdout)["total"]
    assert score.metrics["accuracy"].value == pytest.approx(results["success_rate"]) == pytest.approx(1 / 6)
    assert (score.scored_samples, score.unscored_samples, log.results.total_samples) == (4, 2, 6)
    assert log.samples is not None
    samples = {(str(sample.id), sample.epoch): sample for sample in log.samples}
    assert {key: _value(sample.scores) for key, sample in samples.items()} == {
        ("one", 1): "C", ("one", 2): "I", ("two", 1): "I", ("three", 1): "I",
    }  # fmt: skip


def test_inspects_own_metrics_over_the_samples_give_the_exported_ones(world: World) -> None:
    from inspect_ai.scorer import SampleScore, accuracy, mean_score, stderr

    log = log_in(exported(world, "inspect"))
    assert log.results is not None
    assert log.samples is not None
    of_task: dict[str, list[Score]] = {}
    for sample in log.samples:
        of_task.setdefault(str(sample.id), []).append((sample.scores or {})["opsgym"])
    reduced: list[Any] = [SampleScore(score=mean_score()(scores), sample_id=one) for one, scores in of_task.items()]
    exported_metrics = log.results.scores[0].metrics
    computed = {"accuracy": accuracy()(reduced), "stderr": stderr()(reduced)}
    assert {name: metric.value for name, metric in exported_metrics.items()} == pytest.approx(computed)


def test_inspect_usage_counts_each_token_once(world: World) -> None:
    log = log_in(exported(world, "inspect"))
    usage = log.stats.model_usage["openai/gpt"]
    assert (usage.input_tokens, usage.input_tokens_cache_read, usage.input_tokens_cache_write) == (20, 12, 8)
    assert (usage.output_tokens, usage.reasoning_tokens, usage.total_tokens) == (16, 8, 56)
    assert usage.total_cost == pytest.approx(0.04)


def test_conversations_are_told_apart_in_the_inspect_log(world: World) -> None:
    key = RunKeys(RUN).trial(CELL, "one", 0).transcript
    transcript = conversation("one")
    events = [
        TranscriptEvent(kind="user", by="planner", content="Plan it."),
        TranscriptEvent(kind="assistant", by="planner", content="1. Find.", call=CALL),
        *transcript.events,
        TranscriptEvent(kind="user", by="judge", content="Is it right?", step=2),
        TranscriptEvent(kind="assistant", by="judge", content="10", step=2, call=CALL),
    ]
    changed = transcript.model_copy(update={"events": events})
    world.store.put(key, zstandard.compress(changed.model_dump_json().encode()))

    log = log_in(exported(world, "inspect"))

    sample = (log.samples or [])[0]
    assert [message.role for message in sample.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    spans = [event.name for event in sample.events if event.event == "span_begin"]
    assert spans == ["planner", "agent", "judge"]
    requests = [(event.role, event.output.completion) for event in sample.events if event.event == "model"]
    assert requests == [("planner", "1. Find."), (None, ""), (None, "Done."), ("grader", "10")]
    assert {role: usage.output_tokens for role, usage in sample.role_usage.items()} == {"planner": 4, "grader": 4}


def test_reasoning_and_events_are_in_the_inspect_log(world: World) -> None:
    thoughts = [StepReasoning(event=2, text="Look first."), StepReasoning(event=6, text="", parts=[{"data": "b3Bh"}])]
    key = RunKeys(RUN).trial(CELL, "one", 0).reasoning
    world.store.put(key, encode_record(Reasoning(task_id="one", steps=thoughts)))

    log = log_in(exported(world, "inspect"))

    sample = (log.samples or [])[0]
    shown = [
        [(part.reasoning, part.redacted) for part in message.content if part.type == "reasoning"]
        for message in sample.messages
        if message.role == "assistant" and not isinstance(message.content, str)
    ]
    assert shown == [[("Look first.", False)], [("", True)]]
    kinds = [event.event for event in sample.events]
    assert kinds == ["span_begin", "model", "tool", "info", "tool", "model", "span_end"]
    model = next(event for event in sample.events if event.event == "model")
    assert (model.output.response_id, model.output.model, model.output.stop_reason) == ("req_1", "gpt-1", "tool_calls")
    first, second = (event for event in sample.events if event.event == "tool")
    assert (first.function, first.failed, second.failed, first.metadata) == ("find", None, True, {"gym": GYM})


def test_a_trial_that_ended_without_a_score_is_an_error_in_the_inspect_log(world: World) -> None:
    put_attempt(world.store, RUN, "two", Outcome.INFRA_ERROR, trial=1, reason="gym_lost", message="The gym is gone.")

    done = world.inline("export", RUN, "--format", "inspect", "--out", "out")

    assert "1 trials without a score are left out" in done.stdout
    log = log_in(world.folder / "out")

    (failed,) = (sample for sample in log.samples or [] if sample.error)
    assert (failed.id, failed.epoch, failed.scores) == ("two", 2, None)
    assert failed.error is not None
    assert failed.error.message == "infra_error gym_lost: The gym is gone."
    assert log.status == "cancelled", "a planned trial has neither a score nor an error"


def test_inspects_viewer_bundles_the_exported_logs(world: World, tmp_path: Path) -> None:
    from inspect_ai.log import bundle_log_dir, read_eval_log_sample_summaries

    out = exported(world, "inspect")
    bundle_log_dir(str(out), str(tmp_path / "site"))
    listing = json.loads((tmp_path / "site" / "logs" / "listing.json").read_text())
    assert [entry["status"] for entry in listing.values()] == ["cancelled"]
    summaries = read_eval_log_sample_summaries(str(out / f"{CELL.key}.eval"))
    assert {(str(one.id), one.epoch) for one in summaries} == {("one", 1), ("one", 2), ("two", 1), ("three", 1)}


def _value(scores: Mapping[str, Any] | None) -> Any:
    return (scores or {})["opsgym"].value


def test_tool_results_in_the_inspect_log_reference_their_calls(world: World) -> None:
    log = log_in(exported(world, "inspect"))
    messages = (log.samples or [])[0].messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    call_ids = [call.id for call in messages[2].tool_calls or []]  # type: ignore[union-attr]
    assert [message.tool_call_id for message in messages[3:5]] == call_ids  # type: ignore[union-attr]
    assert messages[3].text == '{"id": 1}'
    assert messages[4].error is not None  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["eops", "inspect"])
def test_a_missing_transcript_is_named(world: World, kind: str) -> None:
    key = RunKeys(RUN).trial(CELL, "two", 0).transcript
    (world.folder / "results" / key).unlink()
    done = world.inline("export", RUN, "--format", kind, "--out", "out")
    assert done.returncode == 2
    assert f"{key}: missing, although its trial is scored" in done.stderr


def test_a_run_without_scores_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    put_run(LocalStore(tmp_path / "results"), RUN, [PlannedCell(cell=CELL, task_ids=["one"])])
    done = world.inline("export", RUN, "--format", "eops", "--out", "out")
    assert done.returncode == 2
    assert "has no scored trial to export" in done.stderr


def test_a_folder_that_cannot_be_written_is_named(world: World) -> None:
    (world.folder / "out").write_text("a file")
    done = world.inline("export", RUN, "--format", "eops", "--out", "out/below")
    assert done.returncode == 2
    assert "out/below: --out: cannot be written" in done.stderr
