"""Framework of all domains: server, tool registry, databases, identity and clock. Imports no domain."""
