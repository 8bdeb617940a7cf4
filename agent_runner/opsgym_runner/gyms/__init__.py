"""Clients of gym servers: databases, tools and seeds."""
