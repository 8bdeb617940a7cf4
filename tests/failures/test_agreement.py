"""Agreement on failure modes: kappa, its interval, and prevalence corrected for the error of the labels."""

from __future__ import annotations

import random

import pytest

from opsgym_console.analysis.failures import Mode
from opsgym_console.analysis.failures.agreement import Labels, corrected_prevalence, kappa, measure

LOOP = Mode.LOOPING.value


def test_kappa_and_its_analytic_interval_are_those_of_a_published_table() -> None:
    """Output of Stata's `kapci` for 1,932 health care users, posted to Statalist in December 2009 (msg00320)."""
    result = kappa([1395, 118, 261, 158], 1932)
    assert result.kappa == pytest.approx(0.3411969207847029, abs=1e-12)
    assert result.interval is not None
    assert (result.interval.low, result.interval.high) == pytest.approx((0.2896667786, 0.3927270629), abs=1e-7)


def test_kappa_of_cohens_textbook_table() -> None:
    assert kappa([20, 5, 10, 15], 50).kappa == pytest.approx(0.4)


@pytest.mark.parametrize("table", [[0, 0, 0, 0], [10, 0, 0, 0], [0, 0, 0, 7]])
def test_agreement_without_variation_is_not_measured(table: list[float]) -> None:
    result = kappa(table, 10)
    assert (result.kappa, result.interval, result.publishable) == (None, None, False)


def test_perfect_agreement_on_few_trials_has_an_interval_that_is_not_a_point() -> None:
    result = kappa([3, 0, 0, 5], 8)
    assert (result.kappa, result.publishable) == (1.0, True)
    assert result.interval is not None
    assert result.interval.low < 0.6
    assert result.interval.high == 1.0


@pytest.mark.parametrize(("share", "agree"), [(0.5, 0.9), (0.3, 0.85), (0.2, 0.95)])
def test_the_interval_of_kappa_holds_what_it_says(share: float, agree: float) -> None:
    """Two raters who see the truth with the same accuracy; 60 trials."""
    dice = random.Random(7)
    both = share * agree**2 + (1 - share) * (1 - agree) ** 2
    neither = share * (1 - agree) ** 2 + (1 - share) * agree**2
    margin = share * agree + (1 - share) * (1 - agree)
    expected = margin**2 + (1 - margin) ** 2
    true = (both + neither - expected) / (1 - expected)
    cells = [both, agree * (1 - agree), agree * (1 - agree), neither]
    held = 0
    for _ in range(1_000):
        drawn = dice.choices(range(4), cells, k=60)
        interval = kappa([drawn.count(cell) for cell in range(4)], 60).interval
        held += interval is not None and interval.low <= true <= interval.high
    assert 0.92 <= held / 1_000 <= 0.995


def labels(*modes: bool, start: int = 0) -> Labels:
    return {("c", f"t{number}", 0): {LOOP} if holds else set() for number, holds in enumerate(modes, start)}


def test_people_rules_and_judges_are_compared_on_the_trials_that_both_labelled() -> None:
    people = {"ada": labels(True, False, True, False), "bo": labels(True, False, False, False, True)}
    result = measure(people, {"rules": labels(*[True] * 8), "judge": labels(True, False)})[LOOP]
    assert result.people.trials == 4
    assert result.people.kappa == pytest.approx(0.4666666667)
    assert result.people.publishable is False
    assert (result.raters["rules"].agreement.trials, result.raters["judge"].agreement.trials) == (5, 2)
    assert result.raters["judge"].agreement.kappa == 1.0


def test_a_third_person_does_not_make_a_trial_count_more() -> None:
    same = labels(True, False, True, False)
    two, three = (measure(dict.fromkeys(names, same), {})[LOOP].people for names in ("ab", "abc"))
    assert two == three


def test_without_people_nothing_is_measured() -> None:
    result = measure({}, {"rules": labels(True, False)})[LOOP]
    assert (result.people.kappa, result.people.trials) == (None, 0)
    assert result.raters["rules"].agreement.kappa is None
    assert result.raters["rules"].prevalence is None


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
@pytest.mark.parametrize(("recall", "false"), [(0.6, 0.1), (0.9, 0.3)])
def test_corrected_prevalence_is_unbiased_and_its_interval_holds_what_it_says(
    share: float, recall: float, false: float
) -> None:
    """Rules with errors on 1,000 failed trials, of which people labelled 80."""
    dice = random.Random(11)
    held, sums, rounds = 0, 0.0, 300
    for _ in range(rounds):
        truth = [dice.random() < share for _ in range(1_000)]
        rules = [dice.random() < (recall if holds else false) for holds in truth]
        chosen = dice.sample(range(1_000), 80)
        votes = {("c", f"t{one}", 0): [truth[one]] for one in chosen}
        prevalence = corrected_prevalence(labels(*rules), votes, LOOP)
        assert prevalence is not None
        assert prevalence.interval is not None
        actual = sum(truth) / 1_000
        held += prevalence.interval.low <= actual <= prevalence.interval.high
        sums += prevalence.corrected - actual
    assert 0.92 <= held / rounds <= 0.995
    assert abs(sums / rounds) < 0.02
