"""Runs mutants through the real runner on a real gym server, and reads their records.

Invariant: nothing between a model's reply and the stored record is replaced; the model replays a recording.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import zstandard
from tools.failure_docs.mutations import MAX_STEPS, Case, Mutant

from opsgym_api.kinds.evalrun import Access, Agent, Limits, Mode
from opsgym_api.records.attempt import Cell, TrialRecord
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.task import ToolCall
from opsgym_console.analysis.failures import FailedTrial
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.store.local import LocalStore
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.runner import Runner

CELL = Cell(model="mutant", agent="react", mode="oracle", domain="itsm")
RUN = "mutants.0123456789ab"
CONCURRENCY = 4
_GOLD = 10_000
"""Trials of reference solutions are numbered from here."""


class EpisodeRunner:
    """Runs episodes on a gym server, with a store of its own.

    Args:
        url: Address of the gym server.
        folder: Folder for recordings and the store.
        admin_tokens: Tokens of the server's admin endpoints by its address.
    """

    def __init__(self, url: str, folder: Path, admin_tokens: Mapping[str, str]) -> None:
        self._url = url
        self._admin_tokens = admin_tokens
        self._folder = folder
        self.store = LocalStore(folder / "results")

    def run_gold(self, cases: Sequence[Case]) -> dict[str, Transcript]:
        """Transcripts of the reference solutions, by task id."""
        jobs = [
            self._job(case, case.draft.gold, case.draft.answer, _GOLD + number, MAX_STEPS)
            for number, case in enumerate(cases)
        ]
        self._run(jobs)
        return {job.task.task_id: self._transcript(_keys(job)) for job in jobs}

    def run(self, mutants: Sequence[Mutant]) -> list[FailedTrial | None]:
        """The failed trials, in order; None for one that passed."""
        jobs = [
            self._job(mutant.case, mutant.calls, mutant.answer, number, mutant.max_steps)
            for number, mutant in enumerate(mutants)
        ]
        self._run(jobs)
        return [self._failed(job) for job in jobs]

    def _run(self, jobs: Sequence[Job]) -> None:
        async def run_all() -> None:
            slots = asyncio.Semaphore(CONCURRENCY)
            async with Runner(self.store, admin_tokens=self._admin_tokens) as runner:

                async def run_one(job: Job) -> None:
                    async with slots:
                        await runner.run(job)

                await asyncio.gather(*map(run_one, jobs))

        asyncio.run(run_all())

    def _job(self, case: Case, calls: Sequence[ToolCall], answer: str, trial: int, steps: int) -> Job:
        # Shown are the tools of the task and of the script; all 93 would be most of what an episode costs.
        tools = dict.fromkeys([*case.task.selected_tools, *(call.name for call in calls)])
        task = case.task.model_copy(update={"selected_tools": list(tools)})
        file = self._folder / f"{trial}.jsonl"
        lines: list[dict[str, object]] = [
            {"task_id": task.task_id, "tool": call.name, "arguments": call.arguments} for call in calls
        ]
        lines.append({"task_id": task.task_id, "answer": answer})
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        (server,) = task.gym_servers_config
        return Job(
            run=RUN,
            cell=CELL,
            task=task,
            trial=trial,
            attempt=0,
            model=ResolvedModel(name="mutant", model=f"replay/{file}"),
            agent=Agent(name="react", max_steps=steps),
            mode=Mode.ORACLE,
            limits=Limits(task_timeout_seconds=120),
            access=Access.PUBLISHED,
            gyms={"itsm": self._url},
            seeds={server.mcp_server_name: Seed(builtin=server.seed_database_file.removeprefix("builtin:"))},
        )

    def _failed(self, job: Job) -> FailedTrial | None:
        keys = _keys(job)
        record = TrialRecord.from_json(self.store.get(keys.record) or b"")
        if record.score:
            return None
        gym = job.task.gym_servers_config[0].mcp_server_name
        state = self.store.get(keys.state(gym))
        states = {} if state is None else {gym: zstandard.decompress(state)}
        return FailedTrial(record, self._transcript(keys), job.task, states)

    def _transcript(self, keys: TrialKeys) -> Transcript:
        return Transcript.model_validate_json(zstandard.decompress(self.store.get(keys.transcript) or b""))


def _keys(job: Job) -> TrialKeys:
    return RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
