"""Writes docs/providers.md: which behaviour is tested on the wire for which provider.

Invariant: every cell is a test. Cells of tables count the cases whose name begins with the provider's; other cells name
a test function, and one that does not exist is an error.

    python -m tools.provider_matrix           writes the file
    python -m tools.provider_matrix --check   exits 1 if it is not current
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.generated import sync

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path("docs/providers.md")
TESTS = Path("tests/providers")
WIRE, ERRORS, REPLIES, STREAMS = "test_providers.py", "test_errors.py", "test_replies.py", "test_streaming.py"
SEEDS = "test_seeds.py"
FILES = (WIRE, ERRORS, REPLIES, STREAMS, SEEDS)

PROVIDERS = (
    "OpenAI", "OpenAI Responses", "Azure", "Anthropic", "Bedrock", "Gemini", "Vertex AI", "vLLM", "SGLang",
    "OpenRouter", "DeepSeek", "DashScope", "Groq",
)  # fmt: skip
_COMPATIBLE = "test_openai_and_those_compatible_with_it"
_SAME_NAME = "test_reasoning_goes_back_under_the_name_under_which_it_came"
_RESPONSES = "test_openais_responses_api_gets_its_reasoning_items_back"
_ANTHROPIC = "test_anthropic_with_thinking_tools_and_cache_markers"
_BEDROCK = "test_bedrock_with_thinking_tools_and_cache_markers"
_GEMINI = "test_gemini_on_ai_studio_has_its_key_in_a_header_and_gets_its_signatures_back"
_VERTEX = "test_gemini_on_vertex_gets_a_token_for_the_service_account_and_no_key_travels"
FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    "request, key, two calls in one reply": {
        **dict.fromkeys(("OpenAI", "vLLM", "OpenRouter", "DeepSeek", "DashScope"), _COMPATIBLE),
        "OpenAI Responses": _RESPONSES, "Azure": "test_azure_openai", "Anthropic": _ANTHROPIC, "Bedrock": _BEDROCK,
        "Gemini": _GEMINI, "Vertex AI": _VERTEX,
    },
    "reasoning goes back": {
        **dict.fromkeys(("vLLM", "OpenRouter"), _SAME_NAME),
        "OpenAI Responses": _RESPONSES, "Anthropic": _ANTHROPIC, "Bedrock": _BEDROCK, "Gemini": _GEMINI,
        "Vertex AI": _VERTEX, "DeepSeek": "test_reasoning_of_deepseek_goes_back_into_the_conversation",
    },
    "cached tokens and cost": {
        "OpenAI": "test_openai_bills_cached_tokens_at_their_price", "Azure": "test_azure_openai",
        "Anthropic": _ANTHROPIC, "Bedrock": _BEDROCK, "Gemini": _GEMINI, "Vertex AI": _VERTEX,
        "OpenRouter": "test_a_cost_that_openrouter_reports_is_the_cost",
    },
    "a conversation over streams": {
        "Vertex AI": "test_streams_of_vertex_ai_are_those_of_gemini",
        "Bedrock": "test_a_streamed_request_to_bedrock_is_signed_for_the_path_that_it_is_sent_to",
    },
}  # fmt: skip
"""Test function by behaviour and provider."""
TABLES: Mapping[str, tuple[str, str]] = {
    "wordings of a context overflow": (ERRORS, "OVERFLOWS"),
    "wordings of a used-up quota": (ERRORS, "QUOTAS"),
    "ends of a reply": (REPLIES, "ENDS"),
    "unreadable answers": (REPLIES, "UNREADABLE"),
    "streams: same replies, cut, unreadable": (STREAMS, "STREAMED"),
    "errors in streams": (STREAMS, "ERRORS"),
    "seeds": (SEEDS, "TAKEN"),
}
"""File and table of cases by behaviour."""
_HEAD = """# Providers

Which behaviour is tested over HTTP in which provider's own wire shape. A number counts the cases of a table in the
linked file; a mark is a test of its own. An empty cell is not tested. `python -m tools.provider_matrix` writes this
page. [models.md](models.md) has ids and keys.

"""


def expected(root: Path) -> dict[Path, str]:
    """Expected content of the page, by its path.

    Raises:
        ValueError: A cell names a test that does not exist.
    """
    behaviours = [*FUNCTIONS, *TABLES]
    cells = {**_function_cells(root), **_table_cells(root)}
    lines = [f"| provider | {' | '.join(behaviours)} |", f"| --- |{' --- |' * len(behaviours)}"]
    for provider in PROVIDERS:
        row = " | ".join(cells.get((provider, behaviour), "") for behaviour in behaviours)
        lines.append(f"| {provider} | {row} |")
    return {PAGE: _HEAD + "\n".join(lines) + "\n"}


def _function_cells(root: Path) -> dict[tuple[str, str], str]:
    files = {test: file for file in FILES for test in _tests(_tree(root, file))}
    missing = sorted({test for tests in FUNCTIONS.values() for test in tests.values()} - files.keys())
    if missing:
        raise ValueError(f"{TESTS} has no test {', '.join(missing)}; correct FUNCTIONS in tools/provider_matrix.py")
    return {
        (provider, behaviour): f"[✓](../{TESTS / files[test]})"
        for behaviour, tests in FUNCTIONS.items()
        for provider, test in tests.items()
    }


def _tests(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)]


def _table_cells(root: Path) -> dict[tuple[str, str], str]:
    cells: dict[tuple[str, str], int] = {}
    for behaviour, (file, table) in TABLES.items():
        for case in _cases(_tree(root, file), table):
            # The longest name counts: "OpenAI Responses" is not a case of "OpenAI".
            provider = max((name for name in PROVIDERS if case.startswith(name)), key=len, default=None)
            if provider is not None:
                cells[provider, behaviour] = cells.get((provider, behaviour), 0) + 1
    return {key: f"[{count}](../{TESTS / TABLES[key[1]][0]})" for key, count in cells.items()}


def _cases(tree: ast.Module, table: str) -> Iterator[str]:
    """Names of the cases of a table, which is a dict."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == table:
            keys = node.value.keys if isinstance(node.value, ast.Dict) else []
            yield from (str(key.value) for key in keys if isinstance(key, ast.Constant))


def _tree(root: Path, file: str) -> ast.Module:
    return ast.parse((root / TESTS / file).read_text(encoding="utf-8"))


def main(root: Path, *, check: bool) -> int:
    """Writes the page, or reports that it is not current; returns the exit code."""
    return sync(root, expected(root), [root / PAGE], check=check)


if __name__ == "__main__":
    sys.exit(main(ROOT, check="--check" in sys.argv[1:]))
