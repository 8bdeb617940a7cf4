"""The seeds that ship with the domain; it has no suite yet."""

from __future__ import annotations

from opsgym_suites.drive.seeds import consultancy_sql, foundation_sql
from opsgym_suites.kit.data_files import AuthoredDomain

AUTHORED = AuthoredDomain("drive", {"consultancy": consultancy_sql, "foundation": foundation_sql}, ())
