"""Companies that have a seed of one name in several domains, and the rewritings of their variants.

Invariant: a gym server and a preflight pod get the same rewriting of a seed, and those of one company's seeds replace
names, times and record numbers alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from opsgym_domains import registry
from opsgym_domains.kit.domain import Domain
from opsgym_domains.variants.rewriting import Rewriting
from opsgym_domains.variants.worlds import company_rewritings, rewriting

COMPANIES: Mapping[str, Sequence[str]] = {"fenmoor": ("calendar", "csm", "drive", "email", "hr", "itsm", "teams")}
"""Domains of a company, by the name of its seeds."""


@lru_cache(maxsize=4)
def rewriting_of(domain: str, seed: str, variant: int) -> Rewriting:
    """The rewriting of a domain's built-in seed for a variant.

    Raises:
        ValueError: A list of words is shorter than the names of the seed, or of the company's seeds.
        KeyError: The domain or the seed is not installed.
    """
    if domain in COMPANIES.get(seed, ()):
        return dict(zip(COMPANIES[seed], _of_company(seed, variant), strict=True))[domain]
    loaded = registry.load(domain)
    return rewriting(loaded.metadata, loaded.seeds[seed](), variant)


@lru_cache(maxsize=4)
def _of_company(seed: str, variant: int) -> Sequence[Rewriting]:
    domains = [registry.load(name) for name in COMPANIES[seed]]
    return company_rewritings([(domain.metadata, domain.seeds[seed]()) for domain in domains], variant)


def rewritings_of(domain: Domain) -> Callable[[str, int], Rewriting]:
    """Gives rewritings of a domain's seeds, by name and variant."""

    def of_seed(seed: str, variant: int) -> Rewriting:
        if domain.name in COMPANIES.get(seed, ()):
            return rewriting_of(domain.name, seed, variant)
        return rewriting(domain.metadata, domain.seeds[seed](), variant)

    return of_seed
