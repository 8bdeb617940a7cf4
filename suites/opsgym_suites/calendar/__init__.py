"""Seeds and suites of the calendar domain."""
