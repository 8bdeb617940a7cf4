"""Notifications of runs: when one is due, its request and its delivery."""
