"""OpenTelemetry spans of episodes."""
