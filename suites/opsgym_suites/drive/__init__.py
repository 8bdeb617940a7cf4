"""Seeds and suites of the Drive domain."""
