"""Description of a domain for the explore page: tables, tools that write, and policy.

Invariant: everything here is read from the domain's own declarations, so the page cannot disagree with the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import CheckConstraint, Column, Table, UniqueConstraint

from opsgym_api.kinds.access import Access
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.schema import load_order


def describe(domain: Domain, access: Access = Access.PUBLISHED) -> dict[str, Any]:
    """The domain's description for databases with an access mode."""
    tables = load_order(domain.metadata)
    referenced_by = _referenced_by(tables)
    return {
        "name": domain.name,
        "identity_header": domain.identity_header,
        "policy": _policy(domain, access),
        "writing_tools": [tool.name for tool in domain.toolbox.tools.values() if tool.writes],
        "timeline": None if domain.timeline is None else asdict(domain.timeline),
        "mail": None if domain.mail is None else asdict(domain.mail),
        "files": None if domain.files is None else asdict(domain.files),
        "conversations": None if domain.conversations is None else asdict(domain.conversations),
        "story": None if domain.story is None else asdict(domain.story),
        "tables": [_table(table, referenced_by[table.name]) for table in tables],
    }


def _policy(domain: Domain, access: Access) -> str | None:
    """The policy of an access mode, or None if the domain has no policy."""
    readers = [domain.policy]
    if access is Access.STRICT and domain.access is not None:
        readers.append(domain.access.policy)
    return "\n".join(read() for read in readers if read is not None) or None


def row_counts(domain: Domain) -> str:
    """Query in SQLite's dialect for the name and the number of rows of every table."""
    counts = (f"SELECT '{name}' AS name, COUNT(*) AS n FROM \"{name}\"" for name in domain.metadata.tables)  # noqa: S608 - names of our own tables
    return " UNION ALL ".join(counts)


def _table(table: Table, referenced_by: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "name": table.name,
        "description": table.info.get("description", ""),
        "primary_key": [column.name for column in table.primary_key.columns],
        "columns": [_column(column) for column in table.columns],
        "rules": list(_rules(table)),
        "referenced_by": referenced_by,
    }


def _column(column: Column[Any]) -> dict[str, Any]:
    target = next((key.column for key in column.foreign_keys), None)
    return {
        "name": column.name,
        "type": str(column.type),
        "nullable": bool(column.nullable),
        "references": None if target is None else {"table": target.table.name, "column": target.name},
    }


def _rules(table: Table) -> Iterator[str]:
    """Unique and check constraints as text."""
    for constraint in table.constraints:
        if isinstance(constraint, UniqueConstraint):
            yield f"unique: {', '.join(column.name for column in constraint.columns)}"
        elif isinstance(constraint, CheckConstraint):
            yield f"check: {constraint.sqltext}"


def _referenced_by(tables: list[Table]) -> Mapping[str, list[dict[str, str]]]:
    """Columns that refer to a table, by table: `table`.`column` contains the value of its column `to`."""
    references: dict[str, list[dict[str, str]]] = {table.name: [] for table in tables}
    for table in tables:
        for column in table.columns:
            for key in column.foreign_keys:
                entry = {"table": table.name, "column": column.name, "to": key.column.name}
                references[key.column.table.name].append(entry)
    return references
