"""Quality gates: the verdict on a run, alone or against a baseline."""
