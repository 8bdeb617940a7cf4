"""Scores of hand-made records whose sums are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import AttemptRecord, Cell, Timings, TrialRecord, Usage, VerifierResult, Versions
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.compaction import compact
from opsgym_core.results.coverage import Coverage
from opsgym_core.results.load import find_run, list_runs, load_rows, load_run
from opsgym_core.results.score import PENDING, Ratio, RunResults, summarise
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore

ITSM = Cell(model="m", agent="react", mode="oracle", domain="itsm")
CSM = ITSM.model_copy(update={"domain": "csm"})
STARTED = Timings(started_at="2026-01-01T00:00:00Z", total_s=2.0)


def run(cells: dict[Cell, list[str]], *, trials: int = 1, name: str = "r.1", created: str = "2026-01-01") -> RunRecord:
    return RunRecord(
        run=name,
        name=name.split(".", maxsplit=1)[0],
        spec={},
        task_ids=sorted({task for tasks in cells.values() for task in tasks}),
        cells=[PlannedCell(cell=cell, task_ids=tasks) for cell, tasks in cells.items()],
        trials=trials,
        suite_digest="d",
        opsgym="0",
        created_at=created,
    )


def verifier(*, passed: bool, category: str = "task_completion", executed: bool = True) -> VerifierResult:
    return VerifierResult(
        index=0,
        name="v",
        verifier_type="database_state",
        category=category,
        executed=executed,
        passed=passed,
        published_passed=passed,
    )


def trial(
    task: str,
    score: int,
    *,
    number: int = 0,
    cell: Cell = ITSM,
    cost: float | None = 0.5,
    verifiers: tuple[VerifierResult, ...] = (),
) -> TrialRecord:
    return TrialRecord(
        run="r.1",
        cell=cell,
        task_id=task,
        trial=number,
        attempt=0,
        outcome=Outcome.PASSED if score else Outcome.FAILED,
        reason="" if score else "verifiers",
        score=score,
        published_score=score,
        verifiers=verifiers,
        answer="",
        stopped_by="answer",
        usage=Usage(model_calls=3, prompt_tokens=10, completion_tokens=5),
        cost_usd=cost,
        steps=3,
        tool_calls=2,
        tool_errors=0,
        model_retries=0,
        timings=STARTED,
        versions=Versions(opsgym="0", python="3", litellm="1", task_digest="d"),
    )


def attempt(
    task: str,
    outcome: Outcome | None,
    *,
    number: int = 0,
    reason: str = "",
    cost: float | None = 0.25,
    cell: Cell = ITSM,
) -> AttemptRecord:
    return AttemptRecord(
        run="r.1", cell=cell, task_id=task, trial=0, attempt=number, outcome=outcome, reason=reason, cost_usd=cost,
        timings=STARTED,
    )  # fmt: skip


def test_trials_that_outgrew_the_models_context_are_failures_and_stay_in_the_rate() -> None:
    """20 passed, 50 failed their verifiers, 30 overflowed: 20 of 100, not 20 of 70."""
    tasks = [f"task-{number:03d}" for number in range(100)]
    trials = [trial(task, int(number < 20)) for number, task in enumerate(tasks)]
    trials[70:] = [replace(record, reason="context_overflow") for record in trials[70:]]

    (cell,) = summarise(RunResults(run({ITSM: tasks}), trials)).cells

    assert cell.score.success_rate == 0.2
    assert (cell.score.not_scored, cell.score.fail_reasons) == ({}, {"verifiers": 50, "context_overflow": 30})


def test_a_rate_counts_scored_trials_only_and_unscored_ones_are_listed() -> None:
    results = RunResults(
        run({ITSM: ["a", "b", "c", "d", "e"]}),
        [trial("a", 1), trial("b", 0)],
        [
            attempt("c", Outcome.INFRA_ERROR, reason="gym_lost"),
            attempt("d", None),
        ],
    )
    (cell,) = summarise(results).cells
    assert (cell.score.total, cell.score.passed, cell.score.failed) == (5, 1, 1)
    assert cell.score.success_rate == 0.5
    assert cell.score.not_scored == {"infra_error/gym_lost": 1, PENDING: 2}
    assert cell.score.fail_reasons == {"verifiers": 1}


def test_without_scored_trials_there_is_no_rate() -> None:
    total = summarise(RunResults(run({ITSM: ["a"]}), [])).total
    assert (total.success_rate, total.mean_steps, total.verifiers.rate, total.cost_usd) == (None, None, None, 0.0)


def test_several_trials_of_a_task_weigh_as_one_task() -> None:
    trials = [trial("a", 1), trial("a", 0, number=1), trial("b", 1)]
    total = summarise(RunResults(run({ITSM: ["a", "b"]}, trials=2), trials)).total
    assert total.success_rate == 0.75
    assert total.not_scored == {PENDING: 1}


def test_both_averages_are_given() -> None:
    trials = [trial("a", 1), trial("b", 1), trial("c", 1), trial("x", 0, cell=CSM)]
    (agent,) = summarise(RunResults(run({ITSM: ["a", "b", "c"], CSM: ["x"]}), trials)).agents
    assert (agent.score.success_rate, agent.success_over_domains) == (0.75, 0.5)


def test_every_attempt_that_was_paid_for_is_in_the_cost() -> None:
    attempts = [
        attempt("a", Outcome.INFRA_ERROR, reason="gym_lost"),
        attempt("a", Outcome.PASSED, number=1, cost=0.5),
        attempt("b", None, cost=0.125),
    ]
    scored = replace(trial("a", 1), attempt=1)
    assert summarise(RunResults(run({ITSM: ["a", "b"]}), [scored], attempts)).total.cost_usd == 0.875


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    results = RunResults(run({ITSM: ["a", "b"]}), [trial("a", 1), trial("b", 1, cost=None)])
    assert summarise(results).total.cost_usd is None


def test_an_error_that_a_later_attempt_recovered_from_is_not_counted() -> None:
    attempts = [attempt("a", Outcome.INFRA_ERROR, reason="gym_lost")]
    assert summarise(RunResults(run({ITSM: ["a"]}), [trial("a", 1)], attempts)).total.not_scored == {}


def test_verifiers_are_counted_by_category() -> None:
    verifiers = (
        verifier(passed=True),
        verifier(passed=False, category="side_effect"),
        verifier(passed=False, executed=False),
    )
    total = summarise(RunResults(run({ITSM: ["a"]}), [trial("a", 0, verifiers=verifiers)])).total
    assert total.verifiers == Ratio(1, 2)
    assert total.categories == {"task_completion": Ratio(1, 1), "side_effect": Ratio(0, 1)}


def write(store: Store, record: RunRecord) -> None:
    store.put(RunKeys(record.run).run_json, record.model_dump_json().encode())


def test_a_run_is_read_back_as_it_was_written(store: Store) -> None:
    record, scored, lost = run({ITSM: ["a", "b"]}), trial("a", 1), attempt("b", Outcome.INFRA_ERROR)
    write(store, record)
    keys = RunKeys(record.run)
    store.put(keys.trial(ITSM, "a", 0).record, scored.to_json())
    store.put(keys.trial(ITSM, "a", 0).transcript, b"not a record")
    store.put(keys.trial(ITSM, "b", 0).attempt(0), lost.to_json())
    assert load_run(store, record.run) == RunResults(record, [scored], [lost])


def test_a_run_is_found_by_id_name_or_prefix(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    for name, created in (("night.aa1", "2026-01-01"), ("night.bb2", "2026-01-03"), ("day.cc3", "2026-01-02")):
        write(store, run({ITSM: ["a"]}, name=name, created=created))
    assert [record.run for record in list_runs(store).runs] == ["night.aa1", "day.cc3", "night.bb2"]
    assert find_run(store, "night.aa1") == "night.aa1"
    assert find_run(store, "night") == "night.bb2"
    assert find_run(store, "da") == "day.cc3"
    with pytest.raises(InputError, match="matches several runs"):
        find_run(store, "nig")
    with pytest.raises(InputError, match=r"holds no run 'week'; runs there: day\.cc3, night\.aa1, night\.bb2$"):
        find_run(store, "week")


def test_a_run_that_is_not_there_costs_one_listing_however_many_runs_are() -> None:
    class Listed(LocalStore):
        def get(self, key: str) -> bytes | None:
            raise AssertionError(f"{key} was read")

        def folders(self, folder: str) -> Iterator[str]:
            return (f"team.run-{number:03}.u" for number in range(500))

    listed = ", ".join(f"team.run-{number:03}.u" for number in range(10))
    with pytest.raises(InputError) as error:
        find_run(Listed(Path("nowhere")), "nightly")
    assert error.value.problems[0].message == f"holds no run 'nightly'; runs there: {listed} and 490 more"


def test_an_unreadable_record_costs_its_own_trial_only(store: Store) -> None:
    write(store, run({ITSM: ["a", "b"], CSM: ["x"]}))
    for cell, task in ((ITSM, "b"), (CSM, "x")):
        store.put(RunKeys("r.1").trial(cell, task, 0).record, replace(trial(task, 1), cell=cell).to_json())
    key = RunKeys("r.1").trial(ITSM, "a", 0).record
    store.put(key, b"{}")
    total = summarise(load_rows(store, "r.1")).total
    assert (total.total, total.passed, dict(total.not_scored)) == (3, 2, {"config_error/unreadable_record": 1})
    assert total.cost_usd is None, "what the trial cost is unknown"
    (row,) = (row for cell in load_rows(store, "r.1").cells for row in cell.attempts)
    assert row.message.startswith(f"{store.name}/{key}: is not a valid TrialRecord")
    records = load_run(store, "r.1")
    assert {record.task_id for record in records.trials} == {"b", "x"}
    assert [key in problem for problem in records.unreadable] == [True]


def test_an_unreadable_trial_keeps_the_spend_of_its_attempt(store: Store) -> None:
    write(store, run({ITSM: ["a"]}))
    keys = RunKeys("r.1").trial(ITSM, "a", 0)
    store.put(keys.record, b"half a rec")
    store.put(keys.attempt(0), replace(attempt("a", Outcome.PASSED), cost_usd=0.5).to_json())
    total = summarise(load_rows(store, "r.1")).total
    assert (dict(total.not_scored), total.cost_usd) == ({"config_error/unreadable_record": 1}, 0.5)


def test_an_unreadable_record_is_not_compacted_and_counts_once_it_is_restored(store: Store) -> None:
    record = run({ITSM: ["a", "b"]})
    write(store, record)
    key = RunKeys("r.1").trial(ITSM, "a", 0).record
    store.put(key, b"{}")
    store.put(RunKeys("r.1").trial(ITSM, "b", 0).record, trial("b", 1).to_json())
    compact(store, record)
    store.put(key, trial("a", 1).to_json())
    assert summarise(load_rows(store, "r.1")).total.passed == 2


def test_a_run_whose_record_is_unreadable_hides_no_other(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    write(store, run({ITSM: ["a"]}, name="night.aa1"))
    store.put(RunKeys("night.zz9").run_json, b"{}")
    listed = list_runs(store)
    assert [record.run for record in listed.runs] == ["night.aa1"]
    assert list(listed.unreadable) == ["night.zz9"]
    assert find_run(store, "night") == "night.aa1"
    with pytest.raises(InputError, match=r"night\.zz9/run\.json: is not a valid RunRecord"):
        find_run(store, "night.zz9")


def test_pass_at_k_and_pass_all_k_are_means_over_tasks_with_at_least_k_trials() -> None:
    trials = [
        *(trial("a", score, number=number) for number, score in enumerate((1, 0, 0))),
        *(trial("b", score, number=number) for number, score in enumerate((1, 1, 1))),
        *(trial("c", score, number=number) for number, score in enumerate((1, 0))),
    ]
    total = summarise(RunResults(run({ITSM: ["a", "b", "c"]}, trials=3), trials)).total
    assert total.success_rate == pytest.approx((1 / 3 + 1 + 1 / 2) / 3)
    two, three = total.repeats
    assert (two.k, two.tasks, three.k, three.tasks) == (2, 3, 3, 2)
    assert two.any_passes == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert two.all_pass == pytest.approx((0 + 1 + 0) / 3)
    assert (three.any_passes, three.all_pass) == (1, 0.5)


def test_one_trial_of_each_task_gives_no_pass_at_k() -> None:
    assert summarise(RunResults(run({ITSM: ["a"]}), [trial("a", 1)])).total.repeats == []


def test_success_is_broken_down_by_gold_steps() -> None:
    steps = {"a": 0, "b": 4, "c": 5, "d": 12, "e": 13, "f": 17, "g": 40, "h": None}
    trials = [replace(trial(task, task in "bh"), horizon=count) for task, count in steps.items()]
    total = summarise(RunResults(run({ITSM: list(steps)}), trials)).total
    assert {name: (score.tasks, score.rate) for name, score in total.horizons.items()} == {
        "<=4": (2, 0.5), "5-8": (1, 0), "9-12": (1, 0), "13-16": (1, 0), ">=17": (2, 0), "unknown": (1, 1),
    }  # fmt: skip


def test_success_is_shown_with_and_without_the_tasks_of_a_tag() -> None:
    tags = {"a": ("hostile",), "b": ("hostile", "long"), "c": (), "d": ()}
    trials = [replace(trial(task, task in "ac"), tags=marks) for task, marks in tags.items()]
    trials += [trial("x", 1, cell=CSM)]
    summary = summarise(RunResults(run({ITSM: [*tags, "lost"], CSM: ["x"]}), trials))
    assert {name: (score.tasks, score.rate) for name, score in summary.total.tags.items()} == {
        "hostile": (2, 0.5), "not hostile": (3, pytest.approx(2 / 3)), "long": (1, 0), "not long": (4, 0.75),
    }  # fmt: skip
    assert [cell.score.tags.keys() for cell in summary.cells] == [summary.total.tags.keys(), set()]


def test_a_task_without_a_score_has_the_tags_that_another_cell_tells() -> None:
    other = ITSM.model_copy(update={"model": "n"})
    trials = [replace(trial("a", 1, cell=cell), tags=("hostile",)) for cell in (ITSM, other)]
    trials += [trial("b", 1, cell=other)]
    first, _ = summarise(RunResults(run({ITSM: ["a", "b"], other: ["a", "b"]}), trials)).cells
    without = first.score.tags["not hostile"]
    assert (without.tasks, without.rate, without.coverage) == (0, None, Coverage(1, 0, {PENDING: 1}, 0.0, 1.0))


def test_cost_per_task_and_per_success_is_the_agents_and_counts_every_attempt() -> None:
    attempts = [attempt("a", Outcome.INFRA_ERROR, reason="gym_lost", cost=1.0)]
    trials = [
        replace(trial("a", 1, cost=2.0), attempt=1, judge_cost_usd=0.5),
        trial("b", 0, cost=1.5),
        trial("c", 1, cost=1.0),
    ]
    total = summarise(RunResults(run({ITSM: ["a", "b", "c"]}), trials, attempts)).total
    assert (total.cost_usd, total.judge_cost_usd, total.agent_cost_usd) == (5.5, 0.5, 5.0)
    assert total.cost_per_task == pytest.approx(5 / 3)
    assert total.cost_per_success == 2.5


@pytest.mark.parametrize("judge", [0.0, None])
def test_any_unknown_cost_makes_the_derived_costs_unknown(judge: float | None) -> None:
    trials = [replace(trial("a", 1, cost=None if judge == 0 else 1.0), judge_cost_usd=judge)]
    total = summarise(RunResults(run({ITSM: ["a"]}), trials)).total
    assert (total.agent_cost_usd, total.cost_per_task, total.cost_per_success) == (None, None, None)


def test_without_passed_trials_there_is_no_cost_per_success() -> None:
    total = summarise(RunResults(run({ITSM: ["a"]}), [trial("a", 0)])).total
    assert (total.cost_per_task, total.cost_per_success) == (0.5, None)


def test_a_trial_record_overrides_the_record_of_its_attempt() -> None:
    """A runner that was killed between the two writes left its attempt open, with less than was spent."""
    open_attempt = attempt("a", None, cost=0.125)
    assert summarise(RunResults(run({ITSM: ["a"]}), [trial("a", 1, cost=0.5)], [open_attempt])).total.cost_usd == 0.5


def test_tokens_of_planner_and_judge_are_counted_separately() -> None:
    usage: dict[str, Any] = {
        "planner_usage": Usage(model_calls=1, prompt_tokens=4),
        "judge_usage": Usage(model_calls=2),
    }
    trials = [replace(trial("a", 1), **usage), replace(trial("b", 1), **usage)]
    total = summarise(RunResults(run({ITSM: ["a", "b"]}), trials)).total
    assert (total.usage.prompt_tokens, total.usage.model_calls) == (20, 6)
    assert (total.planner_usage.prompt_tokens, total.judge_usage.model_calls) == (8, 4)


def test_durations_of_scored_trials_have_mean_median_and_95th_percentile() -> None:
    timings = [replace(STARTED, total_s=float(seconds)) for seconds in range(1, 21)]
    trials = [replace(trial(f"t{n}", 1), timings=timing) for n, timing in enumerate(timings)]
    total = summarise(RunResults(run({ITSM: [f"t{n}" for n in range(20)]}), trials)).total
    assert (total.mean_seconds, total.p50_seconds, total.p95_seconds) == (10.5, 10, 19)


def test_the_order_of_records_changes_nothing() -> None:
    trials = [trial(f"t{n}", n % 3 == 0, cost=0.1 * n, cell=CSM if n % 2 else ITSM) for n in range(12)]
    record = run({ITSM: [f"t{n}" for n in range(0, 12, 2)], CSM: [f"t{n}" for n in range(1, 12, 2)]})
    assert summarise(RunResults(record, trials)) == summarise(RunResults(record, trials[::-1]))


def test_the_mean_over_domains_has_an_interval_of_its_own() -> None:
    many = [trial(f"t{n}", n % 2) for n in range(40)]
    few = [trial("x", 1, cell=CSM), trial("y", 0, cell=CSM)]
    record = run({ITSM: [f"t{n}" for n in range(40)], CSM: ["x", "y"]})
    (agent,) = summarise(RunResults(record, [*many, *few])).agents
    over_tasks, over_domains = agent.score.success.interval, agent.domains_interval
    assert over_tasks is not None
    assert over_domains is not None
    assert over_domains.high - over_domains.low > 1.4 * (over_tasks.high - over_tasks.low)


def test_a_total_counts_a_task_once_however_many_cells_have_it() -> None:
    """8 cells of the same 10 tasks prove no more about other tasks than one cell does."""
    cells = [ITSM.model_copy(update={"model": f"m{number}"}) for number in range(8)]
    tasks = [f"t{number}" for number in range(10)]
    trials = [trial(task, int(position < 5), cell=cell) for cell in cells for position, task in enumerate(tasks)]
    summary = summarise(RunResults(run(dict.fromkeys(cells, tasks)), trials))
    total, single = summary.total.success, summary.cells[0].score.success
    assert (total.tasks, total.trials) == (10, Ratio(40, 80))
    assert total.rate == 0.5
    assert total.interval is not None
    assert single.interval is not None
    width = single.interval.high - single.interval.low
    assert total.interval.high - total.interval.low == pytest.approx(width, rel=0.2)


def test_a_total_weighs_the_cells_of_a_task_alike() -> None:
    other = ITSM.model_copy(update={"model": "n"})
    trials = [trial("a", 1), trial("a", 1, number=1), trial("a", 0, cell=other)]
    total = summarise(RunResults(run({ITSM: ["a"], other: ["a"]}, trials=2), trials)).total
    assert (total.success_rate, total.worst_rate, total.best_rate) == (0.5, 0.5, 0.75)


def test_rates_have_a_worst_and_a_best_case() -> None:
    """20 of 100 tasks pass, 30 have no score: the rate is between 20 % and 50 %, whatever the scored ones say."""
    tasks = [f"t{number}" for number in range(100)]
    trials = [trial(task, int(number < 20)) for number, task in enumerate(tasks[:70])]
    attempts = [
        attempt(task, Outcome.INFRA_ERROR, number=number, reason="gym_lost")
        for task in tasks[70:]
        for number in range(3)
    ]
    summary = summarise(RunResults(run({ITSM: tasks}), trials, attempts))
    (cell,), (agent,) = summary.cells, summary.agents
    assert cell.score.success_rate == pytest.approx(20 / 70)
    assert (cell.score.worst_rate, cell.score.best_rate) == pytest.approx((0.2, 0.5))
    assert (agent.worst_over_domains, agent.best_over_domains) == pytest.approx((0.2, 0.5))
    assert (cell.score.attempts, cell.score.attempts_per_scored) == (160, 160 / 70)


def test_the_worst_and_best_case_of_a_horizon_count_the_unscored_trials_of_its_tasks() -> None:
    """Another cell tells the horizon of a task that a cell did not score; without any, it is unknown."""
    other = ITSM.model_copy(update={"model": "n"})
    scored = [trial("a", 1), trial("a", 0, cell=other), trial("b", 1, cell=other)]
    trials = [replace(one, horizon=3) for one in scored]
    attempts = [attempt("b", Outcome.INFRA_ERROR, number=number, reason="gym_lost") for number in range(2)]
    summary = summarise(RunResults(run({ITSM: ["a", "b", "c"], other: ["a", "b"]}), trials, attempts))
    first, second = (cell.score.horizons for cell in summary.cells)
    assert first.keys() == {"<=4", "unknown"}
    assert second.keys() == {"<=4"}
    small, unknown = first["<=4"], first["unknown"]
    lost = {"infra_error/gym_lost": 1}
    assert (small.tasks, small.rate, small.coverage) == (1, 1.0, Coverage(2, 1, lost, 0.5, 1.0))
    assert small.attempts_per_scored == 3
    assert (unknown.tasks, unknown.rate, unknown.coverage) == (0, None, Coverage(1, 0, {PENDING: 1}, 0.0, 1.0))


def test_the_interval_of_100_and_2_tasks_admits_how_little_two_tasks_say() -> None:
    many, few = [f"t{number}" for number in range(100)], ["x", "y"]
    trials = [trial(task, number % 2) for number, task in enumerate(many)] + [trial(task, 1, cell=CSM) for task in few]
    (agent,) = summarise(RunResults(run({ITSM: many, CSM: few}), trials)).agents
    assert agent.success_over_domains == 0.75
    assert agent.domains_interval is not None
    assert agent.domains_interval.low < 0.45
