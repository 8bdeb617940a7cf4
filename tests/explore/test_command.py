"""`opsgym gym explore` as a process, and what keeps other pages away from its server."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

import httpx
import pytest
from tests.explore.visitor import require_shown
from tests.kit.toy import DOMAIN as TOY
from tests.support.gym import Gym

from opsgym.exits import Exit
from opsgym.main import invoke
from opsgym_core.common.net import is_loopback
from opsgym_domains.explore.describe import describe

COMMAND = [sys.executable, "-m", "opsgym.main", "gym", "explore"]
PAGE = re.compile(r"Explore \w+ at (http://\S+)/explore/ ")
LONGEST_S = 90


@contextmanager
def exploring(*options: str, domain: str = "itsm", **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and its server's address; interrupted at the end, which must end it well."""
    process = subprocess.Popen(
        [*COMMAND, domain, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        announced = PAGE.match(process.stdout.readline())
        assert announced, process.communicate(timeout=LONGEST_S)
        yield process, announced[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST_S) == 0
    finally:
        process.kill()
        process.communicate()


def refused(*options: str) -> str:
    """What the command says that refuses its arguments; as it starts nothing, it runs in this process."""
    with redirect_stderr(io.StringIO()) as err:
        assert invoke(["gym", "explore", *options]) == Exit.BAD_INPUT
    return err.getvalue()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def count(url: str, table: str) -> int:
    query = {"query": f"SELECT COUNT(*) AS n FROM {table}", "database_id": "explore"}
    return int(httpx.post(f"{url}/api/sql-runner", json=query).raise_for_status().json()["data"][0]["n"])


def test_without_an_option_the_first_seed_of_the_domain_is_explored() -> None:
    with exploring(domain="csm") as (_process, url):
        shown = httpx.get(f"{url}/explore/api/domain").raise_for_status().json()
    require_shown(shown, "csm")


def test_the_command_serves_the_page_and_the_quickstart_seed_and_opens_a_browser(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    with exploring("--open", BROWSER=f"{browser} %s") as (_process, url):
        page = httpx.get(f"{url}/explore/")
        assert page.status_code == 200
        assert "opsgym explore" in page.text
        assert count(url, "incident") > 0
        wait_for(opened.exists)
    assert opened.read_text().strip() == f"{url}/explore/"


def test_access_seed_file_and_host_can_be_chosen(tmp_path: Path) -> None:
    seed = tmp_path / "seed.sql"
    seed.write_text("INSERT INTO organization (org_id, name, active) VALUES ('ORG_7', 'Seven', 1);")
    options = ("--access", "strict", "--seed-file", str(seed), "--host", "0.0.0.0")
    with exploring(*options) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert process.stderr is not None
        assert "every client that can reach 0.0.0.0 can read and change" in process.stderr.readline()
        assert (count(url, "organization"), count(url, "incident")) == (1, 0)
        shown = httpx.get(f"{url}/explore/api/domain").raise_for_status().json()
        call = {"name": "list_incidents", "arguments": {}}
        answer = httpx.post(
            f"{url}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
            headers={"x-database-id": "explore"},
        )
    assert shown["access"] == "strict"
    assert "no user can act" in answer.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nowhere"], "unknown domain 'nowhere'; installed: calendar, csm, drive, email, hr, itsm, teams"),
        (["itsm", "--seed", "slowstart"], "--seed: unknown seed 'slowstart'; built-in seeds of itsm: quickstart"),
        (["itsm", "--access", "lax"], "Invalid value for '--access': 'lax' is not one of 'published', 'strict'"),
        (["itsm", "--seed-file", "missing.sql"], "missing.sql: cannot be read: No such file or directory"),
    ],
)
def test_an_unknown_domain_seed_access_or_file_is_named(options: list[str], message: str) -> None:
    assert message in refused(*options)


def test_a_seed_with_an_error_in_it_ends_the_command(tmp_path: Path) -> None:
    seed = tmp_path / "broken.sql"
    seed.write_text("INSERT INTO organization VALUES (1);")
    message = refused("itsm", "--seed-file", str(seed))
    assert "broken.sql" in message
    assert "table organization has 5 columns but 1 values were supplied" in message


def test_a_seed_that_is_not_text_is_named(tmp_path: Path) -> None:
    seed = tmp_path / "binary.sql"
    seed.write_bytes(b"\xff\xfe\x00")
    assert f"{seed}: is not text in UTF-8" in refused("itsm", "--seed-file", str(seed))


def test_an_address_in_use_is_reported(gym: Gym) -> None:
    port = gym.url.rpartition(":")[2]
    done = subprocess.run(
        [*COMMAND, "itsm", "--port", port], capture_output=True, text=True, timeout=LONGEST_S, check=False
    )
    assert done.returncode == 1
    assert f"the address 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "elsewhere.example"}, 421),
        ({"host": "localhost"}, 200),
    ],
)
def test_pages_of_other_origins_cannot_use_the_server(gym: Gym, headers: dict[str, str], status: int) -> None:
    database = gym.database(builtin="quickstart")
    body = {"query": "SELECT 1", "database_id": database.id}
    assert gym.client.post("/api/sql-runner", json=body, headers=headers).status_code == status
    gym.drop(database)


def test_the_page_itself_may_use_the_server(gym: Gym) -> None:
    answer = gym.client.get("/explore/", headers={"origin": gym.url})
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_server_without_the_page_does_not_serve_its_files(gym_servers: Callable[[str], Gym]) -> None:
    plain = gym_servers("itsm")
    database = plain.database(builtin="quickstart")
    assert plain.client.get("/explore/").status_code == 404
    assert plain.client.get("/explore/api/domain", headers={"x-database-id": database.id}).status_code == 404
    plain.drop(database)


@pytest.mark.parametrize(
    ("host", "this_machine"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("LOCALHOST", True), ("0.0.0.0", False), ("box", False)],
)
def test_loopback_is_this_machine_only(host: str, this_machine: bool) -> None:
    assert is_loopback(host) is this_machine


def test_a_domain_needs_neither_policy_nor_users_to_be_shown() -> None:
    keeper, animal = describe(TOY)["tables"]
    assert describe(TOY)["policy"] is None
    assert keeper["rules"] == ["unique: name"]
    assert keeper["referenced_by"] == [{"table": "animal", "column": "keeper", "to": "keeper_id"}]
    assert animal["primary_key"] == ["animal_id"]
    assert animal["columns"][2] == {
        "name": "keeper",
        "type": "VARCHAR(32)",
        "nullable": False,
        "references": {"table": "keeper", "column": "keeper_id"},
    }
