"""Verifiers of an episode's final state and answer."""
