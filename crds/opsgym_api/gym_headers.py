"""HTTP headers that opsgym's gym servers understand beyond the published ones. Names only."""

ADMIN_TOKEN_HEADER = "x-opsgym-admin-token"  # noqa: S105 - a header's name
"""Token of a server's admin endpoints: every one but tool calls (`/mcp`) and the health check."""
