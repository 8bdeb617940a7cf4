"""The table from which generated keys are counted."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit.postgres_schema import postgres_ddl
from opsgym_domains.kit.schema import COUNTERS, Row, new_metadata


class _Note(Row):
    """A row whose key is a UUID, in a database where no key is a number."""

    __tablename__ = "notes"
    metadata = new_metadata()
    label, has_uuid = "note", True

    note_id: Mapped[str] = mapped_column(primary_key=True)


def test_a_database_without_counted_tables_has_the_counter_of_uuids() -> None:
    created = [
        statement for statement in postgres_ddl(_Note.metadata) if statement.startswith(f"CREATE TABLE {COUNTERS}")
    ]
    assert len(created) == 1
