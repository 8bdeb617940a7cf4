"""In-memory state of each EvalRun: what its store holds and how its pods ended."""
