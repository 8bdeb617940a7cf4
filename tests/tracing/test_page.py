"""docs/tracing.md names every span, event and attribute that a run sends, and no other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from tests.runner.jobs import NO_JITTER, FakeTime, MemoryStore, make_job, make_task, stub_model
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, calls, refuses, says
from tests.tracing.collector import Collector
from tests.tracing.test_spans import PRICES, SHARED

from opsgym_runner.runner import Runner
from opsgym_runner.tracing.tracer import start_tracing

PAGE = (Path(__file__).parents[2] / "docs" / "tracing.md").read_text()
JUDGED = {
    "verifier_type": "response_check",
    "name": "judged",
    "validation_config": {
        "sql_query": "SELECT text FROM notes",
        "comparison_prompt": "Is it?",
        "minimum_comparison_value": 5,
    },
}


def documented(row: str) -> dict[str, set[str]]:
    """Names in the last cell of a table's rows, by the first word of the first; `row` fits the rows that are meant."""
    rows = re.findall(rf"^\| `({row})[^`]*` \|.*\|(.*) \|$", PAGE, re.MULTILINE)
    return {name: set(re.findall(r"`([a-z_.]+)`", names)) for name, names in rows}


def names(of: Iterable[tuple[str, Mapping[str, object]]]) -> dict[str, set[str]]:
    sent: defaultdict[str, set[str]] = defaultdict(set)
    for name, attributes in of:
        sent[name.split(" ")[0]] |= attributes.keys()
    return dict(sent)


@pytest.mark.anyio
async def test_the_page_names_what_is_sent(traced: Collector, gym_url: str) -> None:
    answers = (
        calls(("add_note", {"text": "x"})), refuses(429, "later", {"retry-after": "1"}), says("Done."),
        says('{"mark": 9, "reason": "fine"}'),
    )  # fmt: skip
    task = make_task(verifiers=[*make_task().model_dump(mode="json")["verifiers"], JUDGED])
    tracing = start_tracing()
    with serving(StubModel(*answers).app) as url, serving(StubModel(refuses(401)).app) as refusing:
        model = stub_model(url, prices=PRICES, parameters={"temperature": 0, "max_tokens": 9})
        async with Runner(MemoryStore(), clock=FakeTime().clock, retry=NO_JITTER, tracing=tracing) as runner:
            await runner.run(make_job(gym_url, task, model=model, judge=model))
            await runner.run(make_job(gym_url, model=stub_model(refusing, prices=PRICES)))
    tracing.close()

    shared = {*SHARED, "error.type"}
    spans = names((span.name, span.attributes) for span in traced.spans)
    assert {name: names - shared for name, names in spans.items()} == documented(
        "invoke_agent|seed|connect|chat|execute_tool|verify"
    )
    assert all(f"`{name}`" in PAGE for name in shared)
    assert names(event for span in traced.spans for event in span.events) == documented(r"[a-z_]+\.[a-z_.]+")
    standard = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    used = set().union(*spans.values(), *names(event for span in traced.spans for event in span.events).values())
    assert {name for name in used if name.startswith("gen_ai.")} <= standard
