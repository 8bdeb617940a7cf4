"""The suite of work across the company's systems, and its seeds, which ship with the domains that they are of."""

from __future__ import annotations

from opsgym_suites.hybrid import core
from opsgym_suites.hybrid.seeds import SEED, WORLDS, fenmoor_sql
from opsgym_suites.hybrid.servers import ITSM, OTHERS, worlds
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.suite import HYBRID, SeedTasks, Suite
from opsgym_suites.kit.wordings import read_wordings

CORE = Suite(
    ITSM,
    "hybrid-core",
    (SeedTasks(SEED, worlds, core.drafts),),
    wordings=read_wordings(core.__name__),
    others=OTHERS,
)
AUTHORED = AuthoredDomain(HYBRID, {}, (CORE,))
SEEDS = tuple(AuthoredDomain(system, {SEED: fenmoor_sql(system)}, ()) for system in WORLDS)
