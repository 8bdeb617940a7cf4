"""What a preflight container finds, and what it freezes when it finds nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.pods.pod import KEY, RUN, Ended, Pod, hosted, model
from tests.pods.s3 import S3, s3_server
from tests.runner.jobs import ROW
from tests.runner.servers import serving
from tests.runner.stub_gym import SEED

from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.digest import task_digest
from opsgym_api.tasks.reading import parse_row
from opsgym_api.tasks.suite import FrozenTask, SuiteIndex
from opsgym_api.tasks.task import Task
from opsgym_core.store.base import Store
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access
from opsgym_core.store.sealed import SealedStore
from opsgym_runner.recording.seal import AesSeal

KEYS = RunKeys(RUN)
CONFIG_MAP = {"configMap": {"name": "tasks"}}
GOLD = model("replay/gold", origin="EvalModel gold: spec")


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with s3_server() as server:
        yield server


def order(*models: Mapping[str, Any], suite: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"run": RUN, "suite": suite or CONFIG_MAP, "models": [*models] or [GOLD]}


def mount(pod: Pod, rows: object, seed: str | None = SEED) -> None:
    """Mounts a ConfigMap `tasks` as Kubernetes does: keys are links into a hidden folder."""
    folder = pod.folder / "suite"
    (folder / "..data").mkdir(parents=True, exist_ok=True)
    content = rows if isinstance(rows, str) else json.dumps(rows)
    files = {"tasks.json": content, **({} if seed is None else {"notes.sql": seed})}
    for name, text in files.items():
        (folder / "..data" / name).write_text(text)
        if not (folder / name).exists():
            (folder / name).symlink_to(Path("..data") / name)


def preflight(pod: Pod, spec: Mapping[str, Any], **environment: str) -> Ended:
    given = {"OPSGYM_SUITE": str(pod.folder / "suite"), "OPSGYM_RECORDINGS": str(pod.folder / "recordings")}
    return pod.preflight(spec, **{**given, **environment})


def problems_of(ended: Ended) -> list[str]:
    return [f"{finding.where}: {finding.problem}" for finding in ended.report.problems]


def index(store: Store) -> SuiteIndex:
    content = store.get(KEYS.suite_index)
    assert content is not None
    return SuiteIndex.model_validate_json(content)


@pytest.mark.parametrize(
    ("spec", "environment", "message"),
    [
        (None, {}, "job_spec.json cannot be read: No such file or directory"),
        (
            {"run": RUN, "suite": {}, "models": []},
            {},
            "exactly one of builtin, path, objectStore, configMap is required",
        ),
        (order(), {"OPSGYM_STORE": ""}, "the environment variable OPSGYM_STORE is not set"),
        (order(suite={"builtin": "quickstart", "heldOut": True}), {}, "OPSGYM_HELD_OUT_SEED is not set"),
        (
            order(suite={"objectStore": {"store": "s", "key": "k.json"}}),
            {},
            "the environment variable OPSGYM_SUITE_STORE is not set",
        ),
    ],
)
def test_an_unusable_job_spec_is_named(
    pod: Pod, spec: dict[str, Any] | None, environment: dict[str, str], message: str
) -> None:
    ended = pod.preflight(spec, **environment)

    assert ended.code == Exit.NO_JOB_SPEC
    assert message in ended.message.decode()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"model": "replay/took/mixed.jsonl"},
            "ConfigMap took: mixed.jsonl: the ConfigMap or key that EvalModel m: spec.model names does not exist",
        ),
        ({"model": "replay/broken/it.jsonl"}, "ConfigMap broken: it.jsonl: cannot be read as a recording: JSONDecode"),
        (
            {"model": "replay/glod"},
            "EvalModel m: spec.model: 'replay/glod': expected replay/gold, replay/noop, replay/flaky, or",
        ),
        (
            {"model": "replay/flaky", "parameters": {"rates": {"timeout": 2}}},
            "EvalModel m: spec.parameters.rates.timeout: must be less than or equal to 1, found 2",
        ),
        ({"model": "replay/../order.json"}, "EvalModel m: spec.model: 'replay/../order.json': expected"),
        ({"model": "replay/a/b/c"}, "EvalModel m: spec.model: 'replay/a/b/c': expected"),
        (
            {"parameters": {"api_key": KEY}},
            "EvalModel m: spec.parameters.api_key: credentials do not belong in a document; name a Secret in",
        ),
        (
            {"parameters": {"extra_body": {"extra_headers": {"Ocp-Apim-Subscription-Key": KEY}}}},
            "EvalModel m: spec.parameters.extra_body.extra_headers.Ocp-Apim-Subscription-Key: credentials do not",
        ),
        (hosted("http://a"), "EvalModel m: spec.credentials: the Secret's key is empty; put the API key there"),
        (
            {"model": "openai/gpt-4o"},
            "EvalModel m: spec.credentials: openai/gpt-4o needs an API key (OPENAI_API_KEY); name the Secret that",
        ),
        (
            {"model": "openai/mine", "endpoints": [{"url": "http://a/v1"}]},
            "EvalModel m: spec.prices: no price is known for openai/mine; give prices: {inputUsd, outputUsd}",
        ),
    ],
)
def test_problems_of_a_model_are_named_by_object_and_field(pod: Pod, spec: dict[str, Any], expected: str) -> None:
    mount(pod, [ROW])
    (pod.folder / "recordings" / "broken").mkdir(parents=True)
    (pod.folder / "recordings" / "broken" / "it.jsonl").write_text("{")

    ended = preflight(pod, order({**GOLD, **spec, "origin": "EvalModel m: spec"}))

    assert ended.code == Exit.DONE
    (problem,) = problems_of(ended)
    assert problem.startswith(expected)
    assert pod.store.get(KEYS.suite_index) is None
    assert KEY.encode() not in pod.everything()


def test_a_budget_over_a_model_without_a_price_is_a_problem(pod: Pod) -> None:
    mount(pod, [ROW])
    unlisted = {"model": "openai/mine", "endpoints": [{"url": "http://a/v1"}], "allow_unpriced": True}
    unpriced = {**GOLD, **unlisted, "origin": "EvalModel m: spec"}
    assert problems_of(preflight(pod, order(unpriced))) == []
    (problem,) = problems_of(preflight(pod, {**order(unpriced), "budget": True}))
    assert problem.startswith("EvalModel m: spec.prices: no price is known for openai/mine, so spec.budget cannot")


@pytest.mark.parametrize(
    ("rows", "seed", "expected"),
    [
        ("[\n{]", SEED, "ConfigMap tasks: tasks.json: line 2, column 2: is not JSON"),
        ([{**ROW, "verifiers": []}], SEED, "ConfigMap tasks: tasks.json row 1: verifiers: must have at least 1 items"),
        ([ROW, {"task_id": "b"}], SEED, "ConfigMap tasks: tasks.json row 2: user_prompt: is required; gym_servers"),
        (
            [ROW, ROW],
            SEED,
            "ConfigMap tasks: tasks.json: task_id: 'rename-first' names several rows: tasks.json row 1",
        ),
        (
            [ROW],
            None,
            "ConfigMap tasks: task rename-first: seed_database_file: gym server notes: found neither notes.sql",
        ),
        ([], SEED, "ConfigMap tasks: has no row that can run"),
    ],
)
def test_problems_of_a_suite_are_named_by_object_row_and_field(
    pod: Pod, rows: object, seed: str | None, expected: str
) -> None:
    mount(pod, rows, seed)

    ended = preflight(pod, order())

    assert ended.code == Exit.DONE
    (problem,) = problems_of(ended)
    assert problem.startswith(expected)
    assert str(pod.folder) not in problem, "the suite's author does not know the pod's paths"
    assert pod.store.get(KEYS.suite_index) is None


def test_a_key_that_the_config_map_does_not_have_is_named(pod: Pod) -> None:
    mount(pod, [ROW])

    ended = preflight(pod, order(suite={"configMap": {"name": "tasks", "key": "more.jsonl"}}))

    assert problems_of(ended) == ["ConfigMap tasks: more.jsonl: does not exist; create it with the suite's rows"]


@pytest.mark.parametrize("name", ["/etc/passwd", "../../secret.sql", "etc/passwd"])
def test_a_row_reaches_no_file_of_the_pod_outside_its_suite(pod: Pod, name: str) -> None:
    (pod.folder / "secret.sql").write_text("-- secret")
    mount(pod, [{**ROW, "gym_servers_config": [{"mcp_server_name": "notes", "seed_database_file": name}]}])

    ended = preflight(pod, order())

    assert "seed_database_file" in problems_of(ended)[0]


def test_an_agent_that_cannot_act_is_named(pod: Pod) -> None:
    mount(pod, [ROW])
    agents = [{"name": "a"}, {"name": "b", "orchestrator": "tree"}, {"name": "c", "prompts": {"plan": "x"}}]

    ended = preflight(pod, {**order(), "agents": agents})

    unknown, replaced = problems_of(ended)
    assert unknown.startswith("spec.agents[1]: unknown orchestrator 'tree'")
    assert replaced.startswith("spec.agents[2]: agent c: prompts.plan: unknown prompt")


def test_an_agent_with_more_tools_than_the_provider_takes_is_named_for_the_selected_tasks(pod: Pod) -> None:
    gyms = [{"mcp_server_name": gym, "seed_database_file": "builtin:small"} for gym in ("csm", "itsm")]
    hybrid = {**ROW, "task_id": "hybrid", "selected_tools": None, "gym_servers_config": gyms}
    mount(pod, [ROW, hybrid])
    gpt = model("azure/gpt-5", "http://a", origin="EvalModel m: spec", prices={"inputUsd": 1, "outputUsd": 1})
    spec = {**order(gpt), "evaluated": ["m"], "agents": [{"name": "react"}]}

    (problem,) = problems_of(preflight(pod, spec, KEY_0=KEY))
    left_out = preflight(pod, {**spec, "suite": {**CONFIG_MAP, "ids": ["rename-first"]}}, KEY_0=KEY)

    assert problem.startswith("spec.agents[0]: agent react would show model m (azure/gpt-5) 1")
    assert "at task hybrid, and its provider takes at most 128 in a request" in problem
    assert left_out.report.problems == []


def test_a_corrected_suite_passes_preflight_as_a_process_and_is_frozen(pod: Pod) -> None:
    mount(pod, [{**ROW, "user_prompt": ""}])
    assert preflight(pod, order()).report.problems != []
    mount(pod, [ROW])

    ended = pod.run("preflight", order(), OPSGYM_SUITE=str(pod.folder / "suite"))

    assert (ended.code, ended.report.problems, ended.report.tasks) == (Exit.DONE, [], 1)
    frozen = FrozenTask.model_validate_json(pod.store.get(KEYS.suite_task("rename-first")) or b"")
    row = parse_row(frozen.row, default_id="", where="")
    assert isinstance(row, Task)
    (entry,) = index(pod.store).entries
    assert (entry.task_id, entry.domain, entry.gyms, entry.problem) == ("rename-first", "notes", ["notes"], "")
    assert entry.digest == task_digest(row)
    seed = frozen.seeds["notes"].sha256
    assert seed is not None
    assert pod.store.get(KEYS.suite_seed(seed)) == SEED.encode()


def test_rows_that_the_filters_leave_out_do_not_keep_a_run_from_starting(pod: Pod) -> None:
    lost = {**ROW, "task_id": "lost", "gym_servers_config": [{"mcp_server_name": "notes", "seed_database_file": "x"}]}
    mount(pod, [ROW, {"task_id": "bad"}, lost])

    ended = preflight(pod, order(suite={**CONFIG_MAP, "ids": ["rename-first"]}))

    assert ended.report.problems == []
    problems = {entry.task_id: bool(entry.problem) for entry in index(pod.store).entries}
    assert problems == {"rename-first": False, "lost": True, "bad": True}
    assert pod.store.get(KEYS.suite_task("lost")) is None


def test_every_problem_is_reported_at_once_and_those_that_do_not_fit_are_counted(pod: Pod) -> None:
    mount(pod, [{"task_id": f"t{number}"} for number in range(200)])
    models = [model(f"replay/none/{number}.jsonl", name=f"m{number}") for number in range(3)]

    ended = preflight(pod, order(*models))

    report = ended.report
    assert len(ended.message) <= 4096
    assert len(report.problems) + report.more == 203
    assert len(report.problems) > 10


def test_preflight_accepts_a_built_in_suite_and_a_model_with_key_and_price(pod: Pod) -> None:
    folder = pod.folder / "suite"
    folder.mkdir()
    row = {**ROW, "gym_servers_config": [{"mcp_server_name": "notes", "seed_database_file": "builtin:small"}]}
    (folder / "tasks.jsonl").write_text(json.dumps(row))
    (folder / "edition").write_text("2026-12")

    ended = preflight(pod, order(hosted("http://a"), suite={"builtin": "quickstart"}), KEY_0=KEY)

    assert ended.report.problems == []
    assert index(pod.store).edition == "2026-12"
    frozen = FrozenTask.model_validate_json(pod.store.get(KEYS.suite_task("rename-first")) or b"")
    assert frozen.seeds["notes"].builtin == "small"
    assert KEY.encode() not in pod.everything()


def test_a_suite_in_an_object_store_is_read_with_its_seeds_and_frozen_in_another(tmp_path: Path, s3: S3) -> None:
    s3.make_bucket("suites")
    s3.make_bucket("frozen")
    access = S3Access(s3.url, "us-east-1", "id", SecretStr(KEY))
    suites, results = (open_store(f"s3://{name}", access) for name in ("suites", "frozen"))
    row = {**ROW, "gym_servers_config": [{"mcp_server_name": "notes", "seed_database_file": "dbs/notes.sql"}]}
    for key, content in {
        "team/itsm/a.json": json.dumps({**row, "task_id": "a"}),
        "team/itsm/b.jsonl": json.dumps({**row, "task_id": "b"}),
        "team/itsm/_notes.json": "no row",
        "team/itsm/more/c.json": json.dumps({**row, "task_id": "c"}),
        "team/itsm/seeds/dbs/notes.sql": SEED,
        "team/itsm/seeds/unused.sql": "-- never read",
    }.items():
        suites.put(key, content.encode())
    s3.client.put_object(Bucket="suites", Key="team/itsm/", Body=b"")  # as consoles make folders
    environment = {**s3.access, **{f"OPSGYM_SUITE_{name}": value for name, value in s3.access.items()}}
    environment["OPSGYM_SUITE_STORE"] = "s3://suites"
    pod = Pod(tmp_path, results, "s3://frozen/")

    folder = preflight(pod, order(suite={"objectStore": {"store": "s", "key": "team/itsm/"}}), **environment)
    entries = [entry.task_id for entry in index(results).entries]
    file = preflight(pod, order(suite={"objectStore": {"store": "s", "key": "team/itsm/b.jsonl"}}), **environment)
    missing = preflight(pod, order(suite={"objectStore": {"store": "s", "key": "team/x.json"}}), **environment)
    sealed_store = SealedStore(suites, AesSeal("a secret of thirty-two characters"))
    sealed_store.put("team/sealed/b.jsonl", json.dumps(row).encode())
    sealed = preflight(pod, order(suite={"objectStore": {"store": "s", "key": "team/sealed/"}}), **environment)

    assert (folder.report.problems, entries) == ([], ["a", "b"])
    assert (file.report.problems, [entry.task_id for entry in index(results).entries]) == ([], ["b"])
    assert problems_of(missing) == ["store s: team/x.json: does not exist; create it with the suite's rows"]
    (problem,) = problems_of(sealed)
    assert problem.startswith("store s: team/sealed/b.jsonl: is sealed with a held-out seed, or was deleted meanwhile")
    assert KEY not in json.dumps([folder.log, file.log, missing.log])


def _taking_all_writes(status: int) -> Starlette:
    """An S3 server that takes every plain write, and answers conditional ones in its own way."""

    async def put(request: Request) -> Response:
        await request.body()
        return Response(status_code=status if "if-none-match" in request.headers else 200)

    return Starlette(routes=[Route("/{key:path}", put, methods=["PUT"])])


@pytest.mark.parametrize(("status", "verb"), [(200, "ignores"), (501, "refuses")])
def test_a_store_that_could_overwrite_results_is_refused(pod: Pod, s3: S3, status: int, verb: str) -> None:
    mount(pod, [ROW])

    with serving(_taking_all_writes(status)) as url:
        access = {**s3.access, "AWS_ENDPOINT_URL_S3": url, "OPSGYM_STORE": "s3://results/x"}
        ended = preflight(pod, order(), **access)

    assert ended.code == Exit.DONE
    (problem,) = problems_of(ended)
    advice = "results could be overwritten: use a store that honours If-None-Match"
    assert problem.startswith(f"store s3://results/x: {verb} conditional writes; {advice}")


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("", "the bucket does not exist; create it or name another (NoSuchBucket, HTTP 404)"),
        ("http://127.0.0.1:9", "the server cannot be reached; check AWS_ENDPOINT_URL_S3 and the network"),
    ],
)
def test_a_store_out_of_reach_is_named_beside_everything_else(pod: Pod, s3: S3, endpoint: str, expected: str) -> None:
    mount(pod, [{"task_id": "b"}])
    access = {**s3.access, "AWS_ENDPOINT_URL_S3": endpoint or s3.url, "OPSGYM_STORE": "s3://nowhere/x"}

    ended = preflight(pod, order(), **access)

    assert ended.code == Exit.STORE_LOST
    store, row = problems_of(ended)
    assert store.startswith("store s3://nowhere/x: cannot access runs/team.demo.0a1b/probe: ")
    assert expected in store
    assert row.startswith("ConfigMap tasks: tasks.json row 1")
