"""Gym servers of domains: MCP tools on Postgres, wire-compatible with the published benchmark."""
