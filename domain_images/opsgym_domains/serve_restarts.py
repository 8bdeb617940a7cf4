"""A gym server whose process is replaced between two trials of a pod.

Invariant: every generation is a process of its own, forked from one that has imported everything and served nothing, on
a Postgres of the same generation. So trials share no state, and only the first one pays for the imports. A process that
ends without having been asked to ends its parent with the same exit code.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from opsgym_api.gym_http import PROCESS_PATH


@dataclass(frozen=True)
class ServerProcess:
    """The process that serves one generation."""

    generation: int
    """Number of the generation, from 0."""
    ask: int
    """File descriptor to which the number of the next generation is written."""

    def route(self, stop: Callable[[], None]) -> Route:
        """The endpoint.

        Args:
            stop: Ends the server.
        """

        async def endpoint(request: Request) -> Response:
            requested = await _requested_generation(request) if request.method == "POST" else self.generation
            if requested < self.generation:
                raise HTTPException(409, f"generation {requested} has ended; this is generation {self.generation}")
            if requested == self.generation:
                return JSONResponse({"generation": self.generation})

            def restart() -> None:
                os.write(self.ask, f"{requested}\n".encode())
                stop()

            accepted = {"generation": self.generation, "next": requested}
            return JSONResponse(accepted, status_code=202, background=BackgroundTask(restart))

        return Route(PROCESS_PATH, endpoint, methods=["GET", "POST"])


async def _requested_generation(request: Request) -> int:
    try:
        requested = (await request.json())["generation"]
    except (ValueError, TypeError, KeyError):
        requested = None
    if not isinstance(requested, int) or isinstance(requested, bool) or requested < 0:
        raise HTTPException(422, "generation must be an integer, 0 or more")
    return requested


def run_generations(serve: Callable[[ServerProcess], int]) -> int:
    """Serves one generation after the other, each in a forked process, until one ends unasked; its exit code.

    Args:
        serve: Serves a generation and returns the process's exit code.
    """
    generation = 0
    child = 0

    def forward(number: int, _frame: FrameType | None) -> None:
        if child:
            os.kill(child, number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, forward)
    gc.freeze()  # the collector of a forked process would touch, and so copy, all memory
    while True:
        reading, asking = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _serve_and_exit(serve, ServerProcess(generation, asking))
        os.close(asking)
        _, status = os.waitpid(child, 0)
        child = 0
        with os.fdopen(reading, "rb") as reader:
            requested = reader.readline()  # of requests that came together, the first
        if not requested:
            return os.waitstatus_to_exitcode(status)
        generation = int(requested)


def _serve_and_exit(serve: Callable[[ServerProcess], int], process: ServerProcess) -> None:
    """Serves in the forked process, which never returns to its parent's code."""
    code = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        code = serve(process)
    finally:
        os._exit(code)
