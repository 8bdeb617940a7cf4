"""The runner as a container of a pod.

Invariant: a pod sends no request to the API server. Its work is in its job spec, its inputs are in the environment and
the store, and its results are in the store, with a summary in the termination message.
"""
