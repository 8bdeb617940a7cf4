"""Contracts of opsgym: Kubernetes kinds, task rows and records. No logic beyond their validation."""
