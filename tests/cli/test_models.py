"""Models are resolved, or refused with the missing setting, before a run starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opsgym.local.models import ModelResolver
from opsgym_api.errors import InputError
from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import EvalRun
from opsgym_core.planning.documents import Documents
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.checks import missing_key, unknown_price
from opsgym_runner.models.credentials import unusable_because

LISTED = Prices(input_usd=1, output_usd=2)


def documents(folder: Path, **model: Any) -> Documents:
    run = {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": "demo"},
        "spec": {"suite": {"builtin": "quickstart"}, "models": [{"name": "m", "inline": model}]},
    }
    return Documents(run=EvalRun.model_validate(run), models={}, folder=folder)


def resolve(folder: Path, environment: dict[str, str] | None = None, **model: Any) -> ResolvedModel:
    listed = {"openai/listed": LISTED}
    key_of = {"openai/listed": "OPENAI_API_KEY"}
    environment = environment or {}
    resolver = ModelResolver(
        folder, environment, listed.get, lambda name: key_of.get(name) if "OPENAI_API_KEY" not in environment else None
    )
    return resolver.resolve("run.yaml", documents(folder, **model))["m"]


def problems(folder: Path, **arguments: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        resolve(folder, **arguments)
    return [str(problem) for problem in caught.value.problems]


def test_a_listed_price_is_used_unless_the_model_brings_its_own(tmp_path: Path) -> None:
    key = {"OPENAI_API_KEY": "sk-1"}
    assert resolve(tmp_path, key, model="openai/listed").prices == LISTED
    own = resolve(tmp_path, key, model="openai/listed", prices={"inputUsd": 5, "outputUsd": 6}).prices
    assert own == Prices(input_usd=5, output_usd=6)


def test_an_unpriced_model_is_refused_with_the_two_remedies(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, model="openai/mine", endpoints=[{"url": "http://127.0.0.1:1/v1"}])
    assert problem.startswith("models[m]: no price is known for openai/mine")
    assert "prices: {inputUsd, outputUsd}" in problem
    assert "allowUnpriced: true" in problem


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            "openia/gpt-5",
            "openia/gpt-5 names no provider that litellm knows (PROVIDER/MODEL); did you mean openai/gpt-5?",
        ),
        (
            "Qwen3-8B",
            "Qwen3-8B names no provider that litellm knows (PROVIDER/MODEL); a server of your own is openai/NAME",
        ),
    ],
)
def test_an_unknown_provider_is_named(model: str, message: str) -> None:
    assert unknown_price(model).startswith(message)


def test_an_unpriced_model_that_is_allowed_has_no_prices(tmp_path: Path) -> None:
    assert resolve(tmp_path, model="openai/mine", allowUnpriced=True).prices is None


def test_a_missing_variable_is_named_and_a_secret_value_never_shown(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, model="openai/listed", credentials={"env": "MY_KEY"})
    assert problem == "models[m].credentials.env: the environment variable MY_KEY is not set"
    resolved = resolve(tmp_path, {"MY_KEY": "sk-secret"}, model="openai/listed", credentials={"env": "MY_KEY"})
    assert resolved.secrets == ["sk-secret"]
    assert "sk-secret" not in repr(resolved)


@pytest.mark.parametrize("ending", ["\n", "\r\n", " ", ""])
def test_blanks_around_a_key_are_no_part_of_it(tmp_path: Path, ending: str) -> None:
    resolved = resolve(tmp_path, {"MY_KEY": f"sk-secret{ending}"}, model="openai/listed", credentials={"env": "MY_KEY"})

    assert resolved.secrets == ["sk-secret"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("sk-\n1", "has a line break in it"),
        ("sk-1 2", "has a blank in it"),
        ("sk-é", "has a character in it that is not ASCII"),
        ("sk-\x1b", "has a control character in it"),
        (" \n", "is not set"),
    ],
)
def test_a_key_that_no_request_can_carry_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, problem: str
) -> None:
    monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(InputError) as caught:
        resolve(tmp_path, {"MY_KEY": value}, model="openai/listed", credentials={"env": "MY_KEY"})

    (stated,) = caught.value.problems
    assert str(stated) == f"models[m].credentials.env: the environment variable MY_KEY {problem}"


def test_a_header_may_have_blanks_and_a_service_account_is_a_document(tmp_path: Path) -> None:
    account = '{\n  "type": "service_account"\n}'
    assert unusable_because(account) is None
    assert unusable_because("Basic QQ==", header=True) is None
    assert unusable_because("Basic\nQQ==", header=True) == "has a line break in it"


@pytest.mark.parametrize(
    ("model", "variable"),
    [("openai/listed", "OPENAI_BASE_URL"), ("listed", "OPENAI_API_BASE"), ("groq/x", "GROQ_API_BASE")],
)
def test_the_address_that_a_variable_gives_a_model_is_resolved(tmp_path: Path, model: str, variable: str) -> None:
    environment = {"OPENAI_API_KEY": "sk-1", variable: "http://elsewhere/v1"}

    resolved = resolve(tmp_path, environment, model=model, allowUnpriced=True)

    assert [endpoint.url for endpoint in resolved.endpoints] == ["http://elsewhere/v1"]


def test_an_empty_variable_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " \n")

    assert missing_key("openai/gpt-4o") == "OPENAI_API_KEY"


def test_a_secret_is_refused_locally_with_the_alternative(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, model="openai/listed", credentials={"secret": "openai"})
    assert "Secret 'openai' is only available in a cluster; add env: VARIABLE" in problem


def test_a_hosted_model_without_its_providers_key_is_refused_up_front(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, model="openai/listed")
    assert "set the environment variable OPENAI_API_KEY" in problem


def test_the_key_of_an_endpoint_overrides_the_key_of_its_model(tmp_path: Path) -> None:
    urls = [{"url": "http://a/v1", "credentials": {"env": "A"}}, {"url": "http://b/v1"}]
    environment = {"A": "ka", "M": "km"}
    resolved = resolve(tmp_path, environment, model="openai/listed", endpoints=urls, credentials={"env": "M"})
    keys = [
        (endpoint.url, endpoint.api_key.get_secret_value() if endpoint.api_key else None)
        for endpoint in resolved.endpoints
    ]
    assert keys == [("http://a/v1", "ka"), ("http://b/v1", "km")]


def test_a_credential_among_the_parameters_is_refused_before_it_is_recorded(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, model="replay/gold", parameters={"api_key": "sk-secret", "temperature": 0})
    assert problem.startswith("models[m].parameters.api_key: ")
    assert "sk-secret" not in problem


def test_a_recording_is_found_beside_the_document(tmp_path: Path) -> None:
    (tmp_path / "took.jsonl").write_text("")
    assert resolve(tmp_path, model="replay/took.jsonl").model == f"replay/{tmp_path.resolve()}/took.jsonl"


def test_a_missing_recording_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, model="replay/glod")
    assert "expected replay/gold, replay/noop, replay/flaky, or replay/FILE" in problem
    assert str(tmp_path.resolve() / "glod") in problem


def test_invalid_rates_of_a_flaky_model_are_refused(tmp_path: Path) -> None:
    rates = {"rate_limit": 0.05, "timeout": 0.05}
    assert resolve(tmp_path, model="replay/flaky", parameters={"rates": rates}).model == "replay/flaky"
    wrong = {"rates": {"timeouts": 0.1, "timeout": 1.5}, "of": "x"}
    messages = problems(tmp_path, model="replay/flaky", parameters=wrong)
    assert messages == [
        "models[m].parameters.of: 'x' is not allowed; allowed: 'gold' or 'noop'",
        "models[m].parameters.rates.timeout: must be less than or equal to 1, found 1.5",
        "models[m].parameters.rates.timeouts: is not a field here; did you mean timeout?",
    ]


def test_replay_models_need_no_price_and_no_key(tmp_path: Path) -> None:
    assert resolve(tmp_path, model="replay/gold").endpoints == (ModelEndpoint(),)


def test_every_problem_of_every_model_is_reported_at_once(tmp_path: Path) -> None:
    messages = problems(tmp_path, model="openai/mine", credentials={"env": "NOPE"}, parameters={"client_secret": "x"})
    assert len(messages) == 3


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("openai/gpt-5", "OPENAI_API_KEY"),
        ("gemini/gemini-2.5-pro", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("bedrock/anthropic.claude-3", None),
        ("azure/gpt-4o", None),
        ("hosted_vllm/mine", None),
    ],
)
def test_the_required_key_of_a_provider_comes_from_litellm(
    model: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    assert missing_key(model) == expected
