"""Clients of gym servers: databases, tools, seeds and scenario events."""
