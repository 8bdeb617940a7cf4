"""Plans skip scored trials, alternate between cells, and exceed neither concurrency ceilings nor the budget."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opsgym_api.errors import InputError
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import Agent, Budget, EvalRunSpec, Limits, Mode, ModelEntry, Suite
from opsgym_api.records.attempt import Cell, TrialId
from opsgym_api.records.run import Control
from opsgym_api.tasks.task import Task
from opsgym_core.planning.budget import affordable_trials, budget_gate
from opsgym_core.planning.cells import CellPlan, plan_cells
from opsgym_core.planning.run_id import numbered_run_id, run_id, suite_digest
from opsgym_core.planning.select import select_tasks
from opsgym_core.planning.trials import PlannedTrial, TrialQueue, plan_trials


def task(task_id: str, domain: str = "itsm") -> Task:
    return Task.model_validate(
        {
            "task_id": task_id,
            "user_prompt": "Close the incident.",
            "gym_servers_config": [{"mcp_server_name": f"gym-{domain}-mcp"}],
            "verifiers": [
                {
                    "verifier_type": "database_state",
                    "validation_config": {"query": "SELECT 1", "expected_value": 1},
                }
            ],
        }
    )


TASKS = [task("a"), task("b", "csm"), task("c"), task("d", "hr"), task("e", "csm")]


def ids(tasks: Sequence[Task]) -> list[str]:
    return [task.task_id for task in tasks]


def spec(**changes: object) -> EvalRunSpec:
    fields: dict[str, object] = {
        "suite": Suite(builtin="quickstart"),
        "models": [ModelEntry(name="gold", inline=ModelSpec(model="replay/gold"))],
    }
    return EvalRunSpec.model_validate(fields | changes)


# Selecting tasks


@pytest.mark.parametrize(
    ("suite", "selected"),
    [
        (Suite(builtin="q"), ["a", "b", "c", "d", "e"]),
        (Suite(builtin="q", domains=["csm", "hr"]), ["b", "d", "e"]),
        (Suite(builtin="q", ids=["e", "a"]), ["a", "e"]),
        (Suite(builtin="q", domains=["csm"], ids=["e"]), ["e"]),
        (Suite(builtin="q", limit=2), ["a", "b"]),
        (Suite(builtin="q", limit=99), ["a", "b", "c", "d", "e"]),
        (Suite(builtin="q", domains=["csm"], limit=1), ["b"]),
        (Suite(builtin="q", seed=1), ["a", "b", "c", "d", "e"]),
    ],
)
def test_filters_of_a_suite_apply_in_order(suite: Suite, selected: list[str]) -> None:
    assert ids(select_tasks(suite, TASKS)) == selected


@given(st.permutations(TASKS), st.integers(1, 6), st.integers(0, 2**31))
def test_a_sample_depends_on_the_seed_and_not_on_the_order_of_rows(shuffled: list[Task], limit: int, seed: int) -> None:
    suite = Suite(builtin="q", limit=limit, seed=seed)
    sample = select_tasks(suite, shuffled)
    assert set(ids(sample)) == set(ids(select_tasks(suite, TASKS)))
    assert len(sample) == min(limit, len(TASKS))
    assert ids(sample) == [task_id for task_id in ids(shuffled) if task_id in ids(sample)]
    assert set(ids(sample)) <= set(ids(select_tasks(Suite(builtin="q", limit=limit + 1, seed=seed), shuffled)))


def test_seeds_draw_different_samples() -> None:
    many = [task(f"t{number}") for number in range(50)]
    samples = {tuple(ids(select_tasks(Suite(builtin="q", limit=5, seed=seed), many))) for seed in range(20)}
    assert len(samples) == 20
    drawn = Counter(itertools.chain.from_iterable(samples))
    assert len(drawn) > 35, "every task should have a chance"


@pytest.mark.parametrize(
    ("suite", "problems"),
    [
        (
            Suite(builtin="q", ids=["task-1O", "b"]),
            ["spec.suite.ids[0]: unknown task id 'task-1O'; similar ids: task-11, task-10"],
        ),
        (
            Suite(builtin="q", ids=["zzz"]),
            ["spec.suite.ids[0]: unknown task id 'zzz'; the suite has 4 tasks, the first is task-10"],
        ),
        (
            Suite(builtin="q", domains=["csm"], ids=["b"]),
            ["spec.suite.ids[0]: task 'b' is of domain 'itsm', which spec.suite.domains leaves out"],
        ),
        (
            Suite(builtin="q", domains=["itms", "csm"]),
            ["spec.suite.domains[0]: unknown domain 'itms'; the suite has itsm, csm"],
        ),
    ],
)
def test_a_filter_without_matches_is_refused_with_the_known_values(suite: Suite, problems: list[str]) -> None:
    tasks = [task("task-10"), task("task-11", "csm"), task("a"), task("b")]
    with pytest.raises(InputError) as caught:
        select_tasks(suite, tasks)
    assert [str(problem) for problem in caught.value.problems] == problems


def test_the_id_of_an_unreadable_row_is_not_an_unknown_id() -> None:
    assert select_tasks(Suite(builtin="q", ids=["broken", "a"]), TASKS, unreadable=["broken"]) == [TASKS[0]]
    assert select_tasks(Suite(builtin="q", ids=["broken"]), TASKS, unreadable=["broken"]) == []
    with pytest.raises(InputError):
        select_tasks(Suite(builtin="q", ids=["other"]), TASKS, unreadable=["broken"])


def test_a_suite_without_tasks_is_refused() -> None:
    with pytest.raises(InputError, match=r"q: spec\.suite: the filters select no task"):
        select_tasks(Suite(builtin="q"), [])


# Cells and trials


def test_cells_come_in_the_order_of_the_spec() -> None:
    evaluation = spec(
        models=[ModelEntry(name=name, inline=ModelSpec(model="replay/gold")) for name in ("m2", "m1")],
        agents=[Agent(name="react"), Agent(name="planned", plan="human")],
        suite=Suite(builtin="q", modes=[Mode.ALL, Mode.ORACLE], domains=["hr", "csm", "drive"]),
    )
    assert plan_cells(evaluation, [TASKS[1], TASKS[3], TASKS[4]]) == [
        CellPlan(Cell(model=model, agent=agent, mode=mode, domain=domain), tasks)
        for model in ("m2", "m1")
        for agent in ("react", "planned")
        for mode in ("all_tools", "oracle")
        for domain, tasks in (("hr", (TASKS[3],)), ("csm", (TASKS[1], TASKS[4])))
    ]


def test_unlisted_domains_are_ordered_by_their_first_task() -> None:
    assert [cell.cell.domain for cell in plan_cells(spec(), TASKS)] == ["itsm", "csm", "hr"]


def cell(domain: str, model: str = "m") -> Cell:
    return Cell(model=model, agent="react", mode="oracle", domain=domain)


ITSM = CellPlan(cell("itsm"), (TASKS[0], TASKS[2]))
CSM = CellPlan(cell("csm"), (TASKS[1],))


def test_cells_alternate_and_every_task_is_tried_once_before_a_second_trial() -> None:
    assert plan_trials([ITSM, CSM], 2, scored=set()) == [
        PlannedTrial(ITSM.cell, TASKS[0], 0),
        PlannedTrial(CSM.cell, TASKS[1], 0),
        PlannedTrial(ITSM.cell, TASKS[2], 0),
        PlannedTrial(CSM.cell, TASKS[1], 1),
        PlannedTrial(ITSM.cell, TASKS[0], 1),
        PlannedTrial(ITSM.cell, TASKS[2], 1),
    ]


def test_scored_trials_are_not_planned_again() -> None:
    scored = {
        TrialId("m_react_oracle_itsm", "a", 0),
        TrialId("m_react_oracle_csm", "b", 1),
        TrialId("m_react_oracle_csm", "a", 0),
    }
    assert plan_trials([ITSM, CSM], 2, scored) == [
        PlannedTrial(ITSM.cell, TASKS[2], 0),
        PlannedTrial(CSM.cell, TASKS[1], 0),
        PlannedTrial(ITSM.cell, TASKS[0], 1),
        PlannedTrial(ITSM.cell, TASKS[2], 1),
    ]


@st.composite
def cell_plans(draw: st.DrawFn) -> list[CellPlan]:
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    return [
        CellPlan(cell(f"d{number}", model=f"m{number % 2}"), tuple(task(f"t{index}") for index in range(size)))
        for number, size in enumerate(sizes)
    ]


@given(cell_plans(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_every_prefix_of_a_plan_is_fair_to_every_cell(
    cells: list[CellPlan], trials: int, chance: random.Random
) -> None:
    everything = plan_trials(cells, trials, set())
    scored = {planned.key for planned in everything if chance.random() < 0.3}
    planned = plan_trials(cells, trials, scored)
    assert {trial.key for trial in planned} == {trial.key for trial in everything} - scored
    assert len({trial.key for trial in planned}) == len(planned)
    left = Counter(trial.cell.key for trial in planned)
    begun: Counter[str] = Counter(dict.fromkeys(left, 0))
    for trial in planned:
        begun[trial.cell.key] += 1
        open_cells = [begun[key] for key in left if begun[key] < left[key]]
        if open_cells:
            assert max(begun.values()) - min(open_cells) <= 1


# Ceilings


def trial_of(model: str, number: int) -> PlannedTrial:
    return PlannedTrial(cell("itsm", model), TASKS[0], number)


def start_order(*cells: str, total: int, ceilings: dict[str, int], running: Sequence[PlannedTrial] = ()) -> list[str]:
    """Models of the trials that may start, one queue with a cell for each model and domain given."""
    plans = [CellPlan(cell(domain, model), tuple(TASKS)) for model, domain in map(str.split, cells)]
    queue = TrialQueue(plan_trials(plans, 1, set()))
    return [f"{planned.cell.model} {planned.cell.domain}" for planned in queue.startable(running, ceilings, total)]


def test_cells_take_turns_under_the_ceiling_of_each_model_and_the_total() -> None:
    cells = ("a itsm", "a csm", "b itsm")
    assert start_order(*cells, ceilings={"a": 3, "b": 1}, total=9) == ["a itsm", "a csm", "b itsm", "a itsm"]
    assert start_order(*cells, ceilings={"a": 3, "b": 9}, total=4) == ["a itsm", "a csm", "b itsm", "a itsm"]
    assert start_order(*cells, ceilings={"a": 0, "b": 1}, total=4) == ["b itsm"]
    assert start_order(*cells, ceilings={"a": 1}, total=4, running=[trial_of("a", 0)]) == []
    assert start_order(*cells, ceilings={"a": 9, "b": 9}, total=1, running=[trial_of("a", 0)]) == []


def test_one_slot_visits_the_cells_in_turn() -> None:
    queue = TrialQueue(plan_trials([ITSM, CSM], 1, set()))
    order = []
    while started := queue.startable([], {"m": 1}, 1):
        queue.take(started[0])
        order.append(started[0].key)
    assert order == [planned.key for planned in plan_trials([ITSM, CSM], 1, set())]


def test_a_requeued_trial_is_the_next_of_its_cell() -> None:
    queue = TrialQueue(plan_trials([ITSM], 2, set()))
    first, second = queue.startable([], {"m": 9}, None)[:2]
    queue.take(first)
    queue.take(second)
    queue.put_back(second)
    assert queue.startable([first], {"m": 2}, None) == [second]


models = st.sampled_from("abc")


@given(
    st.lists(models, max_size=30),
    st.lists(models, max_size=6),
    st.fixed_dictionaries({model: st.integers(1, 5) for model in "abc"}),
    st.none() | st.integers(1, 8),
)
def test_no_ceiling_is_exceeded_and_no_startable_trial_waits(
    waiting: list[str], at_work: list[str], ceilings: dict[str, int], total: int | None
) -> None:
    pending = [trial_of(model, number) for number, model in enumerate(waiting)]
    running = [trial_of(model, 100 + number) for number, model in enumerate(at_work)]
    chosen = TrialQueue(pending).startable(running, ceilings, total)
    for model in "abc":
        of_model = [planned for planned in pending if planned.cell.model == model]
        assert [planned for planned in chosen if planned.cell.model == model] == [
            planned for planned in of_model if planned in chosen
        ]
    before = Counter(at_work)
    after = before + Counter(planned.cell.model for planned in chosen)
    for model in "abc":
        assert after[model] <= max(ceilings[model], before[model])
    if total is not None:
        assert after.total() <= max(total, before.total())
    for planned in pending:
        if planned not in chosen:
            full = after[planned.cell.model] >= ceilings[planned.cell.model]
            assert full or (total is not None and after.total() >= total)


# Budget


@pytest.mark.parametrize(
    ("spent", "in_flight", "largest", "control"),
    [
        (0.0, 0, 0.0, Control(start=True, proceed=True)),
        (0.5, 1, 0.4, Control(start=True, proceed=True)),
        (0.5, 2, 0.25, Control(start=False, proceed=True, reason="budget")),
        (0.99, 1, 0.2, Control(start=False, proceed=True, reason="budget")),
        (0.99, 0, 0.2, Control(start=True, proceed=True)),
        (1.0, 0, 0.0, Control(start=False, proceed=False, reason="budget")),
        (9.0, 3, 1.0, Control(start=False, proceed=False, reason="budget")),
    ],
)
def test_new_trials_stop_at_the_reservation_and_running_ones_at_the_cap(
    spent: float, in_flight: int, largest: float, control: Control
) -> None:
    assert budget_gate(Budget(max_usd=1.0), spent, in_flight, largest) == control


def test_a_run_without_a_budget_is_never_closed() -> None:
    assert budget_gate(None, 1e9, 100, 1e9) == Control()


CENTS = st.integers(0, 1000).map(lambda cents: cents / 100)


@given(CENTS.filter(bool), CENTS, CENTS.filter(bool), st.integers(0, 50))
@example(1.0, 0.7, 0.3, 2)
@example(1.0, 1.1, 5e-324, 2)
def test_as_many_trials_are_affordable_as_find_the_gate_open(
    cap: float, spent: float, largest: float, most: int
) -> None:
    budget = Budget(max_usd=cap)
    affordable = affordable_trials(budget, spent, largest, most)
    assert 0 <= affordable <= most
    assert all(budget_gate(budget, spent, others, largest).start for others in range(affordable))
    if spent < cap:
        assert affordable >= min(1, most), "nothing else would end the run"
    else:
        assert affordable == 0


step_costs = st.lists(st.floats(0.0, 2.0), min_size=1, max_size=6)


# Trials that cost much the same are where a reservation shows; hypothesis seldom draws forty like numbers by itself.
alike = st.builds(lambda costs, number: [costs] * number, step_costs, st.integers(1, 40))


@given(
    st.lists(step_costs, min_size=1, max_size=40) | alike,
    st.integers(1, 8),
    st.floats(0.01, 20.0),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_the_final_spend_keeps_the_documented_bound(
    costs: list[list[float]], total: int, cap: float, asked_between_steps: bool, chance: random.Random
) -> None:
    budget = Budget(max_usd=cap)
    ceilings = {"m": 1000}
    pending = TrialQueue(trial_of("m", number) for number in range(len(costs)))
    running: dict[int, PlannedTrial] = {}
    # Trials that take their next step, by the time at which it ends.
    events: list[tuple[float, int, int]] = []
    spend = [0.0] * len(costs)
    in_flight = 0
    seen = 0.0

    def start() -> None:
        nonlocal in_flight, seen
        for planned in pending.startable(running.values(), ceilings, total):
            if not budget_gate(budget, sum(spend), len(running), max(spend)).start:
                return
            in_flight, seen = len(running), max(spend)
            pending.take(planned)
            running[planned.trial] = planned
            heapq.heappush(events, (chance.random(), planned.trial, 0))

    start()
    while events:
        now, number, step = heapq.heappop(events)
        spend[number] += costs[number][step]
        on = budget_gate(budget, sum(spend), len(running), max(spend)).proceed or not asked_between_steps
        if on and step + 1 < len(costs[number]):
            heapq.heappush(events, (now + chance.random(), number, step + 1))
        else:
            del running[number]
        start()

    final, largest, rounding = sum(spend), max(spend), 1e-9
    assert final <= cap + largest + in_flight * (largest - seen) + rounding
    if asked_between_steps:
        assert final <= cap + (in_flight + 1) * max(itertools.chain.from_iterable(costs)) + rounding
    assert final >= cap or not list(pending), "with nothing in flight a trial starts until the cap is reached"


# Names of runs


def test_a_run_id_depends_on_the_evaluated_spec() -> None:
    digest = suite_digest(TASKS)
    name = run_id("nightly", spec(), digest, {"opsgym": "0.1.0"})
    assert name.startswith("nightly.")
    assert len(name) == len("nightly.") + 12
    assert name == run_id("nightly", spec(), suite_digest(TASKS[::-1]), {"opsgym": "0.1.0"})
    assert name == run_id("nightly", spec(suspend=True, budget=Budget(max_usd=1)), digest, {"opsgym": "0.1.0"})
    others = [
        run_id("weekly", spec(), digest, {"opsgym": "0.1.0"}),
        run_id("nightly", spec(trials=2), digest, {"opsgym": "0.1.0"}),
        run_id("nightly", spec(limits=Limits(task_timeout_seconds=5)), digest, {"opsgym": "0.1.0"}),
        run_id("nightly", spec(), suite_digest(TASKS[1:]), {"opsgym": "0.1.0"}),
        run_id("nightly", spec(), digest, {"opsgym": "0.2.0"}),
    ]
    assert len({name, *others}) == 6


@pytest.mark.parametrize(
    ("existing", "resumed", "fresh"),
    [((), "n.a", "n.a"), (("n.a",), "n.a", "n.a-2"), (("n.a", "n.a-2", "n.a-3"), "n.a-3", "n.a-4")],
)
def test_a_command_resumes_the_last_run_of_its_work_or_starts_the_next(
    existing: Sequence[str], resumed: str, fresh: str
) -> None:
    assert numbered_run_id("n.a", existing.__contains__, fresh=False) == resumed
    assert numbered_run_id("n.a", existing.__contains__, fresh=True) == fresh


def test_a_run_id_requires_resolved_models() -> None:
    with pytest.raises(ValueError, match="these are refs: best"):
        run_id("nightly", spec(models=[ModelEntry(name="best", ref="gpt")]), "digest", {})


def test_a_changed_row_changes_the_suite_digest() -> None:
    changed = TASKS[0].model_copy(update={"user_prompt": "Reopen the incident."})
    assert suite_digest([changed, *TASKS[1:]]) != suite_digest(TASKS)
