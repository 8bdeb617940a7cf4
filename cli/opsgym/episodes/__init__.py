"""Episodes as a service: databases, tools and verdicts for agents that a trainer runs."""
