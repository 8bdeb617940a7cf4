"""Runs with programs as agents: what is checked before they start, and how a run of them goes."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World, row
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, says

from opsgym.local.inputs import RunInputs, read_inputs
from opsgym_api.errors import InputError
from opsgym_api.records.outcomes import FailReason, Outcome

GOLD = {"gold": {"model": "replay/gold"}}


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.write_suite([row("a")])
    file = tmp_path / "agent.sh"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return world


def read(world: World, agent: dict[str, Any], models: dict[str, Any] = GOLD, **environment: str) -> RunInputs:
    world.write_run(models, agents=[{"name": "mine", **agent}])
    return read_inputs(world.folder / "run.yaml", {"PATH": "/bin", **environment}, lambda _: None, lambda _: None)


def test_a_command_is_relative_to_its_document_and_programs_are_found_on_the_path(world: World) -> None:
    inputs = read(world, {"command": ["./agent.sh", "--fast", "./rules.md"]})
    folder = world.folder.resolve()
    assert inputs.agents["mine"].command == [str(folder / "agent.sh"), "--fast", str(folder / "rules.md")]
    assert inputs.spec.agents[0].command == ["./agent.sh", "--fast", "./rules.md"]
    assert inputs.spec.agents[0].orchestrator == "external"
    assert read(world, {"command": ["sh", "./agent.sh"]}).agents["mine"].command[0] == "sh"


def test_another_content_of_a_command_is_another_run(world: World) -> None:
    first = read(world, {"command": ["sh", "./agent.sh"]})
    assert read(world, {"command": ["sh", "./agent.sh"]}).run_id == first.run_id
    (world.folder / "agent.sh").write_text("#!/bin/sh\nexit 1\n")
    assert read(world, {"command": ["sh", "./agent.sh"]}).run_id != first.run_id
    assert "command:mine" in first.versions


@pytest.mark.parametrize(
    ("agent", "problem"),
    [
        ({"command": ["./nowhere.sh"]}, "agents[0].command: names a file that does not exist"),
        ({"command": ["./run.yaml"]}, "is not executable; run: chmod +x"),
        (
            {"command": ["agent.sh"]},
            "a file beside this document is named ./agent.sh",
        ),
        ({"command": ["sh"], "passEnv": ["NOT_SET"]}, "agents[0].passEnv: variable NOT_SET is not set"),
        ({"command": ["sh"], "orchestrator": "decomposing"}, "command goes with orchestrator: external"),
        ({"orchestrator": "external"}, "command goes with orchestrator: external"),
        ({"env": {"A": "b"}}, "env, passEnv and days go with command"),
        ({"command": ["sh"], "answers": "published", "stepLimit": "conversation"},
         "stepLimit, answers: only opsgym's own loop has this switch; leave it out with command"),
        ({"command": ["sh"], "profile": "published"}, "command goes with profile: opsgym"),
        ({"command": ["sh"], "env": {"OPENAI_API_KEY": "k"}}, "OPENAI_API_KEY: opsgym sets this for the command"),
        ({"command": ["sh"], "passEnv": ["HOME"]}, "HOME: opsgym sets this for the command"),
        ({"command": ["sh"], "env": {"A-B": "k"}}, "env: A-B: not the name of a variable"),
        ({"command": [""]}, "command"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_command_is_named_before_the_run(
    world: World, agent: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(world, agent)
    assert problem in str(caught.value)


def test_no_agent_gets_a_key_of_a_model(world: World) -> None:
    models = {"m": {"model": "openai/stub", "allowUnpriced": True}}
    with pytest.raises(InputError, match="passEnv: MINE holds a key of a model, which no agent gets"):
        read(world, {"command": ["sh"], "passEnv": ["MINE"]}, models, OPENAI_API_KEY="sk-1", MINE="sk-1")


def test_a_model_that_no_program_can_ask_is_refused(world: World) -> None:
    models = {"m": {"model": "bedrock/some.model", "allowUnpriced": True}}
    with pytest.raises(InputError, match="speaks neither OpenAI's protocols nor Anthropic's"):
        read(world, {"command": ["sh"]}, models)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"parameters": {"temperature": 0, "seed": 1}}, "parameters.temperature, parameters.seed"),
        ({"parameters": {"extra_headers": {"x-team": "a"}}}, "parameters.extra_headers"),
        ({"stream": "never"}, "stream"),
    ],
)
def test_a_setting_of_a_model_that_no_request_of_a_program_has_is_refused(
    world: World, settings: dict[str, Any], named: str
) -> None:
    models = {"gold": {"model": "replay/gold"}, "m": {"model": "openai/stub", "allowUnpriced": True, **settings}}
    with pytest.raises(InputError) as caught:
        read(world, {"command": ["sh"]}, models, OPENAI_API_KEY="k")
    assert f"spec.models[1]: {named}: agent mine writes its requests itself" in str(caught.value)
    assert read(world, {}, models, OPENAI_API_KEY="k").spec.agents[0].command == []


# Whole runs


@pytest.fixture
def desk(tmp_path: Path, desk_url: dict[str, str]) -> World:
    return World(tmp_path, desk_url)


ASK = f"""#!{sys.executable}
import json, os, sys, urllib.error, urllib.request
def ask(**fields):
    body = json.dumps({{"messages": [{{"role": "user", "content": "Hi"}}], **fields}}).encode()
    url, key = os.environ["OPENAI_BASE_URL"] + "/chat/completions", os.environ["OPENAI_API_KEY"]
    try:
        urllib.request.urlopen(urllib.request.Request(url, body, {{"authorization": "Bearer " + key}})).read()
    except urllib.error.HTTPError as error:
        print(json.loads(error.read())["error"]["message"], flush=True)
"""
PROGRAMS = {
    "asks-and-answers": f"{ASK}\nask(); open('answer.txt', 'w').write('All done.'); sys.exit(1)",
    "searches": f"{ASK}\nask(tools=[{{'type': 'web_search'}}]); ask(); open('answer.txt', 'w').write('All done.')",
    "fails": f"{ASK}\nask(); sys.exit('no idea')",
    "is-silent": "#!/bin/sh\necho nothing to ask",
    "cannot-start": "#!/nowhere/interpreter",
}


def test_a_run_says_of_each_program_how_it_ended(desk: World) -> None:
    desk.write_suite([row("a")])
    for name, content in PROGRAMS.items():
        (desk.folder / name).write_text(content)
        (desk.folder / name).chmod(0o755)
    with serving(StubModel(says("Bye.")).app) as url:
        model = {"model": "openai/stub", "endpoints": [{"url": f"{url}/v1"}], "allowUnpriced": True}
        desk.write_run({"stub": model}, agents=[{"name": name, "command": [f"./{name}"]} for name in PROGRAMS])
        done = desk.inline("run", "run.yaml", OPENAI_API_KEY="dummy")

    ends = {attempt.cell.agent: (attempt.outcome, attempt.reason) for attempt in desk.attempts()}
    assert ends == {
        "asks-and-answers": (Outcome.PASSED, ""),
        "searches": (Outcome.PASSED, ""),
        "fails": (Outcome.FAILED, "agent_error"),
        "is-silent": (Outcome.FAILED, "no_model_calls"),
        "cannot-start": (Outcome.CONFIG_ERROR, "agent_not_started"),
    }, done.stderr
    messages = {attempt.cell.agent: attempt.message for attempt in desk.attempts()}
    assert "ended with exit code 1 and without an answer; the last of its output: no idea" in messages["fails"]
    assert "asked nothing of its model; the last of its output: nothing to ask" in messages["is-silent"]
    assert "cannot-start: No such file or directory" in messages["cannot-start"]
    assert all(reason in done.stderr for _, reason in ends.values())
    table = desk.inline("results", "demo", "--by", "trial", "--format", "csv").stdout
    refused = {line["agent"]: line["refused_requests"] for line in csv.DictReader(io.StringIO(table))}
    assert refused == dict.fromkeys(PROGRAMS, "0") | {"searches": "1"}


def test_a_cell_whose_program_never_asks_its_model_stops_after_five_trials(desk: World) -> None:
    desk.write_suite([row(f"t{number}") for number in range(7)])
    desk.write_run(GOLD, agents=[{"name": "mute", "command": ["true"]}, {"name": "react"}])

    done = desk.inline("run", "run.yaml", "--concurrency", "1")

    ends = [(attempt.cell.agent, attempt.reason) for attempt in desk.attempts()]
    assert sorted(ends) == [("mute", FailReason.NO_MODEL_CALLS)] * 5 + [("react", "")] * 7, done.stderr
    assert "AgentSilent: cell gold_mute_oracle_itsm stops, 2 of its trials have not started" in done.stderr
    assert done.returncode != 0
