"""The seeds that ship with the domain; it has no suite yet."""

from __future__ import annotations

from opsgym_suites.hr.seeds import hospital_sql, works_sql
from opsgym_suites.kit.data_files import AuthoredDomain

AUTHORED = AuthoredDomain("hr", {"hospital": hospital_sql, "works": works_sql}, ())
