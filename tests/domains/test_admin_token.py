"""The admin token of gym servers, over real HTTP, in processes of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.gym import Gym, gym_server

from opsgym.local.gym_servers import GymServers
from opsgym_api.gym_http import ADMIN_TOKEN_HEADER
from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import GymServer as TaskGym
from opsgym_core.results.frozen_suite import Seed
from opsgym_domains.kit.admin_token import read_or_create_token
from opsgym_domains.serve import main
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms.client import GymClient, http_client

ADMIN = [
    ("POST", "/api/seed-database"),
    ("POST", "/api/reset-database"),
    ("DELETE", "/api/delete-database"),
    ("POST", "/api/sql-runner"),
    ("GET", "/api/download-db-file"),
    ("GET", "/api/state-difference"),
    ("GET", "/api/tool-effects"),
    ("GET", "/api/clock"),
    ("POST", "/api/clock"),
    ("POST", "/api/apply-event"),
]
SEED = Seed(builtin="quickstart")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("admin")


@pytest.fixture(scope="module")
def gym(folder: Path) -> Iterator[Gym]:
    with gym_server("itsm", "--admin-token-file", str(folder / "token")) as server:
        yield server


@pytest.mark.parametrize("given", ["", "wrong", "é"])
@pytest.mark.parametrize(("method", "path"), ADMIN)
def test_an_admin_endpoint_refuses_requests_without_the_token(gym: Gym, method: str, path: str, given: str) -> None:
    headers = {ADMIN_TOKEN_HEADER.encode(): given.encode()} if given else {}
    answer = httpx.request(method, f"{gym.url}{path}", headers=headers)
    assert answer.status_code == 401
    assert ADMIN_TOKEN_HEADER in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/api", "//api/clock", "/mcp/../api/clock", "/api/clock/", "/mcp/", "/nothing"])
def test_no_other_spelling_of_a_path_gets_past_the_token(gym: Gym, path: str) -> None:
    assert gym.client.get(path).status_code == 401


def test_the_runner_seeds_and_queries_with_the_token_and_tool_calls_need_none(gym: Gym, folder: Path) -> None:
    token = (folder / "token").read_text()

    async def scenario() -> int:
        async with http_client(admin_tokens={gym.url: token}) as http:
            client = GymClient(http, gym.url, TaskGym(mcp_server_name="itsm", mcp_server_url=""))
            await client.seed(SEED, Access.PUBLISHED)
            (row,) = await client.run_sql("SELECT count(*) AS n FROM incident", "sqlite")
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            sent = {"x-database-id": client.database_id}
            assert gym.client.post("/mcp", json=body, headers=sent).json()["result"]["tools"]
            assert gym.client.get("/health").status_code == 200
            await client.delete()
            return int(row["n"])

    assert asyncio.run(scenario()) > 0


def test_a_token_is_sent_to_no_other_server(gym: Gym, folder: Path) -> None:
    token = (folder / "token").read_text()

    async def scenario() -> None:
        async with http_client(admin_tokens={"http://127.0.0.1:9": token}) as http:
            with pytest.raises(NotScored, match="requires the server's admin token"):
                await GymClient(http, gym.url, TaskGym(mcp_server_name="itsm", mcp_server_url="")).seed(
                    SEED, Access.PUBLISHED
                )

    asyncio.run(scenario())


def test_a_restarted_server_keeps_the_token_of_its_file(folder: Path) -> None:
    file = folder / "kept"
    token = read_or_create_token(file)
    assert (read_or_create_token(file), len(token), file.stat().st_mode & 0o777) == (token, 64, 0o440)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("empty", (), "contains no token"),
        ("missing/token", (), "No such file or directory"),
        ("token", ("--explore",), "--explore and --admin-token-file exclude each other"),
    ],
)
def test_a_server_does_not_start_without_a_usable_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, options: tuple[str, ...], problem: str
) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(SystemExit) as ended:
        main(["itsm", "--admin-token-file", str(tmp_path / name), *options])
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


def test_servers_of_a_local_run_require_the_token_that_only_the_run_has() -> None:
    async def scenario() -> None:
        async with GymServers(["itsm"], lambda _: None) as gyms:
            await gyms.start()
            url = gyms.urls["itsm"]
            async with http_client() as http, http_client(admin_tokens=gyms.admin_tokens) as signed:
                answer = await http.post(f"{url}/api/seed-database", json={"database_id": "x"})
                assert answer.status_code == 401
                client = GymClient(signed, url, TaskGym(mcp_server_name="itsm", mcp_server_url=""))
                await client.seed(SEED, Access.PUBLISHED)

    asyncio.run(scenario())
