"""`opsgym models check` against endpoints that behave well, and badly."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from starlette.responses import Response
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, calls, completion, refuses, says

from opsgym.commands.models_check import check_models
from opsgym_api.errors import InputError

KEY = "sk-test-7f3a9b2c1d"
BOTH = calls(("get_status", {"number": "INC1"}), ("get_status", {"number": "INC2"}))
TIER = {"aboveTokens": 5, "inputUsd": 2, "outputUsd": 9}
GOOD = says("INC1 and INC2 are on hold.")


def check(folder: Path, *answers: Response, **spec: object) -> tuple[int, StubModel]:
    """Checks a stub model that a file declares."""
    stub = StubModel(*answers)
    with serving(stub.app) as url:
        document = {
            "apiVersion": "opsgym.dev/v1alpha1",
            "kind": "EvalModel",
            "metadata": {"name": "stub"},
            "spec": {
                "model": "hosted_vllm/stub",
                "endpoints": [{"url": f"{url}/v1"}],
                "credentials": {"env": "STUB_KEY"},
                "prices": {
                    "inputUsd": 1,
                    "outputUsd": 10,
                    "tiers": [{"aboveTokens": 5, "inputUsd": 2, "outputUsd": 9}],
                },
                **spec,
            },
        }
        file = folder / "models.yaml"
        file.write_text(yaml.safe_dump(document))
        return check_models(str(file)), stub


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", KEY)


def test_a_sound_model_passes_and_every_property_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thought = {"role": "assistant", "content": "INC1 and INC2 are on hold.", "reasoning": "Two calls."}
    answer = completion(thought)
    answer.headers["x-ratelimit-remaining-requests"] = "499"
    two = completion(
        {
            "role": "assistant",
            "content": None,
            "reasoning": "Both.",
            "tool_calls": [
                {
                    "id": f"c{n}",
                    "type": "function",
                    "function": {"name": "get_status", "arguments": '{"number": "INC1"}'},
                }
                for n in range(2)
            ],
        }
    )

    code, stub = check(tmp_path, two, answer)

    shown = capsys.readouterr().out
    assert (code, len(stub.requests)) == (0, 2)
    for text in (
        "stub: hosted_vllm/stub",
        "$1.00 in, $10.00 out per million tokens; other prices above 5 prompt tokens",
        "several calls in one reply",
        "the answer uses the tool's result",
        "goes back into the conversation",
        "x-ratelimit-remaining-requests 499",
    ):
        assert text in shown
    assert KEY not in shown
    assert stub.requests[1]["messages"][1]["reasoning"] == "Both."


def test_calls_that_arrive_as_text_fail_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, stub = check(tmp_path, says('<tool_call>{"name": "get_status"}</tool_call>'))

    assert (code, len(stub.requests)) == (2, 2)
    assert "switch on the server's parser of tool calls" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "code", "text"),
    [
        (refuses(401, "bad key"), 2, "model_auth"),
        (refuses(429, "no money", code="insufficient_quota"), 2, "model_quota"),
        (refuses(503, "busy"), 1, "model_unavailable"),
        (refuses(429, "slow down"), 1, "model_rate_limited"),
    ],
)
def test_an_endpoint_that_refuses_fails_the_check_after_one_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answer: Response, code: int, text: str
) -> None:
    exit_code, stub = check(tmp_path, answer)

    assert (exit_code, len(stub.requests)) == (code, 1)
    assert text in capsys.readouterr().out


def test_a_missing_key_is_reported_without_a_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STUB_KEY")

    code, stub = check(tmp_path, BOTH, GOOD)

    assert (code, stub.requests) == (2, [])
    assert "the environment variable STUB_KEY is not set" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_not_taken_for_a_model() -> None:
    with pytest.raises(InputError, match=r"nope\.yaml: does not exist; give a file"):
        check_models("nope.yaml")


def test_a_file_without_models_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("")

    with pytest.raises(InputError, match="is empty"):
        check_models(str(file))


def test_one_call_at_a_time_is_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = check(tmp_path, calls(("get_status", {"number": "INC1"})), GOOD)

    assert code == 0
    assert "one call in a reply" in capsys.readouterr().out
