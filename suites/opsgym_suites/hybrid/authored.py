"""The seeds of the company, which ship with the domains that they are of."""

from __future__ import annotations

from opsgym_suites.hybrid.seeds import SEED, WORLDS, fenmoor_sql
from opsgym_suites.kit.data_files import AuthoredDomain

AUTHORED = tuple(AuthoredDomain(system, {SEED: fenmoor_sql(system)}, ()) for system in WORLDS)
