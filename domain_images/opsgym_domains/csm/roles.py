"""What the roles of customer service may do when an episode begins, unless its seed says otherwise.

Invariant: these rows are in the tables of every database whose seed writes no role, so that published seeds, which
know no such tables, fit; at run time only the tables count.
"""

from __future__ import annotations

import apsw

from opsgym_domains.kit.rbac import preset_rows

RESOURCES = (
    "users",
    "groups",
    "locations",
    "accounts",
    "products",
    "contracts",
    "sla_definitions",
    "cases",
    "case_slas",
    "interactions",
    "knowledge",
    "notifications",
)
"""Resources: the modules that declare tools."""
PRESETS = tuple(
    preset_rows(
        RESOURCES,
        writable={
            "admin": RESOURCES,
            "manager": RESOURCES,
            "agent": ("cases", "case_slas", "interactions", "knowledge", "notifications"),
            "customer": ("cases", "interactions"),
        },
        hidden={"customer": ("groups", "sla_definitions")},
    )
)
"""Rows of roles and permissions, each with the name of its table."""


def add_presets(seeded: apsw.Connection) -> None:
    """Adds `PRESETS` to a seeded database that has no role."""
    if seeded.execute("SELECT count(*) FROM role").get:
        return
    for table, values in PRESETS:
        marks = ", ".join("?" * len(values))
        seeded.execute(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608 - names of our own tables
