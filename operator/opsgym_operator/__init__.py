"""The Kubernetes operator: observes EvalRuns, plans what should exist, and applies it."""
