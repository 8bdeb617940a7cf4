"""What may be deleted of the runs of a store, and what a gate still compares with stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.cli.runs import CELL, put_run, put_trial

from opsgym_api.kinds.evalrun import Gate
from opsgym_api.kinds.history import History, Keep
from opsgym_api.records.gate import GateRecord, Look, LookRecord, Verdict
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunPods
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.gates.baseline import find_baseline, find_last_good
from opsgym_core.gates.pruning import erase, plan, survey
from opsgym_core.results.load import list_runs, load_record, load_run
from opsgym_core.results.retention import Deletion, Kind, Series, Stays, StoredRun, due_kinds
from opsgym_core.store.base import ErasableStore, StoreError

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
LATER = datetime.now(UTC) + timedelta(days=400)
"""A time at which whatever the tests write is old."""
EVERYTHING = History(records=Keep(days=1))
PLAN = [PlannedCell(cell=CELL, task_ids=["a"])]


def runs_of(count: int, series: str = "nightly") -> list[StoredRun]:
    """Runs of one a day."""
    return [StoredRun(f"{series}.{day}", Series("", series), EPOCH + timedelta(days=day)) for day in range(count)]


@pytest.mark.parametrize(
    ("keep", "due"),
    [
        (Keep(days=7), [0, 1, 2]),
        (Keep(runs=4), [0, 1, 2, 3, 4, 5]),
        (Keep(days=7, runs=4), [0, 1, 2]),
        (Keep(days=2, runs=9), [0]),
        (None, []),
    ],
)
def test_objects_stay_while_their_run_is_young_or_among_the_newest(keep: Keep | None, due: Sequence[int]) -> None:
    now = EPOCH + timedelta(days=10)
    kinds = due_kinds(runs_of(10), History(states=keep), now)
    assert kinds == {f"nightly.{day}": (Kind.STATES,) for day in due}


def test_runs_are_counted_by_series_and_the_oldest_is_deleted_first() -> None:
    runs = [*runs_of(2, "b"), *runs_of(3, "a")]
    assert list(due_kinds(runs, History(records=Keep(runs=1)), LATER)) == ["a.0", "b.0", "a.1"]


def put_whole_run(store: ErasableStore, run: str, day: int = 1, **fields: Any) -> None:
    """A run of one trial, with an object of every kind."""
    put_run(store, run, PLAN, created_at=f"2026-01-{day:02}T00:00:00Z", **fields)
    put_trial(store, run, "a", Outcome.PASSED)
    keys = RunKeys(run).trial(CELL, "a", 0)
    for key in (keys.transcript, keys.reasoning, keys.failed_transcript(0), f"{RunKeys(run).report}index.html"):
        store.put(key, b"transcript")
    for key in (keys.state("itsm"), keys.difference("itsm")):
        store.put(key, b"state")


def put_verdict(store: ErasableStore, run: str, verdict: Verdict, day: int, **fields: Any) -> GateRecord:
    record = GateRecord(run=run, verdict=verdict, checks=[], decided_at=f"2026-02-{day:02}T00:00:00Z", **fields)
    store.put(RunKeys(run).gate_json, record.model_dump_json().encode())
    return record


def steps(store: ErasableStore, history: History, now: datetime = LATER) -> dict[str, Deletion | Stays]:
    surveyed = survey(store)
    return {step.run: step for step in plan(store, surveyed, due_kinds(surveyed.runs.values(), history, now), now)}


def deleted(store: ErasableStore, history: History = EVERYTHING) -> list[str]:
    """Deletes what may go; the runs of which something went."""
    deletions = [step for step in steps(store, history).values() if isinstance(step, Deletion)]
    for deletion in deletions:
        erase(store, deletion)
    return [deletion.run for deletion in deletions]


def reason(store: ErasableStore, run: str, now: datetime = LATER) -> str:
    step = steps(store, EVERYTHING, now)[run]
    assert isinstance(step, Stays)
    return step.reason


def test_each_kind_goes_by_its_own_time_and_scores_stay_with_the_records(store: ErasableStore) -> None:
    put_whole_run(store, "nightly.1")
    keys = RunKeys("nightly.1").trial(CELL, "a", 0)

    assert deleted(store, History(states=Keep(days=30))) == ["nightly.1"]
    assert [key for key in store.keys(keys.base) if "state" in key or "difference" in key] == []
    assert store.get(keys.transcript) is not None

    assert deleted(store, History(states=Keep(days=30), transcripts=Keep(days=60))) == ["nightly.1"]
    assert list(store.keys(RunKeys("nightly.1").root)) == [keys.record, RunKeys("nightly.1").run_json]
    assert len(load_run(store, "nightly.1").trials) == 1

    assert deleted(store, History(states=Keep(days=30), transcripts=Keep(days=60))) == []


def test_a_whole_run_goes_with_everything_it_wrote_and_no_other_with_it(store: ErasableStore) -> None:
    put_whole_run(store, "nightly.1")
    put_whole_run(store, "nightly.10", 2)
    before = {one.key: one.size for one in store.objects("runs/nightly.1/")}

    step = steps(store, History(records=Keep(runs=1)))["nightly.1"]
    assert isinstance(step, Deletion)
    assert (len(step.objects), step.size) == (len(before), sum(before.values()))
    assert step.objects[0].key == RunKeys("nightly.1").run_json

    assert deleted(store, History(records=Keep(runs=1))) == ["nightly.1"]
    assert list(store.folders("runs")) == ["nightly.10"]
    assert len(load_run(store, "nightly.10").trials) == 1


class Interrupted(Exception):
    """The process was killed."""


@pytest.mark.parametrize("calls", [1, 2])
def test_an_interrupted_deletion_shows_no_run_without_its_records_and_goes_on(
    store: ErasableStore, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    put_whole_run(store, "nightly.1")
    step = steps(store, EVERYTHING)["nightly.1"]
    assert isinstance(step, Deletion)
    delete, left = store.delete, [calls]

    def until_killed(keys: Sequence[str]) -> None:
        if not left[0]:
            raise Interrupted
        left[0] -= 1
        delete(keys)

    with monkeypatch.context() as patched:
        patched.setattr(store, "delete", until_killed)
        with pytest.raises(Interrupted):
            erase(store, step)

    assert list_runs(store).runs == []
    assert deleted(store, History(states=Keep(days=30_000))) == ["nightly.1"]
    assert list(store.keys("runs/")) == []


def test_a_deletion_that_is_refused_leaves_the_run_as_it_was_and_is_planned_again(
    store: ErasableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_whole_run(store, "nightly.1")
    step = steps(store, EVERYTHING)["nightly.1"]
    assert isinstance(step, Deletion)

    def refuse(keys: Sequence[str]) -> None:
        raise StoreError(store.name, keys[0], "denied")

    with monkeypatch.context() as patched:
        patched.setattr(store, "delete", refuse)
        with pytest.raises(StoreError):
            erase(store, step)

    assert len(load_run(store, "nightly.1").trials) == 1
    assert deleted(store) == ["nightly.1"]


def test_a_run_that_was_written_to_within_a_day_or_is_pinned_or_has_not_ended_stays(store: ErasableStore) -> None:
    pods = RunPods(images={}, database_megabytes=1)
    put_whole_run(store, "going-on.1")
    put_whole_run(store, "evals.cluster.2", name="cluster", pods=pods)
    assert "may be going on" in reason(store, "going-on.1", datetime.now(UTC) + timedelta(hours=23))
    assert "has not ended" in reason(store, "evals.cluster.2")

    store.put(RunKeys("going-on.1").pin_json, b"{}")
    assert "is pinned" in reason(store, "going-on.1")
    store.delete([RunKeys("going-on.1").pin_json])
    store.put(RunKeys("evals.cluster.2").figures_json, b"{}")
    assert sorted(deleted(store)) == ["evals.cluster.2", "going-on.1"]


def test_a_record_or_a_gate_that_cannot_be_read_is_named_and_its_run_stays(store: ErasableStore) -> None:
    store.put(RunKeys("new.1").run_json, b'{"version": 99}')
    put_whole_run(store, "newer.2", spec={"gate": {"likeNoOther": 1}})
    assert [error.source for error in survey(store).unreadable] == [
        f"{store.name}/runs/{run}/run.json" for run in ("new.1", "newer.2")
    ]
    assert deleted(store) == []


def test_a_run_that_never_began_stays(store: ErasableStore) -> None:
    store.put(RunKeys("preflight.1").probe, b"x")
    assert deleted(store) == []


def test_the_run_that_another_was_rescored_from_stays_with_it(store: ErasableStore) -> None:
    put_whole_run(store, "nightly.1")
    put_whole_run(store, "better.2", 9, rescored_from="nightly.1")
    store.put(RunKeys("better.2").pin_json, b"{}")
    history = History(records=Keep(runs=1))
    put_whole_run(store, "nightly.3", 10)
    assert isinstance(steps(store, history)["nightly.1"], Stays)


LAST_GOOD = {"gate": {"lastGood": True, "bestOf": 2, "maxRegression": 0.1}}


def scheduled(store: ErasableStore, day: int, verdict: Verdict | None, gate: dict[str, Any], **fields: Any) -> str:
    run = f"evals.nightly-{day}.u{day}"
    spec = {"suite": {"builtin": "quickstart"}, **gate}
    put_whole_run(store, run, day, name=f"nightly-{day}", schedule="nightly", spec=spec)
    if verdict is not None:
        put_verdict(store, run, verdict, day, **fields)
    return run


def test_the_last_good_runs_and_the_first_of_a_schedule_stay_and_the_next_gate_compares_with_the_same(
    store: ErasableStore,
) -> None:
    first = scheduled(store, 1, "GO", LAST_GOOD)
    anchored = {"anchor": first, "baseline": first}
    scheduled(store, 2, "GO", LAST_GOOD, **anchored)
    good = [scheduled(store, day, "GO", LAST_GOOD, success=1 / day, **anchored) for day in (3, 4)]
    bad = [scheduled(store, day, "NO-GO", LAST_GOOD, **anchored) for day in (5, 6)]
    before = find_last_good(store, load_record(store, bad[-1]), 2)

    went = deleted(store)

    assert went == ["evals.nightly-2.u2", bad[0]]
    after = find_last_good(store, load_record(store, bad[-1]), 2)
    assert before == after
    assert before.scores is not None
    assert before.scores.run == good[0]
    assert before.anchor is not None
    assert before.anchor.run == first


@pytest.mark.parametrize("reference", ["release", "evals.release.1", "evals.rel"])
def test_the_run_that_a_gate_names_stays(store: ErasableStore, reference: str) -> None:
    put_whole_run(store, "evals.release.1", 2, name="release")
    put_whole_run(store, "evals.other.1", 2, name="other")
    gate = {"gate": {"baseline": reference, "maxRegression": 0.1}}
    own = scheduled(store, 5, "GO", gate)

    assert deleted(store) == ["evals.other.1", own]
    # The schedule has gone with its last run; while it has one, that run's gate holds its baseline.


def test_a_name_means_the_newest_run_so_older_ones_of_it_go(store: ErasableStore) -> None:
    for number in (1, 2, 3):
        put_whole_run(store, f"release.{number}", number)
    own = scheduled(store, 5, None, {"gate": {"baseline": "release", "maxRegression": 0.1}})
    before = find_baseline(store, "release", own)

    assert "release.1" in deleted(store, History(records=Keep(days=1)))

    assert find_baseline(store, "release", own) == before


def test_the_baseline_that_the_first_look_of_an_undecided_run_fixed_stays(store: ErasableStore) -> None:
    fixed, newer = (scheduled(store, day, "GO", LAST_GOOD) for day in (1, 2))
    scheduled(store, 3, "GO", LAST_GOOD, baseline=newer, anchor=newer)
    gate = {"gate": {"lastGood": True, "maxRegression": 0.1, "minTrials": 1}}
    own = scheduled(store, 4, None, gate)
    record = load_record(store, own).model_copy(update={"rounds": (1, 2)})
    store.put(RunKeys(own).run_json, record.model_dump_json().encode())
    judged = GateRecord(run=own, verdict="INCONCLUSIVE", checks=[], baseline=fixed, anchor=fixed, decided_at="2026")
    look = LookRecord(
        look=Look(rounds=(1, 2), number=1), stops=False, not_played=0, spent=0, confidence=0.9,
        guard_confidence=0.9, judged=judged,
    )  # fmt: skip
    store.put(RunKeys(own).look(1), look.model_dump_json().encode())

    assert "the gate of" in reason(store, fixed)


@pytest.mark.parametrize("gate", [LAST_GOOD["gate"], {"baseline": "nightly-1", "maxRegression": 0.1}])
def test_what_the_gate_of_a_run_to_come_compares_with_stays(store: ErasableStore, gate: dict[str, Any]) -> None:
    good = scheduled(store, 1, "GO", {})
    scheduled(store, 2, None, {})
    surveyed = survey(store, "evals.", [(Series("evals", "nightly", is_schedule=True), Gate.model_validate(gate))])
    assert surveyed.compared == {good: "the next nightly"}


def test_runs_of_other_namespaces_are_not_read(store: ErasableStore) -> None:
    store.put(RunKeys("other.new.1").run_json, b'{"version": 99}')
    own = scheduled(store, 1, None, {})
    surveyed = survey(store, "evals.")
    assert (list(surveyed.runs), surveyed.unreadable) == ([own], [])


def test_a_run_is_deleted_in_parts_without_being_shown_in_between(store: ErasableStore) -> None:
    put_whole_run(store, "nightly.1")
    step = steps(store, EVERYTHING)["nightly.1"]
    assert isinstance(step, Deletion)
    parts = 0
    while isinstance(step, Deletion):
        erase(store, step.first(4))
        assert list_runs(store).runs == []
        parts, step = parts + 1, steps(store, EVERYTHING).get("nightly.1", Stays("", ""))
    assert parts > 1
    assert list(store.keys("runs/")) == []
