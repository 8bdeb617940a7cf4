"""`opsgym episodes serve`: episodes for agents that a trainer runs, over HTTP."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click
import uvicorn

from opsgym.episodes.api import Split
from opsgym.episodes.offer import Offer
from opsgym.episodes.server import EpisodeServer
from opsgym.episodes.service import EpisodeService
from opsgym.exits import Exit
from opsgym.local.gym_servers import GymLostError, GymServers
from opsgym_api.errors import InputError, Problem
from opsgym_core.common.logs import ENV_LEVEL, configure_logs

VARIABLES: Mapping[Split, str] = {"train": "OPSGYM_TRAIN_TOKEN", "test": "OPSGYM_TEST_TOKEN"}
"""Environment variables that hold trainers' tokens."""
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class ServeRequest:
    """Arguments of `opsgym episodes serve`."""

    suites: tuple[str, ...]
    host: str
    port: int
    test_tasks: Path | None
    """File with the ids of the test split, one a line."""
    most: int


def serve(request: ServeRequest) -> int:
    """Serves episodes until a signal ends it.

    Raises:
        InputError: A suite, the list of tasks or a token cannot be used.
    """
    configure_logs({ENV_LEVEL: "WARNING", **os.environ})
    listed = None if request.test_tasks is None else _lines(request.test_tasks)
    offer, tokens = Offer(request.suites, listed), _tokens(os.environ)
    if not tokens:
        tokens = {"train": secrets.token_urlsafe(24)}
        click.echo(f"token of this service, for split train: {tokens['train']}")
    try:
        asyncio.run(_serve(request, offer, tokens))
    except GymLostError as error:
        click.echo(str(error), err=True)
        return Exit.NOT_SCORED
    return Exit.OK


async def _serve(request: ServeRequest, offer: Offer, tokens: Mapping[Split, str]) -> None:
    note = click.echo
    async with GymServers(offer.domains, note) as gyms:
        note(f"starting gym servers: {', '.join(offer.domains)}")
        await gyms.start()
        async with EpisodeService(offer, gyms, request.most) as service:
            app = EpisodeServer(service, tokens)
            config = uvicorn.Config(app, request.host, request.port, log_level="critical", lifespan="off")
            listener = config.bind_socket()
            host, port = listener.getsockname()[:2]
            note(f"episodes of {', '.join(request.suites)} at http://{host}:{port} (Ctrl-C stops)")
            await uvicorn.Server(config).serve(sockets=[listener])


def _tokens(environment: Mapping[str, str]) -> dict[Split, str]:
    tokens: dict[Split, str] = {
        split: token for split, name in VARIABLES.items() if (token := environment.get(name, "").strip())
    }
    for split, token in tokens.items():
        if len(token) < SHORTEST_TOKEN:
            message = f"is shorter than {SHORTEST_TOKEN} characters"
            raise InputError("episodes serve", [Problem(VARIABLES[split], message)])
    if len(set(tokens.values())) < len(tokens):
        message = f"has the value of {VARIABLES['train']}; the token says which split a trainer may use"
        raise InputError("episodes serve", [Problem(VARIABLES["test"], message)])
    return tokens


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("--test-tasks", [Problem(str(file), f"cannot be read: {error}")]) from None
