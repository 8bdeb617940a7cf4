"""`python -m benchmarks equivalence --harness PATH`: rows played by the published harness and by opsgym.

Both get the same rows in the published form, gym servers of opsgym and the same endpoint of a model, which plays some
tasks rightly, some wrongly and some with malformed replies. Equivalence is shown where the difference of the success
rates lies within two points: two one-sided tests (Schuirmann 1987), at 5 percent each, on pairs of a task.

Invariant: opsgym imports the rows as a user would, and plays them through `opsgym run` with `profile: published`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import gym
from benchmarks.equivalence_plays import Play, app, drawn
from benchmarks.published_harness import Verdict, evaluate
from opsgym.exits import Exit
from opsgym.taskexport.files import MODE, SEED_FOLDER
from opsgym.taskexport.suite import SuiteExporter
from opsgym.taskimport.seeds import Seeds
from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.store_layout import RunKeys, is_trial_record
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_api.tasks.task import Task
from opsgym_core.results.load import find_run
from opsgym_core.results.paired import paired_mean
from opsgym_core.store.location import open_store
from opsgym_domains import registry
from opsgym_domains.suite_rows import load_suite

TASKS = 200
MARGIN = 0.02
CONFIDENCE = 0.90
"""Of the interval that lies within the margin exactly if both one-sided tests reject at 5 percent."""
NOT_SCORED = "not scored"


@dataclass(frozen=True)
class Rows:
    """Rows in the published form, and how each is played."""

    rows: Mapping[str, Mapping[str, Any]]
    plays: Mapping[str, Play]

    @property
    def by_request(self) -> dict[str, Play]:
        """Plays by the request of their task."""
        return {self.rows[name]["user_prompt"]: play for name, play in self.plays.items()}


@dataclass(frozen=True)
class Pair:
    """What both made of a row."""

    name: str
    kind: str
    published: Verdict
    own: Verdict

    @property
    def equal(self) -> bool:
        """Whether the verdicts are equal: of the row, and of each verifier unless an error ended the published run."""
        judged = bool(self.published.verifiers)
        alike = not judged or self.published.verifiers == self.own.verifiers
        return self.own.reason != NOT_SCORED and self.published.passed == self.own.passed and alike


def measure_arguments(arguments: Sequence[str]) -> Sequence[str]:
    """Tables of both programs' verdicts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks equivalence", description=__doc__)
    parser.add_argument("--harness", type=Path, required=True, help="work tree of the published harness")
    parser.add_argument("--tasks", type=int, default=TASKS, metavar="N", help="rows of the built-in suites")
    parser.add_argument("--seed", type=int, default=1, help="chooses tasks and plays")
    options = parser.parse_args(arguments)
    if not (options.harness / "evaluate.py").is_file():
        parser.error(f"--harness: {options.harness} has no evaluate.py; name a checkout of the published harness")
    with tempfile.TemporaryDirectory(prefix="opsgym-") as name, ExitStack() as running:
        folder = Path(name)
        rows = export(shuffled(options.seed), options.tasks, options.seed, folder)
        urls = {domain: running.enter_context(gym.serving(domain)).url for domain in PUBLISHED_SERVERS}
        return report(compare(options.harness, rows, folder, urls))


def shuffled(seed: int) -> list[Task]:
    """All built-in tasks, in an order that the seed chooses."""
    tasks = list(load_suite(registry.WHOLE))
    random.Random(seed).shuffle(tasks)
    return tasks


def export(tasks: Sequence[Task], number: int, seed: int, folder: Path) -> Rows:
    """Writes the first tasks that the published form can state, and their seeds; fewer if there are not so many.

    Args:
        tasks: Tasks with reference solutions.
        number: Rows to write.
        seed: Chooses how they are played.
        folder: Folder to write to.
    """
    written = dict(islice(exported(tasks, folder), number))
    plays = {name: drawn(task, seed) for name, (task, _) in written.items()}
    return Rows({name: row for name, (_, row) in written.items()}, plays)


def exported(tasks: Iterable[Task], folder: Path) -> Iterator[tuple[str, tuple[Task, Mapping[str, Any]]]]:
    """Writes the tasks that the published form can state, and their seeds; id, task and row of each."""
    exporter = SuiteExporter(folder, Seeds(None), datetime.now(UTC).replace(tzinfo=None))
    requests: set[str] = set()
    for task in tasks:
        # The endpoint knows a task by its request.
        if task.user_prompt in requests or not task.gold_actions:
            continue
        row = exporter.run([task], lambda: None)[task.task_id].row
        if row is not None:
            requests.add(task.user_prompt)
            yield task.task_id, (task, row)


def compare(harness: Path, rows: Rows, folder: Path, urls: Mapping[str, str]) -> list[Pair]:
    """What both programs make of exported rows.

    Args:
        harness: Work tree of the published harness.
        rows: The rows.
        folder: Folder that they were written to.
        urls: Base URLs of gym servers by domain, for the published harness.

    Raises:
        RuntimeError: A program failed.
    """
    from tests.runner.servers import serving

    by_name = {PUBLISHED_SERVERS[domain].name: url for domain, url in urls.items()}
    with serving(app(rows.by_request)) as url:
        published = evaluate(harness, rows.rows, folder, by_name, f"{url}/v1")
        own = _played(folder, f"{url}/v1")
    missing = Verdict(False, reason=NOT_SCORED)
    return [Pair(name, play.kind, published[name], own.get(name, missing)) for name, play in rows.plays.items()]


def _played(folder: Path, model_url: str) -> dict[str, Verdict]:
    (folder / "run.yaml").write_text(json.dumps(_document(model_url)))
    with (folder / "opsgym.log").open("wb") as log:
        for command, accepted in (
            (["tasks", "import", MODE, "--seeds", SEED_FOLDER, "--out", "suite"], (Exit.OK,)),
            (["run", "run.yaml"], (Exit.OK, Exit.NOT_SCORED)),  # the report says which trials have no score
        ):
            program = [sys.executable, "-m", "opsgym.main", *command]
            ended = subprocess.run(program, cwd=folder, stdout=log, stderr=log, check=False)
            if ended.returncode not in accepted:
                end = (folder / "opsgym.log").read_text(errors="replace")[-3000:]
                raise RuntimeError(f"opsgym {command[0]} ended with exit code {ended.returncode}:\n{end}")
    return {record.task_id: _verdict(record) for record in _records(folder)}


def _document(model_url: str) -> dict[str, Any]:
    """The EvalRun."""
    model = {
        "model": "openai/stub",
        "endpoints": [{"url": model_url}],
        "maxConcurrency": 6,
        "prices": {"inputUsd": 0, "outputUsd": 0},
    }
    spec = {
        "suite": {"path": f"suite/{MODE}", "seedPath": SEED_FOLDER, "modes": [MODE]},
        "models": [{"name": "stub", "inline": model}],
        "agents": [{"name": "published", "profile": "published"}],
    }
    return {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": {"name": "equivalence"}, "spec": spec}


def _records(folder: Path) -> Iterator[TrialRecord]:
    store = open_store(str(folder / "results"))
    for key in store.keys(RunKeys(find_run(store, "equivalence")).cells):
        content = store.get(key) if is_trial_record(key) else None
        if content is not None:
            yield TrialRecord.from_json(content)


def _verdict(record: TrialRecord) -> Verdict:
    # Of several verifiers with one name the published harness keeps the last one.
    judged = {verifier.name: verifier.published_passed for verifier in record.verifiers}
    return Verdict(record.published_score == 1, judged, record.reason)


# --- report ----------------------------------------------------------------------------------------------------------


def report(pairs: Sequence[Pair]) -> list[str]:
    """Lines of the report."""
    kinds = sorted({pair.kind for pair in pairs})
    different = [pair for pair in pairs if not pair.equal]
    return [
        "| play | rows | passed, published harness | passed, opsgym | verdicts equal | verifiers equal |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_counts(kind, [pair for pair in pairs if pair.kind == kind]) for kind in kinds),
        _counts("all", pairs),
        "",
        *_tests(pairs),
        "",
        *(
            f"- {one.name} ({one.kind}): {_described(one.published)}; opsgym: {_described(one.own)}"
            for one in different
        ),
    ]


def _counts(kind: str, pairs: Sequence[Pair]) -> str:
    published, own = (sum(one) for one in ([p.published.passed for p in pairs], [p.own.passed for p in pairs]))
    same = sum(pair.published.passed == pair.own.passed for pair in pairs)
    judged = [
        pair.own.verifiers.get(name) == passed for pair in pairs for name, passed in pair.published.verifiers.items()
    ]
    return f"| {kind} | {len(pairs)} | {published} | {own} | {same}/{len(pairs)} | {sum(judged)}/{len(judged)} |"


def _tests(pairs: Sequence[Pair]) -> list[str]:
    """The two one-sided tests of the success rates, and of the rates of verifiers in rows that both judged."""
    judged = [pair for pair in pairs if pair.published.verifiers and pair.own.verifiers]
    rates = {
        "success": [(float(pair.published.passed), float(pair.own.passed)) for pair in pairs],
        "verifiers": [(_share(pair.published), _share(pair.own)) for pair in judged],
    }
    margin = f"within ±{100 * MARGIN:.0f} points"
    return [
        f"| rate | rows | published harness | opsgym | difference | {100 * CONFIDENCE:.0f} % interval | p | {margin} |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(_test(name, values) for name, values in rates.items() if values),
    ]


def _share(verdict: Verdict) -> float:
    return sum(verdict.verifiers.values()) / len(verdict.verifiers)


def _test(name: str, rates: Sequence[tuple[float, float]]) -> str:
    published, own = (100 * sum(one) / len(rates) for one in zip(*rates, strict=True))
    differences = [own - published for published, own in rates]
    above, below = paired_mean([differences], len(rates)), paired_mean([[-value for value in differences]], len(rates))
    assert above is not None
    assert below is not None
    interval, p_value = above.interval(CONFIDENCE), max(above.p_below(MARGIN), below.p_below(MARGIN))
    within = "yes" if p_value < (1 - CONFIDENCE) / 2 else "not shown"
    bounds = f"{100 * interval.low:+.2f} to {100 * interval.high:+.2f}"
    means = f"{published:.1f} % | {own:.1f} % | {own - published:+.2f}"
    return f"| {name} | {len(rates)} | {means} | {bounds} | {p_value:.4f} | {within} |"


def _described(verdict: Verdict) -> str:
    failed = ", ".join(name for name, passed in verdict.verifiers.items() if not passed)
    ended = "passed" if verdict.passed else "failed"
    return " ".join(filter(None, [ended, verdict.reason and f"({verdict.reason[:200]})", failed and f"[{failed}]"]))
