"""The runner as a container of a pod.

Invariant: a pod asks no API server anything. What it does stands in its order, what it needs in its environment and its
store, and what came of it in the store, with a summary in the termination message.
"""
