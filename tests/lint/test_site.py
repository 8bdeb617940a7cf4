"""Pages of the site link what the site has. `make lint` builds the site itself, and mkdocs checks its links."""

from __future__ import annotations

from tools.site import ELSEWHERE, ROOT, page, places

KNOWN = {"docs/a.md": "a.md", "docs/how-to/b.md": "how-to/b.md"} | ELSEWHERE


def test_a_link_to_a_file_that_the_site_has_leads_there() -> None:
    text = "[a](../a.md#x), ![p](../../README.md), [chart](../../helm/opsgym/README.md), [self](#y), [w](https://w.example)"
    expected = "[a](../a.md#x), ![p](../project/readme.md), [chart](../reference/values.md), [self](#y), [w](https://w.example)"
    assert page(text, "docs/how-to/b.md", KNOWN) == expected


def test_a_link_to_a_source_file_is_text_and_code_stays_as_it_is() -> None:
    code = "```md\n[x](../tests/x.py)\n```\n"
    assert page(f"[tests](../tests/x.py)\n{code}", "docs/a.md", KNOWN) == f"tests\n{code}"


def test_every_file_of_the_documentation_has_a_place_of_its_own() -> None:
    known = places(ROOT)
    assert len(set(known.values())) == len(known)
    assert known["docs/index.md"] == "index.md"
