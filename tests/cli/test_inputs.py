"""Inputs of a local run are read before it starts; each problem is reported with its location."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World, row

from opsgym.local.inputs import RunInputs, read_inputs
from opsgym.local.plan import PriorState, UnrunnableTrial, plan_local
from opsgym_api.errors import InputError
from opsgym_api.records.attempt import Cell, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_core.results.frozen_suite import Seed

GOLD = {"gold": {"model": "replay/gold"}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def read(world: World) -> RunInputs:
    return read_inputs(world.folder / "run.yaml", {}, lambda _: None, lambda _: None)


def problems(world: World) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(world)
    return str(caught.value).splitlines()


def install_orchestrator(site: Path, name: str, code: str) -> None:
    """Leaves a package of one module with an orchestrator `act` in a folder, as an installer does."""
    (site / f"{name}.py").write_text(code)
    metadata = site / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[opsgym.orchestrators]\n{name} = {name}:act\n")


def with_seed(task_id: str, seed: str, **fields: Any) -> dict[str, Any]:
    server = row(task_id)["gym_servers_config"][0]
    return row(task_id, gym_servers_config=[{**server, "seed_database_file": seed}], **fields)


def test_a_suite_is_read_with_its_seeds(world: World) -> None:
    world.write_suite([row("a"), with_seed("b", "builtin:small")])
    world.write_run(GOLD)
    inputs = read(world)
    assert [task.task_id for task in inputs.tasks] == ["a", "b"]
    assert inputs.seeds["b"] == {"gym-itsm-mcp": Seed(builtin="small")}
    assert inputs.notes == []
    assert inputs.run_id.startswith("demo.")


def test_an_agent_with_more_tools_than_the_provider_takes_is_refused_before_the_run(world: World) -> None:
    servers = [{"mcp_server_name": gym, "seed_database_file": "builtin:small"} for gym in ("csm", "itsm")]
    world.write_suite([row("a"), row("both", gym_servers_config=servers)])
    suite = {"path": "suite/tasks.json", "modes": ["oracle", "all_tools"]}
    gpt = {"model": "openai/gpt-5", "prices": {"inputUsd": 1, "outputUsd": 1}}
    world.write_run({"gpt": gpt}, suite=suite)

    (problem,) = problems(world)

    assert "spec.agents[0]: agent react would show model gpt (openai/gpt-5) 1" in problem
    assert "in mode all_tools at task both, and its provider takes at most 128" in problem
    world.write_run({"gpt": gpt}, suite={**suite, "modes": ["oracle"]})
    assert len(read(world).tasks) == 2


def test_the_same_work_has_the_same_run_id_and_other_work_another(world: World) -> None:
    world.write_suite([row("a"), row("b")])
    world.write_run(GOLD)
    first = read(world).run_id
    world.write_run(GOLD, budget={"maxUsd": 5}, suspend=True)
    assert read(world).run_id == first, "budget and suspend may change in a run"
    (world.folder / "suite" / "seeds" / "desk.sql").write_text("-- another seed")
    with_other_seed = read(world).run_id
    world.write_suite([row("a"), row("b", user_prompt="Another question.")])
    assert len({first, with_other_seed, read(world).run_id}) == 3


def test_a_recording_that_changed_makes_another_run(world: World) -> None:
    world.write_suite([row("a")])
    world.write_run({"taken": {"model": "replay/taken.jsonl"}})
    (world.folder / "taken.jsonl").write_text('{"task_id": "a", "answer": "done"}\n')
    first = read(world).run_id
    (world.folder / "taken.jsonl").write_text('{"task_id": "a", "answer": "not done"}\n')
    assert read(world).run_id != first


def test_an_orchestrator_whose_code_changed_makes_another_run(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "thorough", raising=False)
    code = "async def act(session, request):\n    return None\n"
    install_orchestrator(site, "thorough", code)
    world.write_suite([row("a")])
    world.write_run(GOLD, agents=[{"name": "a", "orchestrator": "thorough"}])
    first = read(world)
    assert first.versions["orchestrator:thorough"].startswith("thorough 1.0 ")
    assert read(world).run_id == first.run_id
    (site / "thorough.py").write_text(f"{code}\n# does the same\n")
    assert read(world).run_id != first.run_id


def test_rows_that_cannot_run_are_set_aside_with_their_reason(world: World) -> None:
    world.write_suite(
        [row("a"), with_seed("b", "gone.sql"), {"task_id": "c"}, {"task_id": "../../d"}, {"task_id": "a"}]
    )
    world.write_run(GOLD)
    inputs = read(world)
    assert [task.task_id for task in inputs.tasks if task.task_id not in inputs.unrunnable] == ["a"]
    assert {task_id: refusal.reason.value for task_id, refusal in inputs.unrunnable.items()} == {"b": "seed_not_found"}
    ids = list(inputs.unreadable)
    assert ids[0] == "c"
    assert all(task_id.startswith("row-") for task_id in ids[1:]), "ids that no key can hold, or that are taken"
    assert len(set(ids)) == 3
    assert "tasks.json row 3: user_prompt: is required" in inputs.unreadable["c"]


def test_rows_that_are_not_named_by_the_suite_are_not_reported(world: World) -> None:
    world.write_suite([row("a"), {"task_id": "b"}])
    world.write_run(GOLD, suite={"path": "suite/tasks.json", "ids": ["a"]})
    assert read(world).unreadable == {}


def test_a_suite_of_bad_rows_alone_is_refused_with_each_of_them(world: World) -> None:
    world.write_suite([{"task_id": "a"}, with_seed("b", "gone.sql")])
    world.write_run(GOLD)
    messages = problems(world)
    assert any("tasks.json row 1: user_prompt: is required" in line for line in messages)
    assert any("b: gym server gym-itsm-mcp: found neither gone.sql" in line for line in messages)
    assert messages[-1].endswith("none of the rows can run")


def test_invalid_json_in_a_task_file_is_named_with_its_line(world: World) -> None:
    world.write_suite([])
    (world.folder / "suite" / "tasks.json").write_text('[\n{"task_id": "a",}\n]')
    world.write_run(GOLD)
    assert "tasks.json: line 2, column 17: is not JSON" in problems(world)[0]


def test_an_invalid_line_leaves_the_other_rows_usable(world: World) -> None:
    world.write_suite([])
    lines = [json.dumps(row("a", user_prompt="one\u2028two"), ensure_ascii=False), "{", json.dumps(row("c"))]
    (world.folder / "suite" / "tasks.jsonl").write_text("\n".join(lines))
    world.write_run(GOLD, suite={"path": "suite/tasks.jsonl"})
    inputs = read(world)
    assert [task.task_id for task in inputs.tasks] == ["a", "c"]
    assert [message.partition(": is")[0] for message in inputs.unreadable.values()] == [
        "tasks.jsonl row 2: line 1, column 2"
    ]


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ({"builtin": "quickstrat"}, "spec.suite.builtin: unknown built-in suite 'quickstrat'; built-in suites: "),
        ({"builtin": "quickstart@1999-01"}, "spec.suite.builtin: suite quickstart has no edition '1999-01'"),
        ({"builtin": "quickstart@"}, "'quickstart@' must be the name of a suite, or NAME@EDITION"),
        ({"path": "nowhere"}, "does not exist; expected a task file, or a folder of them"),
        ({"configMap": {"name": "x"}}, "spec.suite.configMap: is only supported in a cluster"),
        ({"objectStore": {"store": "s", "key": "k"}}, "spec.suite.objectStore: is only supported in a cluster"),
        ({"path": "suite/tasks.json", "ids": ["aa"]}, "unknown task id 'aa'; similar ids: a"),
        ({"path": "suite/tasks.json", "domains": ["hr"]}, "unknown domain 'hr'; the suite has itsm"),
    ],
)
def test_an_unusable_suite_source_is_named(world: World, suite: dict[str, Any], message: str) -> None:
    world.write_suite([row("a")])
    world.write_run(GOLD, suite=suite)
    (line,) = problems(world)
    assert message in line


def test_the_edition_of_a_built_in_suite_is_known_before_the_run(world: World) -> None:
    world.write_suite([row("a")])
    editions = []
    for suite in ({"builtin": "quickstart@next"}, {"path": "suite/tasks.json"}):
        world.write_run(GOLD, suite=suite)
        editions.append(read(world).edition)
    assert editions == ["next", ""]


def test_fields_without_effect_here_are_noted_once(world: World) -> None:
    world.write_suite([row("a")])
    cluster = {"queueName": "q", "resultStore": "s", "ttlSecondsAfterFinished": 5, "pods": {"profile": "large"}}
    world.write_run(GOLD, **cluster, limits={"pendingSeconds": 9})
    fields = "queueName, resultStore, ttlSecondsAfterFinished, pods, limits.pendingSeconds"
    assert read(world).notes == [f"{fields}: have no effect in local mode"]


def test_a_budget_with_an_unpriced_model_is_refused(world: World) -> None:
    world.write_suite([row("a")])
    unpriced = {"model": "openai/mine", "endpoints": [{"url": "http://127.0.0.1:1"}], "allowUnpriced": True}
    world.write_run({**GOLD, "mine": unpriced}, budget={"maxUsd": 1})
    with pytest.raises(InputError, match=r"model mine: no price is known for openai/mine, .*or remove spec\.budget"):
        read(world)
    world.write_run({**GOLD, "mine": unpriced})
    assert read(world).notes == []
    world.write_run({**GOLD, "mine": {**unpriced, "model": "openrouter/mine"}}, budget={"maxUsd": 1})
    assert read(world).notes == []  # each of its replies states its cost


def test_every_trial_is_in_exactly_one_group_of_the_plan(world: World) -> None:
    world.write_suite([row("a"), row("b"), with_seed("c", "gone.sql"), {"task_id": "d"}])
    world.write_run({**GOLD, "noop": {"model": "replay/noop"}}, trials=2)
    inputs = read(world)
    gold = Cell(model="gold", agent="react", mode="oracle", domain="itsm")
    done = TrialId(gold.key, "a", 0)
    plan = plan_local(inputs, PriorState(scored=frozenset({done})))
    assert plan.total == 2 * 4 * 2
    assert plan.scored == 1
    assert len(plan.pending) == 2 * 2 * 2 - 1
    assert len(plan.unrunnable) == 2 * 2 * 2
    keys = [done, *(planned.key for planned in plan.pending), *(trial.key for trial in plan.unrunnable)]
    assert len(set(keys)) == plan.total
    message = inputs.unrunnable["c"].message
    assert UnrunnableTrial(gold, "c", 1, Outcome.CONFIG_ERROR, "seed_not_found", message) in plan.unrunnable
    unreadable = Cell(model="gold", agent="react", mode="oracle", domain="unread")
    assert UnrunnableTrial(unreadable, "d", 0, Outcome.CONFIG_ERROR, "invalid_row", inputs.unreadable["d"]) in (
        plan.unrunnable
    )
