"""What opsgym's gym servers understand over HTTP beyond the published endpoints. Names only."""

ADMIN_TOKEN_HEADER = "x-opsgym-admin-token"  # noqa: S105 - a header's name
"""Header with the token of a server's admin endpoints: every one but tool calls (`/mcp`) and the health check."""
PROCESS_PATH = "/api/process"
"""Endpoint of a server's process: GET returns the number of its generation, POST asks for another one."""
INTERNAL_ERROR_HEADER = "x-opsgym-internal-error"
"""Header of an answer to a tool call that failed by a fault of the server; its result is an error."""

COMPLETE_SEED = "-- complete\n"
"""First line of a seed script whose rows are all that the database shall have: a saved state, not a published seed, to
which a server adds what the published one adds."""
