"""Where things are in a store. Every key is built here, so that readers and writers cannot disagree."""

from __future__ import annotations

from dataclasses import dataclass

from opsgym_api.records.attempt import Cell, TrialId


@dataclass(frozen=True)
class RunKeys:
    """Keys of one run.

    Attributes:
        run: `<namespace>.<name>.<uid>` in a cluster, `<name>.<digest>` on one machine.
    """

    run: str

    @property
    def root(self) -> str:
        """Prefix of everything the run wrote."""
        return f"runs/{self.run}/"

    @property
    def run_json(self) -> str:
        """Frozen spec, prices and digests."""
        return f"{self.root}run.json"

    @property
    def control_json(self) -> str:
        """Start gate."""
        return f"{self.root}control.json"

    @property
    def gate_json(self) -> str:
        """What the gate says once the run has ended."""
        return f"{self.root}gate.json"

    @property
    def looks(self) -> str:
        """Prefix of the looks at a run with rounds."""
        return f"{self.root}looks/"

    def look(self, number: int) -> str:
        """A look at a run with rounds, by its number from 1; written once."""
        return f"{self.looks}{number}.json"

    @property
    def figures_json(self) -> str:
        """Figures of a run that has ended, for the operator's metrics."""
        return f"{self.root}figures.json"

    @property
    def pin_json(self) -> str:
        """Says that a person wants the run to stay in the store."""
        return f"{self.root}pin.json"

    @property
    def deletion_json(self) -> str:
        """Written before a run is deleted, and deleted last: a deletion that was interrupted goes on."""
        return f"{self.root}deletion.json"

    @property
    def report(self) -> str:
        """Prefix of the page about the run."""
        return f"{self.root}report/"

    @property
    def leases(self) -> str:
        """Prefix of the terms of the lease by which one machine's process holds the run."""
        return f"{self.root}lease/"

    def lease(self, term: int) -> str:
        """A term of the lease, by its number from 1; put once, and then rewritten by the process that put it."""
        return f"{self.leases}{term}.json"

    @property
    def suite_index(self) -> str:
        """The frozen suite's rows in short; written after everything else of the suite."""
        return f"{self.root}suite/index.json"

    def suite_task(self, task_id: str) -> str:
        """A row of the frozen suite."""
        return f"{self.root}suite/tasks/{task_id}.json"

    def suite_seed(self, sha256: str) -> str:
        """A seed file of the frozen suite, by the digest of its text."""
        return f"{self.root}suite/seeds/{sha256}.sql"

    def recording(self, model: str) -> str:
        """The recording that a model of a local run replays, by the model's name."""
        return f"{self.root}suite/recordings/{model}"

    @property
    def probe(self) -> str:
        """What preflight writes to see that the store takes writes, and takes each key once."""
        return f"{self.root}probe"

    def plan(self, planner: str, task_id: str) -> str:
        """A plan that a model wrote for a task; written once."""
        return f"{self.root}plans/{planner}/{task_id}.json"

    def catalogue(self, digest: str) -> str:
        """Tools as models were shown them, by their digest; written once."""
        return f"{self.root}catalogues/{digest}.json"

    @property
    def cells(self) -> str:
        """Prefix of all trials."""
        return f"{self.root}cells/"

    def cell(self, key: str) -> str:
        """Prefix of all trials of a cell, by the cell's key."""
        return f"{self.cells}{key}/"

    def task(self, cell: str, task_id: str) -> str:
        """Prefix of all trials of a task in a cell, by the cell's key."""
        return f"{self.cells}{cell}/{task_id}/"

    @property
    def judges(self) -> str:
        """Prefix of what judge models say about failed trials, a folder for each judge."""
        return f"{self.root}failures/judges/"

    def judged_trial(self, judge: str, cell: Cell, task_id: str, trial: int) -> str:
        """What a judge says about a failed trial; written once."""
        return f"{self.judges}{judge}/{cell.key}/{task_id}/{trial}.json"

    @property
    def people(self) -> str:
        """Prefix of what people say about failed trials, a folder for each person."""
        return f"{self.root}failures/people/"

    def person_labels(self, person: str, cell: Cell, task_id: str, trial: int) -> str:
        """What a person says about a failed trial; written once."""
        return f"{self.people}{person}/{cell.key}/{task_id}/{trial}.json"

    @property
    def chunks(self) -> str:
        """Prefix of all chunks."""
        return f"{self.root}chunks/"

    def chunk(self, name: str) -> str:
        """Rows of many trials in one object; written once."""
        return f"{self.chunks}{name}.json.gz"

    def trial(self, cell: Cell, task_id: str, trial: int) -> TrialKeys:
        """Keys of one trial."""
        return TrialKeys(f"{self.cells}{cell.key}/{task_id}/{trial}")


@dataclass(frozen=True)
class TrialKeys:
    """Keys of one trial."""

    base: str

    @property
    def record(self) -> str:
        """The scored trial; written once."""
        return f"{self.base}.json"

    @property
    def attempts(self) -> str:
        """Prefix of everything that attempts wrote."""
        return f"{self.base}/attempts/"

    def attempt(self, attempt: int) -> str:
        """One attempt; rewritten while it runs."""
        return f"{self.attempts}{attempt}.json"

    @property
    def transcript(self) -> str:
        """Transcript of the scored attempt."""
        return f"{self.base}/transcript.json.zst"

    @property
    def reasoning(self) -> str:
        """What the models of the scored attempt thought; absent if none showed reasoning."""
        return f"{self.base}/reasoning.json.zst"

    def state(self, gym: str) -> str:
        """Final database of one gym server, as a SQLite file."""
        return f"{self.base}/{gym}.state.sqlite.zst"

    def difference(self, gym: str) -> str:
        """Whole state difference of one gym server, where the trial record's is truncated and verifiers judged it."""
        return f"{self.base}/{gym}.difference.json.zst"

    def failed_transcript(self, attempt: int) -> str:
        """Transcript of an attempt that was not scored."""
        return f"{self.attempts}{attempt}.transcript.json.zst"

    def failed_reasoning(self, attempt: int) -> str:
        """What the models of an attempt that was not scored thought."""
        return f"{self.attempts}{attempt}.reasoning.json.zst"


def is_trial_record(key: str) -> bool:
    """Whether a key under `RunKeys.cells` is a scored trial: `<cell>/<task>/<trial>.json`."""
    return key.endswith(".json") and "/attempts/" not in key


def is_attempt_record(key: str) -> bool:
    """Whether a key under `RunKeys.cells` is an attempt record."""
    return key.endswith(".json") and "/attempts/" in key


def is_transcript(key: str) -> bool:
    """Whether an object of a run is a transcript, reasoning, or part of a page that repeats them."""
    part = key.split("/", 3)[2:3]
    return part == ["report"] or (part == ["cells"] and key.endswith(("transcript.json.zst", "reasoning.json.zst")))


def is_state(key: str) -> bool:
    """Whether an object of a run is a final database or its difference."""
    return "/cells/" in key and key.endswith((".state.sqlite.zst", ".difference.json.zst"))


def trial_of(key: str) -> TrialId | None:
    """The trial that a record's key belongs to; None for a key of another form."""
    cell, task_id, trial = [*key.partition("/cells/")[2].partition("/attempts/")[0].split("/"), "", "", ""][:3]
    number = trial.removesuffix(".json")
    return TrialId(cell, task_id, int(number)) if number.isdecimal() else None
