"""HTTP server of episodes: one side for trainers, one for their agents.

Invariant: a trainer's token opens episodes of its split and no agent's side; an agent's token opens the tools of its
episode and nothing else. Every error is JSON that names what is wrong.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from opsgym.episodes.api import EpisodeRequest, FinishRequest, RefusedError, Split, read_request
from opsgym.episodes.description import description
from opsgym.episodes.service import Episode, EpisodeService

AGENTS = "/agents/"
Handler = Callable[[Request, Split], Awaitable[Response]]


class EpisodeServer:
    """The application.

    Args:
        service: Its episodes.
        tokens: Trainers' tokens by split.
    """

    def __init__(self, service: EpisodeService, tokens: Mapping[Split, str]) -> None:
        self._service = service
        self._tokens = tokens
        self._trainers = Starlette(
            routes=[
                Route("/openapi.json", self._described, methods=["GET"]),
                Route("/episodes", self._for_trainers(self._create), methods=["POST"]),
                Route("/episodes/{id}", self._for_trainers(self._show), methods=["GET"]),
                Route("/episodes/{id}", self._for_trainers(self._delete), methods=["DELETE"]),
                Route("/episodes/{id}/finish", self._for_trainers(self._finish), methods=["POST"]),
            ],
            exception_handlers={404: _unknown_path, 405: _unknown_path},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        app: ASGIApp = self._trainers
        if scope["type"] == "http" and scope["path"].startswith(AGENTS):
            name, _, path = scope["path"].removeprefix(AGENTS).partition("/")
            try:
                app = self._service.find(name).open.app
                scope = {**scope, "path": f"/{path}", "raw_path": f"/{path}".encode()}
            except RefusedError as error:
                app = _error(error)
        await app(scope, receive, send)

    def _for_trainers(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return await handler(request, self._split_of(request))
            except RefusedError as error:
                return _error(error)

        return answer

    def _split_of(self, request: Request) -> Split:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        for split, token in self._tokens.items():
            if hmac.compare_digest(given, token.encode()):
                return split
        raise RefusedError(401, "no_token", "send a trainer's token: Authorization: Bearer …")

    async def _described(self, request: Request) -> Response:  # noqa: ARG002 Starlette's signature
        return JSONResponse(description())

    async def _create(self, request: Request, split: Split) -> Response:
        episode_request = read_request(EpisodeRequest, await request.body())
        if episode_request.split != split:
            raise RefusedError(403, "wrong_split", f"split: the token is for {split}, not {episode_request.split}")
        episode = await self._service.create(episode_request)
        return JSONResponse({**episode.facts(), **_access(episode, str(request.base_url))}, 201)

    async def _show(self, request: Request, split: Split) -> Response:
        return JSONResponse(self._find(request, split).facts())

    async def _delete(self, request: Request, split: Split) -> Response:
        await self._service.delete(self._find(request, split).id)
        return Response(status_code=204)

    async def _finish(self, request: Request, split: Split) -> Response:
        episode = self._find(request, split)
        answer = read_request(FinishRequest, await request.body()).answer
        return JSONResponse(await self._service.finish(episode, answer))

    def _find(self, request: Request, split: Split) -> Episode:
        """The episode of a path; one of the other split does not exist for this trainer."""
        episode = self._service.find(request.path_params["id"])
        return episode if episode.request.split == split else self._service.find("")


def _access(episode: Episode, base: str) -> dict[str, Any]:
    """What the agent of a new episode needs."""
    session, side = episode.open.session, f"{base.rstrip('/')}{AGENTS}{episode.id}"
    return {
        "systemPrompt": session.system_prompt,
        "userPrompt": session.user_prompt,
        "maxSteps": session.max_steps,
        "token": episode.open.bridge.key,
        "answerUrl": f"{side}/opsgym/v1/answer",
        "mcpServers": [{"name": gym, "url": f"{side}/mcp/{gym}"} for gym in session.definitions_by_gym],
    }


async def _unknown_path(request: Request, error: Exception) -> Response:  # noqa: ARG001 Starlette's signature
    message = f"{request.method} {request.url.path} is nothing here; GET /openapi.json says what is"
    return _error(RefusedError(404, "unknown_path", message))


def _error(error: RefusedError) -> Response:
    return JSONResponse({"error": {"reason": error.reason, "message": str(error)}}, error.status)
