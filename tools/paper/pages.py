"""Tables and figures of the experiments as HTML and SVG, without scripts.

Invariant: every success rate stands with its 95 % interval, in tables as text and in figures as a bar, and every figure
has its table beside it. Verifiers of a task depend on each other, so their shares stand with their numbers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tools.paper.conditions import Condition, Rate

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
table { border-collapse: collapse; width: 100% } caption { text-align: left; padding: .5rem 0; color: #57606a }
th, td { padding: .35rem .6rem; border-bottom: 1px solid #d0d7de; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } small { color: #57606a; display: block }
figure { margin: 1.5rem 0 } svg { max-width: 100%; height: auto } div { overflow-x: auto }
"""  # noqa: E501 - a line of CSS for each element
COLOURS = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#57606a")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 320, 60, 150, 20, 50


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper and how it is shown."""

    name: str
    """Of its file and its EvalRun."""
    place: str
    """Its table or figure in the paper; empty if its number is not known."""
    subject: str
    """What is shown."""
    varies: str
    """Head of the column that tells its conditions apart."""
    label: Callable[[Condition], str]
    """Name of a condition without the model."""
    is_figure: bool = False
    """Whether it is drawn."""

    @property
    def title(self) -> str:
        """Heading of its page."""
        return f"{self.place}: {self.subject}" if self.place else self.subject


EXPERIMENTS = (
    Experiment("main-table", "Table 2", "Success of models by domain", "model", lambda one: one.model),
    Experiment("plan-conditioning", "Table 3", "Success with and without a plan", "plan", lambda one: one.agent),
    Experiment("multi-agent", "Figure 6", "Success of several agents", "orchestrator", lambda one: one.agent),
    Experiment("tool-overload", "", "Success by the number of tools", "tools", lambda one: one.mode, is_figure=True),
    Experiment("thinking-budget", "", "Success by thinking budget", "budget", lambda one: one.model, is_figure=True),
)
"""The experiments of the paper."""
HORIZON = Experiment(
    "horizon", "Figure 4", "Success by horizon", "steps of the reference solution", lambda one: one.mode, is_figure=True
)
"""Drawn from the records of the main table."""
VERIFIERS = "verifiers"
"""Name of the page of verifiers by category, of the main table."""
VERIFIERS_TITLE = "Table 7: Verifiers that passed, by category"


_WITH_UPLIFT = {"plan", "orchestrator"}
"""What varies where the paper states the gain over the first condition."""


def page(experiment: Experiment, conditions: Sequence[Condition], published: str = "") -> str:
    """The page of an experiment: its figure, if it has one, and its table.

    Args:
        experiment: The experiment.
        conditions: Its conditions.
        published: What is said of the published table; empty says nothing.
    """
    figure = f"<figure>{figure_of(experiment, conditions)}</figure>" if experiment.is_figure and conditions else ""
    beside = f"<h2>Beside the published public split</h2><pre>{escape(published)}</pre>" if published else ""
    return _document(experiment.title, f"{figure}{_table(experiment, conditions)}{beside}")


def index(scored: Mapping[Experiment, int]) -> str:
    """The page that links those of the experiments.

    Args:
        scored: Trials with a score of each experiment.
    """
    links = "".join(
        f'<li><a href="{one.name}.html">{escape(one.title)}</a>: {count} trials with a score; '
        f'<a href="{one.name}.csv">rates as CSV</a></li>'
        for one, count in scored.items()
    )
    of_main = "".join(
        f'<li><a href="{name}.html">{escape(title)}</a>, of the main table</li>'
        for name, title in ((HORIZON.name, HORIZON.title), (VERIFIERS, VERIFIERS_TITLE))
    )
    return _document("Experiments of the paper", f"<ul>{links}{of_main}</ul>")


def verifiers_page(counts: Mapping[str, Mapping[str, tuple[int, int]]]) -> str:
    """The page of verifiers by category.

    Args:
        counts: Numbers of passed and executed ones by model and category.
    """
    categories = list(dict.fromkeys(category for of_model in counts.values() for category in of_model))
    head = "".join(f'<th scope="col">{escape(name.replace("_", " "))}</th>' for name in ("model", *categories))
    rows = "".join(
        f"<tr><td>{escape(model)}</td>{''.join(_passed(*of_model.get(name, (0, 0))) for name in categories)}</tr>"
        for model, of_model in counts.items()
    )
    caption = "Share of the executed verifiers that passed, in percent, with both numbers."
    table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return _document(VERIFIERS_TITLE, f"<div>{table}</div>")


def _passed(passed: int, executed: int) -> str:
    share = f"{100 * passed / executed:.1f}" if executed else "–"
    return f"<td>{share}<small>{passed} of {executed}</small></td>"


def _document(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


# --- tables ----------------------------------------------------------------------------------------------------------


def _table(experiment: Experiment, conditions: Sequence[Condition]) -> str:
    domains = list(dict.fromkeys(domain for one in conditions for domain in one.by_domain))
    models = list(dict.fromkeys(one.model for one in conditions))
    shows_model = len(models) > 1 and experiment.varies != "model"
    # The first condition of a model is the one that the others are compared with: no plan, one agent.
    uplift = experiment.varies in _WITH_UPLIFT
    first = {one.model: one.success.value for one in reversed(conditions)} if uplift else {}
    heads = [
        experiment.varies,
        *(["model"] if shows_model else []),
        *domains,
        "mean over tasks",
        *(["points"] if uplift else []),
        "$ a task",
        "trials",
    ]
    rows = "".join(_row(experiment, one, domains, first, shows_model=shows_model) for one in conditions)
    caption = "Success rate in percent, with its 95 % interval. The mean over tasks counts every task once."
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return f"<div><table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def _row(
    experiment: Experiment, one: Condition, domains: Sequence[str], first: Mapping[str, float], *, shows_model: bool
) -> str:
    rates = [*(one.by_domain.get(domain) for domain in domains), one.success]
    cells = [
        f"<td>{escape(experiment.label(one))}</td>",
        *([f"<td>{escape(one.model)}</td>"] if shows_model else []),
        *(f"<td>{_text(rate)}</td>" for rate in rates),
        *([f"<td>{100 * (one.success.value - first[one.model]):+.1f}</td>"] if first else []),
        f"<td>{'–' if one.cost_usd is None else f'{one.cost_usd:.3f}'}</td>",
        f"<td>{one.scored}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _text(rate: Rate | None) -> str:
    if rate is None:
        return "–"
    return f"{100 * rate.value:.1f}<small>{100 * rate.low:.1f}–{100 * rate.high:.1f}</small>"


# --- figures ---------------------------------------------------------------------------------------------------------


def figure_of(experiment: Experiment, conditions: Sequence[Condition]) -> str:
    """Rates over the conditions as SVG: a line for each model, or one line if the models are the conditions."""
    labels = list(dict.fromkeys(map(experiment.label, conditions)))
    is_by_model = experiment.label(conditions[0]) == conditions[0].model
    lines: dict[str, list[Condition]] = {}
    for one in conditions:
        lines.setdefault("" if is_by_model else one.model, []).append(one)
    drawn = [_axes(experiment, labels)]
    for number, (model, points) in enumerate(lines.items()):
        shift = 8 * (number - (len(lines) - 1) / 2)
        placed = [(_x(labels.index(experiment.label(one)), labels) + shift, one.success) for one in points]
        drawn.append(_line(model, placed, COLOURS[number % len(COLOURS)], TOP + 20 * number + 10))
    title = f"<title>{escape(experiment.title)}</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" font-size="12">'
        f"{title}{''.join(drawn)}</svg>"
    )


def _x(place: int, labels: Sequence[str]) -> float:
    return LEFT + (place + 0.5) * (WIDTH - LEFT - RIGHT) / len(labels)


def _y(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _axes(experiment: Experiment, labels: Sequence[str]) -> str:
    grid = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" stroke="#d0d7de"/>'
        f'<text x="{LEFT - 8}" y="{_y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    names = "".join(
        f'<text x="{_x(place, labels):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{escape(label)}</text>'
        for place, label in enumerate(labels)
    )
    below = f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{experiment.varies}</text>'
    return f"{grid}{names}{below}"


def _line(name: str, points: Sequence[tuple[float, Rate]], colour: str, legend_y: float) -> str:
    path = " ".join(f"{x:.1f},{_y(rate.value):.1f}" for x, rate in points)
    marks = "".join(
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_y(rate.low):.1f}" y2="{_y(rate.high):.1f}" stroke="{colour}"/>'
        f'<circle cx="{x:.1f}" cy="{_y(rate.value):.1f}" r="4" fill="{colour}"/>'
        for x, rate in points
    )
    legend = f'<text x="{WIDTH - RIGHT + 12}" y="{legend_y}" fill="{colour}">{escape(name)}</text>' if name else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{marks}{legend}'
