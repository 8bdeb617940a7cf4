"""Episodes as a service: a trainer's requests, its agents' calls, and verdicts equal to those of a run."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tests.cli.standing import StandingGyms
from tests.cli.world import World, row

from opsgym.episodes.offer import TEST_SHARE, Offer
from opsgym.episodes.server import EpisodeServer
from opsgym.episodes.service import EpisodeService
from opsgym_api.errors import InputError
from opsgym_api.records.attempt import TrialRecord
from opsgym_api.tasks.task import Task
from opsgym_domains.suite_rows import load_suite

TRAIN, TEST = "train-token-of-16", "test-token-of-16-"
PLAYED = {
    "quickstart": ["itsm-qs-001-triage-dock-printer"],
    "itsm-core": ["itsm-core-account-closed-meanwhile", "itsm-core-scanner-problem-with-a-caller-who-leaves"],
}
"""Tasks without and with events, and of several days."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Any:
        yield


@asynccontextmanager
async def trainer(
    gyms: Mapping[str, str], *suites: str, test_tasks: tuple[str, ...] = (), most: int = 8
) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the token for training of a service on a free port."""
    offer = Offer(suites, test_tasks)
    listener = socket.create_server(("127.0.0.1", 0))
    async with EpisodeService(offer, StandingGyms(gyms, offer.domains, print), most) as service:
        app = EpisodeServer(service, {"train": TRAIN, "test": TEST})
        server = _Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            async with httpx.AsyncClient(base_url=url, headers=bearer(TRAIN), timeout=60) as client:
                yield client
        finally:
            server.should_exit = server.force_exit = True
            await serving


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def begun(client: httpx.AsyncClient, task: str, **fields: Any) -> dict[str, Any]:
    response = await client.post("/episodes", json={"task": task, "split": "train", **fields})
    assert response.status_code == 201, response.text
    return dict(response.json())


async def call(client: httpx.AsyncClient, url: str, token: str, method: str, **params: Any) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accept = {"accept": "application/json, text/event-stream"}
    return await client.post(url, json=body, headers={**bearer(token), **accept})


async def gold(client: httpx.AsyncClient, task: Task, episode: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict on the reference solution."""
    urls = {server["name"]: server["url"] for server in episode["mcpServers"]}
    answers = task.gold_answers or [*(["Done."] * len(task.days)), task.gold_answer or "Done."]
    verdict: dict[str, Any] = {}
    for day, answer in enumerate(answers, start=1):
        for action in task.gold_actions or ():
            if (action.day or 1) == day:
                url = urls[action.gym or next(iter(urls))]
                done = await call(
                    client, url, episode["token"], "tools/call", name=action.name, arguments=action.arguments
                )
                assert done.status_code == 200, done.text
        verdict = (await client.post(f"/episodes/{episode['id']}/finish", json={"answer": answer})).json()
        assert ("next" in verdict) == (day < len(answers))
    return verdict


@pytest.fixture
def evaluated(tmp_path: Path, desk_url: dict[str, str]) -> dict[str, TrialRecord]:
    """Records of runs in which a replay plays the reference solutions, by task."""
    records: dict[str, TrialRecord] = {}
    for suite, tasks in PLAYED.items():
        (tmp_path / suite).mkdir()
        world = World(tmp_path / suite, desk_url)
        world.write_run({"gold": {"model": "replay/gold"}}, suite={"builtin": suite, "ids": tasks})
        world.inline("run", "run.yaml")
        records |= {record.task_id: record for record in world.trials()}
    return records


@pytest.mark.anyio
async def test_verdicts_are_those_of_a_run(evaluated: dict[str, TrialRecord], desk_url: dict[str, str]) -> None:
    async with trainer(desk_url, *PLAYED) as client:
        for task in (one for suite in PLAYED for one in load_suite(suite) if one.task_id in evaluated):
            verdict = await gold(client, task, await begun(client, task.task_id, maxSteps=200))
            record = evaluated[task.task_id].to_dict()
            assert (verdict["outcome"], verdict["reward"]) == ("passed", 1)
            assert verdict["verifiers"] == record["verifiers"]
            assert verdict["stateDifferences"] == record["state_differences"]
            counted = {"steps": record["steps"], "toolCalls": record["tool_calls"], "answer": record["answer"]}
            assert {name: verdict[name] for name in counted} == counted
    assert evaluated.keys() == {name for names in PLAYED.values() for name in names}


@pytest.fixture
def suite(tmp_path: Path) -> str:
    World(tmp_path).write_suite([row("a"), row("b"), row("judged", verifiers=[JUDGED])])
    return str(tmp_path / "suite")


JUDGED = {
    "verifier_type": "response_check",
    "validation_config": {
        "sql_query": "SELECT status FROM incident WHERE incident_id = 'INC_001'",
        "comparison_prompt": "Does {response} name the status {expected}?",
        "minimum_comparison_value": 5,
    },
}


@pytest.mark.parametrize(("rule", "reward"), [("all", 0), ("verifiers", 0.5), ("categories", 0.5)])
@pytest.mark.anyio
async def test_the_reward_follows_the_rule_of_the_request(
    suite: str, desk_url: dict[str, str], rule: str, reward: float
) -> None:
    async with trainer(desk_url, suite) as client:
        episode = await begun(client, "a", reward=rule)
        verdict = (await client.post(f"/episodes/{episode['id']}/finish", json={"answer": "I give up."})).json()
    assert (verdict["outcome"], verdict["reward"]) == ("failed", reward)
    assert [verifier["passed"] for verifier in verdict["verifiers"]] == [False, True]


@pytest.mark.anyio
async def test_an_agent_that_answers_itself_ends_the_episode(suite: str, desk_url: dict[str, str]) -> None:
    async with trainer(desk_url, suite) as client:
        episode = await begun(client, "a")
        agent = bearer(episode["token"])
        assert (await client.post(episode["answerUrl"], json={"answer": "All done."}, headers=agent)).json() == {}
        verdict = (await client.post(f"/episodes/{episode['id']}/finish", json={"answer": "other"})).json()
        assert (verdict["answer"], verdict["reward"]) == ("All done.", 1)
        assert (await client.get(f"/episodes/{episode['id']}")).json() == verdict
        late = await client.post(episode["answerUrl"], json={"answer": "again"}, headers=agent)
        assert (late.status_code, late.json()["error"]["message"]) == (403, "the episode is over")


@pytest.mark.anyio
async def test_steps_that_are_used_up_end_the_episode(suite: str, desk_url: dict[str, str]) -> None:
    async with trainer(desk_url, suite) as client:
        episode = await begun(client, "a", maxSteps=1)
        for _ in range(2):
            find = {"name": "find_incident_by_id", "arguments": {"incident_id": "INC_001"}}
            await call(client, episode["mcpServers"][0]["url"], episode["token"], "tools/call", **find)
        verdict = (await client.post(f"/episodes/{episode['id']}/finish", json={})).json()
    assert (verdict["reason"], verdict["toolCalls"], verdict["reward"]) == ("step_limit", 1, 0)


@pytest.mark.anyio
async def test_each_token_opens_its_own_side_and_split_only(suite: str, desk_url: dict[str, str]) -> None:
    async with trainer(desk_url, suite, test_tasks=("b",)) as client:
        first, second = await begun(client, "a"), await begun(client, "a")
        paths = [("GET", f"/episodes/{first['id']}"), ("POST", f"/episodes/{first['id']}/finish")]
        for method, path in paths:
            for token, status in ((first["token"], 401), ("none", 401), (TEST, 404)):
                assert (await client.request(method, path, json={}, headers=bearer(token))).status_code == status
        for token in (TRAIN, second["token"]):
            url = first["mcpServers"][0]["url"]
            assert (await call(client, url, token, "tools/list")).status_code == 401
        held = {"task": "b", "split": "test"}
        assert (await client.post("/episodes", json=held)).json()["error"]["reason"] == "wrong_split"
        assert (await client.post("/episodes", json=held, headers=bearer(TEST))).status_code == 201


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"task": "b", "split": "train"}, 403, "split: task b is of test, not train"),
        ({"task": "z", "split": "train"}, 404, "task: 'z' is not a task of"),
        ({"task": "a"}, 400, "split: "),
        ({"task": "a", "split": "train", "maxStep": 3}, 400, "maxStep: "),
        ({"task": "a", "split": "train", "mode": "some"}, 400, "mode: "),
        ({"task": "a", "split": "train", "variant": 3}, 422, "variant: task a is written by hand and has none"),
        ({"task": "judged", "split": "train"}, 422, "task judged: "),
        ([], 400, ""),
    ],
)
@pytest.mark.anyio
async def test_a_refusal_names_what_is_wrong(
    suite: str, desk_url: dict[str, str], body: Any, status: int, message: str
) -> None:
    async with trainer(desk_url, suite, test_tasks=("b",)) as client:
        response = await client.post("/episodes", json=body)
    assert response.status_code == status
    assert message in response.json()["error"]["message"]


@pytest.mark.anyio
async def test_an_episode_ends_with_its_time_and_by_delete(suite: str, desk_url: dict[str, str]) -> None:
    async with trainer(desk_url, suite, most=1) as client:
        short = await begun(client, "a", ttlSeconds=1)
        assert (await client.post("/episodes", json={"task": "a", "split": "train"})).status_code == 429
        finished = await client.post(f"/episodes/{short['id']}/finish", json={})
        assert finished.status_code == 200
        while (await client.get(f"/episodes/{short['id']}")).status_code != 404:  # noqa: ASYNC110 - by its clock
            await asyncio.sleep(0.02)
        episode = await begun(client, "a")
        assert (await client.delete(f"/episodes/{episode['id']}")).status_code == 204
        gone = await client.get(f"/episodes/{episode['id']}")
        assert (gone.status_code, gone.json()["error"]["reason"]) == (404, "unknown_episode")
        url = episode["mcpServers"][0]["url"]
        assert (await call(client, url, episode["token"], "tools/list")).status_code == 404


@pytest.mark.anyio
async def test_the_service_describes_itself(suite: str, desk_url: dict[str, str]) -> None:
    async with trainer(desk_url, suite) as client:
        description = (await client.get("/openapi.json")).json()
        assert (await client.put("/episodes")).json()["error"]["reason"] == "unknown_path"
    body = description["components"]["schemas"]["EpisodeRequest"]
    assert {"task", "split", "mode", "variant", "reward", "maxSteps", "ttlSeconds"} <= body["properties"].keys()
    assert set(description["paths"]) == {"/episodes", "/episodes/{id}", "/episodes/{id}/finish"}


def test_one_task_in_five_is_for_tests_in_every_variant() -> None:
    offer = Offer(["itsm-core"], None)
    names = [task.task_id for task in load_suite("itsm-core")]
    share = sum(offer.split_of(name) == "test" for name in names) / len(names)
    assert 0.5 / TEST_SHARE < share < 2 / TEST_SHARE


def test_a_list_that_names_an_unknown_task_is_refused() -> None:
    with pytest.raises(InputError, match="'nowhere' is not a task of quickstart"):
        Offer(["quickstart"], ["nowhere"])
