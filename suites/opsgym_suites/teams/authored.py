"""The seeds that ship with the domain; it has no suite yet."""

from __future__ import annotations

from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.teams.seeds import bridges_sql, wards_sql

AUTHORED = AuthoredDomain("teams", {"bridges": bridges_sql, "wards": wards_sql}, ())
