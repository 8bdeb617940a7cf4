"""What the runs of a namespace may be together: refused or made to wait before anything is frozen."""

from __future__ import annotations

import pytest
from tests.operator.fleet import CONFIG, Fleet, SimRun, entry, model
from tests.operator.plan.test_whole_runs import spec

from opsgym_api.kinds.evalrun import Agent, Suite
from opsgym_operator.config import OperatorConfig, Quota, Quotas

TASKS = [entry("a"), entry("b"), entry("c", "csm")]


def config(**quota: int) -> OperatorConfig:
    return CONFIG.model_copy(update={"quotas": Quotas(default=Quota.model_validate(quota))})


def fleet_with(config: OperatorConfig) -> Fleet:
    fleet = Fleet(config=config)
    fleet.models["gpt"] = model("gpt", max_concurrency=100)
    fleet.models["other"] = model("other", max_concurrency=100)
    return fleet


def started(fleet: Fleet, name: str, trials: int) -> SimRun:
    run = fleet.apply(name, spec(trials=trials), TASKS)
    fleet.plan()
    fleet.end_one()
    fleet.plan()
    return run


def stalled(run: SimRun) -> tuple[str, str]:
    condition = next(item for item in run.status.conditions if item.type == "Stalled")
    return condition.reason, condition.message


def test_more_combinations_than_cells_are_refused_before_a_preflight() -> None:
    fleet = fleet_with(config(cells=10))
    agents = [Agent(name=f"a{number}") for number in range(11)]
    run = fleet.apply("large", spec(agents=agents, suite=Suite(builtin="q")), TASKS)
    fleet.plan()
    assert not fleet.jobs
    assert not run.preflights
    assert run.record is None
    assert stalled(run)[0] == "TooLarge"
    assert "11 cells, limit 10" in stalled(run)[1]
    assert run.condition("Accepted") == "False TooLarge"


@pytest.mark.parametrize(
    ("quota", "message"), [({"trials": 8}, "9 trials, limit 8"), ({"cells": 1}, "2 cells, limit 1")]
)
def test_what_only_the_suite_tells_is_refused_after_the_preflight_and_never_frozen(
    quota: dict[str, int], message: str
) -> None:
    fleet = fleet_with(config(**quota))
    run = fleet.apply("large", spec(trials=3), TASKS)
    fleet.run_out()
    assert run.record is None
    assert not run.started
    assert stalled(run)[0] == "TooLarge"
    assert message in stalled(run)[1]


def test_a_run_that_does_not_fit_beside_others_waits_and_starts_when_they_have_finished() -> None:
    fleet = fleet_with(config(trials=10))
    first, second = (fleet.apply(name, spec(trials=2), TASKS) for name in ("first", "second"))
    held: list[str] = []

    def check() -> None:
        unfinished = [run for run in (first, second) if run.record is not None and not run.status.finished_at]
        assert len(unfinished) <= 1
        if second.record is None and first.record is not None:
            held.append(stalled(second)[1])

    fleet.run_out(check=check)
    assert any("6 trials beside 6 of other runs, limit 10" in message for message in held)
    assert [run.status.progress for run in (first, second)] == ["6/6", "6/6"]


def test_a_smaller_run_goes_ahead_of_one_that_does_not_fit() -> None:
    fleet = fleet_with(config(trials=10))
    fleet.apply("first", spec(trials=2), TASKS)
    large = fleet.apply("large", spec(trials=3), TASKS)
    small = fleet.apply("small", spec(), TASKS)
    seen: list[bool] = []
    fleet.run_out(check=lambda: seen.append(small.record is not None and large.record is None))
    assert any(seen)
    assert large.status.progress == "9/9"


def test_the_pods_of_all_models_keep_to_the_quota_and_every_model_gets_some() -> None:
    fleet = fleet_with(config(pods=4))
    tasks = [entry(f"t{number}") for number in range(20)]
    runs = [fleet.apply("one", spec(refs=("gpt",)), tasks), fleet.apply("two", spec(refs=("other",)), tasks)]
    most = {"gpt": 0, "other": 0, "together": 0}

    def check() -> None:
        busy = {name: fleet.busy(name) for name in ("gpt", "other")}
        for name, count in (*busy.items(), ("together", sum(busy.values()))):
            most[name] = max(most[name], count)

    fleet.run_out(check=check)
    assert most["together"] <= 4
    assert most["gpt"]
    assert most["other"]
    assert [run.status.progress for run in runs] == ["20/20", "20/20"]


def test_a_frozen_run_is_not_refused_when_the_quota_is_lowered() -> None:
    fleet = fleet_with(config())
    run = started(fleet, "first", 2)
    assert run.record is not None
    fleet.config = config(trials=1)
    fleet.run_out()
    assert run.status.progress == "6/6"


def test_a_namespace_of_its_own_quota_has_no_other() -> None:
    quotas = Quotas(default=Quota(trials=1), namespaces={"team": Quota(trials=6)})
    fleet = fleet_with(CONFIG.model_copy(update={"quotas": quotas}))
    run = fleet.apply("first", spec(trials=2), TASKS)
    fleet.run_out()
    assert run.status.progress == "6/6"
