"""Agents of every kind, planners and judges, through the real command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World, row
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, refuses, says

from opsgym.local.inputs import read_inputs
from opsgym_api.errors import InputError
from opsgym_api.records.run import PlanRecord
from opsgym_api.records.store_layout import RunKeys

GOLD = {"gold": {"model": "replay/gold"}}
JUDGED = {
    "verifier_type": "response_check",
    "name": "reported",
    "validation_config": {
        "sql_query": "SELECT status FROM incident WHERE incident_id = 'INC_001'",
        "comparison_prompt": "Does the answer say that all is done?",
    },
}


@pytest.fixture
def world(tmp_path: Path, desk_url: dict[str, str]) -> World:
    return World(tmp_path, desk_url)


def judged(task_id: str, **fields: Any) -> dict[str, Any]:
    task = row(task_id, plan=["Look at it.", "Say so."], **fields)
    return {**task, "verifiers": [*task["verifiers"], JUDGED]}


def test_a_used_up_quota_ends_the_run_with_a_message_and_an_exit_code_of_its_own(world: World) -> None:
    stub = StubModel(refuses(429, "You exceeded your current quota.", code="insufficient_quota"))
    world.write_suite([row("a"), row("b")])
    prices = {"inputUsd": 1, "outputUsd": 1}
    with serving(stub.app) as url:
        called = {"model": "openai/stub", "endpoints": [{"url": f"{url}/v1"}], "prices": prices, "maxConcurrency": 1}
        world.write_run({"gpt": called, "mini": called, **GOLD})
        done = world.inline("run", "run.yaml")

    assert done.returncode == 5, done.stderr
    assert "stopped: the quota of gpt, mini is used up; raise it, then run the same command again" in done.stderr
    assert len(stub.requests) <= 2, "one of each model, which start together"
    assert {trial.cell.model for trial in world.trials()} == {"gold"}


def test_one_run_evaluates_agents_of_every_kind(world: World) -> None:
    sage = StubModel(says("1. Look at INC_001."))
    world.write_suite([judged("first"), judged("second")])
    agents = [
        {"name": "react"},
        {"name": "planner", "orchestrator": "planner_react", "planner": "sage"},
        {"name": "decomposing", "orchestrator": "decomposing"},
        {"name": "human", "plan": "human"},
        {"name": "model", "plan": "model", "planner": "sage", "toolNames": "qualified"},
    ]
    with serving(sage.app) as url:
        prices = {"inputUsd": 1000, "outputUsd": 0}
        supporting = [
            {"name": "sage", "inline": {"model": "openai/stub", "endpoints": [{"url": f"{url}/v1"}], "prices": prices}},
            {"name": "jury", "inline": {"model": "replay/gold"}},
        ]
        world.write_run(GOLD, agents=agents, supportingModels=supporting, judge="jury")
        done = world.inline("run", "run.yaml", "--format", "json")

    assert done.returncode == 0, done.stderr
    trials = world.trials()
    assert {(trial.cell.agent, trial.task_id, trial.outcome) for trial in trials} == {
        (agent["name"], task_id, "passed") for agent in agents for task_id in ("first", "second")
    }
    assert {trial.judge_usage.model_calls for trial in trials} == {1}
    planned = {
        agent["name"]: [t.planner_usage.model_calls for t in trials if t.cell.agent == agent["name"]]
        for agent in agents
    }
    assert planned == {"react": [0, 0], "planner": [1, 1], "decomposing": [2, 2], "human": [0, 0], "model": [1, 1]}
    plan = world.store.get(RunKeys(world.run).plan("sage", "first"))
    assert plan is not None
    assert PlanRecord.model_validate_json(plan).text == "1. Look at INC_001."
    result = json.loads(done.stdout)
    assert result["cost_usd"] == pytest.approx(4.0), "two plans by planner_react, two by plan: model"
    assert {cell["model"] for cell in result["cells"]} == {"gold"}


def test_an_error_of_a_supporting_model_names_its_field(world: World) -> None:
    world.write_suite([row("a")])
    world.write_run(
        GOLD, supportingModels=[{"name": "jury", "inline": {"model": "replay/nowhere.jsonl"}}], judge="jury"
    )

    done = world.inline("run", "run.yaml")

    assert done.returncode != 0
    assert "supportingModels[jury].model: 'replay/nowhere.jsonl'" in done.stderr


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (
            {"orchestrator": "tree"},
            "spec.agents[1]: unknown orchestrator 'tree'; known: decomposing, planner_react, react",
        ),
        (
            {"orchestrator": "decomposing", "prompts": {"plan": "x"}},
            "spec.agents[1]: agent b: prompts.plan: unknown prompt; known: sub_goals,",
        ),
        (
            {"plan": "human", "prompts": {"with_plan": "{plans}"}},
            "spec.agents[1]: agent b: prompts.with_plan: unknown placeholder {plans}; known: {request}, {plan}",
        ),
    ],
)
def test_an_invalid_agent_is_refused_before_the_run_starts(world: World, agent: dict[str, Any], message: str) -> None:
    world.write_suite([row("a")])
    world.write_run(GOLD, agents=[{"name": "a"}, {"name": "b", **agent}])

    with pytest.raises(InputError) as caught:
        read_inputs(world.folder / "run.yaml", {}, lambda _: None, lambda _: None)

    assert message in str(caught.value)


def test_a_row_without_its_judge_or_plan_is_a_config_error(world: World) -> None:
    world.write_suite([judged("judged"), row("plain")])
    world.write_run(GOLD, agents=[{"name": "human", "plan": "human"}])

    world.inline("run", "run.yaml")

    reasons = {attempt.task_id: (attempt.outcome, attempt.reason) for attempt in world.attempts()}
    assert reasons == {"judged": ("config_error", "no_judge"), "plain": ("config_error", "no_plan")}
