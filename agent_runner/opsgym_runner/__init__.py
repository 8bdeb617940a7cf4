"""Runs episodes: seeds the gyms, lets a model act through their tools, verifies the final state, writes the record.

Invariant: every attempt ends in a record. Failures of models, gyms, rows and stores become an outcome and a reason,
never an exception that reaches the caller.
"""
