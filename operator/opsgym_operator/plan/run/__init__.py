"""From an EvalRun to a frozen run, and how far it is."""
