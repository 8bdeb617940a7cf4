"""What models cost."""

from __future__ import annotations

import subprocess
import sys

import pytest

from opsgym_api.kinds.evalmodel import Prices, PriceTier
from opsgym_api.records.attempt import Usage
from opsgym_core.common.scrub import scrub
from opsgym_runner.models.prices import FREE, cost_of, known_prices


def test_prices_of_a_listed_model_come_from_the_bundled_map() -> None:
    assert known_prices("openai/gpt-4o") == Prices(input_usd=2.5, output_usd=10, cached_input_usd=1.25)


@pytest.mark.parametrize("model", ["openai/no-such-model", "nonsense", "whisper-1"])
def test_a_model_that_is_not_listed_or_not_priced_by_tokens_has_no_price(model: str) -> None:
    assert known_prices(model) is None


def test_replay_models_cost_nothing() -> None:
    assert known_prices("replay/gold") == known_prices("replay//some/file.jsonl") == FREE


@pytest.mark.parametrize(
    ("usage", "prices", "cost"),
    [
        (Usage(prompt_tokens=1_000_000), Prices(input_usd=3, output_usd=9), 3.0),
        (Usage(prompt_tokens=1_000_000, cached_tokens=1_000_000), Prices(input_usd=3, output_usd=9), 3.0),
        (
            Usage(prompt_tokens=1_000_000, cached_tokens=2_000_000, completion_tokens=1_000_000),
            Prices(input_usd=3, output_usd=9, cached_input_usd=1),
            10.0,
        ),
        (
            Usage(prompt_tokens=3_000_000, cached_tokens=1_000_000, cache_write_tokens=1_000_000),
            Prices(input_usd=3, output_usd=9, cached_input_usd=0.3, cache_write_usd=3.75),
            7.05,
        ),
        (Usage(prompt_tokens=1_000_000, cache_write_tokens=9_000_000), Prices(input_usd=3, output_usd=9), 3.0),
        (Usage(), Prices(input_usd=3, output_usd=9), None),
        (Usage(), FREE, 0.0),
    ],
)
def test_cost_of_a_reply(usage: Usage, prices: Prices, cost: float | None) -> None:
    assert cost_of(usage, prices) == cost


def test_the_runner_is_imported_without_litellm() -> None:
    program = "import sys, opsgym_runner.runner, opsgym_runner.models.prices; print('litellm' in sys.modules)"

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed.strip() == "False"


def test_credentials_are_scrubbed_from_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "from-environment-1")
    text = "key abcdef123 and from-environment-1, Authorization: Bearer xyz.abc-1 and sk-proj-abcdefghijk"

    scrubbed = scrub(text, ["abcdef123"])

    assert scrubbed == "key [secret] and [secret], Authorization: Bearer [secret] and [secret]"


@pytest.mark.parametrize("end", ["\\n-----END PRIVATE KEY-----", "\n-----END RSA PRIVATE KEY-----", ""])
def test_a_service_accounts_private_key_is_scrubbed_from_text(end: str) -> None:
    text = f'{{"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBg{end}'
    assert scrub(text, []) == '{"private_key": "[secret]'


def test_long_messages_of_providers_are_cut() -> None:
    assert len(scrub("x" * 5000, [])) == 1001


@pytest.mark.parametrize(
    "model",
    ["gemini/gemini-3-pro-preview", "openrouter/google/gemini-3-pro-preview", "gemini/gemini-of-tomorrow"],
)
def test_a_model_that_the_map_does_not_list_has_no_price_although_litellm_says_zero(model: str) -> None:
    assert known_prices(model) is None


def test_a_price_of_zero_counts_where_the_map_states_it() -> None:
    prices = known_prices("gemini/gemma-3-27b-it")

    assert prices is not None
    assert cost_of(Usage(prompt_tokens=1000, completion_tokens=10), prices) == 0


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("gemini/gemini-2.5-pro", Usage(prompt_tokens=200_000, completion_tokens=5000), 0.30),
        ("gemini/gemini-2.5-pro", Usage(prompt_tokens=250_000, completion_tokens=5000), 0.70),
        (
            "gemini/gemini-2.5-pro",
            Usage(prompt_tokens=250_000, completion_tokens=5000, cached_tokens=200_000),
            0.05 * 2.5 + 0.2 * 0.25 + 0.075,
        ),
        ("dashscope/qwen3-max", Usage(prompt_tokens=32_000, completion_tokens=1000), 0.0384 + 0.006),
        ("dashscope/qwen3-max", Usage(prompt_tokens=32_001, completion_tokens=1000), 0.0768024 + 0.012),
        ("dashscope/qwen3-max", Usage(prompt_tokens=900_000, completion_tokens=1000), 2.7 + 0.015),
        (
            "dashscope/qwen-plus-latest",
            Usage(prompt_tokens=100_000, completion_tokens=10_000, reasoning_tokens=9000),
            0.04 + 0.001 * 1.2 + 0.009 * 4,
        ),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            Usage(prompt_tokens=250_000, completion_tokens=1000, cached_tokens=100_000, cache_write_tokens=50_000),
            0.1 * 6.6 + 0.1 * 0.66 + 0.05 * 8.25 + 0.001 * 24.75,
        ),
    ],
)
def test_long_prompts_cached_written_and_reasoning_tokens_have_their_own_prices(
    model: str, usage: Usage, cost: float
) -> None:
    prices = known_prices(model)
    assert prices is not None
    assert cost_of(usage, prices) == pytest.approx(cost)


def test_prices_of_the_user_may_have_tiers_and_a_price_of_reasoning() -> None:
    tier = PriceTier(above_tokens=100, input_usd=2, output_usd=20)
    prices = Prices(input_usd=1, output_usd=10, reasoning_usd=30, tiers=[tier])

    assert cost_of(Usage(prompt_tokens=100, completion_tokens=10, reasoning_tokens=5), prices) == pytest.approx(300e-6)
    assert cost_of(Usage(prompt_tokens=101, completion_tokens=10, reasoning_tokens=5), prices) == pytest.approx(402e-6)
