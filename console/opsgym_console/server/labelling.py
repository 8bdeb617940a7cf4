"""People label failed trials of one run in a browser.

Invariant: a person is shown a trial and never what rules, a judge or other people say about it, nor which model made
it. A label is put once for each person and trial. Requests name trials by their position in the sample, so that no part
of a request becomes a key of the store but the person's name, which is checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import Cell, TrialRecord
from opsgym_api.records.failure_labels import PersonLabels
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import Transcript
from opsgym_console.analysis.failures.findings import Mode
from opsgym_console.analysis.failures.labels import PERSON, put_person, read_person
from opsgym_console.analysis.failures.modes import definition
from opsgym_console.analysis.failures.sampling import labelling_order
from opsgym_console.server import pages
from opsgym_console.server.requests import from_another_site
from opsgym_console.server.sources import Source, as_it_is
from opsgym_core.common.clock import now_text
from opsgym_core.results.load import load_rows
from opsgym_core.results.transcripts import read_transcript
from opsgym_core.store.base import Store
from opsgym_core.store.objects import read_object

MAX_BODY_BYTES = 20_000
"""Bytes of a request with labels."""


class _Given(BaseModel):
    """Labels as the page sends them."""

    model_config = ConfigDict(strict=True, extra="forbid")
    person: Annotated[str, Field(max_length=40)]
    position: Annotated[int, Field(ge=0)]
    modes: Annotated[list[str], Field(max_length=len(Mode))]
    remark: Annotated[str, Field(max_length=2_000)] = ""


@dataclass(frozen=True)
class LabellingOptions:
    """The run whose trials people label."""

    run: str
    sample: int
    """Number of trials at most."""
    opened: Callable[[Store], Store] = as_it_is
    """The store as the run's texts are read from it and labels are written to it."""


_Trial: TypeAlias = tuple[Cell, str, int]


@dataclass(frozen=True)
class _Sample:
    """The trials to label, in order."""

    trials: Sequence[_Trial]
    transcripts: str
    """Run that has their transcripts."""


class Labelling:
    """Routes for labelling the failed trials of one run.

    Args:
        source: Store of the run.
        options: The run and the size of the sample.
    """

    def __init__(self, source: Source, options: LabellingOptions) -> None:
        self._source = source
        self._options = options
        self._sample: _Sample | None = None
        self._lock = asyncio.Lock()

    def routes(self) -> list[Route]:
        """The routes of the page and of its data."""
        return [
            Route("/label/", _page),
            Route("/api/label", self._overview),
            Route("/api/label/trials/{position}", self._trial),
            Route("/api/label", self._put, methods=["POST"]),
        ]

    async def _overview(self, request: Request) -> Response:
        """Size of the sample, the modes, and which trials a person has labelled."""
        person = request.query_params.get("person", "")
        if PERSON.fullmatch(person) is None:
            return _problem(400, "A name has 1 to 40 lower-case letters, digits and hyphens.")
        trials = (await self._drawn()).trials
        query = partial(read_person, run=self._options.run, person=person)
        labelled = {(one.cell.key, one.task_id, one.trial) for one in await self._source.read(query)}
        done = [place for place, (cell, task, number) in enumerate(trials) if (cell.key, task, number) in labelled]
        modes = [{"mode": mode.value, "definition": definition(mode)} for mode in Mode]
        return JSONResponse({"trials": len(trials), "labelled": done, "modes": modes})

    async def _trial(self, request: Request) -> Response:
        """What a person sees of a trial."""
        drawn, text = await self._drawn(), request.path_params["position"]
        if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) < len(drawn.trials)):
            return _problem(404, f"Trial {text[:20]} not found in the sample, which has {len(drawn.trials)}.")
        query = partial(_shown, run=self._options.run, transcripts=drawn.transcripts, trial=drawn.trials[int(text)])
        shown = await self._source.read(query)
        return _problem(404, "The trial cannot be read.") if shown is None else JSONResponse(shown)

    async def _put(self, request: Request) -> Response:
        if from_another_site(request) or request.headers.get("content-type") != "application/json":
            return _problem(403, "The labels were sent by another site.")
        given = await _given(request)
        trials = (await self._drawn()).trials
        if given is None or PERSON.fullmatch(given.person) is None or given.position >= len(trials):
            return _problem(400, "The labels are not valid.")
        if not set(given.modes) <= set(Mode):
            return _problem(400, "A mode is unknown.")
        cell, task_id, number = trials[given.position]
        labels = PersonLabels(
            person=given.person,
            cell=cell,
            task_id=task_id,
            trial=number,
            modes=[mode.value for mode in Mode if mode.value in given.modes],
            remark=given.remark,
            labelled_at=now_text(),
        )
        if await self._source.read(partial(put_person, run=self._options.run, labels=labels)):
            return JSONResponse({"stored": True}, 201)
        return _problem(409, "You have labelled this trial before; labels are not changed.")

    async def _drawn(self) -> _Sample:
        async with self._lock:
            if self._sample is None:
                self._sample = await self._source.read(partial(_draw, options=self._options))
            return self._sample


def _draw(store: Store, options: LabellingOptions) -> _Sample:
    rows = load_rows(store, options.run)
    return _Sample(labelling_order(rows)[: options.sample], rows.run.rescored_from or options.run)


def _shown(store: Store, run: str, transcripts: str, trial: _Trial) -> dict[str, Any] | None:
    """A trial without its model, agent and findings; None if it cannot be read."""
    try:
        record = read_object(store, RunKeys(run).trial(*trial).record, TrialRecord)
        transcript = read_transcript(store, RunKeys(transcripts).trial(*trial).transcript)
    except InputError:
        return None
    if record is None or transcript is None:
        return None
    return {
        "feasible": record.feasible,
        "ended_by": record.stopped_by,
        "answer": record.answer,
        "verifiers": [
            {name: getattr(one, name) for name in ("index", "name", "category", "passed", "expected", "actual")}
            for one in record.verifiers
        ],
        "events": _events(transcript),
    }


def _events(transcript: Transcript) -> list[dict[str, Any]]:
    names = ("kind", "step", "content", "tool_name", "arguments", "is_error")
    return [{name: getattr(event, name) for name in names} for event in transcript.events]


async def _given(request: Request) -> _Given | None:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_BODY_BYTES:
            return None
    try:
        return _Given.model_validate_json(content)
    except ValidationError:
        return None


async def _page(_request: Request) -> Response:
    return Response(pages.label(), media_type="text/html")


def _problem(status: int, text: str) -> Response:
    return JSONResponse({"detail": text}, status)
