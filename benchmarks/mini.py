"""`python -m benchmarks mini`: how well `opsgym-1150-mini` predicts the success rate on the whole suite, by simulation.

Invariant: the sample and the random ones of its size are judged by the same episodes of the same simulated agents.
Whether difficulty, domain and feasibility decide what agents can do is assumed, weakly, strongly or not at all.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, pstdev, quantiles

from opsgym_domains import registry
from opsgym_domains.difficulty import difficulty_of
from opsgym_domains.suite_rows import load_suite, suite_rows

AGENTS = 400
SEED = 1
RANDOM_SAMPLES = 20
SKILLS = (-2.0, 1.5)
"""Range of the agents' skills in logits: success rates from about an eighth to four fifths."""
DOMAIN, REFUSAL, UNKNOWN = 0.5, 1.0, 1.0
"""Standard deviations in logits: of an agent's skill in a domain, of its skill to refuse, and of what makes a task hard
besides the points of difficulty."""
APART = 0.05
"""Agents are compared whose success rates on the whole differ by at least this."""


_EXPLAINED = (
    f"{{chosen}} of {{tasks}} tasks, {AGENTS} simulated agents, one trial of each task. Errors in points of the "
    "success rate; pairs are those of agents that are at least 5 points apart; random samples are of the same size, "
    f"the mean of {RANDOM_SAMPLES}:"
)
_COLUMNS = (
    *("success depends on", "error, root mean square", "95 % are below", "pairs in the right order"),
    *("random samples: error", "95 %", "pairs"),
)


@dataclass(frozen=True)
class Assumption:
    """How much of an agent's success the order of the tasks knows."""

    name: str
    per_deviation: float
    """Logits that a standard deviation of the points of difficulty costs."""
    known: float
    """Factor of the deviations of domains and refusals."""


ASSUMPTIONS = (
    Assumption("nothing but chance", 0.0, 0.0),
    Assumption("domain, feasibility and difficulty weakly", 0.5, 1.0),
    Assumption("domain, feasibility and difficulty strongly", 1.5, 2.0),
)


@dataclass(frozen=True)
class Place:
    """What a simulated agent's success on a task depends on."""

    task_id: str
    domain: str
    feasible: bool
    points: float
    """Standardised."""


@dataclass(frozen=True)
class Prediction:
    """Success rates on the whole, and what a sample of the tasks says of them."""

    whole: Sequence[float]
    sample: Sequence[float]

    @property
    def errors(self) -> list[float]:
        """Of each agent, signed."""
        return [predicted - true for predicted, true in zip(self.sample, self.whole, strict=True)]

    @property
    def ordered_alike(self) -> float:
        """Share of the pairs of agents whose rates differ that the sample puts in the same order."""
        pairs = [
            (self.whole[one] - self.whole[other]) * (self.sample[one] - self.sample[other]) > 0
            for one, other in combinations(range(len(self.whole)), 2)
            if abs(self.whole[one] - self.whole[other]) >= APART
        ]
        return fmean(pairs)


def places() -> list[Place]:
    """The tasks of the whole suite."""
    tasks = load_suite(registry.WHOLE)
    points = [known.points if (known := difficulty_of(task, registry.tools_of(task))) else 0 for task in tasks]
    middle, deviation = fmean(points), pstdev(points)
    return [
        Place(task.task_id, task.domain_name, task.feasible, (value - middle) / deviation)
        for task, value in zip(tasks, points, strict=True)
    ]


def outcomes(tasks: Sequence[Place], assumption: Assumption, agents: int, draw: random.Random) -> list[list[bool]]:
    """Success of each simulated agent in each task."""
    hardness = [assumption.per_deviation * task.points + draw.gauss(0, UNKNOWN) for task in tasks]
    domains = sorted({task.domain for task in tasks})
    played = []
    for _agent in range(agents):
        skill = draw.uniform(*SKILLS)
        of_domain = {domain: draw.gauss(0, DOMAIN * assumption.known) for domain in domains}
        refusal = draw.gauss(0, REFUSAL * assumption.known)
        logits = (
            skill + of_domain[task.domain] + (0 if task.feasible else refusal) - hard
            for task, hard in zip(tasks, hardness, strict=True)
        )
        played.append([draw.random() < 1 / (1 + math.exp(-logit)) for logit in logits])
    return played


def predictions(tasks: Sequence[Place], chosen: Sequence[int], assumption: Assumption) -> list[Prediction]:
    """What the chosen tasks predict, and after that what random samples of their number do.

    Args:
        tasks: The whole.
        chosen: Positions of the chosen ones.
        assumption: What success depends on.
    """
    draw = random.Random(SEED)
    played = outcomes(tasks, assumption, AGENTS, draw)
    whole = [fmean(of_agent) for of_agent in played]
    samples = [chosen, *(draw.sample(range(len(tasks)), len(chosen)) for _ in range(RANDOM_SAMPLES))]
    return [
        Prediction(whole, [fmean(of_agent[place] for place in sample) for of_agent in played]) for sample in samples
    ]


def measure_arguments(_arguments: Sequence[str]) -> Sequence[str]:
    """A table of the errors of the sample and of random ones."""
    tasks = places()
    ids = {row["task_id"] for row in suite_rows(f"{registry.WHOLE}-mini")}
    chosen = [place for place, task in enumerate(tasks) if task.task_id in ids]
    lines = [
        _EXPLAINED.format(chosen=len(chosen), tasks=len(tasks)),
        "",
        f"| {' | '.join(_COLUMNS)} |",
        f"|{' --- |' * len(_COLUMNS)}",
    ]
    for assumption in ASSUMPTIONS:
        sample, *by_chance = predictions(tasks, chosen, assumption)
        lines.append(f"| {assumption.name} | {' | '.join([*_cells([sample]), *_cells(by_chance)])} |")
    return lines


def _cells(predicted: Sequence[Prediction]) -> list[str]:
    """Means over samples."""
    roots = [math.sqrt(fmean(error**2 for error in each.errors)) for each in predicted]
    most = [quantiles(map(abs, each.errors), n=20)[-1] for each in predicted]
    alike = [each.ordered_alike for each in predicted]
    return [f"{100 * fmean(roots):.1f}", f"{100 * fmean(most):.1f}", f"{100 * fmean(alike):.0f} %"]
