"""The page about a run as people use it, in a real browser, opened from disk."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect
from tests.report.pages import DOMAINS, FAILURE_MODES, OUTCOMES, RUN
from tests.report.reader import Reader, place_of, reading

from opsgym_console.report.model import PageData

pytestmark = pytest.mark.xdist_group("report page")  # one browser serves them all


def rows_with(run: PageData, outcome: str) -> list[int]:
    """Rows that ended so."""
    return [row for row, at in enumerate(run.trials.outcome) if OUTCOMES[at] == outcome]


def total(run: PageData) -> str:
    return f"{len(run.trials.cell)} trials"


# --- overview --------------------------------------------------------------------------------------------------------


def test_the_first_screen_ranks_agents_by_their_worst_case_with_intervals(reader: Reader, run: PageData) -> None:
    ranking = reader.page.get_by_role("region", name="Ranking").locator("tbody tr")
    agents = sorted(run.agents, key=lambda one: (-(one.score.worst_rate or 0), -(one.score.success.rate or 0)))
    shown = [row.inner_text() for row in ranking.all()]
    assert [row.split("\t")[0] for row in shown] == [f"{one.model} / {one.mode}" for one in agents]
    for row, agent in zip(shown, agents, strict=True):
        success = agent.score.success
        assert success.interval is not None
        assert f"{100 * (success.rate or 0):.1f}%" in row
        assert f"{100 * success.interval.low:.1f}–{100 * success.interval.high:.1f}%" in row
        assert f"{agent.score.passed} passed, {agent.score.failed} failed" in row


def test_no_rate_is_shown_that_pools_several_agents(reader: Reader) -> None:
    assert reader.page.locator(".cards h2").all_inner_texts() == ["Trials", "Verifiers", "Cost"]


def test_cards_tell_outcomes_and_cost(reader: Reader, run: PageData) -> None:
    cards = reader.page.locator(".cards")
    for text in (f"{run.total.failed}", f"${run.total.cost_usd:.2f}", "of a budget of $25.00"):
        expect(cards).to_contain_text(text)


def test_the_gates_verdict_stands_above_everything_with_every_check(reader: Reader, run: PageData) -> None:
    assert run.run.gate is not None
    gate = reader.page.get_by_role("region", name="Gate NO-GO")
    checks = gate.get_by_role("listitem").all_inner_texts()
    assert [re.sub(r"\s+", " ", check) for check in checks] == [
        f"{check.verdict} {check.message}" for check in run.run.gate.checks
    ]


def test_the_variants_of_the_suite_stand_beside_each_other_with_their_spread(reader: Reader, run: PageData) -> None:
    assert run.variants is not None
    assert run.variants.spreads[0] is not None
    table = reader.page.locator("#at-variants table")
    heads = table.locator("thead th").all_inner_texts()
    assert heads[-3:] == ["as written", "variant 3", "variant 7"]
    cells = table.locator("tbody tr").first.locator("th, td").all_inner_texts()
    rates = [one.successes[0].rate or 0 for one in run.variants.runs if one.successes[0] is not None]
    assert cells[-3:] == [f"{100 * rate:.1f}%" for rate in rates]
    assert f"{100 * run.variants.spreads[0].mean:.1f}%" in " ".join(cells)


def test_what_was_lost_comes_before_what_was_won_and_leads_to_its_trial(reader: Reader, run: PageData) -> None:
    assert run.baseline is not None
    section = reader.page.get_by_role("region", name="Against the baseline")
    heads = section.locator("h3").all_inner_texts()
    assert [head.split(":")[0] for head in heads] == ["✕ Lost", "✓ Won"]
    flips = section.locator(".flips a")
    assert flips.all_inner_texts() == [run.tasks[flip.task].id for flip in run.baseline.flips]
    flips.first.click()
    expect(reader.trial().locator(".facts")).to_contain_text("passed in the baseline")


def test_every_chart_is_drawn_and_has_its_numbers_in_a_table(reader: Reader) -> None:
    reader.see_everything()
    charts = reader.page.locator(".chart").evaluate_all("all => all.map(one => one.dataset.chart)")
    assert charts == ["heat", "horizon", "pareto", "categories", "overload", "modes"]
    for figure in reader.page.locator("figure").all():
        assert figure.locator(".chart svg").locator("path, rect, circle").count() > 5
        figure.locator("summary").click()
        assert figure.locator("table tbody tr").count() > 1


def test_agents_of_a_model_share_a_hue_and_those_of_a_mode_a_shape(reader: Reader, run: PageData) -> None:
    reader.see_everything()
    chart = reader.page.locator("[data-chart=pareto]")
    dots = chart.locator("svg path[fill^='#'][transform^='matrix']")
    looks = dots.evaluate_all("all => all.map(one => [one.getAttribute('fill'), one.getAttribute('d')])")
    assert len({hue for hue, _ in looks if hue}) == len({agent.model for agent in run.agents})
    assert len({shape for _, shape in looks}) == len({agent.mode for agent in run.agents})
    words = chart.locator("svg text").all_text_contents()
    assert {"success", "cost per task, logarithmic"} <= set(words)


def test_the_front_joins_those_that_none_beats_in_cost_and_success(reader: Reader, run: PageData) -> None:
    known = [(agent.score.cost_per_task or 0, agent.score.success.rate or 0) for agent in run.agents]
    front = sum(
        not any(cost <= one[0] and rate >= one[1] and (cost, rate) != one for cost, rate in known) for one in known
    )
    figure = reader.page.locator("figure", has=reader.page.locator("[data-chart=pareto]"))
    assert figure.locator("td", has_text="on the front").count() == front


def test_a_failure_mode_leads_to_its_trials(reader: Reader, run: PageData) -> None:
    section = reader.page.get_by_role("region", name="Failure modes", exact=True)
    section.get_by_role("link", name="incorrect id").first.click()
    bit = list(FAILURE_MODES).index("incorrect_id")
    expected = sum(modes >> bit & 1 for modes in run.trials.modes)
    expect(reader.page.locator("#counted")).to_have_text(f"{expected} of {total(run)}")


def test_a_bar_of_failure_modes_leads_to_its_trials(reader: Reader, run: PageData) -> None:
    reader.page.mouse.click(*bar_of(reader, "missed follow up"))
    reader.page.wait_for_url("**failure=missed_follow_up")


def test_a_bar_stays_the_same_element_while_the_mouse_comes_over_it(reader: Reader) -> None:
    # A browser sends no click if the element was taken out of the document between press and release.
    reader.page.mouse.move(0, 0)
    reader.open(anew=True)
    bar = bar_of(reader, "missed follow up")
    reader.page.evaluate(
        """([x, y]) => {
            window.moves = 0;
            const siblings = document.elementFromPoint(x, y).parentNode;
            new MutationObserver(() => window.moves++).observe(siblings, { childList: true });
        }""",
        bar,
    )
    reader.page.mouse.move(*bar)
    reader.page.locator("[data-chart=modes] b", has_text="missed follow up").wait_for()  # the tooltip
    reader.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert reader.page.evaluate("window.moves") == 0


def bar_of(reader: Reader, name: str) -> tuple[float, float]:
    """A point on a bar of the failure modes, once it is drawn and in view."""
    chart = reader.page.locator("[data-chart=modes]")
    chart.scroll_into_view_if_needed()
    chart.and_(reader.page.locator("[data-drawn]")).wait_for()
    label, box = chart.locator("svg text", has_text=name).bounding_box(), chart.bounding_box()
    assert label is not None
    assert box is not None
    return box["x"] + 0.4 * box["width"], label["y"] + label["height"] / 2


# --- tasks by model --------------------------------------------------------------------------------------------------


def marks(run: PageData, task: int) -> list[str]:
    """What a task's line shows: a sign for each agent, over all domains."""
    signs = []
    for agent in run.agents:
        outcomes = [
            OUTCOMES[outcome]
            for at, cell, outcome in zip(run.trials.task, run.trials.cell, run.trials.outcome, strict=True)
            if at == task and run.cells[cell].cell.model == agent.model and run.cells[cell].cell.mode == agent.mode
        ]
        passed, failed = outcomes.count("passed"), outcomes.count("failed")
        sign = "!" if not passed + failed else "✓" if not failed else f"{passed}/{passed + failed}" if passed else "✕"
        signs.append(sign + ("!" if 0 < passed + failed < len(outcomes) else ""))
    return signs


def lines_of(reader: Reader) -> dict[str, list[str]]:
    """Marks by task id, in the order shown."""
    rows = reader.page.locator("#at-tasks tbody tr").all()
    return {
        row.locator(".id").inner_text(): row.locator("td").all_inner_texts() for row in rows
    }  # fmt: skip


def test_every_task_has_a_mark_for_every_agent(reader: Reader, run: PageData) -> None:
    reader.page.get_by_label("Order", exact=True).select_option("id")
    assert lines_of(reader) == {task.id: marks(run, n) for n, task in enumerate(run.tasks)}


def test_a_mark_leads_to_a_failed_trial_of_its_task_and_agent(reader: Reader, run: PageData) -> None:
    mark = reader.page.locator("#at-tasks .spot.bad").first
    label = mark.get_attribute("aria-label") or ""
    task = mark.locator("xpath=ancestor::tr").locator(".id").inner_text()
    mark.click()
    trial = reader.trial()
    expect(trial.locator("h1")).to_have_text(task)
    expect(trial.locator(".facts")).to_contain_text("failed")
    model, mode = label.split(":")[0].split(" / ")
    expect(trial).to_contain_text(f"{model}/react/{mode}/")


@pytest.mark.parametrize(
    ("label", "value", "belongs"),
    [
        ("Tasks", "differ", lambda run, n: len({one.strip("!") for one in marks(run, n)}) > 1),
        ("Kind of task", "infeasible", lambda run, n: not run.tasks[n].feasible),
        ("Kind of task", "hostile", lambda run, n: "hostile" in run.tasks[n].tags),
        ("Reference solution", "8", lambda run, n: 5 <= run.tasks[n].horizon <= 8),
    ],
)
def test_a_choice_keeps_the_tasks_that_fit(
    reader: Reader, run: PageData, label: str, value: str, belongs: Callable[[PageData, int], bool]
) -> None:
    reader.page.locator("#at-tasks").get_by_label(label, exact=True).select_option(value)
    expected = {task.id for n, task in enumerate(run.tasks) if belongs(run, n)}
    assert expected
    assert set(lines_of(reader)) == expected
    expect(reader.page.locator("#clear")).to_be_hidden()


def test_a_trial_leads_to_the_same_task_of_other_agents(reader: Reader, run: PageData) -> None:
    row = rows_with(run, "failed")[0]
    reader.open(place_of(run, row))
    others = reader.trial().locator(".same a")
    task = run.trials.task[row]
    assert others.count() == sum(at == task for at in run.trials.task) - 1
    name = others.first.inner_text()
    others.first.click()
    trial = reader.trial()
    expect(trial.locator("h1")).to_have_text(run.tasks[task].id)
    expect(trial.locator(".same [aria-current]")).to_have_text(name)


# --- trials ----------------------------------------------------------------------------------------------------------


def test_failed_trials_come_first_then_what_is_not_scored(reader: Reader, run: PageData) -> None:
    outcomes = [text.split("\n")[0].split()[1] for text in reader.column("outcome")]
    assert outcomes == ["failed"] * 100
    reader.page.get_by_role("button", name="Next").click()
    outcomes = [text.split("\n")[0].split()[1] for text in reader.column("outcome")]
    counts = Counter(outcomes)
    assert list(counts) == ["failed", "infra", "passed"]
    assert counts["failed"] == len(rows_with(run, "failed")) - 100


def test_words_are_looked_for_in_task_summary_reason_and_cell(reader: Reader, run: PageData) -> None:
    search = reader.page.get_by_label("Search")
    search.fill("LATE refund gpt-small plus_10")
    tasks = {n for n, task in enumerate(run.tasks) if "late refund" in task.summary}

    cells = {
        n for n, view in enumerate(run.cells) if (view.cell.model, view.cell.mode) == ("gpt-small", "plus_10_tools")
    }
    expected = sum(c in cells and t in tasks for c, t in zip(run.trials.cell, run.trials.task, strict=True))
    assert expected
    assert reader.counted() == f"{expected} of {total(run)}"
    search.fill("step_limit")
    expected = sum(run.reasons[at] == "step_limit" for at in run.trials.reason)
    assert reader.counted() == f"{expected} of {total(run)}"
    search.fill("no such thing")
    expect(reader.page.get_by_text("No trial passes these filters.")).to_be_visible()
    reader.page.get_by_role("button", name="Clear filters").click()
    assert reader.counted() == total(run)


@pytest.mark.parametrize(
    ("label", "value", "column", "shown"),
    [
        ("Outcome", "passed", "outcome", "passed"),
        ("Outcome", "!scored", "outcome", "infra error"),
        ("Model", "gpt-small", "cell", "gpt-small/"),
        ("Mode", "all_tools", "cell", "/all_tools/"),
        ("Domain", "csm", "cell", "/csm"),
        ("Reason", "step_limit", "reason", "step limit"),
        ("Failure mode", "looping", "reason", "looping"),
        ("Against baseline", "lost", "outcome", "lost"),
    ],
)
def test_a_choice_keeps_only_rows_that_show_it(reader: Reader, label: str, value: str, column: str, shown: str) -> None:
    reader.page.locator("#filters").get_by_label(label, exact=True).select_option(value)
    rows = reader.column(column)
    assert rows
    assert all(shown in row for row in rows)
    assert reader.counted().startswith(f"{len(rows)} of " if len(rows) < 100 else "1")


def test_choices_that_leave_nothing_to_choose_are_not_there(reader: Reader) -> None:
    assert reader.page.locator("#filters").get_by_label("Agent", exact=True).count() == 0


def test_columns_are_sorted_both_ways(reader: Reader, run: PageData) -> None:
    head = reader.page.locator("#rows").get_by_role("columnheader", name="steps")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert [int(text) for text in reader.column("steps")] == sorted(run.trials.steps)[:100]
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert [int(text) for text in reader.column("steps")] == sorted(run.trials.steps, reverse=True)[:100]


def test_a_link_shows_somebody_else_the_same_rows(reader: Reader, browser: Browser) -> None:
    reader.page.locator("#filters").get_by_label("Domain", exact=True).select_option(DOMAINS[1])
    reader.page.get_by_label("Search").fill("gpt")
    reader.page.locator("#rows").get_by_role("columnheader", name="cost").get_by_role("button").click()
    seen, url = reader.tasks(), reader.page.url
    with reading(browser, reader.address) as other:
        other.open("#" + url.split("#")[1], anew=True)
        assert other.tasks() == seen
        assert other.page.get_by_label("Search").input_value() == "gpt"
        expect(other.page.locator("#filters").get_by_label("Domain", exact=True)).to_have_value(DOMAINS[1])


def test_back_undoes_a_choice_and_leaves_a_trial(reader: Reader, run: PageData) -> None:
    choice = reader.page.locator("#filters").get_by_label("Outcome", exact=True)
    choice.select_option("passed")
    expected = f"{len(rows_with(run, 'passed'))} of {total(run)}"
    assert reader.counted() == expected
    reader.page.locator("#rows td.task a").nth(3).click()
    reader.trial()
    reader.page.go_back()
    expect(reader.page.locator("#trial")).to_be_hidden()
    assert reader.counted() == expected
    reader.page.go_back()
    expect(reader.page.locator("#counted")).to_have_text(total(run))
    expect(choice).to_have_value("")


def test_the_rows_that_are_chosen_are_downloaded(reader: Reader, run: PageData) -> None:
    reader.page.locator("#filters").get_by_label("Outcome", exact=True).select_option("infra_error")
    with reader.page.expect_download() as download:
        reader.page.get_by_role("button", name="Download as CSV").click()
    assert download.value.suggested_filename == "nightly-trials.csv"
    lines = list(csv.DictReader(download.value.path().read_text().splitlines()))
    rows = rows_with(run, "infra_error")
    assert [line["task_id"] for line in lines] == [run.tasks[run.trials.task[row]].id for row in rows]
    assert {line["reason"] for line in lines} == {"gym_lost"}
    assert [float(line["cost_usd"]) for line in lines] == [run.trials.cost_usd[row] for row in rows]
    assert lines[0]["published_score"] == ""


# --- a trial ---------------------------------------------------------------------------------------------------------


def test_a_failed_trials_story_is_two_clicks_from_the_top(reader: Reader) -> None:
    reader.page.locator(".cards").get_by_role("link", name="failed").click()
    reader.page.locator("#rows tbody tr").first.locator("td").nth(3).click()
    expect(reader.trial().get_by_role("heading", name="Transcript")).to_be_visible()


def test_a_trial_has_an_address_of_its_own(reader: Reader, run: PageData) -> None:
    row = rows_with(run, "failed")[5]
    reader.open(place_of(run, row), anew=True)
    trial = reader.trial()
    expect(trial.locator("h1")).to_have_text(run.tasks[run.trials.task[row]].id)
    expect(trial.locator("h1")).to_be_focused()
    expect(trial.locator(".facts")).to_contain_text("failed")
    assert reader.page.title().startswith(run.tasks[run.trials.task[row]].id)


def test_verifiers_tell_expected_actual_query_and_the_published_verdict(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    items = reader.trial().locator(".verifiers > li")
    assert [item.split("\n")[0].split()[:3] for item in items.all_inner_texts()] == [
        ["✕", "failed", "sla_paused"],
        ["✕", "failed", "caller_told"],
        ["✓", "passed", "incident_on_hold"],
    ]
    first = items.first.locator("dl > div").all_inner_texts()
    assert [re.sub(r"\s+", " ", fact) for fact in first] == [
        "Expected (equals) 1",
        "Actual 0",
        "Query SELECT COUNT(*) FROM incident_sla WHERE incident_id = 'INC_007' AND stage = 'paused'",
    ]
    expect(items.nth(1)).to_contain_text("published: passed")


def test_the_transcript_tells_prompts_steps_calls_results_and_errors(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    story = reader.trial().locator(".story > li")
    assert [" ".join(text.split("\n")[0].split()[:3]) for text in story.all_inner_texts()] == [
        "System prompt You", "User Please put", "planner", "Step 1 calls", 'get_incident { "incident_id":',
        "Step 2 calls", "update_incident ✕ error", "Step 3 calls", "list_users {} 20", "Step 4 answers", "Note",
    ]  # fmt: skip
    call = story.nth(4)
    call.locator("summary").click()
    assert call.locator("pre").all_inner_texts() == [
        '{\n  "incident_id": "INC_007"\n}',
        '{\n  "incident_id": "INC_007",\n  "status": "new"\n}',
    ]
    expect(story.nth(6).locator("pre").nth(1)).to_have_text("NOT_FOUND: there is no incident INC_9999")


def test_reasoning_is_folded_and_a_step_says_what_it_took_and_who_answered(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    step = reader.trial().locator(".story > li").nth(3)
    reasoning, refused = step.locator("details").all()
    expect(reasoning.locator("pre")).to_be_hidden()
    reasoning.locator("summary").click()
    expect(reasoning.locator("pre")).to_have_text("The incident has to be read first.")
    refused.locator("summary").click()
    expect(refused.locator("pre")).to_have_text('{"id": ')
    expect(step.locator(".call")).to_have_text(
        "2,000 tokens in (500 cached), 150 out (90 reasoning) · $0.0050 · 1 retry · gpt-2026-01-05 · request req_7"
    )


def test_the_tools_are_shown_with_their_schemas(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    tools = reader.trial().locator("details").filter(has_text="3 tools shown to the agent").first
    tools.locator("> summary").click()
    tool = tools.locator(".catalogue > li").first
    expect(tool.locator("summary")).to_contain_text("List the users.")
    tool.locator("summary").click()
    assert '"parameters": {}' in tool.locator("pre").inner_text()


def test_long_results_are_folded_and_shown_when_asked_for(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    call = reader.trial().locator(".story > li").nth(8)
    call.locator("summary").click()
    result = call.locator("pre").nth(1)
    assert len(result.inner_text().split("\n")) == 30
    call.get_by_role("button", name="Show all").click()
    assert len(result.inner_text().split("\n")) == 200


def test_findings_lead_to_the_verifier_and_the_call_they_rest_on(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    trial = reader.trial()
    trial.get_by_role("button", name="verifier 1").last.click()
    expect(trial.locator(".verifiers > li").first).to_be_focused()
    trial.get_by_role("button", name="call of update_incident").click()
    expect(trial.locator(".story > li").nth(6)).to_be_focused()


def test_a_failed_trial_says_what_was_required_what_was_found_and_by_which_rule(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    reasons = reader.trial().locator(".findings > li").all_inner_texts()
    assert [re.sub(r"\s+", " ", one) for one in reasons[:2]] == [
        (
            "The SLA is paused verifier 1 incident_sla SLA_3: column stage is 'running', expected 'paused' "
            "SLA-2 Pause the SLA of an incident on hold. status stage on hold paused"
        ),
        "caller_told verifier 2 the answer was “Done.”",  # a rule is quoted once
    ]


def test_the_reference_solution_stands_beside_the_transcript_with_the_first_other_write(
    reader: Reader, run: PageData
) -> None:
    reader.open(place_of(run, rows_with(run, "failed")[0]))
    trial = reader.trial()
    calls = trial.locator(".reference > li")
    assert calls.locator("code.tool").all_inner_texts() == ["get_incident", "update_incident", "pause_sla"]
    assert calls.locator(".verdict .unseen").all_inner_texts() == ["reads", "made otherwise", "not made"]
    expect(calls.nth(1)).to_contain_text("incident_id INC_9999 instead of INC_007")
    expect(trial.locator(".story > li").nth(6)).to_contain_text("first write that the reference solution")
    calls.nth(1).get_by_role("button", name="call 2").click()
    expect(trial.locator(".story > li").nth(6)).to_be_focused()


def test_the_databases_difference_tells_added_and_changed_rows(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, 0))
    trial = reader.trial()
    changed = trial.get_by_role("region", name="Rows of incident that differ", exact=True)
    assert re.sub(r"\s+", " ", changed.locator("tbody").inner_text()) == (
        "± changed INC_007 status new → on_hold reason null → waiting"
    )
    expect(trial.get_by_text("2 more rows not listed")).to_be_visible()


def test_time_attempts_and_the_command_to_repeat_it_are_told(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, 0))
    trial = reader.trial()
    legend = [re.sub(r"\s+", " ", part).strip() for part in trial.locator(".legend li").all_inner_texts()]
    assert legend == [
        "seed 0.1 s", "connect 0.3 s", "model 7.0 s", "waiting for the model 2.0 s", "tools 1.2 s", "verify 0.2 s",
        "rest 0.2 s",
    ]  # fmt: skip
    attempts = trial.get_by_role("region", name="Attempts").locator("tbody tr")
    expect(attempts).to_have_count(2)
    expect(attempts.first).to_contain_text("The gym server is gone")
    expect(trial.locator(".command code")).to_have_text(
        f"opsgym run --from {RUN} --trial task-0000/0 --cell gpt-large/react/oracle/itsm "
        "--from-store 's3://evals/nightly runs'"
    )


def test_the_command_is_copied(reader: Reader, run: PageData) -> None:
    reader.open(place_of(run, 1))
    reader.trial().get_by_role("button", name="Copy").click()
    expect(reader.page.get_by_role("status")).to_have_text("Copied.")
    assert reader.page.evaluate("navigator.clipboard.readText()") == reader.page.locator(".command code").inner_text()


def test_one_goes_from_a_failed_trial_to_the_next(reader: Reader, run: PageData) -> None:
    failed = rows_with(run, "failed")
    reader.open(place_of(run, failed[0]))
    trial = reader.trial()
    expect(trial.get_by_role("link", name="Previous failed")).to_have_count(0)
    trial.get_by_role("link", name="Next failed").click()
    reader.page.wait_for_url("**" + place_of(run, failed[1]))
    reader.trial()
    reader.page.keyboard.press("n")
    reader.page.wait_for_url("**" + place_of(run, failed[2]))
    reader.trial()
    reader.page.keyboard.press("p")
    reader.page.wait_for_url("**" + place_of(run, failed[1]))


def test_a_trial_that_is_not_there_is_said_not_to_be(reader: Reader) -> None:
    reader.open("#/trial/no_such_cell_here/task-0001/0")
    expect(reader.trial().get_by_text("This trial is not in the run")).to_be_visible()
    assert reader.trial().locator(".command").count() == 0, "a trial that does not exist cannot be repeated"


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_trial_is_found_opened_and_left_by_keyboard_alone(reader: Reader) -> None:
    keys = reader.page.keyboard
    keys.press("/")
    expect(reader.page.get_by_label("Search")).to_be_focused()
    keys.type("itsm j")  # letters are typed, not taken for keys
    expect(reader.page.get_by_text("No trial passes these filters.")).to_be_visible()
    keys.press("Backspace")
    keys.press("Escape")
    for key in ("j", "j", "ArrowDown", "k"):
        keys.press(key)
    second = reader.page.locator("#rows td.task a").nth(1)
    expect(second).to_be_focused()
    keys.press("Enter")
    reader.trial()
    keys.press("Escape")
    expect(second).to_be_focused()
    keys.press("?")
    expect(reader.page.get_by_role("dialog", name="Keys")).to_be_visible()
    keys.press("Escape")
    expect(reader.page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_leaving_a_trial_returns_to_the_row_it_was_opened_from(reader: Reader) -> None:
    row = reader.page.locator("#rows td.task a").nth(60)
    row.scroll_into_view_if_needed()
    before = reader.page.evaluate("scrollY")
    row.click()
    reader.trial()
    assert reader.page.evaluate("scrollY") == 0
    reader.page.get_by_role("link", name="All trials").click()
    expect(row).to_be_focused()
    assert reader.page.evaluate("scrollY") == before
