"""`opsgym prompts import` reads the prompts of a checkout of the published harness, and a run records their digest."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.cli.world import World, row

from opsgym_api.tasks.digest import digest_of
from opsgym_core.results.load import load_run

PLANNER = '''
class Generator:
    @staticmethod
    def _default_prompt_template():
        """Says nothing of the prompt, in a text that is long enough to be one, and is longer than the prompt itself is,
        which is why it must be left out by its place and not by its length: it is what describes the function."""
        return """Plan the task in a few steps, and answer with JSON such as {{"steps": 3}}.
Policy: {system_policy}
Request: {user_task}
Tools: {tools}
Leave out what the tools cannot do."""


class Orchestrator:
    async def execute(self):
        print(f"{'='*80}")
        message = f"""Request: {self.config.user_prompt}
Plan: {plan}
Do what the request asks for, in the order of the plan, and end with an answer for the user."""
'''
DECOMPOSING = '''
def _default_decomposition_template():
    return """Divide the work. Policy: {system_policy} Request: {user_task} Tools: {tools} Answer with a list of parts,
each of which an agent can do that knows nothing of the other ones."""


def _generate_subtask_prompt(self):
    return f"""Do {self.subtask.title}: {self.subtask.description}, since {self.subtask.rationale}, until
{self.subtask.expected_outcome}. What is known: {memory_context}. Answer with what was done, what was seen, and what is
left for others to do."""


def _extract_memory_updates(self):
    return f"""You did {self.subtask.title}: {self.subtask.description}, until {self.subtask.expected_outcome}, by
{actions_text}. Answer with JSON of what is worth keeping for the parts that follow, such as {{"id": 1}}."""
'''


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    write_checkout(made, PLANNER, DECOMPOSING)
    return made


def write_checkout(world: World, planner: str, decomposing: str) -> None:
    folder = world.folder / "checkout/orchestrators"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "planner_react.py").write_text(planner)
    (folder / "decomposing_planner.py").write_text(decomposing)


def test_agents_have_the_prompts_of_the_checkout_with_placeholders_of_opsgym(world: World) -> None:
    done = world.inline("prompts", "import", "checkout")
    assert done.returncode == 0, done.stderr
    agents = {agent["orchestrator"]: agent for agent in yaml.safe_load(done.stdout)["agents"]}
    assert {agent["profile"] for agent in agents.values()} == {"published"}
    prompts = agents["planner_react"]["prompts"] | agents["decomposing"]["prompts"]
    assert prompts["strategy"].startswith('Plan the task in a few steps, and answer with JSON such as {"steps": 3}.\n')
    assert "Policy: {policy}\nRequest: {request}\nTools: {tools}\n" in prompts["strategy"]
    assert prompts["with_strategy"].startswith("Request: {request}\nPlan: {plan}\n")
    assert "Policy: {policy} Request: {request} Tools: {tools}" in prompts["subtasks"]
    assert "{title}: {description}, since {rationale}, until\n{outcome}. What is known: {memory}." in prompts["subtask"]
    assert (
        'by\n{actions}. Answer with JSON of what is worth keeping for the parts that follow, such as {"id": 1}.'
        in (prompts["memory"])
    )
    assert digest_of(agents["decomposing"]["prompts"]) in done.stdout


def test_a_run_with_imported_prompts_has_their_digest_in_its_record(world: World) -> None:
    assert world.inline("prompts", "import", "checkout", "--out", "agents.yaml").returncode == 0
    agents = yaml.safe_load((world.folder / "agents.yaml").read_text())["agents"]
    world.write_suite([row("first")])
    world.write_run({"noop": {"model": "replay/noop"}}, agents=agents)
    done = world.inline("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    versions = load_run(world.store, world.run).run.versions
    assert versions["prompts:decomposing-original"] == digest_of(agents[1]["prompts"])


@pytest.mark.parametrize(
    ("planner", "problem"),
    [
        ("def execute(:", "is not Python"),
        (PLANNER.replace("_default_prompt_template", "elsewhere"), "_default_prompt_template: has no prompt"),
        (PLANNER.replace("{tools}", "{gyms}"), "its prompt has 'gyms', which is not known here"),
    ],
)
def test_a_checkout_without_a_prompt_is_refused_by_file_and_function(world: World, planner: str, problem: str) -> None:
    write_checkout(world, planner, DECOMPOSING)
    done = world.inline("prompts", "import", "checkout")
    assert done.returncode == 2
    assert "planner_react.py" in done.stderr
    assert problem in done.stderr


def test_a_folder_that_is_no_checkout_and_an_output_that_exists_are_refused(world: World) -> None:
    (world.folder / "agents.yaml").write_text("mine")
    assert "name the folder of a checkout" in world.inline("prompts", "import", "elsewhere").stderr
    assert "exists already" in world.inline("prompts", "import", "checkout", "--out", "agents.yaml").stderr
    assert (world.folder / "agents.yaml").read_text() == "mine"
