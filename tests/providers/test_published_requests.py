"""Requests of agents with `profile: published`, compared with those of the published harness.

One scripted episode for each orchestrator and family of providers, over real HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr
from tests.providers.published import FAMILIES, Calls, Family, Request, Results, User
from tests.providers.stubs import Stub
from tests.runner.jobs import MemoryStore, make_job
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym

from opsgym_api.kinds.evalrun import Agent
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.orchestrators.published import PublishedDecomposing, PublishedPlannerReact
from opsgym_runner.prompting import rendered
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

POLICY = "Obey."
REQUEST = "Rename the first note to done and add one that says more."
CALLS = Calls([("rename_note", {"id": 1, "text": "done"}), ("add_note", {"text": "more"})])
NULLABLE = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "author": {"type": ["string", "null"]}},
    "required": ["text", "author"],
}
CLEANED = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "author": {"type": "string"}},
    "required": ["text"],
}
RENAME = {"type": "object", "properties": {"id": {"type": "integer"}, "text": {"type": "string"}}}
TOOLS = [
    {"name": "add_note", "description": "Does add_note.", "parameters": CLEANED},
    {"name": "rename_note", "description": "Does rename_note.", "parameters": RENAME},
]


def result(text: str) -> str:
    content = [{"type": "text", "text": text, "annotations": None, "meta": None}]
    return json.dumps({"meta": None, "content": content, "structuredContent": None, "isError": False})


RESULTS = Results([result("{}"), result('{"id": 3}')])


@dataclass(frozen=True)
class Episode:
    """What the model replies in an episode, and the requests to it."""

    replies: Sequence[Calls | str]
    requests: Sequence[Request]


def react() -> Episode:
    return Episode([CALLS, "Done."], [Request(POLICY, REQUEST), Request(POLICY, REQUEST, [CALLS, RESULTS])])


def planner_react() -> Episode:
    definitions = [
        {"name": "add_note", "description": "Does add_note.", "inputSchema": NULLABLE},
        {"name": "rename_note", "description": "Does rename_note.", "inputSchema": RENAME},
    ]
    prompts = PublishedPlannerReact.prompts
    given = {"policy": POLICY, "request": REQUEST, "tools": json.dumps(definitions, indent=2)}
    request = rendered(prompts["with_strategy"], {"request": REQUEST, "plan": "Rename, then add."})
    return Episode(
        ["Rename, then add.", CALLS, "Done."],
        [
            Request(None, rendered(prompts["strategy"], given), tools=False),
            Request(POLICY, request),
            Request(POLICY, request, [CALLS, RESULTS]),
        ],
    )


PLAN = {
    "strategic_plan": "Two steps.",
    "rationale": "Both are small.",
    "subtasks": [
        {"id": 1, "title": "Do", "description": "Rename and add.", "rationale": "Wanted.", "dependencies": [],
         "required_tools": ["add_note"], "expected_outcome": "Both are there."},
        {"id": 2, "title": "Check", "description": "Look again.", "dependencies": [1]},
    ],
}  # fmt: skip


def decomposing() -> Episode:
    prompts = PublishedDecomposing.prompts
    tools = "- add_note: Does add_note.\n- rename_note: Does rename_note."
    plan = rendered(prompts["subtasks"], {"policy": POLICY, "request": REQUEST, "tools": tools})
    empty = "The working memory is empty: nothing has been discovered yet."
    first = subtask_prompt(PLAN["subtasks"][0], empty)
    memory = '# Working memory\n\nDiscovered by earlier subtasks:\n\n```json\n{\n  "note_id": 3\n}\n```'
    second = subtask_prompt(PLAN["subtasks"][1], memory)
    actions = "\n".join(
        f"- Called {name}: succeeded\n  Result: {json.dumps(json.loads(text), indent=2)}"
        for (name, _), text in zip(CALLS.calls, RESULTS.texts, strict=True)
    )
    return Episode(
        [json.dumps(PLAN), CALLS, "Both are done.", '```json\n{"note_id": 3}\n```', "Right.", "{}"],
        [
            Request(None, plan, tools=False),
            Request(POLICY, first),
            Request(POLICY, first, [CALLS, RESULTS]),
            Request(
                POLICY, first, [CALLS, RESULTS, "Both are done.", memory_prompt(PLAN["subtasks"][0], actions)],
                tools=False,
            ),
            Request(POLICY, second),
            Request(
                POLICY, second, ["Right.", memory_prompt(PLAN["subtasks"][1], "No tool was called.")], tools=False
            ),
        ],
    )  # fmt: skip


def subtask_prompt(subtask: Any, memory: str) -> str:
    values = {
        "title": subtask["title"],
        "description": subtask["description"],
        "rationale": subtask.get("rationale", ""),
        "outcome": subtask.get("expected_outcome", ""),
        "memory": memory,
    }
    return rendered(PublishedDecomposing.prompts["subtask"], values)


def memory_prompt(subtask: Any, actions: str) -> User:
    values = {
        "title": subtask["title"],
        "description": subtask["description"],
        "outcome": subtask.get("expected_outcome", ""),
        "actions": actions,
    }
    return User(rendered(PublishedDecomposing.prompts["memory"], values))


EPISODES: Mapping[str, Callable[[], Episode]] = {
    "react": react,
    "planner_react": planner_react,
    "decomposing": decomposing,
}


@pytest.fixture
def gym_url() -> Iterator[str]:
    gym = StubGym()
    gym.tools[0]["inputSchema"] = NULLABLE
    with serving(gym.app) as url:
        yield url


@pytest.mark.parametrize("orchestrator", EPISODES)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
async def test_every_request_is_that_of_the_published_harness(
    monkeypatch: pytest.MonkeyPatch, gym_url: str, family: Family, orchestrator: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0TEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-key-of-aws")
    episode = EPISODES[orchestrator]()
    stub = Stub(tuple(family.reply(turn) for turn in episode.replies))
    store = MemoryStore()

    with stub.serving() as url:
        key = None if family.model.startswith("bedrock") else SecretStr("key-5e1f0c2b9d")
        endpoints = (ModelEndpoint(url + family.base, key),)
        model = ResolvedModel(name="m", model=family.model, endpoints=endpoints, parameters=family.parameters)
        agent = Agent(name="react", orchestrator=orchestrator, profile="published")
        async with Runner(store) as runner:
            record = await runner.run(make_job(gym_url, agent=agent, model=model))

    assert record.message == ""
    assert record.outcome == "passed"
    sent = [family.normal(seen.body) for seen in stub.seen]
    expected = [family.normal(family.body(request, TOOLS)) for request in episode.requests]
    assert sent == expected
