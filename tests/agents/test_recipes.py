"""The recipes of `examples/own-agent`, each with the real agent, which plays `quickstart` on a model that is written
down in advance.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from tests.agents.gold_model import PRICES, GoldModel
from tests.agents.programs import installed
from tests.cli.world import World
from tests.runner.servers import serving

from opsgym_api.records.outcomes import Outcome
from opsgym_domains.suite_rows import load_suite

pytestmark = pytest.mark.timeout(1200)  # the first time, an agent is installed
EXAMPLES = Path(__file__).parents[2] / "examples" / "own-agent"
TASKS = {task.task_id: task for task in load_suite("quickstart")}


@dataclass(frozen=True)
class Recipe:
    """One recipe.

    Args:
        python: What its agent needs of the Python package index.
        npm: What it needs of npm's registry.
    """

    python: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()


RECIPES = {
    "claude-code": Recipe(npm=("@anthropic-ai/claude-code@2.1.332",)),
    "codex": Recipe(npm=("@openai/codex@0.171.0",)),
    "openai-agents": Recipe(python=("openai-agents==0.24.0",)),
    "langgraph-react": Recipe(python=("langgraph==1.2.24", "langchain-openai==1.7.4", "langchain-mcp-adapters==0.3.2")),
    "opencode": Recipe(npm=("opencode-ai@1.18.33",)),
    "inspect-react": Recipe(python=("inspect-ai==0.3.285", "openai==3.57.0", "mcp==2.3.0")),
    "mini-swe-agent": Recipe(python=("mini-swe-agent==2.4.6",)),
}
ALWAYS = {"claude-code", "codex"}
"""Those that every test run plays; make soak plays all."""


@pytest.fixture
def world(tmp_path: Path, desk_url: dict[str, str]) -> World:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    return World(tmp_path, desk_url)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ALWAYS else [pytest.mark.soak]) for name in RECIPES]
)
def test_an_agent_plays_by_its_recipe_and_spends_what_its_model_served(world: World, name: str) -> None:
    recipe = RECIPES[name]
    document = yaml.safe_load((world.folder / f"{name}.yaml").read_text())
    (model,) = document["spec"]["models"]
    anthropic = model["inline"]["model"].startswith("anthropic/")
    document["spec"]["suite"]["limit"] = 2
    stub = GoldModel(list(TASKS.values()))
    with serving(stub.app) as url:
        endpoint = {"url": url if anthropic else f"{url}/v1"}
        model["inline"] |= {"endpoints": [endpoint], "prices": PRICES.model_dump(by_alias=True)}
        (world.folder / "run.yaml").write_text(json.dumps(document))
        path = os.pathsep.join([installed(recipe.python, recipe.npm), os.environ["PATH"]])
        done = world.inline("run", "run.yaml", PATH=path, OPENAI_API_KEY="dummy", ANTHROPIC_API_KEY="dummy")

    attempts = world.attempts()
    assert [attempt.outcome for attempt in attempts] == [Outcome.PASSED] * 2, done.stdout + done.stderr
    assert [attempt.tool_calls for attempt in attempts] == [
        len(TASKS[attempt.task_id].gold_actions or ()) for attempt in attempts
    ]
    assert sum(attempt.steps for attempt in attempts) == len(stub.sent)
    read, written, cost = stub.spent
    assert sum(attempt.usage.prompt_tokens for attempt in attempts) == read
    assert sum(attempt.usage.completion_tokens for attempt in attempts) == written
    assert sum(attempt.cost_usd or 0 for attempt in attempts) == pytest.approx(cost)
    answers = {trial.task_id: trial.answer for trial in world.trials()}
    assert answers == {task_id: TASKS[task_id].gold_answer for task_id in answers}
