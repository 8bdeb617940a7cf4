"""Agents that are programs of their own: how they are started, and what they reach of an episode."""
