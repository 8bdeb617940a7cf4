"""One gym server for all of these tests; databases are made from it as tests need them."""

from __future__ import annotations

from tests.support.databases import database_fixtures

gym, database, unchanged, scratch = database_fixtures("hr")
